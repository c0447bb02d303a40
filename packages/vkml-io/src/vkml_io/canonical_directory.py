"""The directory as vkml-io itself writes it, checked all records at a time.

What this accepts, `parse_directory` accepts with the same result (B7 to B15). What it does not
recognise, it leaves to that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vkml_io.directory import Member
from vkml_io.format import (
    DATE_1980_01_01,
    DEFLATED,
    DIRECTORY_RECORD,
    DIRECTORY_SIGNATURE,
    EXTERNAL_ATTRIBUTES,
    FLAG_UTF8,
    LOCAL_HEADER,
    MADE_BY_UNIX,
    MAX_NAME_BYTES,
    SENTINEL_32,
    STORED,
    VERSION_NEEDED,
)
from vkml_io.names import forbidden_part

if TYPE_CHECKING:
    from vkml_io.aliases import Array
    from vkml_io.end_records import DirectoryPlace

# The fixed part of a record, as DIRECTORY_RECORD has it.
_RECORD = np.dtype(
    [
        ("signature", "<u4"),
        ("made_by", "<u2"),
        ("needed", "<u2"),
        ("flags", "<u2"),
        ("method", "<u2"),
        ("time", "<u2"),
        ("date", "<u2"),
        ("crc32", "<u4"),
        ("stored_size", "<u4"),
        ("size", "<u4"),
        ("name_length", "<u2"),
        ("extra_length", "<u2"),
        ("comment_length", "<u2"),
        ("disk", "<u2"),
        ("internal", "<u2"),
        ("external", "<u4"),
        ("offset", "<u4"),
    ]
)
_NAME_LENGTH = 28  # where the length of the name stands
_CONSTANT = {
    "signature": int.from_bytes(DIRECTORY_SIGNATURE, "little"),
    "made_by": MADE_BY_UNIX | VERSION_NEEDED,
    "needed": VERSION_NEEDED,
    "time": 0,
    "date": DATE_1980_01_01,
    "extra_length": 0,
    "comment_length": 0,
    "disk": 0,
    "internal": 0,
    "external": EXTERNAL_ATTRIBUTES,
}


def parse_canonical(data: bytes, place: DirectoryPlace) -> dict[str, Member] | None:
    """Return the members by name if every record is as our writer makes it, else None."""
    walked = _walk(data, place.members)
    if walked is None:
        return None
    names, positions = walked
    fixed = np.frombuffer(data, np.uint8)[
        np.asarray(positions, np.int64)[:, np.newaxis] + np.arange(DIRECTORY_RECORD.size)
    ]
    records = fixed.view(_RECORD).reshape(-1)
    if not _records_are_sound(records, place.offset) or not _names_are_sound(names, records):
        return None
    columns = [records[field].tolist() for field in Member._fields[1:]]
    members = map(Member._make, zip(names, *columns, strict=True))
    by_name = dict(zip(names, members, strict=True))
    return by_name if len(by_name) == len(names) else None


def _walk(data: bytes, count: int) -> tuple[list[str], list[int]] | None:
    """Return name and position of each record, if there are only names between them."""
    names: list[str] = []
    positions: list[int] = []
    position = 0
    try:
        for _ in range(count):
            length = data[position + _NAME_LENGTH] | data[position + _NAME_LENGTH + 1] << 8
            start = position + DIRECTORY_RECORD.size
            positions.append(position)
            position = start + length
            names.append(str(data[start:position], "utf-8"))
    except (IndexError, UnicodeDecodeError):
        return None
    return (names, positions) if position == len(data) else None


def _records_are_sound(records: Array, directory_offset: int) -> bool:
    if not all((records[field] == value).all() for field, value in _CONSTANT.items()):
        return False
    size, stored_size, offset = (
        records[field].astype(np.int64) for field in ("size", "stored_size", "offset")
    )
    stored = records["method"] == STORED
    end = offset + LOCAL_HEADER.size + records["name_length"] + stored_size
    return bool(
        (stored | (records["method"] == DEFLATED)).all()
        and (size == stored_size)[stored].all()
        and (np.maximum(np.maximum(size, stored_size), offset) < SENTINEL_32).all()
        and (end <= directory_offset).all()
        and (records["name_length"] <= MAX_NAME_BYTES).all()
    )


def _names_are_sound(names: list[str], records: Array) -> bool:
    joined = "/".join(names)  # its components are those of all names
    if forbidden_part(joined) is not None:
        return False
    if joined.isascii():
        return not records["flags"].any()
    flags = [0 if name.isascii() else FLAG_UTF8 for name in names]
    return bool((records["flags"] == flags).all())
