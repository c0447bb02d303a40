"""Where the values of an array to be saved lie in memory, on whatever device that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from vkml_io.views import extent_of

if TYPE_CHECKING:
    from collections.abc import Hashable

    from vkml_io.aliases import Array
    from vkml_io.entry import VkmlEntry
    from vkml_io.values import StorageCache

_HOST = object()  # the space of all NumPy arrays


class Memory(Protocol):
    """A place in a space of addresses: this process's memory, or one storage of a device.

    Attributes
    ----------
    outline : array
        Has the dtype of the values or of their carrier, their shape and strides, no values.
    start : int
        The address of the first value.
    low, high : int
        The range that the values span; it is not empty.
    """

    outline: Array
    start: int
    low: int
    high: int

    @property
    def space(self) -> Hashable:
        """A token: addresses of equal spaces can be compared."""

    def whole(self) -> tuple[int, int]:
        """Return the range of the whole storage that the values lie in."""

    def read(self, cache: StorageCache, low: int, high: int, /) -> Array:
        """Return the bytes of a range of that storage."""


def fills(memory: Memory, low: int, high: int) -> bool:
    """Return whether a member with these values in their order holds the range, no more."""
    flags = memory.outline.flags
    contiguous = flags.c_contiguous or flags.f_contiguous
    return contiguous and (memory.low, memory.high) == (low, high)


class HostMemory:
    """The memory of a NumPy array."""

    __slots__ = ("high", "low", "outline", "start")
    space = _HOST

    def __init__(self, array: Array) -> None:
        self.outline = array
        self.start, self.low, self.high = _span(array)

    def whole(self) -> tuple[int, int]:
        """Return the range of the array that owns the memory."""
        root = self.outline
        while isinstance(root.base, np.ndarray):
            root = root.base
        _, low, high = _span(root)
        return min(low, self.low), max(high, self.high)

    def read(self, _cache: StorageCache, low: int, high: int, /) -> Array:
        """Return the bytes of a range, which are not copied."""
        return np.asarray(_HostBytes(self.outline, low, high))


def memory_of_array(array: Array) -> HostMemory | None:
    """Return where a NumPy array lies; None if it has no values."""
    return HostMemory(array) if array.size else None


class EntryMemory:
    """The storage of an entry."""

    __slots__ = ("_entry", "high", "low", "outline", "start")

    def __init__(self, entry: VkmlEntry, outline: Array) -> None:
        self._entry = entry
        self.outline = outline
        self.start = entry.offset
        self.low, self.high = extent_of(entry.shape, entry.strides, entry.offset, outline.itemsize)

    @property
    def space(self) -> Hashable:
        """The token of the storage."""
        return self._entry.storage

    def whole(self) -> tuple[int, int]:
        """Return the range of the whole storage."""
        return 0, self._entry.storage_nbytes

    def read(self, cache: StorageCache, low: int, high: int, /) -> Array:
        """Return the bytes of a range."""
        return cache.read(self._entry)[low:high]


class _HostBytes:
    """Bytes at an address. It holds the array whose memory that is."""

    def __init__(self, owner: Array, low: int, high: int) -> None:
        self._owner = owner
        self.__array_interface__ = {
            "version": 3, "typestr": "|u1", "shape": (high - low,), "data": (low, True),
        }  # fmt: skip


def _span(array: Array) -> tuple[int, int, int]:
    """Return the address of the first value, and the range of all."""
    start: int = array.__array_interface__["data"][0]
    if array.flags.c_contiguous:
        return start, start, start + array.nbytes
    low, high = extent_of(array.shape, array.strides, start, array.itemsize)
    return start, low, high
