"""Where one array lies in the file, and what it is (D1 to D6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vkml_io.contents import chunks
from vkml_io.errors import CheckpointError
from vkml_io.format import DEFLATED
from vkml_io.npy import (
    LONGEST_PREFIX,
    NpyHeader,
    check_member_size,
    npy_header_size,
    parse_npy_header,
)

if TYPE_CHECKING:
    from vkml_io.directory import Member
    from vkml_io.local_header import MemberData
    from vkml_io.source import Source


class ArrayPlace(NamedTuple):
    """Where one array lies in the file, and what it is."""

    member: Member
    member_start: int  # of the member's own bytes, packed or not
    npy: NpyHeader
    npy_bytes: bytes  # the header itself, which the checksums cover too
    sha256: str | None  # as vkml.json says

    @property
    def data_start(self) -> int:
        """Where the values begin; of a packed array, where its deflate stream begins."""
        if self.member.method == DEFLATED:
            return self.member_start
        return self.member_start + self.npy.size


def place_array(
    source: Source, member: Member, data: MemberData, *, sha256: str | None
) -> ArrayPlace:
    """Return the place of the array in `member`."""
    start = data.start
    try:
        raw = _read_header(source, member, data)
        npy = parse_npy_header(raw)
        check_member_size(npy, member.size)
    except CheckpointError as error:
        error.member, error.offset = member.name, start
        raise
    return ArrayPlace(member, start, npy, raw, sha256)


def _read_header(source: Source, member: Member, data: MemberData) -> bytes:
    if member.method == DEFLATED:
        return _inflate_header(source, member, data.start)
    size = npy_header_size(data.head[:LONGEST_PREFIX], member.size)
    return data.head[:size] if size <= len(data.head) else source.read(data.start, size)


def _inflate_header(source: Source, member: Member, start: int) -> bytes:
    """Return the header of a packed array; `npy_header_size` bounds how much is unpacked."""
    unpacked = b""
    wanted = LONGEST_PREFIX
    for piece in chunks(source, member, start):
        unpacked += piece
        if len(unpacked) >= LONGEST_PREFIX:
            wanted = npy_header_size(unpacked[:LONGEST_PREFIX], member.size)
        if len(unpacked) >= wanted:
            return unpacked[:wanted]
    return unpacked[: npy_header_size(unpacked, member.size)]
