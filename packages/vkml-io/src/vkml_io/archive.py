"""An open checkpoint: its members and its header, checked (A, B, C), and where each array lies."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple, Self

from vkml_io.contents import check_crc, chunks
from vkml_io.directory import Member, check_expansion, parse_directory
from vkml_io.end_records import find_directory
from vkml_io.errors import CheckpointError, violation
from vkml_io.format import DEFLATED, HEADER_MEMBER, LOCAL_HEADER, Limits
from vkml_io.header import Header, IndexEntry, check_member_set, parse_header
from vkml_io.local_header import find_data
from vkml_io.names import member_of
from vkml_io.npy import (
    LONGEST_PREFIX,
    NpyHeader,
    npy_header_size,
    parse_npy_header,
)
from vkml_io.source import Source

if TYPE_CHECKING:
    from vkml_io.aliases import Array, PathLike

_USUAL_NPY_HEADER = 128  # bytes, up to five dimensions or so


class ArrayPlace(NamedTuple):
    """Where one array lies in the file, and what it is."""

    member: Member
    member_start: int  # of the member's own bytes, packed or not
    npy: NpyHeader
    npy_bytes: bytes  # the header itself, needed for the CRC

    @property
    def data_start(self) -> int:
        """The byte of the file where the values of a stored array begin."""
        return self.member_start + self.npy.size


class Archive:
    """A checkpoint that passed checks A, B (but B16) and C.

    B16 and D run for a key when `locate` is first asked for it, and for all by `check_layout`.
    """

    def __init__(self, file: PathLike | BinaryIO, limits: Limits) -> None:
        self.source = Source(file, limits)
        self._places: dict[str, ArrayPlace] = {}
        self._maps: dict[Literal["r", "c"], memoryview] = {}
        try:
            self._read(limits)
        except BaseException:
            self.source.close()
            raise

    def _read(self, limits: Limits) -> None:
        source = self.source
        place = find_directory(source, limits.max_directory)
        self.members = parse_directory(source.read(place.offset, place.size), place)
        check_expansion(self.members, source.size, limits.max_expansion_ratio)
        header_member = self.members.get(HEADER_MEMBER)
        if header_member is None:
            raise violation("B19", f"not a vkml checkpoint: it has no {HEADER_MEMBER}")
        if header_member.size > limits.max_json:
            raise violation(
                "B20",
                f"{header_member.size} bytes are more than max_json={limits.max_json}",
                member=HEADER_MEMBER,
            )
        self._ends = _ends(self.members, place.offset)
        start = find_data(source, header_member, self._ends[HEADER_MEMBER], 1)
        data = b"".join(chunks(source, header_member, start))
        check_crc(header_member, zlib.crc32(data), "C1")
        try:
            self.header: Header = parse_header(data)
        except CheckpointError as error:
            error.member = HEADER_MEMBER
            error.offset = start
            raise
        check_member_set(self.header.keys, set(self.members))
        self.positions = {key: position for position, key in enumerate(self.header.keys)}
        self._index = self._check_index()
        digests = self.header.sha256 or ()
        self._digests = dict(zip(map(member_of, self.header.keys), digests, strict=False))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. May be called twice; mapped arrays stay valid."""
        self.source.close()
        self._maps.clear()  # the last array that uses a map frees it

    def locate(self, key: str) -> ArrayPlace:
        """Return where the array of `key` lies, after checks B16, D1 to D6 and D11."""
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = self._locate(self.members[member_of(key)])
        return place

    def sha256_of(self, place: ArrayPlace) -> str | None:
        """Return the SHA-256 that `vkml.json` gives for the member at `place`, if it does."""
        return self._digests.get(place.member.name)

    def view(self, place: ArrayPlace, *, private: bool) -> Array:
        """Return the stored array at `place` out of the mapped file, without a copy."""
        self.source.check_size()
        access: Literal["r", "c"] = "c" if private else "r"
        mapped = self._maps.get(access)
        if mapped is None:
            # A memoryview keeps the map open: an array made from the map itself would not, and
            # touching it after the map is closed kills the process.
            mapped = self._maps[access] = memoryview(self.source.map(access))
        return place.npy.view(mapped, place.data_start)

    def check_layout(self) -> None:
        """Check that the members follow each other without gap or overlap (B16)."""
        for name, member in self.members.items():
            find_data(self.source, member, self._ends[name], self.header.align)
        first = min(self.members.values(), key=lambda member: member.offset)
        if first.offset != 0:
            raise violation(
                "B16", f"{first.offset} bytes before the first member belong to none", offset=0
            )

    def _locate(self, member: Member) -> ArrayPlace:
        start = find_data(self.source, member, self._ends[member.name], self.header.align)
        index = self._index.get(member.name)
        if member.method == DEFLATED:
            npy, raw = self._deflated_header(member, start)
        else:
            npy, raw = self._stored_header(member, start)
        place = ArrayPlace(member, start, npy, raw)
        if index is not None and not _agrees(index, place):
            raise violation(
                "D11",
                f"the index of {HEADER_MEMBER} says '{index}', and the array is "
                f"{npy.descr} {npy.shape} at byte {start}",
                member=member.name,
                offset=start,
            )
        return place

    def _stored_header(self, member: Member, start: int) -> tuple[NpyHeader, bytes]:
        guess = self.source.read(start, min(member.size, _USUAL_NPY_HEADER))
        size = npy_header_size(guess[:LONGEST_PREFIX], member.name, member.size, start)
        raw = guess[:size] if size <= len(guess) else self.source.read(start, size)
        return parse_npy_header(raw, member.name, member.size, start), raw

    def _deflated_header(self, member: Member, start: int) -> tuple[NpyHeader, bytes]:
        # A header is at most 10,012 bytes, so that the first chunks hold it.
        raw = b""
        size = LONGEST_PREFIX
        for piece in chunks(self.source, member, start):
            raw += piece
            if len(raw) >= LONGEST_PREFIX:
                size = npy_header_size(raw[:LONGEST_PREFIX], member.name, member.size, start)
            if len(raw) >= size:
                break
        if len(raw) < LONGEST_PREFIX:
            size = npy_header_size(raw, member.name, member.size, start)
        return parse_npy_header(raw[:size], member.name, member.size, start), raw[:size]

    def _check_index(self) -> dict[str, IndexEntry]:
        if self.header.index is None:
            return {}
        entries = dict(zip(map(member_of, self.header.keys), self.header.index, strict=True))
        for name, entry in entries.items():
            start = self.members[name].offset + LOCAL_HEADER.size + len(name.encode("utf-8"))
            if not start <= entry.data_offset <= self._ends[name]:
                raise violation(
                    "C9",
                    f"the index puts the data at byte {entry.data_offset}, outside the member",
                    member=name,
                )
        return entries


def _agrees(index: IndexEntry, place: ArrayPlace) -> bool:
    npy = place.npy
    # A deflated array has no place of its own in the file: the stream's start stands for it.
    start = place.member_start if place.member.method == DEFLATED else place.data_start
    return index == IndexEntry(
        npy.dtype_name, npy.shape, start, npy.fortran_order, npy.descr[0] == ">"
    )


def _ends(members: dict[str, Member], directory_offset: int) -> dict[str, int]:
    """Return where each member must end: at the next one, or at the directory."""
    ordered = sorted(members.values(), key=lambda member: member.offset)
    starts = [member.offset for member in ordered[1:]]
    return {
        member.name: end for member, end in zip(ordered, [*starts, directory_offset], strict=True)
    }
