"""Local headers: they must say what the directory says, and leave no gap (B16)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from vkml_io.directory import Member, resolve_zip64
from vkml_io.errors import CheckpointError, violation
from vkml_io.format import (
    DATE_1980_01_01,
    EXTRA_HEADER,
    EXTRA_PADDING,
    EXTRA_ZIP64,
    LOCAL_HEADER,
    LOCAL_SIGNATURE,
    SENTINEL_32,
    VERSION_NEEDED,
    VERSION_NEEDED_ZIP64,
)
from vkml_io.names import name_size

if TYPE_CHECKING:
    from vkml_io.source import Source


_HEAD = 128  # bytes that are read along with the header: a usual .npy header

_LocalFields: TypeAlias = tuple[bytes, int, int, int, int, int, int, int, int, int, int]


def build_local_header(member: Member, align: int) -> bytes:
    """Return the local header that vkml-io writes, padded so that the data is aligned.

    The data starts at a multiple of `align`; 1 means no padding.
    """
    raw_name = member.name.encode("utf-8")
    size, stored_size, needed, extra = member.size, member.stored_size, VERSION_NEEDED, b""
    if size >= SENTINEL_32:
        extra = EXTRA_HEADER.pack(EXTRA_ZIP64, 16)
        extra += size.to_bytes(8, "little") + stored_size.to_bytes(8, "little")
        size = stored_size = SENTINEL_32
        needed = VERSION_NEEDED_ZIP64
    padding = _padding(member.offset + LOCAL_HEADER.size + len(raw_name) + len(extra), align)
    if padding:
        extra += EXTRA_HEADER.pack(EXTRA_PADDING, padding - EXTRA_HEADER.size)
        extra += bytes(padding - EXTRA_HEADER.size)
    fixed = LOCAL_HEADER.pack(
        LOCAL_SIGNATURE,
        needed,
        member.flags,
        member.method,
        0,
        DATE_1980_01_01,
        member.crc32,
        stored_size,
        size,
        len(raw_name),
        len(extra),
    )
    return fixed + raw_name + extra


def local_header_size(member: Member, align: int) -> int:
    """Return how long `build_local_header` of the same arguments is."""
    if member.size >= SENTINEL_32:
        return len(build_local_header(member, align))
    unpadded = LOCAL_HEADER.size + name_size(member.name)
    return unpadded + _padding(member.offset + unpadded, align)


def _padding(position: int, align: int) -> int:
    """Return the size of the field that brings what follows to a multiple of `align`."""
    padding = -position % align
    # There must be room for the field's own header.
    return padding + align if 0 < padding < EXTRA_HEADER.size else padding


class MemberData(NamedTuple):
    """Where the bytes of a member begin, and the first of them."""

    start: int
    head: bytes  # of a stored array, its header as a rule


def find_data(source: Source, member: Member, end: int, align: int) -> MemberData:
    """Return where the data of `member` starts, after comparing the local header (B16).

    `end` is where the next member or the directory begins; the data must end there.
    """
    expected = build_local_header(member, align)
    start = member.offset + len(expected)
    head_size = min(member.stored_size, _HEAD)
    if start + member.stored_size == end:
        found = source.read(member.offset, len(expected) + head_size)
        # Equal to what our writer makes: nothing is left to parse.
        if found.startswith(expected):
            return MemberData(start, found[len(expected) :])
    start = _parse(source, member, end)
    return MemberData(start, source.read(start, head_size))


def _parse(source: Source, member: Member, end: int) -> int:
    # B15 made sure that these bytes lie before the directory.
    raw_name = member.name.encode("utf-8")
    head_length = LOCAL_HEADER.size + len(raw_name)
    head = source.read(member.offset, head_length)
    fields: _LocalFields = LOCAL_HEADER.unpack_from(head)
    signature, needed, flags, method, _, _, crc32, stored_size, size, name_length, extra_length = (
        fields
    )
    if signature != LOCAL_SIGNATURE:
        raise _b16(member, "there is no local header where the directory points")
    if name_length != len(raw_name) or head[LOCAL_HEADER.size :] != raw_name:
        raise _b16(member, "the local header names another file than the directory")
    data_start = member.offset + head_length + extra_length
    if data_start + member.stored_size > end:
        raise _b16(member, "the member overlaps the next one")
    extra = source.read(member.offset + head_length, extra_length)
    try:
        size, stored_size, _ = resolve_zip64(extra, size, stored_size, None)
    except ValueError as error:
        raise _b16(member, str(error)) from None
    found = (flags, method, crc32, stored_size, size)
    wanted = (member.flags, member.method, member.crc32, member.stored_size, member.size)
    if found != wanted or needed > VERSION_NEEDED_ZIP64:
        raise _b16(
            member,
            "the local header's flags, method, CRC or sizes are not the directory's: "
            f"{found} and {wanted}",
        )
    if data_start + member.stored_size != end:
        gap = end - data_start - member.stored_size
        raise _b16(member, f"{gap} bytes between this member and the next belong to none")
    return data_start


def _b16(member: Member, message: str) -> CheckpointError:
    return violation("B16", message, member=member.name, offset=member.offset)
