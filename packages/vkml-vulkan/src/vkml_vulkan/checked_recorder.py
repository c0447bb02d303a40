"""The recorder of ``VKML_VULKAN_DEBUG=access``: it trusts no kernel and no epoch.

No tool sees a missing barrier between kernels that reach memory by address, nor a kernel that
writes beside its result. So this recorder runs one dispatch at a time and checks, without the
bookkeeping that it tests,

- that each address among the arguments lies in a chunk that was declared;
- that between two dispatches which touch the same bytes, one of them writing, stands a barrier;
- that no byte changed outside the chunks that were declared as written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vkml_vulkan.errors import AccessError
from vkml_vulkan.launch import Launch
from vkml_vulkan.memory import Chunk, MemoryPool
from vkml_vulkan.recorder import Recorder

_Range = tuple[int, int, bool]


class CheckedRecorder(Recorder):
    """A recorder for tests; slow."""

    _pool: MemoryPool | None = None

    def watch(self, pool: MemoryPool) -> None:
        """Say where the memory is that dispatches may touch."""
        self._pool = pool
        self._unordered: list[_Range] = []

    def launch(
        self, launch: Launch, written: Sequence[Chunk], read: Sequence[Chunk], *arguments: Any
    ) -> None:
        """Record a dispatch, run it and look at what it did."""
        self._require_declared(launch.name, (*written, *read), arguments)
        before = self._snapshot()
        super().launch(launch, written, read, *arguments)
        self._require_untouched(launch.name, before, written)

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

    def _snapshot(self) -> list[tuple[int, NDArray[np.uint8]]]:
        """Return the address and a copy of the memory in use of each block that is mapped."""
        self.wait_until_idle()
        assert self._pool is not None  # noqa: S101 - `watch` comes before any work
        ffi = self._device.api.ffi
        found = []
        for block in self._pool.blocks():
            if block.allocation.host:
                pointer = ffi.cast("char*", block.allocation.host)
                view = np.frombuffer(ffi.buffer(pointer, block.used), np.uint8)
                found.append((block.allocation.address, view.copy()))
        return found

    def _require_untouched(
        self, name: str, before: list[tuple[int, NDArray[np.uint8]]], written: Sequence[Chunk]
    ) -> None:
        for (address, old), (_, new) in zip(before, self._snapshot(), strict=False):
            changed = np.flatnonzero(old != new[: len(old)]) + address
            for chunk in written:
                inside = (changed >= chunk.address) & (changed < chunk.address + chunk.nbytes)
                changed = changed[~inside]
            if changed.size:
                message = f"{name} wrote {changed.size} bytes outside its result"
                raise AccessError(f"{message}, the first at {int(changed[0]):#x}.")
