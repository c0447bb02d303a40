"""Where the values of an array to be saved lie in memory, on whatever device that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vkml_io.views import extent_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from vkml_io.aliases import Array
    from vkml_io.entry import VkmlEntry
    from vkml_io.values import StorageCache

_HOST = object()  # the space of all NumPy arrays


@dataclass(frozen=True, slots=True)
class Memory:
    """A place in a space of addresses: this process's memory, or one storage of a device.

    Attributes
    ----------
    space : Hashable
        Addresses of equal spaces can be compared: the token of an entry, or that of this process.
    start : int
        The address of the first value.
    low, high : int
        The range that the values span; it is not empty.
    shape, strides : tuple of int
        The lengths and the steps of the axes, in bytes.
    descr : str
        The dtype of the values, or of their carrier.
    whole : callable
        Returns the range of the whole storage that they lie in.
    read : callable
        Returns the bytes of a range of that storage.
    """

    space: Hashable
    start: int
    low: int
    high: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    descr: str
    is_contiguous: bool
    whole: Callable[[], tuple[int, int]]
    read: Callable[[StorageCache, int, int], Array]

    def fills(self, low: int, high: int) -> bool:
        """Return whether a member with these values in their order holds the range, no more."""
        return self.is_contiguous and (self.low, self.high) == (low, high)


class _HostBytes:
    """Bytes at an address. It holds the array whose memory that is."""

    def __init__(self, owner: Array, low: int, high: int) -> None:
        self._owner = owner
        self.__array_interface__ = {
            "version": 3, "typestr": "|u1", "shape": (high - low,), "data": (low, True),
        }  # fmt: skip


def memory_of_array(array: Array) -> Memory | None:
    """Return where a NumPy array lies; None if it has no values."""
    if not array.size:
        return None
    start, low, high = _span(array)

    def whole() -> tuple[int, int]:
        root = array
        while isinstance(root.base, np.ndarray):
            root = root.base
        _, root_low, root_high = _span(root)
        return min(low, root_low), max(high, root_high)

    def read(_cache: StorageCache, low: int, high: int) -> Array:
        return np.asarray(_HostBytes(array, low, high))

    flags = array.flags
    contiguous = flags.c_contiguous or flags.f_contiguous
    return Memory(
        _HOST,
        start,
        low,
        high,
        array.shape,
        array.strides,
        array.dtype.str,
        contiguous,
        whole,
        read,
    )


def memory_of_entry(entry: VkmlEntry, outline: Array) -> Memory | None:
    """Return where the array of an entry lies; `outline` has its carrier, shape and strides."""
    if not outline.size:
        return None
    low, high = extent_of(entry.shape, entry.strides, entry.offset, outline.itemsize)
    flags = outline.flags
    return Memory(
        entry.storage,
        entry.offset,
        low,
        high,
        entry.shape,
        entry.strides,
        outline.dtype.str,
        flags.c_contiguous or flags.f_contiguous,
        lambda: (0, entry.storage_nbytes),
        lambda cache, low, high: cache.read(entry)[low:high],
    )


def _span(array: Array) -> tuple[int, int, int]:
    """Return the address of the first value, and the range of all."""
    start: int = array.__array_interface__["data"][0]
    if array.flags.c_contiguous:
        return start, start, start + array.nbytes
    low, high = extent_of(array.shape, array.strides, start, array.itemsize)
    return start, low, high
