"""The recorder: dispatches are recorded one by one and submitted in batches.

A barrier is recorded only where one is needed. Time is counted in *epochs*, which barriers divide:
within an epoch nothing is ordered. Each chunk of memory remembers the epoch in which it was last
written and last read. A dispatch that reads what the current epoch wrote, or writes what it read
or wrote, needs a barrier first, which begins the next epoch.

A launch names the chunks that it writes and reads together with their addresses, so what a shader
can reach is what was declared.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Sequence
from typing import Any, Final

from vkml.errors import BackendError
from vkml_vulkan.allocation import MemoryKind
from vkml_vulkan.command_ring import (
    ACCESS_SHADER_READ,
    ACCESS_SHADER_WRITE,
    ACCESS_TRANSFER_READ,
    ACCESS_TRANSFER_WRITE,
    STAGE_COMPUTE,
    STAGE_TRANSFER,
    CommandRing,
    Slot,
    memory_barrier,
)
from vkml_vulkan.device import LogicalDevice
from vkml_vulkan.errors import VulkanError
from vkml_vulkan.exclusion import raise_taken
from vkml_vulkan.launch import Launch
from vkml_vulkan.memory import Chunk

_FIRST_BATCH: Final = 8
_LARGEST_BATCH: Final = 64
"""Dispatches in a submission. After a wait the device idles, so the first batch is small and
starts early; the next ones grow, because each submission costs the host about 15 µs."""
_LARGEST_WORK: Final = 1 << 32
"""Elements times steps in a submission: weak GPUs have watchdogs that end long ones."""
_REMEMBERED: Final = 8
UPDATE_BYTES: Final = 65536
"""The most that ``vkCmdUpdateBuffer`` takes, whose data travels inside the command buffer."""


class Recorder:
    """Records work on one device, in order, and submits it."""

    def __init__(self, device: LogicalDevice, argument_memory: MemoryKind) -> None:
        self._device = device
        self._slot: Slot | None = None
        self._commands: Any = None
        self._bound: Any = None
        device.when_unusable.append(self._abandon)
        self._epoch = 0
        self._count = 0
        self._work = 0
        self._batch = _FIRST_BATCH
        self._recent: deque[str] = deque(maxlen=_REMEMBERED)
        self._stage = device.api.constants.VK_SHADER_STAGE_COMPUTE_BIT
        self._bind_point = device.api.constants.VK_PIPELINE_BIND_POINT_COMPUTE
        self._dependency, self._barrier = memory_barrier(
            device,
            to_stage=STAGE_COMPUTE | STAGE_TRANSFER,
            to_access=ACCESS_SHADER_READ
            | ACCESS_SHADER_WRITE
            | ACCESS_TRANSFER_READ
            | ACCESS_TRANSFER_WRITE,
        )
        self._ring = CommandRing(device, argument_memory)

    def launch(
        self, launch: Launch, written: Sequence[Chunk], read: Sequence[Chunk], *arguments: Any
    ) -> None:
        """Record a dispatch that writes and reads these chunks.

        `arguments` are what varies between the runs of a launch: addresses, then numbers.
        """
        device = self._device
        lock = device.lock
        with lock.mutex:  # and not `with lock`, which costs a tenth of all of this
            if lock.is_taken:
                raise_taken()
            lock.is_taken = True
            try:
                if self._commands is None:
                    self._begin()
                self._order(written, read)
                functions, commands = device.functions, self._commands
                if launch.pipeline is not self._bound:
                    functions.vkCmdBindPipeline(commands, self._bind_point, launch.pipeline.handle)
                    self._bound = launch.pipeline
                try:
                    launch.pack(launch.memory, 0, *arguments)
                except struct.error as error:  # a number of a wrong type, or too large
                    raise ValueError(str(error)) from None
                if launch.in_ring:
                    self._push_address(launch)
                else:
                    functions.vkCmdPushConstants(
                        commands, launch.layout, self._stage, 0, launch.nbytes, launch.pointer
                    )
                functions.vkCmdDispatch(commands, launch.x, launch.y, launch.z)
                self._recent.append(launch.name)
                self._count += 1
                self._work += launch.work
                if self._count >= self._batch or self._work >= _LARGEST_WORK:
                    self._submit()
            finally:
                lock.is_taken = False

    def update(self, chunk: Chunk, offset: int, data: bytes) -> None:
        """Record that bytes, a multiple of 4 and at most `UPDATE_BYTES`, are written to a chunk."""
        with self._device.lock:
            self._transfer("update", (chunk,), ())
            self._device.functions.vkCmdUpdateBuffer(
                self._commands,
                chunk.block.allocation.buffer,
                chunk.offset + offset,
                len(data),
                data,
            )
            self._count += 1

    def fill(self, chunk: Chunk, offset: int, nbytes: int, word: int) -> None:
        """Record that whole words of a chunk, `nbytes` bytes of them, become `word`."""
        with self._device.lock:
            self._transfer("fill", (chunk,), ())
            self._device.functions.vkCmdFillBuffer(
                self._commands, chunk.block.allocation.buffer, chunk.offset + offset, nbytes, word
            )
            self._count += 1

    def copy(
        self, source: Chunk, source_offset: int, target: Chunk, target_offset: int, nbytes: int
    ) -> None:
        """Record a copy of bytes between chunks."""
        device = self._device
        region = device.api.new(
            "VkBufferCopy",
            srcOffset=source.offset + source_offset,
            dstOffset=target.offset + target_offset,
            size=nbytes,
        )
        with device.lock:
            self._transfer("copy", (target,), (source,))
            buffers = source.block.allocation.buffer, target.block.allocation.buffer
            device.functions.vkCmdCopyBuffer(self._commands, *buffers, 1, region)
            self._count += 1

    def submit(self) -> None:
        """Hand what is recorded to the device."""
        with self._device.lock:
            self._device.require_usable()
            self._submit()

    def wait(self, value: int) -> None:
        """Wait until the device has done everything up to a chunk's `busy_until`.

        Meanwhile other threads record.
        """
        with self._device.in_use:
            with self._device.lock:
                if value > self._ring.value:
                    self._submit()
                if value > self._ring.value:  # which nothing would ever signal
                    raise VulkanError("a tensor of another Vulkan device is waited for.")
                self._batch = _FIRST_BATCH
            self._ring.wait(value, self._recent)

    def wait_until_idle(self) -> None:
        """Wait until all that was recorded before is done."""
        with self._device.in_use:
            with self._device.lock:
                self._submit()
                self._batch = _FIRST_BATCH
                value = self._ring.value
            self._ring.wait(value, self._recent)

    def is_done(self, value: int) -> bool:
        """Return whether the device has reached a chunk's `busy_until`."""
        with self._device.lock:
            self._device.require_usable()
            return value <= self._ring.value and value <= self._ring.reached()

    def close(self) -> None:
        """Destroy the ring; the device must be idle."""
        self._ring.close()

    def _begin(self) -> None:
        self._device.require_usable()
        self._slot = self._ring.begin(self._recent)
        self._commands = self._slot.commands
        self._bound = None

    def _order(self, written: Sequence[Chunk], read: Sequence[Chunk]) -> None:
        """Record a barrier if the chunks need one, and note their use."""
        epoch = self._epoch
        for chunk in read:
            if chunk.written == epoch:
                epoch = self._next_epoch()
                break
        for chunk in written:
            if chunk.written == epoch or chunk.read == epoch:
                epoch = self._next_epoch()
                break
        until = self._ring.value + 1
        for chunk in read:
            chunk.read = epoch
            chunk.busy_until = until
        for chunk in written:
            chunk.written = epoch
            chunk.busy_until = until

    def _next_epoch(self) -> int:
        self._device.functions.vkCmdPipelineBarrier2(self._commands, self._dependency)
        self._epoch += 1
        return self._epoch

    def _transfer(self, name: str, written: Sequence[Chunk], read: Sequence[Chunk]) -> None:
        if self._commands is not None and self._count >= self._batch:
            self._submit()
        if self._commands is None:
            self._begin()
        self._order(written, read)
        self._recent.append(name)

    def _push_address(self, launch: Launch) -> None:
        """Copy a launch's arguments to the ring of long ones, and push where they are."""
        slot, device = self._slot, self._device
        assert slot is not None  # noqa: S101 - `launch` has begun one
        place = slot.arguments_used
        slot.arguments_used = place + -(-launch.nbytes // 16) * 16
        ffi = device.api.ffi
        ffi.memmove(ffi.cast("char*", slot.arguments.host + place), launch.memory, launch.nbytes)
        launch.ring_address[0] = slot.arguments.address + place
        device.functions.vkCmdPushConstants(
            self._commands, launch.layout, self._stage, 0, 8, launch.ring_address
        )

    def _submit(self) -> None:
        slot, before = self._slot, self._ring.value
        if slot is None:
            return
        try:
            self._ring.submit(slot, self._recent)
        except BaseException as error:
            if self._ring.value == before and self._device.unusable is None:
                self._device.make_unusable(_work_is_lost(error))
            raise
        finally:
            self._abandon()
            self._count = self._work = 0
            self._batch = min(2 * self._batch, _LARGEST_BATCH)

    def _abandon(self) -> None:
        """Forget what is recorded, without a call to Vulkan."""
        self._commands = self._slot = self._bound = None

    def recent(self) -> str:
        """Return the names of what was recorded last."""
        return ", ".join(self._recent)


def _work_is_lost(error: BaseException) -> Exception:
    """Return what every use raises after a submission failed: what follows could not be right."""
    kind = type(error) if isinstance(error, BackendError) else VulkanError
    reason = str(error) or type(error).__name__
    return kind(
        f"recorded work never reached the device ({reason}), so its tensors "
        "are wrong; restart the process."
    )
