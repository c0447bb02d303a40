"""The bytes of a member, whichever way it is packed (D8, D9)."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from vkml_io.errors import CheckpointError, violation
from vkml_io.format import DEFLATED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vkml_io.directory import Member
    from vkml_io.source import Source

CHUNK = 2**20  # bytes of a member held in memory at a time


def chunks(source: Source, member: Member, data_start: int) -> Iterator[bytes]:
    """Yield the unpacked bytes of `member`: exactly `member.size` of them, in bounded pieces."""
    if member.method == DEFLATED:
        yield from _inflate(source, member, data_start)
        return
    for position in range(0, member.size, CHUNK):
        yield source.read(data_start + position, min(CHUNK, member.size - position))


def check_crc(member: Member, found: int, code: str = "D9") -> None:
    """Compare a CRC-32 with the one of the directory."""
    if found != member.crc32:
        raise violation(
            code,
            f"damaged: its CRC-32 is {found:08x}, not {member.crc32:08x}; fetch the file again",
            member=member.name,
            offset=member.offset,
        )


def _inflate(source: Source, member: Member, data_start: int) -> Iterator[bytes]:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    produced, taken = 0, 0
    waiting = b""
    while not inflater.eof:
        if not waiting and taken < member.stored_size:
            size = min(CHUNK, member.stored_size - taken)
            waiting = source.read(data_start + taken, size)
            taken += size
        exhausted = not waiting
        try:
            # One byte more than is due shows a stream that goes on.
            piece = inflater.decompress(waiting, min(CHUNK, member.size - produced + 1))
        except zlib.error as error:
            raise _d8(member, f"the deflate stream is damaged ({error})") from None
        waiting = inflater.unconsumed_tail
        produced += len(piece)
        if produced > member.size:
            raise _d8(member, f"the deflate stream holds more than {member.size} bytes")
        if piece:
            yield piece
        elif exhausted and not inflater.eof:
            raise _d8(member, "the deflate stream has no end")
    if inflater.unused_data or taken < member.stored_size:
        raise _d8(member, "bytes follow the end of the deflate stream")
    if produced < member.size:
        raise _d8(member, f"the deflate stream holds {produced} bytes, not {member.size}")


def _d8(member: Member, message: str) -> CheckpointError:
    return violation("D8", message, member=member.name, offset=member.offset)
