"""Many small arrays: neighbours are read with one call, and copied out of what it brought."""

from __future__ import annotations

import zlib
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

import numpy as np

from vkml_io.contents import check_crc
from vkml_io.format import STORED
from vkml_io.reading import check_bools

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from vkml_io.aliases import Array
    from vkml_io.archive import Archive
    from vkml_io.array_place import ArrayPlace

_SMALL = 2**13  # bytes of a member up to which it is read along with its neighbours
_NEAR = 2**13  # bytes between two members that are read for nothing
_WINDOW = 2**20  # bytes that are read at once at most


def read_small(
    archive: Archive, places: Mapping[str, ArrayPlace], *, verify: bool
) -> dict[str, Array]:
    """Return the small stored arrays among `places` as fresh ones, after D9 and D10.

    Those with a SHA-256 to compare are left out: they are read one by one.
    """
    keys = {
        place.member_start: key
        for key, place in places.items()
        if place.member.size <= _SMALL and place.member.method == STORED
        if place.sha256 is None or not verify
    }
    small = sorted((places[key] for key in keys.values()), key=attrgetter("member_start"))
    found: dict[str, Array] = {}
    for run in _runs(small):
        start = run[0].member_start
        end = run[-1].member_start + run[-1].member.size
        data = archive.source.read(start, end - start)
        for place in run:
            found[keys[place.member_start]] = _copy(place, data, start, verify=verify)
    return found


def _runs(places: Iterable[ArrayPlace]) -> Iterator[list[ArrayPlace]]:
    """Yield neighbours, by their places in the file."""
    run: list[ArrayPlace] = []
    start = end = 0
    for place in places:
        next_end = place.member_start + place.member.size
        if run and (place.member_start > end + _NEAR or next_end - start > _WINDOW):
            yield run
            run = []
        if not run:
            start = place.member_start
        run.append(place)
        end = next_end
    if run:
        yield run


def _copy(place: ArrayPlace, data: bytes, data_offset: int, *, verify: bool) -> Array:
    """Return the array at `place` out of `data`, which was read at `data_offset`."""
    member, npy = place.member, place.npy
    start = place.member_start - data_offset
    if verify:
        check_crc(member, zlib.crc32(data[start : start + member.size]))
    order: Literal["F", "C"] = "F" if npy.fortran_order else "C"
    stored = np.ndarray(npy.shape, npy.dtype, data, start + npy.size, order=order)
    array = stored.copy(order)
    if npy.descr == "|b1":
        check_bools(place, array)
    return array
