"""The memory pool: chunks of a few sizes, cut from large blocks and used again and again.

Work on a device runs in the order in which it was recorded, so a chunk that a dead tensor leaves
may be handed out at once, while kernels that use it are still to run. Two things therefore belong
to the chunk and not to the tensor: what was recorded last on it, which decides over barriers, and
up to where the device must have come before the *host* may touch it.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Final

from vkml_vulkan.allocation import Allocation, MemoryKind
from vkml_vulkan.device import LogicalDevice
from vkml_vulkan.errors import OutOfDeviceMemoryError

GRANULE: Final = 256
"""Chunks begin and end at multiples of this many bytes: enough for any alignment limit."""
_CLASSES_PER_OCTAVE: Final = 8
_BLOCK_BYTES: Final = 64 * 2**20
_MOST_SIZES: Final = 100_000
"""Sizes whose class is remembered; a program with more makes new ones all the time."""


class Block:
    """An allocation that chunks are cut from, front to back.

    Attributes
    ----------
    used : int
        Bytes from its beginning that were cut.
    chunk_bytes : int
        The sizes of its chunks together, guards not among them.
    """

    __slots__ = ("allocation", "chunk_bytes", "used")

    def __init__(self, allocation: Allocation) -> None:
        self.allocation = allocation
        self.used = self.chunk_bytes = 0


class Chunk:
    """A piece of a block.

    Attributes
    ----------
    address, host : int
        Of its first byte, for shaders and for the host (0: not mapped).
    written, read : int
        The epochs of the recorder in which it was last written and read.
    busy_until : int
        The host may touch it when the device's timeline has reached this value.
    """

    __slots__ = (
        "address", "block", "busy_until", "host", "nbytes", "offset", "read", "written",
    )  # fmt: skip

    def __init__(self, block: Block, offset: int, nbytes: int) -> None:
        allocation = block.allocation
        self.block = block
        self.offset = offset
        self.nbytes = nbytes
        self.address = allocation.address + offset
        self.host = allocation.host + offset if allocation.host else 0
        self.written = self.read = -1
        self.busy_until = 0

    def shorten(self, nbytes: int) -> Chunk | None:
        """Cut what follows the first bytes off and return it; None where nothing does."""
        if self.nbytes == nbytes:
            return None
        rest = Chunk(self.block, self.offset + nbytes, self.nbytes - nbytes)
        rest.written, rest.read, rest.busy_until = self.written, self.read, self.busy_until
        self.nbytes = nbytes
        return rest

    def absorb(self, other: Chunk) -> bool:
        """Take another chunk in if it begins where this one ends; return whether it does."""
        if other.block is not self.block or other.offset != self.offset + self.nbytes:
            return False
        self.nbytes += other.nbytes
        self.written = max(self.written, other.written)
        self.read = max(self.read, other.read)
        self.busy_until = max(self.busy_until, other.busy_until)
        return True


class Storage:
    """The memory of one tensor and its views. The chunk goes back when nobody holds it."""

    __slots__ = ("_free", "address", "chunk", "nbytes")

    def __init__(self, chunk: Chunk, nbytes: int, free: list[Chunk]) -> None:
        self.chunk = chunk
        self.address = chunk.address
        self.nbytes = nbytes
        self._free = free

    def __del__(self) -> None:
        self._free.append(self.chunk)  # atomic, so it needs no lock, in whatever thread it runs


class MemoryPool:
    """All memory of tensors on one device.

    Attributes
    ----------
    kind : MemoryKind
    lock : threading.RLock
        Held where blocks come and go. Whoever takes the device's lock, too, takes this one first.
    """

    def __init__(
        self,
        device: LogicalDevice,
        kind: MemoryKind,
        *,
        limit_bytes: int | None,
        wait_until_idle: Callable[[], None],
    ) -> None:
        self.kind: Final = kind
        self._device = device
        self._wait_until_idle = wait_until_idle
        largest = device.capabilities.max_allocation_bytes
        self._largest_bytes = largest
        self._block_bytes = min(_BLOCK_BYTES, max(kind.heap_bytes // 8, 2**20), largest)
        if limit_bytes is not None:
            self._block_bytes = min(self._block_bytes, max(limit_bytes // 4, GRANULE))
        self._limit_bytes = limit_bytes
        self.lock = threading.RLock()
        self._blocks: list[Block] = []
        self._free: dict[int, list[Chunk]] = {}
        self._class_of: dict[int, int] = {}
        device.when_unusable.append(self._class_of.clear)

    def allocate(self, nbytes: int) -> Storage:
        """Return memory for `nbytes` bytes; its contents are undefined.

        Raises
        ------
        OutOfDeviceMemoryError
            The device, or the limit that was set for it, has no room.
        """
        try:
            free = self._free[self._class_of[nbytes]]
            return Storage(free.pop(), nbytes, free)
        except (KeyError, IndexError):
            return self._allocate_new(nbytes)

    def statistics(self) -> dict[str, int]:
        """Return bytes taken from the driver (`reserved`) and held by tensors (`allocated`)."""
        with self.lock:
            reserved = sum(block.allocation.nbytes for block in self._blocks)
            cut = sum(block.chunk_bytes for block in self._blocks)
            free = sum(size * len(chunks) for size, chunks in self._free.items())
            return {"reserved": reserved, "allocated": cut - free, "blocks": len(self._blocks)}

    def blocks(self) -> list[Block]:
        """Return what was taken from the driver."""
        return list(self._blocks)

    def trim(self) -> int:
        """Give blocks that hold no tensor back to the driver; return how many bytes."""
        with self.lock:
            idle = self._take_free()
            empty: set[Block] = set()
            try:
                candidates = self._without_tensors(idle)
                if candidates:
                    self._wait_until_idle()
                    empty = candidates
            finally:
                for chunk in idle:
                    if chunk.block not in empty:
                        self._free[chunk.nbytes].append(chunk)
            self._release(empty)
            return sum(block.allocation.nbytes for block in empty)

    def disown(self) -> None:
        """Leave all to the parent process; a thread that is gone may hold the lock."""
        self.lock = threading.RLock()

    def close(self) -> None:
        """Free everything. The device must be idle."""
        with self.lock:
            self._release(set(self._blocks))
            self._free = {}

    def _allocate_new(self, nbytes: int) -> Storage:
        with self.lock:
            self._device.require_usable()
            if len(self._class_of) >= _MOST_SIZES:
                self._class_of.clear()
            size = self._class_of[nbytes] = self._chunk_bytes(nbytes)
            free = self._free.setdefault(size, [])
            chunk = pop_chunk(free)
            if chunk is None:
                chunk = self._new_chunk(size)
            return Storage(chunk, nbytes, free)

    def _chunk_bytes(self, nbytes: int) -> int:
        """Return the size of the chunk for `nbytes` bytes."""
        return size_class(nbytes)

    def _new_chunk(self, size: int) -> Chunk:
        """Return a chunk that was not free, or only as part of a longer one."""
        try:
            return self._cut(size, self._block_bytes)
        except OutOfDeviceMemoryError:
            found = self._reuse(size)
        if found is None:
            gc.collect()  # graphs of gradients are cycles, and hold tensors
            self.trim()
            self._merge()
            found = self._reuse(size)
        if found is not None:
            return found
        try:
            return self._cut(size, size)
        except OutOfDeviceMemoryError as error:
            raise OutOfDeviceMemoryError(self._shortage(size, error)) from None

    def _reuse(self, size: int) -> Chunk | None:
        """Return a chunk that is cut from a longer free one, the shortest that is long enough."""
        while fitting := [each for each, chunks in self._free.items() if each >= size and chunks]:
            found = pop_chunk(self._free[min(fitting)])
            if found is not None:
                rest = found.shorten(size)
                if rest is not None:
                    self._free.setdefault(rest.nbytes, []).append(rest)
                return found
        return None

    def _merge(self) -> None:
        """Make one of free chunks that are neighbours."""
        merged: list[Chunk] = []
        for chunk in sorted(self._take_free(), key=lambda each: each.address):
            if not (merged and merged[-1].absorb(chunk)):
                merged.append(chunk)
        for chunk in merged:
            self._free.setdefault(chunk.nbytes, []).append(chunk)

    def _cut(self, size: int, block_bytes: int) -> Chunk:
        """Return a new chunk; where no block has room, of a new one of `block_bytes` or more."""
        block, offset = self._room(size, block_bytes)
        return self._chunk(block, offset, size)

    def _room(self, size: int, block_bytes: int) -> tuple[Block, int]:
        """Return a block and where in it `size` bytes are now reserved."""
        for block in reversed(self._blocks):
            if block.allocation.nbytes - block.used >= size:
                break
        else:
            block = Block(self._allocate_block(max(size, block_bytes)))
            self._blocks.append(block)
        offset = block.used
        block.used += size
        return block, offset

    def _chunk(self, block: Block, offset: int, size: int) -> Chunk:
        block.chunk_bytes += size
        return Chunk(block, offset, size)

    def _take_free(self) -> list[Chunk]:
        """Take every free chunk, one by one, so that no other thread gets the same."""
        found = []
        for chunks in self._free.values():
            while (chunk := pop_chunk(chunks)) is not None:
                found.append(chunk)
        return found

    def _without_tensors(self, idle: list[Chunk]) -> set[Block]:
        """Return the blocks all of whose chunks are idle."""
        left = {block: block.chunk_bytes for block in self._blocks}
        for chunk in idle:
            left[chunk.block] -= chunk.nbytes
        return {block for block, nbytes in left.items() if nbytes == 0}

    def _release(self, blocks: set[Block]) -> None:
        """Give blocks back to the driver. The device must be done with them."""
        self._blocks = [block for block in self._blocks if block not in blocks]
        for block in blocks:
            block.allocation.free()

    def _allocate_block(self, nbytes: int) -> Allocation:
        if nbytes > self._largest_bytes:
            message = f"the device allocates at most {self._largest_bytes} bytes at once"
            raise OutOfDeviceMemoryError(message)
        reserved = sum(block.allocation.nbytes for block in self._blocks)
        if self._limit_bytes is not None and reserved + nbytes > self._limit_bytes:
            message = f"VKML_VULKAN_MEMORY_LIMIT is {self._limit_bytes} bytes"
            raise OutOfDeviceMemoryError(message)
        return Allocation(self._device, nbytes, self.kind)

    def _shortage(self, needed: int, error: Exception) -> str:
        found = self.statistics()
        free = sorted(
            ((size * len(chunks), size, len(chunks)) for size, chunks in self._free.items()),
            reverse=True,
        )
        holes = ", ".join(f"{count} of {size} bytes" for _, size, count in free[:3] if count)
        return (
            f"{self._device.capabilities.name} has no room for {needed} bytes: {error}. Tensors "
            f"hold {found['allocated']} bytes of {found['reserved']} taken from the driver in "
            f"{found['blocks']} blocks; free pieces: {holes or 'none'}. Delete tensors, use "
            "smaller batches, or record less (vkml.no_grad)."
        )


def pop_chunk(chunks: list[Chunk]) -> Chunk | None:
    """Return the last chunk, taken out; None where there is none. Atomic, as `pop` is."""
    try:
        return chunks.pop()
    except IndexError:
        return None


def size_class(nbytes: int) -> int:
    """Return the size of the chunk for `nbytes` bytes: at most an eighth more, in granules."""
    granules = max(-(-nbytes // GRANULE), 1)
    if granules > _CLASSES_PER_OCTAVE:
        step = 1 << (granules - 1).bit_length() - _CLASSES_PER_OCTAVE.bit_length()
        granules = -(-granules // step) * step
    return granules * GRANULE
