"""Copies of arrays, to be saved while the caller goes on changing his own."""

from __future__ import annotations

import ctypes
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from vkml_io.entry import VkmlEntry, entry_of

if TYPE_CHECKING:
    from vkml_io.aliases import Array


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """The entry of an array whose storage was read already (see `VkmlEntry`)."""

    storage: Hashable
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    storage_nbytes: int
    content: Array

    def read_into(self, buffer: memoryview, /) -> None:
        """Fill `buffer` with the whole storage."""
        buffer[:] = self.content.data

    def __vkml_entry__(self) -> VkmlEntry:
        return self


def snapshot(tensors: Mapping[str, Any]) -> dict[str, Any]:  # Any: whatever np.asarray takes
    """Return arrays of the same values, that share memory with each other as the given ones do.

    A storage behind `__vkml_entry__` is read once. Arrays that are views of one another are copied
    together, with what lies between them; any other is copied alone and compactly.
    """
    copies: dict[str, Any] = {}  # Any: arrays and entries
    storages: dict[Hashable, Array] = {}
    arrays: dict[str, Array] = {}
    for key, given in tensors.items():
        entry = entry_of(given)
        if entry is not None:
            copies[key] = _copy_entry(entry, storages)
        else:
            copies[key] = arrays[key] = np.asarray(given)  # the key has its place now
    copies.update(_copy_arrays(arrays))
    return copies


def _copy_entry(entry: VkmlEntry, storages: dict[Hashable, Array]) -> StoredEntry:
    content = storages.get(entry.storage)
    if content is None:
        content = storages[entry.storage] = np.empty(entry.storage_nbytes, np.uint8)
        entry.read_into(content.data)
    return StoredEntry(
        entry.storage,
        entry.dtype,
        entry.shape,
        entry.strides,
        entry.offset,
        entry.storage_nbytes,
        content,
    )


def _copy_arrays(arrays: Mapping[str, Array]) -> dict[str, Array]:
    copies = {key: array.copy() for key, array in arrays.items() if not array.size}
    group: list[str] = []
    low = high = 0
    bounds = {key: byte_bounds(array) for key, array in arrays.items() if array.size}
    for key in sorted(bounds, key=lambda key: bounds[key]):
        start, end = bounds[key]
        if group and start >= high:
            copies |= _copy_group(arrays, group, low, high)
            group = []
        if not group:
            low = high = start
        group.append(key)
        high = max(high, end)
    if group:
        copies |= _copy_group(arrays, group, low, high)
    return copies


def _copy_group(
    arrays: Mapping[str, Array], keys: list[str], low: int, high: int
) -> dict[str, Array]:
    """Copy arrays whose memory lies between two addresses, overlapping."""
    if len(keys) == 1:
        return {keys[0]: np.array(arrays[keys[0]], order="K", copy=True)}
    # Overlapping ranges lie in one piece of memory, so that everything in between is readable.
    readable = memoryview((ctypes.c_uint8 * (high - low)).from_address(low))
    memory = np.frombuffer(readable, np.uint8).copy()
    copies = {}
    for key in keys:
        array = arrays[key]
        offset = int(array.__array_interface__["data"][0]) - low
        copies[key] = np.ndarray(array.shape, array.dtype, memory.data, offset, array.strides)
    return copies
