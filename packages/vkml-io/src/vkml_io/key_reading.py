"""Arrays of keys out of an archive, one at a time: their members are read or mapped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from vkml_io.errors import quoted, violation
from vkml_io.extents import memory_pieces
from vkml_io.format import DEFLATED
from vkml_io.reading import holds_odd_bools, read_array

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vkml_io.aliases import Array
    from vkml_io.archive import Archive
    from vkml_io.key_view import KeyView


def read_carrier(archive: Archive, view: KeyView, *, verify: bool) -> Array:
    """Return what the file holds of a key in fresh memory; its whole storage is read."""
    return carrier_in(view, read_array(archive, view.place, verify=verify))


def carrier_in(view: KeyView, stored: Array, *, check: bool = True) -> Array:
    """Return what the file holds of a key, in the array that its member became.

    Without `check`, the array need not be filled yet.
    """
    if not view.is_view:
        return stored
    carrier = view.over(_bytes_of(stored))
    if check:
        check_view_bools(view, carrier)
    return carrier


def read_key(archive: Archive, view: KeyView, *, verify: bool, raw: bool = False) -> Array:
    """Return the array of a key in fresh memory."""
    return view.finish(read_carrier(archive, view, verify=verify), raw=raw)


def check_view_bools(view: KeyView, carrier: Array) -> None:
    """Refuse a view of bools that are neither 0 nor 1 (D10)."""
    if holds_odd_bools(carrier):
        raise violation(
            "D10",
            f"a bool of the view {quoted(view.key)} is neither 0 nor 1",
            member=view.place.member.name,
            offset=view.place.member_start,
        )


def check_view(archive: Archive, view: KeyView) -> None:
    """Check the values of a key that is a view of bools (D10); all others are checked as stored."""
    if view.is_view and view.dtype == "bool":
        for values in scan_view(archive, view):
            check_view_bools(view, values)


def scan_view(archive: Archive, view: KeyView) -> Iterator[Array]:
    """Yield what the file holds of a view, in pieces of bounded size and of any order.

    A value that the view shows many times is shown once. A packed storage is read whole.
    """
    if view.place.member.method == DEFLATED:
        stored = read_array(archive, view.place, verify=False)
        yield view.over(_bytes_of(stored))
        return
    descr = np.dtype(view.descr)
    for piece in memory_pieces(view.carrier_shape, view.strides, view.offset, descr.itemsize):
        low, high = piece.extent(descr.itemsize)
        buffer = archive.source.read(view.place.data_start + low, high - low)
        yield np.ndarray(piece.shape, descr, buffer, piece.offset - low, piece.strides)


def _bytes_of(stored: Array) -> Array:
    """Return the memory of a contiguous array as a flat array, which views can be made on."""
    order: Literal["C", "F"] = "C" if stored.flags.c_contiguous else "F"
    return stored.reshape(-1, order=order).view(np.uint8)
