"""Python numbers on their way to shaders become what NumPy would make of them."""

from __future__ import annotations

import math
import struct
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vkml_vulkan.formats import FORMATS, format_of
from vkml_vulkan.number_arguments import converter, number_bits, packed_as

_FLOATING = [
    *map(np.dtype, ["float16", "float32", "float64"]),
    np.dtype(ml_dtypes.bfloat16),
]
_INTEGERS = [dtype for dtype in FORMATS if dtype.kind in "iu"]


def _bits(array: np.ndarray[Any, Any]) -> int:
    return int.from_bytes(array.tobytes(), "little")


@pytest.mark.parametrize("dtype", _FLOATING, ids=str)
@given(number=st.floats() | st.integers(-(10**30), 10**30))
@example(number=3.4028235677973366e38)  # halfway between the largest float32 and infinity
@example(number=1.00390625)  # halfway between two bfloat16
@example(number=1.01171875)
@example(number=1e300)
@example(number=-1e-320)
@example(number=65519.99)
def test_a_number_has_the_bits_that_numpy_gives_it(dtype: np.dtype[Any], number: float) -> None:
    found = format_of(dtype)
    assert found is not None
    with np.errstate(all="ignore"):
        wanted = np.array(number, np.float64).astype(np.float32).astype(dtype)
        if dtype.name != "bfloat16":
            wanted = np.array(number, np.float64).astype(dtype)

    bits = number_bits(number, found)

    if math.isnan(number):
        assert np.isnan(np.frombuffer(bits.to_bytes(8, "little")[: dtype.itemsize], dtype)[0])
    else:
        assert bits == _bits(wanted)


@pytest.mark.parametrize("dtype", _INTEGERS, ids=str)
def test_the_ends_of_an_integer_dtype_have_their_bits(dtype: np.dtype[Any]) -> None:
    found = format_of(dtype)
    assert found is not None
    mask = (1 << 8 * dtype.itemsize) - 1

    for number in (np.iinfo(dtype).min, -1 if dtype.kind == "i" else 1, 0, np.iinfo(dtype).max):
        assert number_bits(number, found) & mask == _bits(np.array(number, dtype))


@pytest.mark.parametrize("dtype", [*FORMATS, np.dtype(ml_dtypes.bfloat16)], ids=str)
@pytest.mark.parametrize("number", [0, 1, True])
def test_a_packed_number_is_two_words(dtype: np.dtype[Any], number: int) -> None:
    found = format_of(dtype)
    assert found is not None

    packed = struct.pack("<" + packed_as(found), converter(found)(number))

    assert len(packed) == 8


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), 1e39, -1e300])
def test_what_is_too_large_for_a_float32_is_packed_as_infinity(number: float) -> None:
    found = FORMATS[np.dtype(np.float32)]

    packed = struct.pack("<" + packed_as(found), converter(found)(number))

    assert np.isinf(struct.unpack("<f4x", packed)[0])


def test_nan_is_packed_as_nan() -> None:
    found = FORMATS[np.dtype(np.float32)]

    packed = struct.pack("<" + packed_as(found), converter(found)(float("nan")))

    assert np.isnan(struct.unpack("<f4x", packed)[0])
