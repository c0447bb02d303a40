"""The members of an archive as columns, out of which a `Member` is made when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from vkml_io.directory import Member

if TYPE_CHECKING:
    from vkml_io.aliases import Array


class DirectoryTable(Mapping[str, Member]):
    """A mapping from name to `Member`, in directory order.

    Parameters
    ----------
    names : list of str
        The names, all different.
    records : structured array
        A record for each, with the other fields of `Member` among its fields.
    """

    def __init__(self, names: list[str], records: Array) -> None:
        self.names = names
        self.records = records

    def __getitem__(self, name: str) -> Member:
        position = self._positions[name]
        record = self.records[position]
        return Member(name, *(int(record[field]) for field in Member._fields[1:]))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def members(self) -> list[Member]:
        """Return every member, in directory order."""
        columns = [self.records[field].tolist() for field in Member._fields[1:]]
        return list(map(Member._make, zip(self.names, *columns, strict=True)))

    def ends(self, directory_offset: int) -> Array:
        """Return where each member must end: at the next one, or at the directory."""
        offsets = self.records["offset"].astype(np.int64)
        order = np.argsort(offsets, kind="stable")
        ends = np.empty_like(offsets)
        ends[order] = np.append(offsets[order][1:], directory_offset)
        return ends

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.names)}
