"""How an array library hands its arrays to `save` without vkml-io knowing it.

An object with a method ``__vkml_entry__`` says what its memory holds and how to read it, on
whatever device that memory is. vkML's Tensor has the method.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Hashable


class VkmlEntry(Protocol):
    """An array as a view of a storage that can be read."""

    @property
    def storage(self) -> Hashable:
        """A token that is equal for arrays that share memory."""

    @property
    def dtype(self) -> str:
        """The logical dtype by name, for example "float32"."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides in bytes."""

    @property
    def offset(self) -> int:
        """The byte of the storage at which the first value lies."""

    @property
    def storage_nbytes(self) -> int:
        """The size of the whole storage in bytes."""

    def read_into(self, buffer: memoryview, /) -> None:
        """Fill `buffer`, which has `storage_nbytes` bytes, with the whole storage."""


def entry_of(value: object) -> VkmlEntry | None:
    """Return the entry of an array that offers one."""
    method = getattr(type(value), "__vkml_entry__", None)
    return None if method is None else method(value)
