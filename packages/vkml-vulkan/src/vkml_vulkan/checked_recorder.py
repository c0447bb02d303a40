"""The recorder of ``VKML_VULKAN_DEBUG=access``: it trusts no kernel and no epoch.

No tool sees a missing barrier between kernels that reach memory by address, nor a kernel that
writes beside its result. So this recorder runs one dispatch at a time and checks, without the
bookkeeping that it tests,

- that each address among the arguments lies in a chunk that was declared;
- that between two dispatches which touch the same bytes, one of them writing, stands a barrier;
- that no byte changed outside the chunks that were declared as written.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vkml_vulkan.errors import AccessError
from vkml_vulkan.launch import Launch
from vkml_vulkan.memory import Block, Chunk, MemoryPool
from vkml_vulkan.recorder import Recorder

_Range = tuple[int, int, bool]


class CheckedRecorder(Recorder):
    """A recorder for tests; slow. It sees wrong writes only where the memory is mapped."""

    _pool: MemoryPool | None = None

    def watch(self, pool: MemoryPool) -> None:
        """Say where the memory is that dispatches may touch."""
        self._pool = pool
        self._unordered: list[_Range] = []

    def launch(
        self, launch: Launch, written: Sequence[Chunk], read: Sequence[Chunk], *arguments: Any
    ) -> None:
        """Record a dispatch, run it and look at what it did."""
        with self._turn():
            self._require_declared(launch.name, (*written, *read), arguments)
            self.wait_until_idle()
            before = [(block, self._bytes_of(block).copy()) for block in self._mapped_blocks()]
            super().launch(launch, written, read, *arguments)
            self.wait_until_idle()
            for block, old in before:
                self._require_untouched(launch.name, block, old, written)

    def update(self, chunk: Chunk, offset: int, data: bytes) -> None:
        """Record that bytes are written to a chunk."""
        with self._turn():
            super().update(chunk, offset, data)

    def fill(self, chunk: Chunk, offset: int, nbytes: int, word: int) -> None:
        """Record that whole words of a chunk become `word`."""
        with self._turn():
            super().fill(chunk, offset, nbytes, word)

    def copy(
        self, source: Chunk, source_offset: int, target: Chunk, target_offset: int, nbytes: int
    ) -> None:
        """Record a copy of bytes between chunks."""
        with self._turn():
            super().copy(source, source_offset, target, target_offset, nbytes)

    def is_done(self, value: int) -> bool:
        """Return False: what the host writes must also be recorded, or it would look astray."""
        super().is_done(value)  # which raises where the device is unusable
        return False

    def _turn(self) -> threading.RLock:
        """Return the pool's lock: neither blocks nor bytes change while a dispatch is watched."""
        assert self._pool is not None  # noqa: S101 - `watch` comes before any work
        return self._pool.lock

    def _require_declared(
        self, name: str, declared: Sequence[Chunk], arguments: Sequence[Any]
    ) -> None:
        assert self._pool is not None  # noqa: S101 - `watch` comes before any work
        blocks = [
            (block.allocation.address, block.allocation.nbytes) for block in self._pool.blocks()
        ]
        for each in arguments:
            if not isinstance(each, int):
                continue
            if not any(start <= each < start + nbytes for start, nbytes in blocks):
                continue
            if not any(c.address <= each < c.address + c.nbytes for c in declared):
                raise AccessError(f"{name} is given the address {each:#x}, in no declared chunk.")

    def _order(self, written: Sequence[Chunk], read: Sequence[Chunk]) -> None:
        super()._order(written, read)
        now = [(c.address, c.address + c.nbytes, True) for c in written]
        now += [(c.address, c.address + c.nbytes, False) for c in read]
        for start, stop, writes in now:
            for other_start, other_stop, other_writes in self._unordered:
                overlap = start < other_stop and other_start < stop
                if overlap and (writes or other_writes):
                    message = f"no barrier between two uses of {start:#x}; recent: {self.recent()}."
                    raise AccessError(message)
        self._unordered += now

    def _next_epoch(self) -> int:
        self._unordered.clear()
        return super()._next_epoch()

    def _mapped_blocks(self) -> list[Block]:
        assert self._pool is not None  # noqa: S101 - `watch` comes before any work
        return [block for block in self._pool.blocks() if block.allocation.host]

    def _bytes_of(self, block: Block) -> NDArray[np.uint8]:
        """Return the part of a block that is in use, as it is now."""
        ffi = self._device.api.ffi
        pointer = ffi.cast("char*", block.allocation.host)
        return np.frombuffer(ffi.buffer(pointer, block.used), np.uint8)

    def _require_untouched(
        self, name: str, block: Block, before: NDArray[np.uint8], written: Sequence[Chunk]
    ) -> None:
        changed = np.flatnonzero(before != self._bytes_of(block)) + block.allocation.address
        for chunk in written:
            inside = (changed >= chunk.address) & (changed < chunk.address + chunk.nbytes)
            changed = changed[~inside]
        if changed.size:
            message = f"{name} wrote {changed.size} bytes outside its result"
            raise AccessError(f"{message}, the first at {int(changed[0]):#x}.")
