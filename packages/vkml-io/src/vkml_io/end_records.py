"""The end of the archive: where the directory is, and how many members it has (B1 to B6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vkml_io.errors import CheckpointError, violation
from vkml_io.foreign_files import HEAD_BYTES, hint_of_head
from vkml_io.format import (
    DIRECTORY_RECORD,
    END_RECORD,
    END_SIGNATURE,
    LOCAL_SIGNATURE,
    SENTINEL_16,
    SENTINEL_32,
    VERSION_NEEDED_ZIP64,
    ZIP64_END_RECORD,
    ZIP64_END_RECORD_SIZE_FIELD,
    ZIP64_END_SIGNATURE,
    ZIP64_LOCATOR,
    ZIP64_LOCATOR_SIGNATURE,
)

if TYPE_CHECKING:
    from vkml_io.source import Source


class DirectoryPlace(NamedTuple):
    """Where the directory of the archive lies, by its end records."""

    members: int
    size: int
    offset: int


def find_directory(source: Source, max_directory: int) -> DirectoryPlace:
    """Return the place of the directory, after checks B1 to B6."""
    if source.read(0, 4) not in (LOCAL_SIGNATURE, END_SIGNATURE):
        hint = hint_of_head(source.read(0, min(HEAD_BYTES, source.size)))
        raise violation("B1", f"the file does not begin with a ZIP record{hint}", offset=0)
    end = source.size - END_RECORD.size
    place = _plain_end_record(source, end)
    start = end
    locator = _locator(source, end)
    if locator is not None:
        start = end - ZIP64_LOCATOR.size - ZIP64_END_RECORD.size
        place = _zip64_end_record(source, start, locator, place)
    elif SENTINEL_32 in (place.size, place.offset):
        raise _b4("the end record points to a zip64 record, and there is none", end)
    if place.offset + place.size != start:
        raise violation(
            "B5",
            f"the directory is said to end at byte {place.offset + place.size}, "
            f"but the end records start at {start}",
            offset=end,
        )
    if not place.members * DIRECTORY_RECORD.size <= place.size <= max_directory:
        raise violation(
            "B6",
            f"{place.members} members do not fit a directory of {place.size} bytes "
            f"(max_directory={max_directory})",
            offset=end,
        )
    return place


def _plain_end_record(source: Source, end: int) -> DirectoryPlace:
    fields = END_RECORD.unpack(source.read(end, END_RECORD.size))
    signature, disk, directory_disk, count_here, count, size, offset, comment_length = fields
    # No search backwards: that alone ends games with comments and joined archives.
    if signature != END_SIGNATURE or comment_length != 0:
        raise violation(
            "B2",
            "there is no end record at the end: the file is cut short, or something follows the "
            "archive; fetch it again",
            offset=end,
        )
    if disk != 0 or directory_disk != 0 or count_here != count:
        raise violation("B3", "the archive is said to span several disks", offset=end)
    return DirectoryPlace(count, size, offset)


def _locator(source: Source, end: int) -> tuple[bytes, int, int, int] | None:
    start = end - ZIP64_LOCATOR.size
    if start < 0:
        return None
    fields: tuple[bytes, int, int, int] = ZIP64_LOCATOR.unpack(
        source.read(start, ZIP64_LOCATOR.size)
    )
    return fields if fields[0] == ZIP64_LOCATOR_SIGNATURE else None


def _zip64_end_record(
    source: Source, start: int, locator: tuple[bytes, int, int, int], plain: DirectoryPlace
) -> DirectoryPlace:
    _, locator_disk, offset, disks = locator
    if start < 0 or offset != start or locator_disk != 0 or disks != 1:
        raise _b4("the zip64 locator does not point to the record before it", max(start, 0))
    fields = ZIP64_END_RECORD.unpack(source.read(start, ZIP64_END_RECORD.size))
    signature, record_size, _, needed, disk, directory_disk, count_here = fields[:7]
    place = DirectoryPlace(*fields[7:])
    if (
        signature != ZIP64_END_SIGNATURE
        or record_size != ZIP64_END_RECORD_SIZE_FIELD
        or needed > VERSION_NEEDED_ZIP64
        or disk != 0
        or directory_disk != 0
        or count_here != place.members
    ):
        raise _b4("the zip64 end record is malformed", start)
    sentinels = (SENTINEL_16, SENTINEL_32, SENTINEL_32)
    for plain_value, value, sentinel in zip(plain, place, sentinels, strict=True):
        if plain_value not in (value, sentinel):
            raise _b4("the two end records disagree", start)
    return place


def _b4(message: str, offset: int) -> CheckpointError:
    return violation("B4", message, offset=offset)
