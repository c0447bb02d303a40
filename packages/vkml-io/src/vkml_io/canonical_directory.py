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
    DIRECTORY_SIGNATURE,
    EXPANSION_FLOOR,
    EXTERNAL_ATTRIBUTES,
    FLAG_UTF8,
    HEADER_MEMBER,
    LOCAL_HEADER,
    MADE_BY_UNIX,
    MAX_NAME_BYTES,
    SENTINEL_32,
    STORED,
    TENSOR_FOLDER,
    TENSOR_SUFFIX,
    VERSION_NEEDED,
)
from vkml_io.names import forbidden_part, has_forbidden_component, member_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vkml_io.aliases import Array
    from vkml_io.end_records import DirectoryPlace

# The fixed part of a record, as DIRECTORY_RECORD has it.
RECORD = np.dtype(
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
_FIRST_PRINTABLE, _LAST_PRINTABLE = ord(" "), ord("~")  # of ASCII
_BLANK = "\0" * RECORD.itemsize
CONSTANT = {
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


def parse_canonical(
    data: bytes, place: DirectoryPlace, keys: Sequence[str]
) -> DirectoryTable | None:
    """Return the members if every record is as our writer makes it, else None.

    The members should be those of `keys`, in this order, and `vkml.json`. The keys are all
    different, which the caller has checked.
    """
    # What the directory is when the fixed part of each record is blank.
    between = TENSOR_SUFFIX + _BLANK + TENSOR_FOLDER
    first = f"{_BLANK}{TENSOR_FOLDER}{between.join(keys)}{TENSOR_SUFFIX}" if keys else ""
    text = first + _BLANK + HEADER_MEMBER
    blank = text.encode("utf-8")
    if len(blank) != len(data) or len(keys) + 1 != place.members:
        return None
    raw_keys = keys if len(text) == len(blank) else [key.encode("utf-8") for key in keys]
    lengths = np.fromiter(map(len, raw_keys), np.int64, len(keys)) + len(member_of(""))
    lengths = np.append(lengths, len(HEADER_MEMBER))
    positions = np.cumsum(lengths + RECORD.itemsize) - lengths - RECORD.itemsize
    records = records_at(data, RECORD, positions)
    if not (_are_named(records, keys, lengths) and _are_sound(records, place.offset)):
        return None
    blanked = bytearray(data)
    _windows(blanked, RECORD.itemsize)[positions] = np.zeros((), _as_bytes(RECORD.itemsize))
    return DirectoryTable(keys, records) if blanked == blank else None


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
    length = RECORD.itemsize + len(name)
    if len(data) < length or not data.endswith(name.encode("ascii")):
        return None
    record = records_at(data, RECORD, np.array([len(data) - length]))[0]
    if record["method"] != STORED or record["size"] != record["stored_size"]:
        return None
    return int(record["offset"]), int(record["size"]), int(record["crc32"])


def records_at(data: bytes, dtype: np.dtype[Any], positions: Array) -> Array:  # Any: a record
    """Return a copy of the records that start at `positions`; all must lie in `data`."""
    return _windows(data, dtype.itemsize)[positions].view(dtype)


def _windows(data: bytes | bytearray, size: int) -> Array:
    """Return a view in which element i is the `size` bytes from byte i on."""
    return np.ndarray((len(data) - size + 1,), _as_bytes(size), data, strides=(1,))


def _as_bytes(size: int) -> np.dtype[np.void]:
    """Return the dtype of so many bytes, which NumPy copies faster than fields."""
    return np.dtype((np.void, size))


def _are_sound(records: Array, directory_offset: int) -> bool:
    if not all((records[field] == value).all() for field, value in CONSTANT.items()):
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


def _are_named(records: Array, keys: Sequence[str], lengths: Array) -> bool:
    """Return whether names of these lengths are allowed, and flagged as they must be (B10)."""
    if not (records["name_length"] == lengths).all() or lengths.max() > MAX_NAME_BYTES:
        return False
    joined = "/".join(keys)  # its components are those of all keys; more than enough is refused
    if keys and has_forbidden_component(joined):
        return False
    if joined.isascii():
        text = np.frombuffer(joined.encode("ascii"), np.uint8)
        printable = ((text >= _FIRST_PRINTABLE) & (text <= _LAST_PRINTABLE)).all()
        return bool(printable) and "\\" not in joined and not records["flags"].any()
    if forbidden_part(joined) is not None:
        return False
    flags = [*(0 if key.isascii() else FLAG_UTF8 for key in keys), 0]
    return bool((records["flags"] == flags).all())
