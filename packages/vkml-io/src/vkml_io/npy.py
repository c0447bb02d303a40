"""The header of one `.npy` array, written and read without evaluating anything (D1 to D6)."""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from vkml_io.errors import CheckpointError, quoted, violation
from vkml_io.format import DTYPE_NAMES, MAX_ARRAY_BYTES, MAX_DIMENSIONS, MAX_NPY_HEADER

if TYPE_CHECKING:
    from vkml_io.aliases import Array

_MAGIC = b"\x93NUMPY"
# How the length of the header text is written, by what comes before it.
_LENGTH_FIELD = {
    _MAGIC + b"\x01\x00": struct.Struct("<H"),
    _MAGIC + b"\x02\x00": struct.Struct("<I"),
    _MAGIC + b"\x03\x00": struct.Struct("<I"),
}
_VERSION_1 = _MAGIC + b"\x01\x00"
LONGEST_PREFIX = len(_MAGIC) + 2 + 4  # magic, version, length
_PADDED_TO = 64  # NumPy pads its header so that the data is aligned
_GROWTH_DIGITS = 21  # NumPy leaves room for the axis along which a file may be appended to

_MOST_DIGITS = 19  # of one axis; no memory has more, and int() needs no limit of its own

# The spelling of NumPy itself; everything else is refused.
_LENGTH = "(?:0|[1-9][0-9]*)"
_HEADER_TEXT = re.compile(
    r"\{'descr': '([^']*)', 'fortran_order': (True|False), "
    rf"'shape': (\(\)|\({_LENGTH},\)|\({_LENGTH}(?:, {_LENGTH})+\)), \}} *\n"
)
# A dict of plain literals: malformed in its fields (D4), not in its text (D3).
_LITERAL = r"(?:'[^']*'|True|False|None|-?[0-9]+)"
_SEQUENCE = rf"[(\[](?:{_LITERAL}(?:, ?|(?=[)\]])))*[)\]]"
_LITERAL_DICT = re.compile(rf"\{{(?:'[^']*': (?:{_LITERAL}|{_SEQUENCE})(?:, ?|(?=\}})))*\}} *\n?")
_DESCR = re.compile(r"'descr': ('[^']*'|[^,]*)")


@dataclass(frozen=True, slots=True)
class NpyHeader:
    """What the header of a `.npy` array says."""

    descr: str
    shape: tuple[int, ...]
    fortran_order: bool
    size: int  # of the header itself, in bytes
    nbytes: int  # of the values

    @property
    def dtype(self) -> np.dtype[Any]:  # Any: one of the 25
        """The dtype, with its byte order."""
        return np.dtype(self.descr)

    @property
    def dtype_name(self) -> str:
        """The logical dtype, for example "float32" for either byte order."""
        return DTYPE_NAMES[self.descr]

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides of the array in bytes."""
        itemsize = self.dtype.itemsize
        return contiguous_strides(self.shape, itemsize, fortran_order=self.fortran_order)

    def view(self, buffer: memoryview, offset: int) -> Array:
        """Return the array in `buffer`, without a copy."""
        order: Literal["F", "C"] = "F" if self.fortran_order else "C"
        return np.ndarray(self.shape, self.dtype, buffer, offset, order=order)

    def empty(self) -> Array:
        """Return a fresh array, not filled."""
        order: Literal["F", "C"] = "F" if self.fortran_order else "C"
        array: Array = np.empty(self.shape, self.dtype, order=order)
        return array


@lru_cache(maxsize=1024)  # a model repeats a few shapes
def contiguous_strides(
    shape: tuple[int, ...], itemsize: int, *, fortran_order: bool
) -> tuple[int, ...]:
    """Return the strides in bytes of an array without gaps."""
    strides, step = [], itemsize
    for length in shape if fortran_order else reversed(shape):
        strides.append(step)
        step *= max(length, 1)
    return tuple(strides) if fortran_order else tuple(reversed(strides))


@lru_cache(maxsize=1024)
def build_npy_header(descr: str, shape: tuple[int, ...], fortran_order: bool) -> bytes:
    """Return the header that NumPy writes for such an array, byte for byte."""
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran_order}, 'shape': {shape!r}, }}"
    if shape:
        growing = shape[-1 if fortran_order else 0]
        text += " " * (_GROWTH_DIGITS - len(str(growing)))
    field = _LENGTH_FIELD[_VERSION_1]
    text += " " * (-(len(_VERSION_1) + field.size + len(text) + 1) % _PADDED_TO) + "\n"
    return _VERSION_1 + field.pack(len(text)) + text.encode("ascii")


def npy_header_size(prefix: bytes, member_size: int) -> int:
    """Return the size of the header that starts with `prefix` (D1, D2).

    `prefix` are the first `LONGEST_PREFIX` bytes of the member, or all of them.
    """
    field = _LENGTH_FIELD.get(prefix[: len(_MAGIC) + 2])
    if field is None:
        raise violation("D1", "this is no .npy array of version 1.0, 2.0 or 3.0")
    start = len(_MAGIC) + 2 + field.size
    if len(prefix) < start:
        raise violation("D2", "the member ends inside its header")
    length: int = field.unpack_from(prefix, len(_MAGIC) + 2)[0]
    if length > MAX_NPY_HEADER or start + length > member_size:
        raise violation(
            "D2",
            f"a header of {length} bytes; at most {MAX_NPY_HEADER} and the member's own "
            f"{member_size} are allowed",
        )
    return start + length


@lru_cache(maxsize=256)  # a model repeats a few headers; a failure is never remembered
def parse_npy_header(header: bytes) -> NpyHeader:
    """Return what a whole header says, after checks D3 to D5 (see `npy_header_size`)."""
    start = len(_MAGIC) + 2 + _LENGTH_FIELD[header[: len(_MAGIC) + 2]].size
    text = header[start:].decode("latin-1")
    match = _HEADER_TEXT.fullmatch(text)
    if match is None or match[1] not in DTYPE_NAMES:
        raise _malformed(text)
    descr, fortran_order, shape_text = match.groups()
    lengths = [length for length in shape_text.strip("()").rstrip(",").split(", ") if length]
    if len(lengths) > MAX_DIMENSIONS:
        raise violation("D4", f"{len(lengths)} dimensions; at most {MAX_DIMENSIONS} are read")
    if max(map(len, lengths), default=0) > _MOST_DIGITS:
        raise violation("D5", f"the shape {shape_text[:80]} is larger than any memory")
    shape = tuple(map(int, lengths))
    check_array_size(descr, shape)
    nbytes = math.prod(shape) * np.dtype(descr).itemsize
    return NpyHeader(descr, shape, fortran_order == "True", len(header), nbytes)


def check_member_size(header: NpyHeader, member_size: int) -> None:
    """Refuse a member that is shorter or longer than its header says (D6)."""
    if header.size + header.nbytes != member_size:
        raise violation(
            "D6",
            f"a {header.descr} array of shape {header.shape} has {header.nbytes} bytes, and "
            f"{member_size - header.size} follow its header",
        )


def check_array_size(descr: str, shape: tuple[int, ...]) -> None:
    """Refuse a shape that no memory can hold (D5); zero-size arrays too, as NumPy does."""
    size = math.prod(max(length, 1) for length in shape) * np.dtype(descr).itemsize
    if size > MAX_ARRAY_BYTES:
        raise violation("D5", f"the shape {shape} of {descr} is larger than any memory")


def _malformed(text: str) -> CheckpointError:
    """Return the error for a header that is not in NumPy's spelling."""
    descr = _DESCR.search(text)
    named = descr[1].strip("'") if descr else ""
    if named not in DTYPE_NAMES or not _LITERAL_DICT.fullmatch(text):
        return violation(
            "D3",
            f"the header is not in NumPy's spelling, or its dtype {quoted(named)} is not one of "
            "the 25 of this format; object and text arrays are never read",
        )
    return violation("D4", f"the fields of the header are not right: {quoted(text.strip())}")
