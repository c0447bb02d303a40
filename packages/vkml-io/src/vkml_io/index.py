"""The index of `vkml.json`: dtype, shape and place of each array in one short string (C9).

With it, the end of the file alone says what the arrays are and where.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from vkml_io.errors import quoted, violation
from vkml_io.format import DTYPE_NAMES, MAX_DIMENSIONS

_DTYPE = "|".join(sorted(set(DTYPE_NAMES.values())))
_NUMBER = "(?:0|[1-9][0-9]{0,18})"
_SHAPE = f"(?:{_NUMBER}(?:,{_NUMBER}){{0,{MAX_DIMENSIONS - 1}}})?"
# dtype, shape, byte of the values; then "F" for Fortran order and ">" for big-endian bytes
_ENTRY = re.compile(f"({_DTYPE}) ({_SHAPE}) ({_NUMBER})(?: (F>?|>))?")
# All entries in one match; the possessive star never goes back.
_ENTRIES = re.compile(f"(?:(?:{_DTYPE}) {_SHAPE} {_NUMBER}(?: (?:F>?|>))?\n)*+")
_OFFSETS = re.compile(f" ({_NUMBER})(?: [F>]+)?\n")


class IndexEntry(NamedTuple):
    """What the index says of one array, so that its own header need not be read."""

    dtype: str
    shape: tuple[int, ...]
    data_offset: int
    fortran_order: bool = False
    big_endian: bool = False

    def __str__(self) -> str:
        shape = ",".join(map(str, self.shape))
        order = ("F" if self.fortran_order else "") + (">" if self.big_endian else "")
        return f"{self.dtype} {shape} {self.data_offset}" + (f" {order}" if order else "")


class Index:
    """The entries of all arrays, checked at once and decoded one by one, when asked for."""

    def __init__(self, entries: Any, count: int) -> None:  # Any: foreign JSON
        if not isinstance(entries, list) or len(entries) != count:
            raise violation("C9", "'index' is not a list with one entry a key")
        if not all(isinstance(entry, str) for entry in entries):
            raise violation("C9", "an entry of 'index' is not a string")
        self._entries: list[str] = entries
        self._lines = "".join(f"{entry}\n" for entry in entries)
        if self._lines.count("\n") != count or not _ENTRIES.fullmatch(self._lines):
            malformed = next(entry for entry in entries if not _ENTRY.fullmatch(entry))
            raise violation("C9", f"the index entry {quoted(malformed)} is malformed")

    def __getitem__(self, position: int) -> IndexEntry:
        match = _ENTRY.fullmatch(self._entries[position])
        assert match is not None  # noqa: S101  # all entries were matched above
        dtype, shape, offset, order = match.groups(default="")
        sizes = tuple(map(int, shape.split(","))) if shape else ()
        return IndexEntry(dtype, sizes, int(offset), "F" in order, ">" in order)

    def data_offsets(self) -> list[int]:
        """Return the offset of every array, in key order."""
        return list(map(int, _OFFSETS.findall(self._lines)))
