"""The headers before all arrays, compared at once with those that vkml-io itself writes.

What this accepts, `find_data` and `place_array` accept with the same result (B16, D1 to D6 and
D11). It says None to everything else: these then find out what is wrong, if anything is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vkml_io.array_place import ArrayPlace
from vkml_io.canonical_directory import records_at
from vkml_io.errors import CheckpointError
from vkml_io.format import (
    DATE_1980_01_01,
    DTYPE_NAMES,
    EXTRA_HEADER,
    EXTRA_PADDING,
    HEADER_MEMBER,
    LOCAL_HEADER,
    LOCAL_SIGNATURE,
    STORED,
    VERSION_NEEDED,
)
from vkml_io.logical_dtypes import LOGICAL_DTYPES, descr_of
from vkml_io.npy import NpyHeader, build_npy_header, parse_npy_header

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from vkml_io.aliases import Array
    from vkml_io.directory_table import DirectoryTable
    from vkml_io.header import Header
    from vkml_io.index import Index
    from vkml_io.source import Source

# The fixed part of a local header, as LOCAL_HEADER has it.
_RECORD = np.dtype(
    [
        ("signature", "<u4"),
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
    ]
)
_CONSTANT = {
    "signature": int.from_bytes(LOCAL_SIGNATURE, "little"),
    "needed": VERSION_NEEDED,
    "time": 0,
    "date": DATE_1980_01_01,
}
_FROM_DIRECTORY = ("flags", "method", "crc32", "stored_size", "size", "name_length")

_SMALL = 2**13  # bytes of a member up to which it is read along with its neighbours
_WINDOW = 2**20  # bytes that are read at once at most


class _Layout(NamedTuple):
    """Where everything before the values of each array must be."""

    offsets: Array  # of the local headers
    starts: Array  # of the arrays' own headers
    values: Array  # of the values
    ends: Array


def place_canonical(
    source: Source, table: DirectoryTable, header: Header, directory_offset: int
) -> dict[str, ArrayPlace] | None:
    """Return the place of every array, by key, if all headers are as our writer makes them.

    Whether the index gives a logical dtype to the right keys is left to `view_key` (G4).
    """
    index = header.index
    records = table.records[:-1]  # the last is vkml.json, which was checked when it was read
    if index is None or not (records["method"] == STORED).all():
        return None
    arrays = _array_headers(index, len(header.keys), allowed=_dtypes(header))
    if arrays is None:
        return None
    raw_headers = [build_npy_header(npy.descr, npy.shape, npy.fortran_order) for npy in arrays]
    layout = _layout(table, index, arrays, header.align, directory_offset)
    if layout is None or not _headers_agree(source, table, raw_headers, layout):
        return None
    digests: Sequence[str | None] = header.sha256 or [None] * len(arrays)
    starts = layout.starts.tolist()
    places = map(ArrayPlace, table.all, starts, arrays, raw_headers, digests)
    return dict(zip(header.keys, places, strict=True))


def _dtypes(header: Header) -> Collection[str]:
    """Return the dtypes that the index may name."""
    plain = DTYPE_NAMES.values()
    return {*plain, *LOGICAL_DTYPES} if header.features.dtypes else plain


def _array_headers(index: Index, count: int, *, allowed: Collection[str]) -> list[NpyHeader] | None:
    """Return what the index says of each array, as the array's own header would."""
    known: dict[str, NpyHeader] = {}
    arrays = []
    try:
        for words in index.words():
            npy = known.get(words)
            if npy is None:
                dtype, sizes, order = words.split(" ")
                if dtype not in allowed:
                    return None
                npy = known[words] = _array_header(dtype, sizes, order)
            arrays.append(npy)
    except CheckpointError:  # too large
        return None
    return arrays if len(arrays) == count else None


def _array_header(dtype: str, sizes: str, order: str) -> NpyHeader:
    shape = tuple(map(int, sizes.split(","))) if sizes else ()
    logical = LOGICAL_DTYPES.get(dtype)
    if logical is not None:
        shape = logical.carrier_shape(shape)
    descr = descr_of(dtype, big_endian=">" in order)
    return parse_npy_header(build_npy_header(descr, shape, "F" in order))


def _layout(
    table: DirectoryTable,
    index: Index,
    arrays: list[NpyHeader],
    align: int,
    directory_offset: int,
) -> _Layout | None:
    """Return where everything must be, if sizes and offsets agree with that (B16, D6, D11)."""
    records = table.records[:-1]
    offsets = records["offset"].astype(np.int64)
    unpadded = offsets + LOCAL_HEADER.size + records["name_length"]
    padding = -unpadded % align
    padding += np.where((padding > 0) & (padding < EXTRA_HEADER.size), align, 0)
    starts = unpadded + padding
    count = len(arrays)
    header_sizes = np.fromiter((npy.size for npy in arrays), np.int64, count)
    try:
        value_sizes = np.fromiter((npy.nbytes for npy in arrays), np.int64, count)
    except OverflowError:
        return None
    values = starts + header_sizes
    ends = values + value_sizes
    follows = np.append(offsets[1:], table.last.offset)
    if (
        (records["size"].astype(np.int64) == header_sizes + value_sizes).all()
        and (ends == follows).all()
        and (index.data_offsets() == values.astype(np.uint64)).all()
        and (offsets[0] if count else table.last.offset) == 0
        and table.last.offset + LOCAL_HEADER.size + len(HEADER_MEMBER) + table.last.stored_size
        == directory_offset
    ):
        return _Layout(offsets, starts, values, ends)
    return None


def _headers_agree(
    source: Source, table: DirectoryTable, raw_headers: list[bytes], layout: _Layout
) -> bool:
    """Return whether the bytes before the values of each array are what they must be."""
    expected = _local_records(table, layout)
    before_values = [
        name.encode("utf-8") + _padding(padding) + raw_header
        for name, padding, raw_header in zip(
            table.names, expected["extra_length"].tolist(), raw_headers, strict=False
        )
    ]
    for first, last, start, end in _runs(layout):
        data = source.read(start, end - start)
        positions = layout.offsets[first:last] - start
        # As bytes: NumPy compares records field by field.
        if records_at(data, _RECORD, positions).tobytes() != expected[first:last].tobytes():
            return False
        behind = (positions + LOCAL_HEADER.size).tolist()
        if not all(map(data.startswith, before_values[first:last], behind)):
            return False
    return True


def _local_records(table: DirectoryTable, layout: _Layout) -> Array:
    """Return the fixed part of each local header."""
    directory = table.records[:-1]
    records = np.zeros(len(directory), _RECORD)
    for field, value in _CONSTANT.items():
        records[field] = value
    for field in _FROM_DIRECTORY:
        records[field] = directory[field]
    unpadded = layout.offsets + LOCAL_HEADER.size + directory["name_length"]
    records["extra_length"] = layout.starts - unpadded
    return records


@lru_cache(maxsize=128)  # most files have 64 of them
def _padding(size: int) -> bytes:
    if size == 0:
        return b""
    rest = size - EXTRA_HEADER.size
    return EXTRA_HEADER.pack(EXTRA_PADDING, rest) + bytes(rest)


def _runs(layout: _Layout) -> Iterator[tuple[int, int, int, int]]:
    """Yield which arrays are read at once: first, behind the last, and the bytes from and to.

    Of a small array everything is read, so that the next one follows; of a large one its headers.
    """
    small = layout.ends - layout.offsets <= _SMALL
    read_ends = np.where(small, layout.ends, layout.values).tolist()
    offsets: list[int] = layout.offsets.tolist()
    first = 0
    for number, (offset, read_end) in enumerate(zip(offsets, read_ends, strict=True)):
        if number > first and (
            offset != read_ends[number - 1] or read_end - offsets[first] > _WINDOW
        ):
            yield first, number, offsets[first], read_ends[number - 1]
            first = number
    if offsets:
        yield first, len(offsets), offsets[first], read_ends[-1]
