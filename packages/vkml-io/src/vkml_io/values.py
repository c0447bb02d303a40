"""What is to be saved: any value as an array whose dtype and shape the format can hold."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from vkml_io.entry import VkmlEntry, entry_of
from vkml_io.errors import quoted, violation
from vkml_io.format import DTYPE_NAMES, MAX_DIMENSIONS
from vkml_io.logical_dtypes import LOGICAL_DTYPES, LogicalDtype
from vkml_io.memory import EntryMemory, Memory, memory_of_array
from vkml_io.names import member_of
from vkml_io.torch_arrays import as_array

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from vkml_io.aliases import Array


class Value(NamedTuple):
    """One array to be saved: what it is now, and how to get at its values later.

    Attributes
    ----------
    dtype : str
        The logical dtype by name.
    shape : tuple of int
        The shape of the array.
    descr, stored_shape, fortran_order, nbytes
        What its own member would hold: the array itself, or its carrier.
    get : callable
        Returns that.
    memory : Memory or None
        Where its values lie, if there are any.
    """

    dtype: str
    shape: tuple[int, ...]
    descr: str
    stored_shape: tuple[int, ...]
    fortran_order: bool
    nbytes: int
    get: Callable[[StorageCache], Array]
    memory: Memory | None

    @property
    def logical(self) -> LogicalDtype | None:
        """The logical dtype, if it is one that NumPy lacks."""
        return LOGICAL_DTYPES.get(self.dtype)

    @property
    def is_packed(self) -> bool:
        """Whether its own member would hold several values in a byte."""
        return self.logical is not None and self.logical.is_packed


class StorageCache:
    """Storages of entries that were read: the last one, and those that are needed again."""

    def __init__(self, uses: Iterable[Hashable] = ()) -> None:
        self._uses = Counter(uses)  # the reads to come, by storage
        self._bytes: dict[Hashable, Array] = {}

    def read(self, entry: VkmlEntry) -> Array:
        """Return the bytes of the entry's storage."""
        token = entry.storage
        storage = self._bytes.get(token)
        if storage is None:
            # Freed before the next one is made: one storage at a time, as a rule.
            self._bytes = {kept: each for kept, each in self._bytes.items() if self._uses[kept] > 0}
            storage = self._bytes[token] = np.empty(entry.storage_nbytes, np.uint8)
            entry.read_into(storage.data)
        self._uses[token] -= 1
        return storage


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
        array, logical = as_array(given)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(
            f"{quoted(key)} ({type(given).__name__}) cannot be turned into a NumPy array: {error}"
        ) from error
    return _from_array(key, array, logical)


def _from_array(key: str, array: Array, logical: LogicalDtype | None) -> Value:
    if logical is None:
        memory = memory_of_array(array)
        return _checked(key, array.dtype, array, lambda _cache: array, memory)
    carrier = array.view(logical.carrier)
    memory = memory_of_array(carrier)
    return _checked(key, logical, carrier, lambda _cache: logical.pack(carrier), memory)


def _from_entry(key: str, entry: VkmlEntry) -> Value:
    logical = LOGICAL_DTYPES.get(entry.dtype)
    if logical is None and entry.dtype not in DTYPE_NAMES.values():
        raise TypeError(
            f"{quoted(key)} is {entry.dtype}, which a checkpoint cannot hold; cast it to float32 "
            "before saving"
        )
    # In the byte order of this machine, as memory is.
    dtype = np.dtype(entry.dtype if logical is None else logical.carrier)
    # No memory is read: only dtype, shape and memory order of this array are looked at.
    outline = as_strided(np.empty(1, dtype), entry.shape, entry.strides)
    memory = EntryMemory(entry, outline) if outline.size else None
    if memory is not None and (memory.low < 0 or memory.high > entry.storage_nbytes):
        raise TypeError(f"{quoted(key)} cannot be saved: its entry reaches out of its storage")

    def get(cache: StorageCache) -> Array:
        storage = cache.read(entry)
        array: Array = np.ndarray(entry.shape, dtype, storage.data, entry.offset, entry.strides)
        return array if logical is None else logical.pack(array)

    return _checked(key, logical or dtype, outline, get, memory)


def _checked(
    key: str,
    dtype: LogicalDtype | np.dtype[Any],  # Any: whatever NumPy has
    array: Array,
    get: Callable[[StorageCache], Array],
    memory: Memory | None,
) -> Value:
    """Return the value of an array, or of the carrier of one, if the format can hold it."""
    descr = array.dtype.str
    if descr not in DTYPE_NAMES:
        raise TypeError(
            f"{quoted(key)} has dtype {array.dtype}. A checkpoint holds bool, integers, floats and "
            f"complex, so that nothing ever needs pickle; {_remedy(array.dtype)}"
        )
    if array.ndim > MAX_DIMENSIONS:
        raise violation(
            "D4",
            f"{array.ndim} dimensions; at most {MAX_DIMENSIONS} can be saved",
            member=member_of(key),
        )
    shape, flags = array.shape, array.flags
    fortran_order = flags.f_contiguous and not flags.c_contiguous
    if isinstance(dtype, LogicalDtype) and dtype.is_packed:
        stored = dtype.carrier_shape(shape)
        return Value(dtype.name, shape, descr, stored, False, math.prod(stored), get, memory)
    name = dtype.name if isinstance(dtype, LogicalDtype) else DTYPE_NAMES[descr]
    return Value(name, shape, descr, shape, fortran_order, array.nbytes, get, memory)


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
