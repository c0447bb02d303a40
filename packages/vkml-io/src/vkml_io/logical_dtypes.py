"""Dtypes that NumPy lacks: bits in an unsigned carrier, and the name beside it (G4).

bfloat16 is carried by uint16, each float8 by uint8. Of narrower dtypes several values share a
byte of the carrier. The package ml_dtypes has the dtypes; only `numpy_dtype` asks for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from vkml_io.errors import MissingPackageError, quoted
from vkml_io.format import DTYPE_NAMES

if TYPE_CHECKING:
    from vkml_io.aliases import Array

_FLAT_BITS = 6  # six bits fit in no byte evenly: such values are packed without regard to axes


@dataclass(frozen=True, slots=True)
class LogicalDtype:
    """A dtype that `.npy` cannot say.

    Attributes
    ----------
    name : str
        Its name in ml_dtypes.
    bits : int
        The bits of one value.
    """

    name: str
    bits: int

    @property
    def is_packed(self) -> bool:
        """Whether several values share a byte of the carrier."""
        return self.bits < 8

    @property
    def carrier(self) -> str:
        """The `descr` of what carries it, in memory and in a file."""
        return "<u2" if self.bits == 16 else "|u1"

    @property
    def itemsize(self) -> int:
        """The bytes of one value in memory; narrow ones take a whole byte there."""
        return 2 if self.bits == 16 else 1

    def carrier_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of the carrier of an array of this dtype in a file."""
        if not self.is_packed:
            return shape
        if self.bits == _FLAT_BITS:
            return (-(-math.prod(shape) * self.bits // 8),)
        *outer, last = shape or (1,)
        return (*outer, -(-last * self.bits // 8))

    def bits_of(self, values: Array) -> Array:
        """Return the bits of values in memory; those above a narrow value say nothing."""
        return values & np.uint8(2**self.bits - 1) if self.is_packed else values

    def count_non_finite(self, bits: Array) -> int:
        """Return how many values with these bits are NaN or infinite."""
        if self.name not in _NON_FINITE:
            return 0
        mask, value = _NON_FINITE[self.name]
        return int(np.count_nonzero((bits & bits.dtype.type(mask)) == value))

    def pack(self, values: Array) -> Array:
        """Return the carrier in a file of `values`, one of which takes a byte. Low bits first."""
        if not self.is_packed:
            return values
        low = self.bits_of(values)
        if self.bits == _FLAT_BITS:
            return _pack_flat(low.reshape(-1))
        low = np.atleast_1d(low)
        per_byte = 8 // self.bits
        packed = np.zeros(self.carrier_shape(values.shape), np.uint8)
        for i in range(per_byte):
            part = low[..., i::per_byte]
            packed[..., : part.shape[-1]] |= part << np.uint8(i * self.bits)
        return packed

    def unpack(self, carrier: Array, shape: tuple[int, ...]) -> Array:
        """Return an array of `shape`, one value a byte, out of its carrier in a file."""
        if not self.is_packed:
            return carrier
        if self.bits == _FLAT_BITS:
            return _unpack_flat(carrier, math.prod(shape)).reshape(shape)
        per_byte = 8 // self.bits
        values = np.empty(shape or (1,), np.uint8)
        mask = np.uint8(2**self.bits - 1)
        for i in range(per_byte):
            part = values[..., i::per_byte]
            part[...] = (carrier[..., : part.shape[-1]] >> np.uint8(i * self.bits)) & mask
        return values.reshape(shape)


_BITS = {
    "bfloat16": 16,
    "float8_e3m4": 8, "float8_e4m3": 8, "float8_e4m3b11fnuz": 8, "float8_e4m3fn": 8,
    "float8_e4m3fnuz": 8, "float8_e5m2": 8, "float8_e5m2fnuz": 8, "float8_e8m0fnu": 8,
    "float6_e2m3fn": 6, "float6_e3m2fn": 6,
    "float4_e2m1fn": 4, "int4": 4, "uint4": 4,
    "int2": 2, "uint2": 2,
}  # fmt: skip

# Values are NaN or infinite if these bits are so: all of the exponent, or the one NaN.
_NON_FINITE = {
    "bfloat16": (0x7F80, 0x7F80),
    "float8_e3m4": (0x70, 0x70), "float8_e4m3": (0x78, 0x78), "float8_e5m2": (0x7C, 0x7C),
    "float8_e4m3fn": (0x7F, 0x7F), "float8_e8m0fnu": (0xFF, 0xFF),
    "float8_e4m3b11fnuz": (0xFF, 0x80), "float8_e4m3fnuz": (0xFF, 0x80),
    "float8_e5m2fnuz": (0xFF, 0x80),
}  # fmt: skip

LOGICAL_DTYPES = {name: LogicalDtype(name, bits) for name, bits in _BITS.items()}

_DESCRS = {name: descr for descr, name in DTYPE_NAMES.items() if descr[0] != ">"}


def descr_of(name: str, *, big_endian: bool = False) -> str:
    """Return the `descr` of values of this dtype in memory; of a logical one, its carrier's."""
    logical = LOGICAL_DTYPES.get(name)
    if logical is not None:
        return logical.carrier
    return f">{_DESCRS[name][1:]}" if big_endian else _DESCRS[name]


@lru_cache(maxsize=64)
def itemsize_of(name: str) -> int:
    """Return the bytes of one value in memory."""
    return np.dtype(descr_of(name)).itemsize


def logical_dtype_of(dtype: np.dtype[Any]) -> LogicalDtype | None:  # Any: whatever NumPy has
    """Return the logical dtype of an array of ml_dtypes."""
    return LOGICAL_DTYPES.get(dtype.name) if dtype.isbuiltin != 1 else None


def numpy_dtype(name: str, key: str) -> np.dtype[Any]:  # Any: one of ml_dtypes
    """Return the dtype called `name`, in which the array `key` is asked for.

    Raises
    ------
    MissingPackageError
        ml_dtypes is not installed, or too old to have it.
    """
    try:
        import ml_dtypes

        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    except (ImportError, AttributeError):
        carrier = "uint16" if LOGICAL_DTYPES[name].bits == 16 else "uint8"
        message = (
            f"{quoted(key)} is {name}, which NumPy lacks and the package ml_dtypes has: "
            f"pip install --upgrade ml_dtypes. With raw=True its bits are read as {carrier}"
        )
        raise MissingPackageError(message, code="G4") from None
    return found


def as_logical(carrier: Array, name: str, key: str) -> Array:
    """Return an array whose values take the bytes of `carrier` as one of dtype `name`."""
    return carrier.view(numpy_dtype(name, key))


def _pack_flat(values: Array) -> Array:
    """Return values of six bits one after the other, the low bits first."""
    groups = np.zeros((-(-values.size // 4), 4), np.uint32)
    groups.reshape(-1)[: values.size] = values
    a, b, c, d = groups.T
    words = a | b << np.uint32(6) | c << np.uint32(12) | d << np.uint32(18)
    size = -(-values.size * _FLAT_BITS // 8)
    return np.stack([words & 255, words >> 8 & 255, words >> 16], 1).astype(np.uint8).ravel()[:size]


def _unpack_flat(carrier: Array, count: int) -> Array:
    groups = np.zeros((-(-count // 4), 3), np.uint32)
    groups.reshape(-1)[: carrier.size] = carrier
    a, b, c = groups.T
    words = a | b << np.uint32(8) | c << np.uint32(16)
    parts = [words >> np.uint32(shift) & np.uint32(63) for shift in (0, 6, 12, 18)]
    return np.stack(parts, 1).astype(np.uint8).ravel()[:count]
