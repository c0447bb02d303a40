"""How dtypes look to shaders.

All modules work on 32-bit words, which every device can load and store. Narrow dtypes are read and
written inside words; 64-bit integers are two words. A *compute class* is the type in which a
shader calculates; a *storage code* says how elements lie in memory.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final, NamedTuple

import numpy as np


class StorageCode(IntEnum):
    """Specialisation constants of ``values.glsl``; keep both alike."""

    BOOL = 0
    UINT8 = 1
    INT8 = 2
    UINT16 = 3
    INT16 = 4
    FLOAT16 = 5
    BFLOAT16 = 6
    WORD = 7
    PAIR = 8


class Format(NamedTuple):
    """A dtype as shaders see it."""

    compute: str
    """"f32", "i32", "u32", "i64", "u64" or "f64"."""
    code: StorageCode
    itemsize: int


def _formats() -> dict[np.dtype[Any], Format]:
    code = StorageCode
    found = {
        "bool": Format("u32", code.BOOL, 1),
        "uint8": Format("u32", code.UINT8, 1),
        "int8": Format("i32", code.INT8, 1),
        "uint16": Format("u32", code.UINT16, 2),
        "int16": Format("i32", code.INT16, 2),
        "float16": Format("f32", code.FLOAT16, 2),
        "uint32": Format("u32", code.WORD, 4),
        "int32": Format("i32", code.WORD, 4),
        "float32": Format("f32", code.WORD, 4),
        "uint64": Format("u64", code.PAIR, 8),
        "int64": Format("i64", code.PAIR, 8),
        "float64": Format("f64", code.PAIR, 8),
    }
    return {np.dtype(name): format for name, format in found.items()}


FORMATS: Final = _formats()

_BFLOAT16: Final = Format("f32", StorageCode.BFLOAT16, 2)


def format_of(dtype: np.dtype[Any]) -> Format | None:
    """Return how shaders see a dtype; None for complex numbers, which they do not."""
    found = FORMATS.get(dtype)
    if found is None and dtype.name == "bfloat16":  # a dtype of the package ml_dtypes
        return _BFLOAT16
    return found


RAW: Final = {
    1: Format("u32", StorageCode.UINT8, 1),
    2: Format("u32", StorageCode.UINT16, 2),
    4: Format("u32", StorageCode.WORD, 4),
    8: Format("u64", StorageCode.PAIR, 8),
}
"""How to move elements of some size without looking at them."""
