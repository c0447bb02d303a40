"""The members of an archive as columns, out of which a `Member` is made when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from vkml_io.directory import Member
from vkml_io.format import HEADER_MEMBER
from vkml_io.names import key_of, member_of

if TYPE_CHECKING:
    from vkml_io.aliases import Array

_MANY = 50  # members that are made one by one, before all are made at once


class DirectoryTable(Mapping[str, Member]):
    """A mapping from name to `Member`, in directory order.

    Parameters
    ----------
    keys : sequence of str
        The keys of the arrays, in the order of their members; `vkml.json` is behind them.
    records : structured array
        A record for each, with the other fields of `Member` among its fields.
    """

    def __init__(self, keys: Sequence[str], records: Array) -> None:
        self._keys = keys
        self.records = records
        self._asked = 0

    def __getitem__(self, name: str) -> Member:
        if self._asked < _MANY:
            self._asked += 1
            return self._make(name)
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.records)

    @cached_property
    def names(self) -> list[str]:
        """The names of the members."""
        return [*map(member_of, self._keys), HEADER_MEMBER]

    @cached_property
    def all(self) -> list[Member]:
        """Every member, in directory order."""
        columns = [self.records[field].tolist() for field in Member._fields[1:]]
        return list(map(Member._make, zip(self.names, *columns, strict=True)))

    @cached_property
    def positions(self) -> dict[str, int]:
        """The place of each key among all."""
        return {key: position for position, key in enumerate(self._keys)}

    @property
    def last(self) -> Member:
        """The member `vkml.json`."""
        return self._make(HEADER_MEMBER)

    @property
    def offsets(self) -> Array:
        """Where the local header of each member lies."""
        offsets: Array = self.records["offset"].astype(np.int64)
        return offsets

    def ends(self, directory_offset: int) -> Array:
        """Return where each member must end: at the next one, or at the directory."""
        offsets = self.offsets
        order = np.argsort(offsets, kind="stable")
        ends = np.empty_like(offsets)
        ends[order] = np.append(offsets[order][1:], directory_offset)
        return ends

    def _make(self, name: str) -> Member:
        """Return one member without making the others."""
        position = -1 if name == HEADER_MEMBER else self.positions[key_of(name)]
        record = self.records[position]
        return Member(name, *(int(record[field]) for field in Member._fields[1:]))

    @cached_property
    def _by_name(self) -> dict[str, Member]:
        return dict(zip(self.names, self.all, strict=True))
