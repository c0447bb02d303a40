"""A part of an array, by reading only the bytes between its first and its last value."""

from __future__ import annotations

from types import EllipsisType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from vkml_io.format import DEFLATED
from vkml_io.key_reading import read_key
from vkml_io.reading import check_bools

if TYPE_CHECKING:
    from vkml_io.aliases import Array
    from vkml_io.archive import Archive
    from vkml_io.key_view import KeyView


def read_slice(archive: Archive, view: KeyView, index: object, *, raw: bool) -> Array:
    """Return the part `index` of the array of a key as a fresh array."""
    basic = _basic_index(index)
    place = view.place
    if place.member.method == DEFLATED or view.is_packed:
        return np.array(read_key(archive, view, verify=False, raw=raw)[basic])
    # An array of the right shape and strides over no memory: only its addresses are used.
    whole = as_strided(np.empty(1, view.descr), view.carrier_shape, view.strides)
    part = whole[basic]
    if part.size == 0:
        return view.finish(np.empty(part.shape, part.dtype), raw=raw)
    low, high = byte_bounds(part)
    buffer = bytearray(high - low)
    start = place.data_start + view.offset
    archive.source.read_into(memoryview(buffer), start + low - _address(whole))
    first = _address(part) - low  # not 0 where a stride is negative
    result: Array = np.ndarray(part.shape, part.dtype, buffer, first, part.strides).copy()
    check_bools(place, result)
    return view.finish(result, raw=raw)


def _basic_index(index: object) -> tuple[Any, ...]:  # Any: NumPy's own index types
    """Return `index` as a tuple that always gives a view, never a value."""
    parts = index if isinstance(index, tuple) else (index,)
    for part in parts:
        basic = part is None or isinstance(part, int | np.integer | slice | EllipsisType)
        if not basic or isinstance(part, bool):
            raise TypeError(
                f"slice takes integers, slices, '...' and None, not {type(part).__name__}; "
                "read the array and index it for anything else"
            )
    return parts if Ellipsis in parts else (*parts, Ellipsis)


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address
