"""A launch: a dispatch with everything about it that stays the same from run to run.

The argument block of a shader is a sequence of 32-bit words: first what varies (addresses of two
words each, then numbers), then what follows from the layouts of the operands (sizes, strides). A
launch keeps the block; a run writes only its head.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vkml_vulkan.profile import PUSH_BYTES

if TYPE_CHECKING:
    from vkml_vulkan._api import Vulkan
    from vkml_vulkan.pipelines import Pipeline

MAX_ARGUMENT_BYTES = 1024
"""The longest block: rank 8 and four strided operands take less than half of it."""


def is_long(head: str, tail: Sequence[int]) -> bool:
    """Return whether a block of arguments is longer than what can be pushed."""
    return struct.calcsize("<" + head) + 4 * len(tail) > PUSH_BYTES


class Launch:
    """A prepared dispatch.

    Attributes
    ----------
    name : str
        The operation, for messages.
    pack : callable
        ``pack(memory, 0, *arguments)`` writes the head of the block.
    memory, pointer
        The block, for Python and for Vulkan; `nbytes` long.
    in_ring : bool
        The block is longer than what can be pushed, so that only its address is.
    x, y, z : int
        Workgroups.
    work : int
        About how many elements times steps it computes.
    """

    __slots__ = (
        "in_ring", "layout", "memory", "name", "nbytes", "pack", "pipeline", "pointer",
        "ring_address", "work", "x", "y", "z",
    )  # fmt: skip

    def __init__(
        self,
        api: Vulkan,
        name: str,
        pipeline: Pipeline,
        head: str,
        tail: Sequence[int],
        groups: tuple[int, int, int],
        work: int,
    ) -> None:
        packer = struct.Struct("<" + head)
        words = struct.pack(f"<{len(tail)}I", *(each & 0xFFFFFFFF for each in tail))
        self.nbytes = packer.size + len(words)
        if self.nbytes > MAX_ARGUMENT_BYTES:
            raise ValueError(f"{name}: {self.nbytes} bytes of arguments; rank too high?")
        self.name = name
        self.pipeline = pipeline
        self.layout: Any = pipeline.layout
        self.pack = packer.pack_into
        self.pointer: Any = api.ffi.new("char[]", max(self.nbytes, 4))
        self.memory: Any = api.ffi.buffer(self.pointer)
        self.memory[packer.size : self.nbytes] = words
        self.in_ring = is_long(head, tail)
        self.ring_address: Any = api.ffi.new("uint64_t[]", 1) if self.in_ring else None
        self.x, self.y, self.z = groups
        self.work = work
