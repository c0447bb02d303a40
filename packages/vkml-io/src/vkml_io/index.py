"""The index of `vkml.json`: dtype, shape and place of each array in one short string (C9).

With it, the end of the file alone says what the arrays are and where.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vkml_io.errors import quoted, violation
from vkml_io.format import DTYPE_NAMES, MAX_VIEW_DIMENSIONS
from vkml_io.logical_dtypes import LOGICAL_DTYPES
from vkml_io.trailing_numbers import trailing_numbers

if TYPE_CHECKING:
    from vkml_io.aliases import Array

_DTYPE = "|".join(sorted({*DTYPE_NAMES.values(), *LOGICAL_DTYPES}))
_NUMBER = "(?:0|[1-9][0-9]{0,18})"
_SHAPE = f"(?:{_NUMBER}(?:,{_NUMBER}){{0,{MAX_VIEW_DIMENSIONS - 1}}})?"
# dtype, shape, byte of the values; then "F" for Fortran order and ">" for big-endian bytes
_ENTRY = f"(?:{_DTYPE}) {_SHAPE} {_NUMBER}(?: (?:F>?|>))?"
# All entries in one match; the possessive star never goes back.
_ENTRIES = re.compile(f"(?:{_ENTRY}\n)*+")
_OFFSETS = re.compile(f" ({_NUMBER})(?: [F>]+)?\n")


class IndexEntry(NamedTuple):
    """What the index says of one array, so that its own header need not be read."""

    dtype: str
    shape: tuple[int, ...]
    data_offset: int
    fortran_order: bool
    big_endian: bool


@lru_cache(maxsize=1024)  # a model repeats a few shapes
def _words(
    dtype: str, shape: tuple[int, ...], fortran_order: bool, big_endian: bool
) -> tuple[str, str]:
    """Return what stands before and after the offset."""
    order = ("F" if fortran_order else "") + (">" if big_endian else "")
    return f"{dtype} {','.join(map(str, shape))} ", f" {order}" if order else ""


def index_entry(
    dtype: str,
    shape: tuple[int, ...],
    data_offset: int,
    *,
    fortran_order: bool = False,
    big_endian: bool = False,
) -> str:
    """Return the index entry of an array. There is one way only to write each."""
    before, after = _words(dtype, shape, fortran_order, big_endian)
    return f"{before}{data_offset}{after}"


@lru_cache(maxsize=1024)
def _sizes(shape: str) -> tuple[int, ...]:
    return tuple(map(int, shape.split(","))) if shape else ()


class Index:
    """The entries of all arrays, checked at once and decoded one by one, when asked for."""

    def __init__(self, entries: Any, count: int) -> None:  # Any: foreign JSON
        if not isinstance(entries, list) or len(entries) != count:
            raise violation("C9", "'index' is not a list with one entry a key")
        self._entries: list[str] = entries
        try:
            self._lines = "\n".join([*entries, ""])
        except TypeError:
            raise violation("C9", "an entry of 'index' is not a string") from None
        if self._lines.count("\n") != count or not _ENTRIES.fullmatch(self._lines):
            malformed = next(entry for entry in entries if not re.fullmatch(_ENTRY, entry))
            raise violation("C9", f"the index entry {quoted(malformed)} is malformed")

    def __getitem__(self, position: int) -> str:
        return self._entries[position]

    def decode(self, position: int) -> IndexEntry:
        """Return the parts of one entry."""
        dtype, shape, offset, *rest = self._entries[position].split(" ")
        order = rest[0] if rest else ""
        return IndexEntry(dtype, _sizes(shape), int(offset), "F" in order, ">" in order)

    def words(self) -> list[str]:
        """Return each entry without its offset: "DTYPE SHAPE ORDER", where ORDER may be empty."""
        if self._lines.count(" ") == 2 * len(self._entries):  # none has an order
            return [entry[: entry.rindex(" ") + 1] for entry in self._entries]
        parts = (entry.split(" ") for entry in self._entries)
        return [f"{dtype} {shape} {''.join(order)}" for dtype, shape, _, *order in parts]

    def data_offsets(self) -> Array:
        """Return the offset of every array, in key order, as uint64."""
        offsets = trailing_numbers(self._lines)
        if offsets is None:
            offsets = np.array(list(map(int, _OFFSETS.findall(self._lines))), np.uint64)
        return offsets.astype(np.uint64)
