"""Which of the arrays to be saved share memory, and how much of it is stored for them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

from vkml_io.memory import fills
from vkml_io.names import is_storage_name
from vkml_io.views import View

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from vkml_io.aliases import Array
    from vkml_io.memory import Memory
    from vkml_io.values import StorageCache, Value

Views: TypeAlias = Literal["preserve", "whole", "copy"]
VIEWS: tuple[Views, ...] = ("preserve", "whole", "copy")


@dataclass(frozen=True, slots=True)
class Shared:
    """A range of memory that several arrays lie in, or one that is to be stored whole.

    Attributes
    ----------
    memory : Memory
        One of the arrays; it knows how to read the range.
    low, high : int
        The range, in the addresses of `memory`.
    keys : tuple of str
        The arrays, in the order in which they are saved.
    """

    memory: Memory
    low: int
    high: int
    keys: tuple[str, ...]

    def read(self, cache: StorageCache) -> Array:
        """Return the bytes of the range."""
        return self.memory.read(cache, self.low, self.high)

    def owner(self, values: Mapping[str, Value]) -> str | None:
        """Return the first key whose own member would hold the whole range."""
        for key in self.keys:
            memory = values[key].memory
            if (
                memory is not None
                and fills(memory, self.low, self.high)
                and not values[key].is_packed
                and not is_storage_name(key)  # as a storage it would mean another one
            ):
                return key
        return None

    def view(self, value: Value, storage: str) -> View | None:
        """Return how an array of this range lies in the storage of that name."""
        memory = value.memory
        if memory is None:
            return None
        return View(
            storage=storage,
            dtype=value.dtype,
            big_endian=memory.outline.dtype.str[0] == ">",
            shape=memory.outline.shape,
            strides=memory.outline.strides,
            offset=memory.start - self.low,
        )


def find_shared(values: Mapping[str, Value], views: Views) -> list[Shared]:
    """Return the memory that is stored for several arrays, in the order of their first keys."""
    if views == "copy":
        return []
    spaces: dict[Hashable, list[tuple[int, int, str]]] = {}
    for key, value in values.items():
        memory = value.memory
        if memory is not None:
            low, high = memory.whole() if views == "whole" else (memory.low, memory.high)
            spaces.setdefault(memory.space, []).append((low, high, key))
    positions = {key: position for position, key in enumerate(values)}
    found = []
    for spans in spaces.values():
        for low, high, keys in _merge(spans):
            alone = len(keys) == 1
            if alone and views != "whole":
                continue  # it shares memory with no other array
            ordered = tuple(sorted(keys, key=positions.__getitem__))
            memory = values[ordered[0]].memory
            if memory is None or (alone and fills(memory, low, high)):
                continue
            found.append(Shared(memory, low, high, ordered))
    return sorted(found, key=lambda shared: positions[shared.keys[0]])


def _merge(spans: Sequence[tuple[int, int, str]]) -> Iterable[tuple[int, int, list[str]]]:
    """Return the unions of spans that overlap."""
    ordered = sorted(spans)
    starts = [0]
    reach = ordered[0][1]
    for position, (_, (low, high, _key)) in enumerate(pairwise(ordered), 1):
        if low >= reach:
            starts.append(position)
        reach = max(reach, high)
    for start, end in pairwise([*starts, len(ordered)]):
        part = ordered[start:end]
        yield part[0][0], max(high for _, high, _ in part), [key for _, _, key in part]
