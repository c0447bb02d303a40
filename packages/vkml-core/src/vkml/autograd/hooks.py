"""Handles of hooks: what takes a registered function away again."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any


class RemovableHandle:
    """Takes a hook away: by `remove`, which may be called twice, or at the end of a ``with`` block.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.ones(2, requires_grad=True)
    >>> handle = x.register_hook(lambda gradient: gradient * 10)
    >>> handle.remove()
    >>> x.sum().backward()
    >>> x.grad
    tensor([1., 1.])
    """

    def __init__(self, hooks: MutableMapping[int, Any], key: int) -> None:
        self._hooks = hooks
        self._key = key

    def remove(self) -> None:
        """Take the hook away."""
        self._hooks.pop(self._key, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()
