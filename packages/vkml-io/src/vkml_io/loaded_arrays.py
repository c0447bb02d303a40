"""The arrays of several keys: each member is read once, and views of it share its memory."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from vkml_io.format import DEFLATED
from vkml_io.key_reading import carrier_in
from vkml_io.logical_dtypes import numpy_dtype
from vkml_io.plain_arrays import empty_plain, map_plain, read_plain
from vkml_io.reading import read_array

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vkml_io.aliases import Array, OnProgress
    from vkml_io.archive import Archive
    from vkml_io.key_view import KeyView


def check_dtypes(views: Mapping[str, KeyView]) -> None:
    """Refuse, before anything is read, dtypes whose package is not installed."""
    for key, view in views.items():
        if view.logical is not None:
            numpy_dtype(view.dtype, key)


def map_arrays(
    archive: Archive, keys: Sequence[str], *, private: bool, verify: bool, raw: bool
) -> dict[str, Array]:
    """Return arrays on the mapped file; those of deflated members are read."""
    if archive.is_plain:
        places = {key: archive.locate(key) for key in keys}
        return map_plain(archive, places, private=private, verify=verify)
    views = _find(archive, keys, raw=raw)
    read: dict[str, Array] = {}
    arrays = {}
    for key, view in views.items():
        place = view.place
        if place.member.method != DEFLATED:
            carrier = archive.map(view, private=private)
        else:
            name = place.member.name
            if name not in read:
                read[name] = read_array(archive, place, verify=verify)
            carrier = carrier_in(view, read[name])
        arrays[key] = view.finish(carrier, raw=raw)
    return arrays


def empty_arrays(archive: Archive, keys: Sequence[str], *, raw: bool) -> dict[str, Array]:
    """Return fresh arrays that are not filled."""
    if archive.is_plain:
        return empty_plain({key: archive.locate(key) for key in keys}, {})
    views = _find(archive, keys, raw=raw)
    owners = _owners(views)
    stored = empty_plain({key: views[key].place for key in owners.values()}, {})
    return {
        key: view.finish(
            carrier_in(view, stored[owners[view.place.member.name]], check=False), raw=raw
        )
        for key, view in views.items()
    }


def read_arrays(
    archive: Archive,
    keys: Sequence[str],
    into: Mapping[str, Array],
    *,
    verify: bool,
    raw: bool,
    progress: OnProgress | None,
) -> dict[str, Array]:
    """Return arrays in memory, those of `into` filled."""
    if archive.is_plain:
        places = {key: archive.locate(key) for key in keys}
        return read_plain(archive, places, into, verify=verify, progress=progress)
    views = _find(archive, keys, raw=raw)
    owners = _owners(views)
    direct = _filled_directly(views, into)
    stored = read_plain(
        archive,
        {key: views[key].place for key in owners.values()},
        {key: array.view(views[key].descr) for key, array in direct.items()},  # or its carrier
        verify=verify,
        progress=progress,
    )
    arrays = dict(direct)
    for key, view in views.items():
        if key in direct:
            continue
        arrays[key] = view.finish(carrier_in(view, stored[owners[view.place.member.name]]), raw=raw)
        if key in into:
            into[key][...] = arrays[key]
            arrays[key] = into[key]
    return {key: arrays[key] for key in views}


def _find(archive: Archive, keys: Sequence[str], *, raw: bool) -> dict[str, KeyView]:
    views = {key: archive.find(key) for key in keys}
    if not raw:
        check_dtypes(views)
    return views


def _owners(views: Mapping[str, KeyView]) -> dict[str, str]:
    """Return for each member the first key that uses it."""
    owners: dict[str, str] = {}
    for key, view in views.items():
        owners.setdefault(view.place.member.name, key)
    return owners


def _filled_directly(views: Mapping[str, KeyView], into: Mapping[str, Array]) -> dict[str, Array]:
    """Return the arrays of `into` whose member holds them as they are, for nobody else."""
    users = Counter(view.place.member.name for view in views.values())
    return {
        key: array
        for key, array in into.items()
        if not views[key].is_view
        and not views[key].is_packed
        and users[views[key].place.member.name] == 1
    }
