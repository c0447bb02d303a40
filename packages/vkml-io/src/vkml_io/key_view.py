"""The array of a key, as a view of what a member holds: where it lies, and as which dtype."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vkml_io.errors import CheckpointError, quoted, violation
from vkml_io.format import DEFLATED, HEADER_MEMBER
from vkml_io.index import index_entry
from vkml_io.logical_dtypes import (
    LOGICAL_DTYPES,
    LogicalDtype,
    as_logical,
    itemsize_of,
    numpy_dtype,
)
from vkml_io.names import is_storage_name
from vkml_io.npy import contiguous_strides
from vkml_io.views import View, check_extent

if TYPE_CHECKING:
    from vkml_io.aliases import Array
    from vkml_io.array_place import ArrayPlace
    from vkml_io.header import Header

_STORAGE_DESCR = "|u1"  # of a storage without a key: its bytes


class KeyView(NamedTuple):
    """Where the array of a key lies, and what it is.

    Attributes
    ----------
    key : str
        The key.
    place : ArrayPlace
        The member that holds its values: its own, or that of its storage.
    dtype : str
        The logical dtype by name.
    shape : tuple of int
        The shape of the array that a reader gets.
    descr : str
        The dtype of what the file holds: of the values, or of their carrier.
    carrier_shape, strides : tuple of int
        The shape and the strides in bytes of that.
    offset : int
        Where in the values of the member it begins.
    is_view : bool
        Whether the key has no member of its own.
    """

    key: str
    place: ArrayPlace
    dtype: str
    shape: tuple[int, ...]
    descr: str
    carrier_shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    is_view: bool

    @property
    def logical(self) -> LogicalDtype | None:
        """The logical dtype, if it is one that NumPy lacks."""
        return LOGICAL_DTYPES.get(self.dtype)

    @property
    def is_packed(self) -> bool:
        """Whether several values share a byte in the file."""
        return not self.is_view and self.logical is not None and self.logical.is_packed

    @property
    def value_bytes(self) -> int:
        """The size of the array that a reader gets, as if it were contiguous."""
        return math.prod(self.shape) * itemsize_of(self.dtype)

    @property
    def data_offset(self) -> int:
        """The byte of the file where the first value lies, or the deflate stream starts."""
        start = self.place.data_start
        return start if self.place.member.method == DEFLATED else start + self.offset

    def over(self, buffer: memoryview | Array, start: int = 0) -> Array:
        """Return what the file holds, in a buffer in which the member's values begin at `start`."""
        return np.ndarray(self.carrier_shape, self.descr, buffer, start + self.offset, self.strides)

    def outcome(self, *, raw: bool) -> tuple[np.dtype[Any], tuple[int, ...]]:  # Any: see npy.py
        """Return dtype and shape of the array that a reader gets."""
        if raw or self.logical is None:
            return np.dtype(self.descr), self.carrier_shape
        return numpy_dtype(self.dtype, self.key), self.shape

    def finish(self, carrier: Array, *, raw: bool) -> Array:
        """Return the array that a reader gets for what the file holds; `raw` leaves carriers."""
        logical = self.logical
        if raw or logical is None:
            return carrier
        values = logical.unpack(carrier, self.shape) if self.is_packed else carrier
        return as_logical(values, self.dtype, self.key)


def view_key(key: str, position: int, place: ArrayPlace, header: Header) -> KeyView:
    """Return how the array of the key at `position` lies at `place`, after G2, G4 and D11."""
    index = None if header.index is None else header.index[position]
    try:
        view = header.features.views.get(key)
        found = (
            _own(key, position, place, header)
            if view is None
            else _shared(key, place, view, header)
        )
        if index is not None:
            _check_index(index, found)
    except CheckpointError as error:
        error.member, error.offset = place.member.name, place.member_start
        raise
    return found


def _own(key: str, position: int, place: ArrayPlace, header: Header) -> KeyView:
    npy = place.npy
    name = header.features.dtypes.get(key)
    if name is None:
        dtype, shape = npy.dtype_name, npy.shape
    else:
        said = None if header.index is None else header.index.decode(position).shape
        dtype, shape = name, _logical_shape(key, place, LOGICAL_DTYPES[name], said)
    return KeyView(key, place, dtype, shape, npy.descr, npy.shape, npy.strides, 0, False)


def _logical_shape(
    key: str, place: ArrayPlace, logical: LogicalDtype, shape: tuple[int, ...] | None
) -> tuple[int, ...]:
    """Return the shape of an array whose member holds a carrier; the index says `shape` (G4)."""
    npy = place.npy
    if npy.descr != logical.carrier or (logical.is_packed and npy.fortran_order):
        raise violation(
            "G4",
            f"{quoted(key)} is {logical.name}, whose carrier is {logical.carrier}, and the member "
            f"holds {npy.descr}{' in Fortran order' if npy.fortran_order else ''}",
        )
    if not logical.is_packed:
        return npy.shape
    if shape is None:
        raise violation("G4", f"{quoted(key)} is {logical.name}, whose shape only an index tells")
    if logical.carrier_shape(shape) != npy.shape:
        raise violation(
            "G4",
            f"{quoted(key)} is {logical.name} of shape {shape}, whose carrier has shape "
            f"{logical.carrier_shape(shape)}, and the member's is {npy.shape}",
        )
    return shape


def _shared(key: str, place: ArrayPlace, view: View, header: Header) -> KeyView:
    if is_storage_name(view.storage):
        if place.npy.descr != _STORAGE_DESCR or len(place.npy.shape) != 1:
            raise violation("G2", f"the storage of {quoted(key)} is no uint8 array of one axis")
    elif _is_packed(header.features.dtypes.get(view.storage)):
        raise violation("G2", f"the storage of {quoted(key)} packs several values into a byte")
    check_extent(key, view, place.npy.nbytes)
    return KeyView(
        key, place, view.dtype, view.shape, view.descr, view.shape, view.strides, view.offset, True
    )


def _is_packed(dtype: str | None) -> bool:
    return dtype is not None and LOGICAL_DTYPES[dtype].is_packed


def _check_index(index: str, view: KeyView) -> None:
    fortran_order = not view.is_view and view.place.npy.fortran_order
    found = index_entry(
        view.dtype,
        view.shape,
        view.data_offset,
        fortran_order=fortran_order,
        big_endian=view.descr[0] == ">",
    )
    if index != found:
        raise violation(
            "D11",
            f"the index of {HEADER_MEMBER} says '{index}', and the array is '{found}'",
        )


def logical_strides(view: KeyView) -> tuple[int, ...]:
    """Return the strides in bytes of the array that a reader gets."""
    if view.is_packed:
        return contiguous_strides(view.shape, itemsize_of(view.dtype), fortran_order=False)
    return view.strides
