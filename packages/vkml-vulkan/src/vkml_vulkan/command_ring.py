"""A ring of command buffers on one queue, and the timeline that says how far the device is."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any, Final

from vkml_vulkan._api import Handle
from vkml_vulkan.allocation import Allocation, MemoryKind
from vkml_vulkan.device import LogicalDevice

_SLOTS: Final = 4
"""Command buffers: one is recorded, one runs, and two wait, so that neither side ever idles."""
_ARGUMENT_BYTES: Final = 256 * 1024
_WAIT_SLICE_NS: Final = 100_000_000
"""Waits come back to Python this often, so that Ctrl-C works."""


class Slot:
    """A command buffer, and memory for arguments that are too long to push."""

    __slots__ = ("arguments", "arguments_used", "commands", "value")

    def __init__(self, commands: Handle, arguments: Allocation) -> None:
        self.commands = commands
        self.arguments = arguments
        self.arguments_used = 0
        self.value = 0
        """The timeline reaches this when the device is done with the slot."""


class CommandRing:
    """Begins, submits and waits for command buffers.

    Its caller holds the device's lock; to `wait`, it may also be inside `in_use`.
    """

    def __init__(self, device: LogicalDevice, argument_memory: MemoryKind) -> None:
        self._device = device
        self.value = 0
        """What the last submission will signal."""
        self._reached = 0
        self._waits: list[tuple[Any, Any]] = []
        self._slots: Final[list[Slot]] = []
        null, handle = device.api.ffi.NULL, device.handle
        with contextlib.ExitStack() as made:
            self._pool: Final = self._create_pool()
            made.callback(device.functions.vkDestroyCommandPool, handle, self._pool, null)
            self._semaphore: Final = self._create_semaphore()
            made.callback(device.functions.vkDestroySemaphore, handle, self._semaphore, null)
            for commands in self._allocate_commands():
                arguments = Allocation(device, _ARGUMENT_BYTES, argument_memory)
                made.callback(arguments.free)
                self._slots.append(Slot(commands, arguments))
            self._next = 0
            self._prepare_structs()
            self._made: Final = made.pop_all()

    def begin(self, doing: Iterable[str]) -> Slot:
        """Return the next slot, once the device is done with it, ready to record into."""
        slot = self._slots[self._next]
        self.wait(slot.value, doing)
        self._next = (self._next + 1) % _SLOTS
        slot.arguments_used = 0
        begun = self._device.functions.vkBeginCommandBuffer(slot.commands, self._begin_info)
        self._device.check(begun, "vkBeginCommandBuffer")
        return slot

    def submit(self, slot: Slot, doing: Iterable[str]) -> None:
        """Hand a slot to the device. `doing` names what was recorded, for a lost device.

        Where it raises, it depends on `value` whether the device has the slot.
        """
        device, functions = self._device, self._device.functions
        functions.vkCmdPipelineBarrier2(slot.commands, self._for_the_host)
        device.check(functions.vkEndCommandBuffer(slot.commands), "vkEndCommandBuffer")
        self._submitted[0] = slot.commands
        self._signalled[0] = self.value + 1
        given = device.queue, 1, self._submission, device.api.ffi.NULL
        results: list[int] = []
        try:
            # `extend` calls and keeps the result in one step: Ctrl-C comes before it or after.
            results.extend(map(functions.vkQueueSubmit, *((each,) for each in given)))
        finally:
            if results == [0]:
                self.value += 1
                slot.value = self.value
        device.check(results[0], "vkQueueSubmit", doing)

    def reached(self) -> int:
        """Return how far the device's timeline is."""
        current = self._device.api.ffi.new("uint64_t*")
        functions = self._device.functions
        result = functions.vkGetSemaphoreCounterValue(self._device.handle, self._semaphore, current)
        self._device.check(result, "vkGetSemaphoreCounterValue")
        self._reached = int(current[0])
        return self._reached

    def wait(self, value: int, doing: Iterable[str]) -> None:
        """Wait until the device's timeline has reached `value`."""
        if value <= self._reached:
            return
        functions, handle = self._device.functions, self._device.handle
        try:
            info, awaited = self._waits.pop()
        except IndexError:  # as many threads wait as never before
            info, awaited = self._wait_structs()
        awaited[0] = value
        while True:
            result = functions.vkWaitSemaphores(handle, info, _WAIT_SLICE_NS)
            if result != self._device.api.constants.VK_TIMEOUT:
                break
            self._device.require_usable()
        self._waits.append((info, awaited))
        self._device.check(result, "vkWaitSemaphores", doing)
        self._reached = max(value, self._reached)

    def close(self) -> None:
        """Destroy all; the device must be idle."""
        self._made.close()

    def _create_pool(self) -> Handle:
        device, constants = self._device, self._device.api.constants
        info = device.api.new(
            "VkCommandPoolCreateInfo",
            flags=constants.VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
            queueFamilyIndex=device.queue_family,
        )
        pool = device.api.ffi.new("VkCommandPool*")
        made = device.functions.vkCreateCommandPool(device.handle, info, device.api.ffi.NULL, pool)
        device.check(made, "vkCreateCommandPool")
        return pool[0]

    def _create_semaphore(self) -> Handle:
        device, constants = self._device, self._device.api.constants
        kind = device.api.new(
            "VkSemaphoreTypeCreateInfo",
            semaphoreType=constants.VK_SEMAPHORE_TYPE_TIMELINE,
        )
        info = device.api.new("VkSemaphoreCreateInfo", pNext=kind)
        semaphore = device.api.ffi.new("VkSemaphore*")
        made = device.functions.vkCreateSemaphore(
            device.handle, info, device.api.ffi.NULL, semaphore
        )
        device.check(made, "vkCreateSemaphore")
        return semaphore[0]

    def _allocate_commands(self) -> list[Handle]:
        device, constants = self._device, self._device.api.constants
        info = device.api.new(
            "VkCommandBufferAllocateInfo",
            commandPool=self._pool,
            level=constants.VK_COMMAND_BUFFER_LEVEL_PRIMARY,
            commandBufferCount=_SLOTS,
        )
        found = device.api.ffi.new("VkCommandBuffer[]", _SLOTS)
        made = device.functions.vkAllocateCommandBuffers(device.handle, info, found)
        device.check(made, "vkAllocateCommandBuffers")
        return list(found)

    def _prepare_structs(self) -> None:
        """Make the structs that each submission passes, once."""
        api, constants = self._device.api, self._device.api.constants
        self._begin_info = api.new(
            "VkCommandBufferBeginInfo",
            flags=constants.VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
        )
        self._submitted = api.ffi.new("VkCommandBuffer[]", 1)
        self._signalled = api.ffi.new("uint64_t[]", 1)
        self._semaphores = api.ffi.new("VkSemaphore[]", [self._semaphore])
        self._signal = api.new(
            "VkTimelineSemaphoreSubmitInfo",
            signalSemaphoreValueCount=1,
            pSignalSemaphoreValues=self._signalled,
        )
        # Not vkQueueSubmit2, whose timelines the layer's GPU-assisted mode waits for in vain.
        self._submission = api.new(
            "VkSubmitInfo",
            pNext=self._signal,
            pCommandBuffers=self._submitted,
            commandBufferCount=1,
            pSignalSemaphores=self._semaphores,
            signalSemaphoreCount=1,
        )
        # What a submission wrote must be visible to the host that waited for it.
        self._for_the_host, self._barrier = memory_barrier(
            self._device, to_stage=STAGE_HOST, to_access=ACCESS_HOST_READ
        )

    def _wait_structs(self) -> tuple[Any, Any]:
        """Return what `vkWaitSemaphores` is passed, and the value in it to wait for."""
        api = self._device.api
        awaited = api.ffi.new("uint64_t[]", 1)
        info = api.new(
            "VkSemaphoreWaitInfo",
            semaphoreCount=1,
            pSemaphores=self._semaphores,
            pValues=awaited,
        )
        return info, awaited


# 64-bit flags of VK_KHR_synchronization2, which the package `vulkan` has no names for.
STAGE_COMPUTE: Final = 0x800
STAGE_TRANSFER: Final = 0x1000
STAGE_HOST: Final = 0x4000
ACCESS_SHADER_READ: Final = 0x20
ACCESS_SHADER_WRITE: Final = 0x40
ACCESS_TRANSFER_READ: Final = 0x800
ACCESS_TRANSFER_WRITE: Final = 0x1000
ACCESS_HOST_READ: Final = 0x2000


def memory_barrier(device: LogicalDevice, *, to_stage: int, to_access: int) -> tuple[Any, Any]:
    """Return a dependency from all writes before to what follows, and what it points to."""
    api = device.api
    barrier = api.new(
        "VkMemoryBarrier2",
        srcStageMask=STAGE_COMPUTE | STAGE_TRANSFER,
        srcAccessMask=ACCESS_SHADER_WRITE | ACCESS_TRANSFER_WRITE,
        dstStageMask=to_stage,
        dstAccessMask=to_access,
    )
    dependency = api.new(
        "VkDependencyInfo",
        memoryBarrierCount=1,
        pMemoryBarriers=barrier,
    )
    return dependency, barrier
