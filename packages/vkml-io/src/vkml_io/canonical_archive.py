"""An archive as vkml-io itself writes it: `vkml.json` says what its directory must be.

What this accepts, the general way (see `Archive`) accepts with the same result. It says None to
everything else, and the general way then finds out what is wrong, if anything is.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from vkml_io.canonical_directory import expands_at_most, last_record, parse_canonical
from vkml_io.errors import CheckpointError
from vkml_io.format import HEADER_MEMBER, LOCAL_HEADER, Limits
from vkml_io.header import Header, parse_header
from vkml_io.local_header import build_local_header

if TYPE_CHECKING:
    from vkml_io.directory_table import DirectoryTable
    from vkml_io.end_records import DirectoryPlace
    from vkml_io.source import Source


def read_canonical(
    source: Source, place: DirectoryPlace, directory: bytes, limits: Limits
) -> tuple[DirectoryTable, Header] | None:
    """Return the members and the header, after checks B7 to B20, C1 to C8 and G, or None."""
    found = last_record(directory, HEADER_MEMBER)
    if found is None:
        return None
    offset, size, crc32 = found
    local_size = LOCAL_HEADER.size + len(HEADER_MEMBER)
    if size > limits.max_json or offset + local_size + size != place.offset:
        return None
    local, data = _cut(source.read(offset, local_size + size), local_size)
    if zlib.crc32(data) != crc32:
        return None
    try:
        header = parse_header(data)
    except CheckpointError:
        return None
    if header.features.views or header.features.members:  # the members are not those of the keys
        return None
    table = parse_canonical(directory, place, header.keys)
    if table is None or not expands_at_most(table, source.size, limits.max_expansion_ratio):
        return None
    # The local header is the last thing; padding is for arrays only.
    return (table, header) if local == build_local_header(table.last, 1) else None


def _cut(data: bytes, position: int) -> tuple[bytes, bytes]:
    return data[:position], data[position:]
