"""The directory and the end records that vkml-io writes."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from vkml_io.canonical_directory import CONSTANT, RECORD
from vkml_io.format import (
    DATE_1980_01_01,
    DIRECTORY_RECORD,
    DIRECTORY_SIGNATURE,
    END_RECORD,
    END_SIGNATURE,
    EXTERNAL_ATTRIBUTES,
    EXTRA_HEADER,
    EXTRA_ZIP64,
    MADE_BY_UNIX,
    SENTINEL_16,
    SENTINEL_32,
    VERSION_NEEDED,
    VERSION_NEEDED_ZIP64,
    ZIP64_END_RECORD,
    ZIP64_END_RECORD_SIZE_FIELD,
    ZIP64_END_SIGNATURE,
    ZIP64_LOCATOR,
    ZIP64_LOCATOR_SIGNATURE,
)
from vkml_io.names import name_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vkml_io.directory import Member


def build_archive_end(members: Sequence[Member], offset: int) -> bytes:
    """Return the directory, which starts at `offset`, and the end records after it."""
    directory = _plain_records(members)
    if directory is None:
        directory = b"".join(map(_record, members))
    return directory + _end_records(len(members), len(directory), offset)


def archive_end_size(members: Sequence[Member], offset: int) -> int:
    """Return how long `build_archive_end` of the same arguments is."""
    size = sum(map(_record_size, members))
    return size + len(_end_records(len(members), size, offset))


def _plain_records(members: Sequence[Member]) -> bytes | None:
    """Return all records, made at once; None if one of them needs a zip64 field."""
    if not members:
        return None
    names, flags, methods, checksums, stored_sizes, sizes, offsets = zip(*members, strict=True)
    if max(*sizes, *stored_sizes, *offsets) >= SENTINEL_32:
        return None
    raw_names = [name.encode("utf-8") for name in names]
    records = np.zeros(len(members), RECORD)
    for field, value in CONSTANT.items():
        records[field] = value
    records["flags"], records["method"], records["crc32"] = flags, methods, checksums
    records["stored_size"], records["size"], records["offset"] = stored_sizes, sizes, offsets
    records["name_length"] = list(map(len, raw_names))
    fixed = records.tobytes()
    starts = range(0, len(fixed), RECORD.itemsize)
    return b"".join(
        fixed[start : start + RECORD.itemsize] + raw_name
        for start, raw_name in zip(starts, raw_names, strict=True)
    )


def _record_size(member: Member) -> int:
    if max(member.size, member.stored_size, member.offset) >= SENTINEL_32:
        return len(_record(member))
    return DIRECTORY_RECORD.size + name_size(member.name)


def _record(member: Member) -> bytes:
    raw_name = member.name.encode("utf-8")
    size, stored_size, offset = plain = (member.size, member.stored_size, member.offset)
    extra, large = b"", []
    if max(plain) >= SENTINEL_32:
        # Only what does not fit 32 bits goes into the zip64 field, in this order.
        large = [value for value in plain if value >= SENTINEL_32]
        size, stored_size, offset = (min(value, SENTINEL_32) for value in plain)
        extra = EXTRA_HEADER.pack(EXTRA_ZIP64, 8 * len(large))
        extra += struct.pack(f"<{len(large)}Q", *large)
    needed = VERSION_NEEDED_ZIP64 if large else VERSION_NEEDED
    fixed = DIRECTORY_RECORD.pack(
        DIRECTORY_SIGNATURE,
        MADE_BY_UNIX | needed,
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
        0,
        0,
        0,
        EXTERNAL_ATTRIBUTES,
        offset,
    )
    return fixed + raw_name + extra


def _end_records(count: int, size: int, offset: int) -> bytes:
    zip64 = b""
    if count >= SENTINEL_16 or size >= SENTINEL_32 or offset >= SENTINEL_32:
        needed = VERSION_NEEDED_ZIP64
        zip64 = ZIP64_END_RECORD.pack(
            ZIP64_END_SIGNATURE,
            ZIP64_END_RECORD_SIZE_FIELD,
            MADE_BY_UNIX | needed,
            needed,
            0,
            0,
            count,
            count,
            size,
            offset,
        )
        zip64 += ZIP64_LOCATOR.pack(ZIP64_LOCATOR_SIGNATURE, 0, offset + size, 1)
    small_count = min(count, SENTINEL_16)
    return zip64 + END_RECORD.pack(
        END_SIGNATURE,
        0,
        0,
        small_count,
        small_count,
        min(size, SENTINEL_32),
        min(offset, SENTINEL_32),
        0,
    )
