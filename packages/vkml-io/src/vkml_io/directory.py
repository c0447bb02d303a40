"""The directory of the archive, parsed strictly (B7 to B15, B17)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vkml_io.errors import violation
from vkml_io.extra_fields import zip64_values
from vkml_io.format import (
    DEFLATED,
    DIRECTORY_RECORD,
    DIRECTORY_SIGNATURE,
    DOS_DIRECTORY,
    EXPANSION_FLOOR,
    FLAG_UTF8,
    FLAGS_DEFLATE,
    LOCAL_HEADER,
    MODE_REGULAR,
    MODE_TYPE_MASK,
    SENTINEL_32,
    STORED,
    VERSION_NEEDED_ZIP64,
)
from vkml_io.names import name_problem

if TYPE_CHECKING:
    from vkml_io.end_records import DirectoryPlace


class Member(NamedTuple):
    """One member of the archive, as its directory record says."""

    name: str
    flags: int
    method: int
    crc32: int
    stored_size: int
    size: int
    offset: int  # of the local header


def parse_directory(data: bytes, place: DirectoryPlace) -> dict[str, Member]:
    """Return the members by name, in directory order."""
    members: dict[str, Member] = {}
    position = 0
    for _ in range(place.members):
        member, length = _parse_record(data, position, place.offset)
        if member.name in members:
            raise violation(
                "B11",
                "two members have this name",
                member=member.name,
                offset=place.offset + position,
            )
        members[member.name] = member
        position += length
    if position != len(data):
        raise violation(
            "B7", "bytes follow the last directory record", offset=place.offset + position
        )
    return members


def check_expansion(members: dict[str, Member], file_size: int, ratio: float) -> None:
    """Refuse a file that would unpack to far more than its own size (B17).

    The size of the *file* is the measure: members that overlap can each look modest.
    """
    remedy = f"raise max_expansion_ratio={ratio:g} if you trust it"
    total = sum(member.size for member in members.values())
    if total > ratio * file_size:
        raise violation(
            "B17", f"the file expands {total / file_size:.0f} times to {total} bytes; {remedy}"
        )
    for member in members.values():
        if member.size > max(ratio * member.stored_size, EXPANSION_FLOOR):
            raise violation(
                "B17",
                f"expands {member.size / max(member.stored_size, 1):.0f} times to "
                f"{member.size} bytes; {remedy}",
                member=member.name,
                offset=member.offset,
            )


def _parse_record(data: bytes, position: int, directory_offset: int) -> tuple[Member, int]:
    """Return the member at `position` of the directory, and the length of its record."""
    evidence = directory_offset + position
    if len(data) - position < DIRECTORY_RECORD.size:
        raise violation("B7", "the directory is shorter than its members", offset=evidence)
    (
        signature,
        _made_by,
        needed,
        flags,
        method,
        _time,
        _date,
        crc32,
        stored_size,
        size,
        name_length,
        extra_length,
        comment_length,
        disk,
        _internal,
        external,
        offset,
    ) = DIRECTORY_RECORD.unpack_from(data, position)
    name_start = position + DIRECTORY_RECORD.size
    extra_start = name_start + name_length
    record_end = extra_start + extra_length + comment_length
    if signature != DIRECTORY_SIGNATURE or record_end > len(data):
        raise violation("B7", "this is no whole directory record", offset=evidence)
    name, problem = _decode_name(data[name_start:extra_start], flags)
    check_flags_and_method(flags, method, needed, name, evidence)
    if problem is not None:
        raise violation("B10", f"the name is not allowed: {problem}", member=name, offset=evidence)
    if extra_length or SENTINEL_32 in (stored_size, size, offset):
        extra = data[extra_start : extra_start + extra_length]
        try:
            size, stored_size, offset = resolve_zip64(extra, size, stored_size, offset)
        except ValueError as error:
            raise violation("B12", str(error), member=name, offset=evidence) from None
    if method == STORED and size != stored_size:
        raise violation(
            "B9", f"stored, with sizes {stored_size} and {size}", member=name, offset=evidence
        )
    if external and (
        external & DOS_DIRECTORY or (external >> 16) & MODE_TYPE_MASK not in (0, MODE_REGULAR)
    ):
        raise violation("B13", "this is not a plain file", member=name, offset=evidence)
    if comment_length or disk:
        raise violation("B14", "a comment, or another disk", member=name, offset=evidence)
    if offset + LOCAL_HEADER.size + name_length + stored_size > directory_offset:
        raise violation(
            "B15",
            f"the data is said to start behind byte {offset} and to have {stored_size} bytes, "
            f"which goes past the directory at {directory_offset}",
            member=name,
            offset=evidence,
        )
    return Member(name, flags, method, crc32, stored_size, size, offset), record_end - position


def check_flags_and_method(flags: int, method: int, needed: int, name: str, evidence: int) -> None:
    """Refuse encryption, data descriptors, unknown methods and newer ZIP versions (B8, B9)."""
    if flags & ~(FLAG_UTF8 | FLAGS_DEFLATE):
        raise violation(
            "B8", f"flags 0x{flags:04x} (encrypted, or a data descriptor)", member=name,
            offset=evidence,
        )  # fmt: skip
    if method not in (STORED, DEFLATED):
        raise violation(
            "B9",
            f"compression method {method}; only stored (0) and deflated (8) are allowed",
            member=name,
            offset=evidence,
        )
    if needed > VERSION_NEEDED_ZIP64 or (method == STORED and flags & FLAGS_DEFLATE):
        raise violation(
            "B8", f"version {needed} or flags 0x{flags:04x}", member=name, offset=evidence
        )


def resolve_zip64(
    extra: bytes, size: int, stored_size: int, offset: int | None
) -> tuple[int, int, int]:
    """Return size, stored size and offset, with the values of the zip64 field put in.

    A local header has no offset: pass None. Raises ValueError when the fields are malformed.
    """
    plain = (size, stored_size, 0 if offset is None else offset)
    values = iter(zip64_values(extra, plain.count(SENTINEL_32)))
    size, stored_size, offset = (next(values) if p == SENTINEL_32 else p for p in plain)
    return size, stored_size, offset


def _decode_name(raw: bytes, flags: int) -> tuple[str, str | None]:
    """Return the name of a member, and what is wrong with it (B10)."""
    if raw.isascii():
        name = raw.decode("ascii")
        wrong_flag = flags & FLAG_UTF8 != 0
    else:
        try:
            name = raw.decode("utf-8")
        except UnicodeDecodeError:
            return raw.decode("utf-8", "backslashreplace"), "it is not UTF-8"
        wrong_flag = flags & FLAG_UTF8 == 0
    problem = name_problem(name)
    if problem is None and wrong_flag:
        problem = "the UTF-8 flag does not fit it"
    return name, problem
