"""Python numbers among the arguments of a shader: two words each, in the compute class."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from vkml_vulkan.formats import Format, StorageCode

_PACKED_AS: Final = {
    "f32": "f4x", "i32": "i4x", "u32": "I4x", "i64": "q", "u64": "Q", "f64": "d",
}  # fmt: skip

_SAFE: Final = 3.4e38
"""Below the largest float32, so that `struct` packs it without complaint. NaN is not below."""


def packed_as(format: Format) -> str:
    """Return the struct code of a number of this format: always 8 bytes."""
    return _PACKED_AS[format.compute]


@functools.cache
def converter(format: Format) -> Callable[[Any], Any]:
    """Return a function that makes a Python number fit the struct code, as NumPy would."""
    if format.compute == "f64":
        return float
    if format.code is StorageCode.FLOAT16:
        return _as_float16
    if format.code is StorageCode.BFLOAT16:
        return _as_bfloat16
    if format.compute == "f32":
        return _as_float32
    return _fitting_integer(format)


def integer_range(format: Format) -> tuple[int, int]:
    """Return the least and the greatest integer of a format."""
    bits = 8 * format.itemsize
    if format.compute[0] == "i":
        return -(1 << bits - 1), (1 << bits - 1) - 1
    return 0, (1 << bits) - 1


def _fitting_integer(format: Format) -> Callable[[Any], int]:
    """Return a function that takes what an integer of this format can be."""
    low, high = integer_range(format)

    def convert(number: Any) -> int:
        whole = int(number)
        if not low <= whole <= high:
            raise OverflowError(f"{number} is not between {low} and {high}")
        return whole

    return convert


def _as_float32(number: Any) -> float:
    if abs(number) < _SAFE:
        return float(number)
    with np.errstate(over="ignore"):
        return float(np.float32(number))


def _as_float16(number: Any) -> float:
    with np.errstate(over="ignore"):
        return float(np.float16(number))


def _as_bfloat16(number: Any) -> float:
    single = np.float32(_as_float32(number))
    if np.isnan(single):
        return float(single)
    # To the nearest, halves to the even one; a carry into the exponent is right, up to infinity.
    bits = int(single.view(np.uint32))
    rounded = bits + 0x7FFF + (bits >> 16 & 1)
    return float(np.uint32(rounded & 0xFFFF0000).view(np.float32))


def number_bits(number: Any, format: Format) -> int:
    """Return the bits of a number as an element of this format, for shaders that move elements."""
    value = converter(format)(number)
    if format.compute == "f64":
        return int(np.float64(value).view(np.uint64))
    if format.code is StorageCode.FLOAT16:
        return int(np.float16(value).view(np.uint16))
    if format.code is StorageCode.BFLOAT16:
        return int(np.float32(value).view(np.uint32)) >> 16
    if format.compute == "f32":
        return int(np.float32(value).view(np.uint32))
    return int(value) & (1 << 64) - 1
