"""The directory as vkml-io itself writes it, compared all records at a time.

What this accepts, `parse_directory` and `check_expansion` accept with the same result (B7 to B15,
B17). What it does not recognise, it leaves to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vkml_io.directory_table import DirectoryTable
from vkml_io.format import (
    DATE_1980_01_01,
    DEFLATED,
    DIRECTORY_RECORD,
    DIRECTORY_SIGNATURE,
    EXPANSION_FLOOR,
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
    from collections.abc import Sequence

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


def parse_canonical(data: bytes, place: DirectoryPlace, names: list[str]) -> DirectoryTable | None:
    """Return the members if every record is as our writer makes it, in this order, else None.

    `names` are what the directory should hold; they are all different.
    """
    if len(names) != place.members or not names:
        return None
    raw_names = [name.encode("utf-8") for name in names]
    lengths = np.fromiter(map(len, raw_names), np.int64, len(names))
    if DIRECTORY_RECORD.size * len(names) + int(lengths.sum()) != len(data):
        return None
    ends = np.cumsum(lengths + DIRECTORY_RECORD.size)
    positions = ends - lengths - DIRECTORY_RECORD.size
    records = records_at(data, _RECORD, positions)
    if not _names_are_sound(names, lengths, records) or not _records_are_sound(
        records, place.offset
    ):
        return None
    blanked = bytearray(data)
    _windows(blanked, _RECORD)[positions] = np.zeros((), _RECORD)
    blank = bytes(DIRECTORY_RECORD.size)
    return DirectoryTable(names, records) if blanked == blank + blank.join(raw_names) else None


def expands_at_most(table: DirectoryTable, file_size: int, ratio: float) -> bool:
    """Return whether `check_expansion` would have nothing to say (B17)."""
    size, stored_size = (
        table.records[field].astype(np.float64) for field in ("size", "stored_size")
    )
    total = int(table.records["size"].astype(np.int64).sum())
    allowed = np.maximum(ratio * stored_size, EXPANSION_FLOOR)
    return total <= ratio * file_size and bool((size <= allowed).all())


def last_record(data: bytes, name: str) -> tuple[int, int, int] | None:
    """Return offset, size and CRC-32 of the last member, if it is stored and called `name`."""
    length = DIRECTORY_RECORD.size + len(name)
    if len(data) < length or not data.endswith(name.encode("ascii")):
        return None
    record = records_at(data, _RECORD, np.array([len(data) - length]))[0]
    if record["method"] != STORED or record["size"] != record["stored_size"]:
        return None
    return int(record["offset"]), int(record["size"]), int(record["crc32"])


def records_at(data: bytes, dtype: np.dtype[Any], positions: Array) -> Array:  # Any: a record
    """Return a copy of the records that start at `positions`; all must lie in `data`."""
    records: Array = _windows(data, dtype)[positions]
    return records


def _windows(data: bytes | bytearray, dtype: np.dtype[Any]) -> Array:  # Any: a record
    """Return a view in which element i is the record that starts at byte i."""
    return np.ndarray((len(data) - dtype.itemsize + 1,), dtype, data, strides=(1,))


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
    )


def _names_are_sound(names: Sequence[str], lengths: Array, records: Array) -> bool:
    if not (records["name_length"] == lengths).all() or lengths.max() > MAX_NAME_BYTES:
        return False
    joined = "/".join(names)  # its components are those of all names
    if forbidden_part(joined) is not None:
        return False
    if joined.isascii():
        return not records["flags"].any()
    flags = [0 if name.isascii() else FLAG_UTF8 for name in names]
    return bool((records["flags"] == flags).all())
