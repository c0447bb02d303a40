"""The header of one `.npy` array, written and read without evaluating anything (D1 to D6)."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from vkml_io.errors import CheckpointError, quoted, violation
from vkml_io.format import DTYPE_NAMES, MAX_ARRAY_BYTES, MAX_DIMENSIONS, MAX_NPY_HEADER

if TYPE_CHECKING:
    from vkml_io.aliases import Array

_MAGIC = b"\x93NUMPY"
# Of each version: how the length of the header text is written.
_LENGTH_FIELD = {(1, 0): struct.Struct("<H"), (2, 0): struct.Struct("<I"), (3, 0): struct.Struct("<I")}  # fmt: skip
LONGEST_PREFIX = len(_MAGIC) + 2 + 4  # magic, version, length
_PADDED_TO = 64  # NumPy pads its header so that the data is aligned
_GROWTH_DIGITS = 21  # NumPy leaves room for the axis along which a file may be appended to

# The spelling of NumPy itself; everything else is refused.
_HEADER_TEXT = re.compile(
    r"\{'descr': '([^']*)', 'fortran_order': (True|False), "
    r"'shape': (\(\)|\([0-9]+,\)|\([0-9]+(?:, [0-9]+)+\)), \} *\n"
)
# A dict of plain literals: malformed in its fields (D4), not in its text (D3).
_LITERAL = r"(?:'[^']*'|True|False|None|-?[0-9]+)"
_SEQUENCE = rf"[(\[](?:{_LITERAL}(?:, ?|(?=[)\]])))*[)\]]"
_LITERAL_DICT = re.compile(rf"\{{(?:'[^']*': (?:{_LITERAL}|{_SEQUENCE})(?:, ?|(?=\}})))*\}} *\n?")
_DESCR = re.compile(r"'descr': ('[^']*'|[^,]*)")


_Violation: TypeAlias = Callable[[str, str], CheckpointError]  # (code, message)


class NpyHeader(NamedTuple):
    """What the header of a `.npy` array says."""

    descr: str
    shape: tuple[int, ...]
    fortran_order: bool
    size: int  # of the header itself, in bytes

    @property
    def dtype_name(self) -> str:
        """The logical dtype, for example "float32" for either byte order."""
        return DTYPE_NAMES[self.descr]

    @property
    def nbytes(self) -> int:
        """The size of the array in bytes."""
        return math.prod(self.shape) * np.dtype(self.descr).itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides of the array in bytes."""
        itemsize = np.dtype(self.descr).itemsize
        return contiguous_strides(self.shape, itemsize, fortran_order=self.fortran_order)

    def view(self, buffer: memoryview | bytes | bytearray, offset: int) -> Array:
        """Return the array in `buffer`, without a copy."""
        order = "F" if self.fortran_order else "C"
        return np.ndarray(self.shape, np.dtype(self.descr), buffer, offset, order=order)

    def empty(self) -> Array:
        """Return a fresh array, not filled."""
        order = "F" if self.fortran_order else "C"
        return np.empty(self.shape, np.dtype(self.descr), order=order)


def contiguous_strides(
    shape: tuple[int, ...], itemsize: int, *, fortran_order: bool
) -> tuple[int, ...]:
    """Return the strides in bytes of an array without gaps."""
    strides, step = [], itemsize
    for length in shape if fortran_order else reversed(shape):
        strides.append(step)
        step *= max(length, 1)
    return tuple(strides) if fortran_order else tuple(reversed(strides))


@lru_cache(maxsize=1024)  # a model repeats a few shapes
def build_npy_header(descr: str, shape: tuple[int, ...], fortran_order: bool) -> bytes:
    """Return the header that NumPy writes for such an array, byte for byte."""
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran_order}, 'shape': {shape!r}, }}"
    if shape:
        growing = shape[-1 if fortran_order else 0]
        text += " " * (_GROWTH_DIGITS - len(str(growing)))
    prefix_size = len(_MAGIC) + 2 + 2
    padding = -(prefix_size + len(text) + 1) % _PADDED_TO
    text += " " * padding + "\n"
    return _MAGIC + bytes((1, 0)) + _LENGTH_FIELD[1, 0].pack(len(text)) + text.encode("ascii")


def npy_header_size(prefix: bytes, member: str, member_size: int, offset: int | None) -> int:
    """Return the size of the header that starts with `prefix` (D1, D2).

    `prefix` are the first `LONGEST_PREFIX` bytes of the member, or all of them.
    """
    fail: _Violation = partial(violation, member=member, offset=offset)
    version = (prefix[6], prefix[7]) if len(prefix) > len(_MAGIC) + 1 else None
    if prefix[: len(_MAGIC)] != _MAGIC or version not in _LENGTH_FIELD:
        raise fail("D1", "this is no .npy array of version 1.0, 2.0 or 3.0")
    field = _LENGTH_FIELD[version]
    start = len(_MAGIC) + 2 + field.size
    if len(prefix) < start:
        raise fail("D2", "the member ends inside its header")
    (length,) = field.unpack_from(prefix, len(_MAGIC) + 2)
    if length > MAX_NPY_HEADER or start + length > member_size:
        raise fail(
            "D2",
            f"a header of {length} bytes; at most {MAX_NPY_HEADER} and the member's own "
            f"{member_size} are allowed",
        )
    return start + length


def parse_npy_header(
    header: bytes, member: str, member_size: int, offset: int | None = None
) -> NpyHeader:
    """Return what `header` says, after checks D3 to D6. It is whole (see `npy_header_size`)."""
    fail: _Violation = partial(violation, member=member, offset=offset)
    start = len(_MAGIC) + 2 + _LENGTH_FIELD[header[6], header[7]].size
    text = header[start:].decode("latin-1")
    match = _HEADER_TEXT.fullmatch(text)
    if match is None or match[1] not in DTYPE_NAMES:
        raise _malformed(text, fail)
    descr, fortran_order, shape_text = match.groups()
    lengths = shape_text.strip("()").rstrip(",")
    # Nineteen digits are more than any dimension has, and keep int() away from its own limit.
    if any(len(length) > 19 for length in lengths.split(", ")):
        raise fail("D5", f"the shape {shape_text[:80]} is larger than any memory")
    shape = tuple(map(int, lengths.split(", "))) if lengths else ()
    if len(shape) > MAX_DIMENSIONS:
        raise fail("D4", f"{len(shape)} dimensions; at most {MAX_DIMENSIONS} are read")
    found = NpyHeader(descr, shape, fortran_order == "True", len(header))
    check_array_size(descr, shape, fail)
    if found.size + found.nbytes != member_size:
        raise fail(
            "D6",
            f"a {descr} array of shape {shape} has {found.nbytes} bytes, "
            f"and {member_size - found.size} follow its header",
        )
    return found


def check_array_size(descr: str, shape: tuple[int, ...], fail: _Violation) -> None:
    """Refuse a shape that no memory can hold (D5); zero-size arrays too, as NumPy does."""
    size = math.prod(max(length, 1) for length in shape) * np.dtype(descr).itemsize
    if size > MAX_ARRAY_BYTES:
        raise fail("D5", f"the shape {shape} of {descr} is larger than any memory")


def _malformed(text: str, fail: _Violation) -> CheckpointError:
    """Return the error for a header that is not in NumPy's spelling."""
    descr = _DESCR.search(text)
    named = descr[1].strip("'") if descr else ""
    if descr is None or named not in DTYPE_NAMES or not _LITERAL_DICT.fullmatch(text):
        return fail(
            "D3",
            f"the header is not in NumPy's spelling, or its dtype {quoted(named)} is not one of "
            "the 25 of this format; object and text arrays are never read",
        )
    return fail("D4", f"the fields of the header are not right: {quoted(text.strip())}")
