"""The arrays of a file in which each key has a member of its own, as NumPy knows it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from vkml_io.format import DEFLATED
from vkml_io.progress import Progress
from vkml_io.reading import check_values, fill_array, read_array
from vkml_io.small_arrays import read_small

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from vkml_io.aliases import Array, OnProgress
    from vkml_io.archive import Archive
    from vkml_io.array_place import ArrayPlace

_LARGE = 2**20  # bytes of an array whose checksum is worth a thread


def map_plain(
    archive: Archive, places: Mapping[str, ArrayPlace], *, private: bool, verify: bool
) -> dict[str, Array]:
    """Return arrays on the mapped file; deflated ones are read."""
    archive.source.check_size()
    mapped = archive.mapped(private=private)
    return {
        key: read_array(archive, place, verify=verify)
        if place.member.method == DEFLATED
        else place.npy.view(mapped, place.data_start)
        for key, place in places.items()
    }


def read_plain(
    archive: Archive,
    places: Mapping[str, ArrayPlace],
    into: Mapping[str, Array],
    *,
    verify: bool,
    progress: OnProgress | None,
) -> dict[str, Array]:
    """Return arrays in memory, those of `into` filled and the others fresh."""
    fresh = {key: place for key, place in places.items() if key not in into}
    small = read_small(archive, fresh, verify=verify)
    arrays = empty_plain(places, {**into, **small})
    _fill(archive, places, arrays, small.keys(), verify=verify, progress=progress)
    return arrays


def empty_plain(places: Mapping[str, ArrayPlace], given: Mapping[str, Array]) -> dict[str, Array]:
    """Return the array that each value goes into, in the order of `places`."""
    return {key: given[key] if key in given else place.npy.empty() for key, place in places.items()}


def _fill(
    archive: Archive,
    places: Mapping[str, ArrayPlace],
    arrays: Mapping[str, Array],
    filled: AbstractSet[str],
    *,
    verify: bool,
    progress: OnProgress | None,
) -> None:
    """Read every array but those of `filled`; a large one is checked beside the next reading."""
    total = sum(place.npy.nbytes for place in places.values())
    done = 0
    with ThreadPoolExecutor(max_workers=1) as beside:  # its thread starts when it is first used
        checks = []
        for key, place in places.items():
            if key not in filled:
                values = fill_array(archive, place, arrays[key])
                if verify and values.nbytes >= _LARGE:
                    checks.append(beside.submit(check_values, place, values, verify=verify))
                else:
                    check_values(place, values, verify=verify)
            done += place.npy.nbytes
            if progress is not None:
                progress(Progress(done, total, key))
        for check in checks:
            check.result()
