"""Pools for debugging, chosen by ``VKML_VULKAN_DEBUG``.

*separate*: each chunk is a buffer of its own and exactly as long as its tensor, so that the
validation layer's GPU-assisted mode sees every access beyond it.

*canaries*: each chunk lies between guards whose bytes are checked when the device is synchronized;
this needs no layer and works on every driver.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from vkml_vulkan.errors import AccessError
from vkml_vulkan.memory import GRANULE, Block, Chunk, MemoryPool, pop_chunk
from vkml_vulkan.recorder import Recorder
from vkml_vulkan.transfer import Transfer

_PATTERN: Final = 0xA5A5A5A5
_GUARD_BYTES: Final = GRANULE


class ExactPool(MemoryPool):
    """Chunks as long as their tensors, up to a word."""

    def _chunk_bytes(self, nbytes: int) -> int:
        return max(-(-nbytes // 4) * 4, 4)

    def _reuse(self, size: int) -> Chunk | None:
        return pop_chunk(self._free[size])


class SeparatePool(ExactPool):
    """A buffer for each tensor."""

    def _room(self, size: int, _block_bytes: int) -> tuple[Block, int]:
        block = Block(self._allocate_block(size))
        self._blocks.append(block)
        block.used = size
        return block, 0


class GuardedPool(ExactPool):
    """Guards before and behind each tensor."""

    def guard(self, recorder: Recorder, transfer: Transfer) -> None:
        """Say how guards are written and read. Must be called before the first allocation."""
        self._recorder = recorder
        self._transfer = transfer
        self._guarded: list[Chunk] = []

    def check(self) -> None:
        """Raise if a guard was written to."""
        for chunk in list(self._guarded):
            for start in (-_GUARD_BYTES, chunk.nbytes):
                found = self._transfer.download(chunk, start, _GUARD_BYTES)
                if (found != _PATTERN & 0xFF).any():
                    place = int(np.flatnonzero(found != _PATTERN & 0xFF)[0]) + start
                    message = (
                        f"a kernel wrote outside a tensor of {chunk.nbytes} bytes, at byte {place} "
                        f"of it. Recent: {self._recorder.recent()}."
                    )
                    raise AccessError(message)

    def _cut(self, size: int, block_bytes: int) -> Chunk:
        around = 2 * _GUARD_BYTES + -(-size // GRANULE) * GRANULE
        block, offset = self._room(around, max(around, block_bytes))
        chunk = self._chunk(block, offset + _GUARD_BYTES, size)
        self._recorder.fill(chunk, -_GUARD_BYTES, _GUARD_BYTES, _PATTERN)
        self._recorder.fill(chunk, size, _GUARD_BYTES, _PATTERN)
        self._guarded.append(chunk)
        return chunk

    def _release(self, blocks: set[Block]) -> None:
        self._guarded[:] = [chunk for chunk in self._guarded if chunk.block not in blocks]
        super()._release(blocks)


def debug_pool(modes: frozenset[str]) -> type[MemoryPool]:
    """Return the class of pool that the debug modes ask for."""
    if "separate" in modes:
        return SeparatePool
    return GuardedPool if "canaries" in modes else MemoryPool
