"""What is to be saved: any value as an array whose dtype and shape the format can hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from vkml_io.entry import VkmlEntry, entry_of
from vkml_io.errors import quoted, violation
from vkml_io.format import DTYPE_NAMES, MAX_DIMENSIONS
from vkml_io.names import member_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from vkml_io.aliases import Array


@dataclass(frozen=True, slots=True)
class Value:
    """One array to be saved: what it is now, and how to get at its values later."""

    descr: str
    shape: tuple[int, ...]
    fortran_order: bool
    nbytes: int
    get: Callable[[StorageCache], Array]


class StorageCache:
    """The storage that was read last. Each is read once while consecutive arrays use it."""

    def __init__(self) -> None:
        self._token: object = None
        self._bytes: Array | None = None

    def read(self, entry: VkmlEntry) -> Array:
        """Return the bytes of the entry's storage."""
        if self._bytes is None or self._token != entry.storage:
            self._bytes = None  # freed before the next one is made: one storage at a time
            storage: Array = np.empty(entry.storage_nbytes, np.uint8)
            entry.read_into(storage.data)
            self._token, self._bytes = entry.storage, storage
        return self._bytes


def as_value(key: str, given: Any) -> Value:  # Any: whatever np.asarray takes
    """Return `given` as it will be saved.

    Raises
    ------
    TypeError
        Its dtype is not one that a checkpoint can hold.
    CheckpointError
        It has too many dimensions.
    """
    try:
        entry = entry_of(given)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{quoted(key)} cannot be saved: {error}") from error
    if entry is not None:
        return _from_entry(key, entry)
    if isinstance(given, np.ma.MaskedArray):
        raise TypeError(
            f"{quoted(key)} is a masked array, and the mask would be lost; save `.filled()` of it"
        )
    try:
        array = np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(
            f"{quoted(key)} ({type(given).__name__}) cannot be turned into a NumPy array: {error}"
        ) from error
    return _checked(key, array, lambda _cache: array)


def _from_entry(key: str, entry: VkmlEntry) -> Value:
    if entry.dtype not in DTYPE_NAMES.values():
        raise TypeError(
            f"{quoted(key)} is {entry.dtype}, which NumPy and format version 1 cannot say; "
            "cast it to float32 before saving"
        )
    dtype = np.dtype(entry.dtype)  # in the byte order of this machine, as memory is
    # No memory is read: only dtype, shape and memory order of this array are looked at.
    outline = as_strided(np.empty(1, dtype), entry.shape, entry.strides)

    def get(cache: StorageCache) -> Array:
        storage = cache.read(entry)
        # NumPy checks that the view lies inside the storage.
        return np.ndarray(entry.shape, dtype, storage.data, entry.offset, entry.strides)

    return _checked(key, outline, get)


def _checked(key: str, array: Array, get: Callable[[StorageCache], Array]) -> Value:
    descr = array.dtype.str
    if descr not in DTYPE_NAMES:
        raise TypeError(
            f"{quoted(key)} has dtype {array.dtype}. A checkpoint holds bool, integers, float16 to "
            f"float64 and complex, so that nothing ever needs pickle; {_remedy(array.dtype)}"
        )
    if array.ndim > MAX_DIMENSIONS:
        raise violation(
            "D4",
            f"{array.ndim} dimensions; at most {MAX_DIMENSIONS} can be saved",
            member=member_of(key),
        )
    flags = array.flags
    return Value(
        descr, array.shape, flags.f_contiguous and not flags.c_contiguous, array.nbytes, get
    )


def _remedy(dtype: np.dtype[Any]) -> str:  # Any: whatever NumPy has
    if dtype.hasobject:
        return "save numbers, or put the objects into the metadata as JSON"
    if dtype.names is not None:
        return "save each field under a key of its own"
    if dtype.kind in "SUT":
        return "put text into the metadata"
    if dtype.kind in "mM":
        return "save .astype('int64') and put the unit into the metadata"
    return "cast it, for example to float32"
