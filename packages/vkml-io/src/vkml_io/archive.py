"""An open checkpoint: its members and its header, checked (A, B, C), and where each array lies."""

from __future__ import annotations

import zlib
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, BinaryIO, Literal, Self

import numpy as np

from vkml_io.array_place import ArrayPlace, place_array
from vkml_io.canonical_archive import read_canonical
from vkml_io.canonical_places import place_canonical
from vkml_io.contents import check_crc, chunks
from vkml_io.directory import Member, check_expansion, parse_directory
from vkml_io.directory_table import DirectoryTable
from vkml_io.end_records import find_directory
from vkml_io.errors import CheckpointError, violation
from vkml_io.foreign_files import hint_of_directory
from vkml_io.format import HEADER_MEMBER, Limits
from vkml_io.header import Header, check_member_set, parse_header
from vkml_io.key_view import KeyView, view_key
from vkml_io.local_header import MemberData, find_data
from vkml_io.open_source import open_source
from vkml_io.views import check_extent, check_views_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vkml_io.aliases import Array, Mmap, PathLike
    from vkml_io.end_records import DirectoryPlace
    from vkml_io.source import Source


def check_mmap(mmap: Mmap) -> None:
    """Refuse an argument `mmap=` that means nothing."""
    if mmap not in (True, False, "c"):
        raise ValueError(f"mmap must be True, False or 'c', not {mmap!r}")


class Archive:
    """A checkpoint that passed checks A, B (but B16) and C.

    B16 and D run for a key when `locate` is first asked for it, and for all by `check_layout`.
    """

    def __init__(self, file: PathLike | BinaryIO | Source, limits: Limits) -> None:
        self.source = open_source(file, limits)
        self.members: Mapping[str, Member]
        self.header: Header
        self._found: dict[str, MemberData] = {}
        self._places: dict[str, ArrayPlace] = {}  # by member
        self._placed: dict[str, ArrayPlace] = {}  # by key: all of them, or none
        self._views: dict[str, KeyView] = {}  # by key
        self._maps: dict[Literal["r", "c"], memoryview] = {}
        try:
            self._read(limits)
        except BaseException:
            self.source.close()
            raise

    def _read(self, limits: Limits) -> None:
        source = self.source
        place = find_directory(source, limits.max_directory)
        directory = source.read(place.offset, place.size)
        self._directory_offset = place.offset
        canonical = read_canonical(source, place, directory, limits)
        if canonical is None:
            self._read_general(place, directory, limits)
        else:
            self.members, self.header = canonical
        self._check_index()
        self._check_views(limits)

    def _read_general(self, place: DirectoryPlace, directory: bytes, limits: Limits) -> None:
        source = self.source
        try:
            self.members = parse_directory(directory, place)
        except CheckpointError as error:
            error.message += hint_of_directory(directory)
            raise
        check_expansion(self.members, source.size, limits.max_expansion_ratio)
        header_member = self.members.get(HEADER_MEMBER)
        if header_member is None:
            message = f"not a vkml checkpoint: it has no {HEADER_MEMBER}"
            raise violation("B19", message + hint_of_directory(directory))
        if header_member.size > limits.max_json:
            raise violation(
                "B20",
                f"{header_member.size} bytes are more than max_json={limits.max_json}",
                member=HEADER_MEMBER,
            )
        start = self._find(header_member).start
        data = b"".join(chunks(source, header_member, start))
        check_crc(header_member, zlib.crc32(data), "C1")
        try:
            self.header = parse_header(data)
        except CheckpointError as error:
            error.member = HEADER_MEMBER
            error.offset = start
            raise
        check_member_set(self.header, set(self.members))

    @cached_property
    def positions(self) -> dict[str, int]:
        """The place of each key among all."""
        if isinstance(self.members, DirectoryTable):
            return self.members.positions
        return {key: position for position, key in enumerate(self.header.keys)}

    @cached_property
    def _digests(self) -> dict[str, str]:
        digests = self.header.sha256
        return {} if digests is None else dict(zip(self.header.stored, digests, strict=True))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. May be called twice; mapped arrays stay valid."""
        self.source.close()
        self._maps.clear()  # the last array that uses a map frees it

    @property
    def is_plain(self) -> bool:
        """Whether each key has a member of its own, with an array as NumPy knows it."""
        features = self.header.features
        return not features.views and not features.dtypes

    def locate(self, key: str) -> ArrayPlace:
        """Return where the member with the values of `key` lies: its own, or its storage's."""
        return self._placed.get(key) or self.find(key).place

    def find(self, key: str) -> KeyView:
        """Return where the array of `key` lies, after B16, D1 to D6, D11 and those of G."""
        view = self._views.get(key)
        if view is None:
            place = self.locate_member(self.header.member_of(key))
            view = view_key(key, self.positions[key], place, self.header)
            self._views[key] = view
        return view

    def locate_member(self, name: str) -> ArrayPlace:
        """Return where the array in a member lies, after checks B16 and D1 to D6."""
        if self._placed and not self._places:
            self._places = {place.member.name: place for place in self._placed.values()}
        place = self._places.get(name)
        if place is None:
            member = self.members[name]
            sha256 = self._digests.get(name)
            place = place_array(self.source, member, self._find(member), sha256=sha256)
            self._places[name] = place
        return place

    def expect(self, key: str) -> None:
        """Prepare to read all of the array of `key`, its headers included."""
        member = self.members[self.header.member_of(key)]
        self.source.expect(member.offset, self._end(member))

    def map(self, view: KeyView, *, private: bool) -> Array:
        """Return what the mapped file holds of a key whose member is stored, without a copy."""
        self.source.check_size()
        return view.over(self.mapped(private=private), view.place.data_start)

    def mapped(self, *, private: bool) -> memoryview:
        """Return the mapped file. The caller calls `source.check_size` before he uses it."""
        access: Literal["r", "c"] = "c" if private else "r"
        mapped = self._maps.get(access)
        if mapped is None:
            # A memoryview keeps the map open: an array made from the map itself would not, and
            # touching it after the map is closed kills the process.
            mapped = self._maps[access] = memoryview(self.source.map(access))
        return mapped

    def check_layout(self) -> None:
        """Check that the members follow each other without gap or overlap (B16).

        Where all headers are as our writer makes them, every array is placed along with that.
        """
        if isinstance(self.members, DirectoryTable):
            places = place_canonical(self.source, self.members, self.header, self._directory_offset)
            if places is not None:
                if self.is_plain:
                    self._placed = places
                else:  # `find` has more to check
                    self._places = {place.member.name: place for place in places.values()}
                return
        for member in self.members.values():
            self._find(member)
        first = min(self.members.values(), key=lambda member: member.offset)
        if first.offset != 0:
            raise violation(
                "B16", f"{first.offset} bytes before the first member belong to none", offset=0
            )

    def _check_views(self, limits: Limits) -> None:
        """Check how much the views show, and that each may lie in its member (G2)."""
        views = self.header.features.views
        if not views:
            return
        check_views_size(views, self.source.size, limits.max_expansion_ratio)
        for key, view in views.items():
            # The member holds a header too: `find` knows how many bytes are the storage's.
            check_extent(key, view, self.members[self.header.member_of(key)].size)

    @cached_property
    def _starts(self) -> list[int]:
        """Where members start, in ascending order, and where the directory does."""
        return [*sorted(_offsets(self.members)), self._directory_offset]

    def _end(self, member: Member) -> int:
        """Return where `member` must end: at the next one, or at the directory."""
        return self._starts[bisect_right(self._starts, member.offset)]

    def _find(self, member: Member) -> MemberData:
        """Return where the bytes of `member` begin (B16)."""
        data = self._found.get(member.name)
        if data is None:
            align = 1 if member.name == HEADER_MEMBER else self.header.align
            data = find_data(self.source, member, self._end(member), align)
            self._found[member.name] = data
        return data

    def _check_index(self) -> None:
        """Check that the index puts the values of each array inside its member (C9)."""
        if self.header.index is None:
            return
        offsets = self.header.index.data_offsets()
        if isinstance(self.members, DirectoryTable):
            starts = self.members.offsets[:-1].astype(np.uint64)  # the last is vkml.json
            ends = self.members.ends(self._directory_offset)[:-1].astype(np.uint64)
            if ((starts < offsets) & (offsets <= ends)).all():
                return
        for key, offset in zip(self.header.keys, offsets.tolist(), strict=True):
            name = self.header.member_of(key)
            member = self.members[name]
            if not member.offset < offset <= self._end(member):
                raise violation(
                    "C9", f"the index puts the values at byte {offset}, outside", member=name
                )


def _offsets(members: Mapping[str, Member]) -> list[int]:
    if isinstance(members, DirectoryTable):
        offsets: list[int] = members.offsets.tolist()
        return offsets
    return [member.offset for member in members.values()]
