"""Copies of arrays, to be saved while the caller goes on changing his own."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vkml_io.entry import VkmlEntry, entry_of
from vkml_io.memory import memory_of_array
from vkml_io.values import StorageCache

if TYPE_CHECKING:
    from vkml_io.aliases import Array
    from vkml_io.sharing import Views


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


def snapshot(
    tensors: Mapping[str, Any],  # Any: whatever np.asarray takes
    views: Views = "preserve",
) -> dict[str, Any]:  # Any: arrays and entries
    """Return arrays of the same values, that share memory with each other as the given ones do.

    A storage behind `__vkml_entry__` is read once. Arrays that are views of one another are copied
    together, with what lies between them; any other is copied alone and compactly, unless all of
    the memory behind it is to be saved.
    """
    copies: dict[str, Any] = {}
    storages: dict[Hashable, Array] = {}
    arrays: dict[str, Array] = {}
    for key, given in tensors.items():
        entry = entry_of(given)
        if entry is not None:
            copies[key] = _copy_entry(entry, storages)
        else:
            copies[key] = arrays[key] = np.asarray(given)  # the key has its place now
    copies.update(_copy_arrays(arrays, views))
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


def _copy_arrays(arrays: Mapping[str, Array], views: Views) -> dict[str, Array]:
    copies = {key: array.copy() for key, array in arrays.items() if not array.size}
    memories = {key: memory_of_array(array) for key, array in arrays.items()}
    spans = {
        key: memory.whole() if views == "whole" else (memory.low, memory.high)
        for key, memory in memories.items()
        if memory is not None
    }
    group: list[str] = []
    low = high = 0
    for key in sorted(spans, key=lambda key: spans[key]):
        start, end = spans[key]
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
    """Copy arrays that lie between two addresses, overlapping or to be kept whole."""
    first = arrays[keys[0]]
    memory = memory_of_array(first)
    if memory is None or (len(keys) == 1 and (memory.low, memory.high) == (low, high)):
        return {keys[0]: np.array(first, order="K", copy=True)}
    # Overlapping ranges lie in one piece of memory, so that everything in between is readable.
    storage = memory.read(StorageCache(), low, high).copy()
    copies = {}
    for key in keys:
        array = arrays[key]
        offset = int(array.__array_interface__["data"][0]) - low
        copies[key] = np.ndarray(array.shape, array.dtype, storage, offset, array.strides)
    return copies
