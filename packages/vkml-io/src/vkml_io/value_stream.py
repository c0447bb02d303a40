"""The values of an array in one spelling, whatever the file's: C order, little-endian, in pieces.

Two arrays are equal exactly if these streams are, so that contents can be hashed and compared in
bounded memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vkml_io.contents import CHUNK
from vkml_io.key_reading import read_carrier
from vkml_io.reading import check_bools, pieces_in_c_order, read_array, scan_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vkml_io.aliases import Array
    from vkml_io.archive import Archive
    from vkml_io.array_place import ArrayPlace
    from vkml_io.key_view import KeyView
    from vkml_io.values import StorageCache, Value


def stream_place(archive: Archive, place: ArrayPlace) -> Iterator[Array]:
    """Yield the values at `place` as flat arrays, then compare the checksums (D8 to D10).

    An array in Fortran order is held whole, any other piece by piece.
    """
    if place.npy.fortran_order:
        yield from stream_array(read_array(archive, place, verify=True))
        return
    for values in scan_values(archive, place):
        check_bools(place, values)
        yield _little_endian(values)


def stream_key(archive: Archive, view: KeyView) -> Iterator[Array]:
    """Yield the values of a key as flat arrays, after or before the checksums are compared.

    A dtype that NumPy lacks is given by its bits, one value in each item. A view is held whole,
    and so is an array of a dtype below eight bits.
    """
    logical = view.logical
    if not view.is_view and not view.is_packed:
        yield from stream_place(archive, view.place)
        return
    carrier = read_carrier(archive, view, verify=True)
    if logical is not None:
        carrier = logical.bits_of(
            logical.unpack(carrier, view.shape) if view.is_packed else carrier
        )
    yield from stream_array(carrier)


def stream_value(value: Value, storages: StorageCache) -> Iterator[Array]:
    """Yield the values of an array that is to be saved, as `stream_key` does."""
    array, logical = value.get(storages), value.logical
    if logical is not None:
        array = logical.bits_of(logical.unpack(array, value.shape))
    yield from stream_array(array)


def stream_array(array: Array) -> Iterator[Array]:
    """Yield the values of an array as flat arrays of bounded size."""
    if array.flags.c_contiguous:
        flat = array.reshape(-1)
        count = max(CHUNK // array.itemsize, 1)
        for start in range(0, flat.size, count):
            yield _little_endian(flat[start : start + count])
        return
    for values in pieces_in_c_order(array):
        yield _little_endian(values.copy())


def cut_evenly(pieces: Iterator[Array], count: int) -> Iterator[Array]:
    """Yield the same values in arrays of `count` of them; the last one may be shorter."""
    kept: list[Array] = []
    size = 0
    for piece in pieces:
        kept.append(piece)
        size += piece.size
        while size >= count:
            joined = kept[0] if len(kept) == 1 else np.concatenate(kept)
            yield joined[:count]
            kept = [joined[count:]]
            size -= count
    if size:
        yield np.concatenate(kept)


def _little_endian(values: Array) -> Array:
    return values.astype(values.dtype.newbyteorder("<"), copy=False)
