"""Memory from the driver: one buffer with an address, on one allocation, mapped where possible."""

from __future__ import annotations

import contextlib
from typing import Final, NamedTuple

from vkml_vulkan._api import Handle
from vkml_vulkan.capabilities import Capabilities
from vkml_vulkan.device import LogicalDevice
from vkml_vulkan.errors import VulkanError

DEVICE_LOCAL: Final = 0x1
HOST_VISIBLE: Final = 0x2
HOST_COHERENT: Final = 0x4
HOST_CACHED: Final = 0x8
_SPECIAL: Final = 0x10 | 0x20 | 0x40 | 0x80
"""Lazily allocated, protected, and AMD's uncached memory, which all need more than we ask for."""
_SHADER_ADDRESS: Final = 0x20000  # VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT
_DEVICE_ADDRESS: Final = 0x2  # VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT

# Discrete GPUs show a window of 256 MiB of their memory; only a larger one is all of it.
_WINDOW_BYTES: Final = 256 * 2**20


class MemoryKind(NamedTuple):
    """A memory type, and what the host can do with it."""

    type_index: int
    heap_bytes: int
    is_mapped: bool
    """The host writes into it directly."""
    is_cached: bool
    """The host reads it at full speed; without it reads crawl."""


def buffer_memory_types(device: LogicalDevice) -> list[int]:
    """Return the numbers of the memory types that buffers can lie in."""
    buffer = _create_buffer(device, 4)  # the types are the same for any size
    bits = _requirements(device, buffer).memoryTypeBits
    device.functions.vkDestroyBuffer(device.handle, buffer, device.api.ffi.NULL)
    types = device.capabilities.memory_types
    return [n for n, (flags, _) in enumerate(types) if bits >> n & 1 and not flags & _SPECIAL]


def choose_device_memory(
    capabilities: Capabilities, types: list[int], *, force_staging: bool
) -> MemoryKind:
    """Return where tensors lie: the device's own memory, mapped where all of it can be.

    `types` are those that come into question.
    """
    shared = capabilities.kind in ("cpu", "integrated")

    def worth(index: int) -> tuple[bool, bool, bool, int]:
        flags, heap = capabilities.memory_types[index]
        size = capabilities.memory_heaps[heap][0]
        direct = flags & HOST_VISIBLE and flags & HOST_COHERENT
        mapped = bool(direct) and (shared or size > _WINDOW_BYTES)
        return bool(flags & DEVICE_LOCAL), mapped, bool(flags & HOST_CACHED), size

    best = max(types, key=worth)
    _, mapped, cached, size = worth(best)
    mapped = mapped and not force_staging
    return MemoryKind(best, size, mapped, mapped and cached)


def choose_staging_memory(capabilities: Capabilities, types: list[int]) -> MemoryKind:
    """Return where the host writes and reads what is copied to and from tensors."""

    def worth(index: int) -> tuple[bool, bool, bool]:
        flags = capabilities.memory_types[index][0]
        direct = flags & HOST_VISIBLE and flags & HOST_COHERENT
        return bool(direct), bool(flags & HOST_CACHED), not flags & DEVICE_LOCAL

    best = max(types, key=worth)
    if not worth(best)[0]:
        message = f"{capabilities.name} has no memory that the host can write; update its driver."
        raise VulkanError(message)
    heap = capabilities.memory_types[best][1]
    return MemoryKind(best, capabilities.memory_heaps[heap][0], True, worth(best)[1])


class Allocation:
    """A buffer on memory of its own.

    Attributes
    ----------
    buffer : VkBuffer
    address : int
        What shaders reach it by.
    host : int
        The host address of its first byte; 0 where it is not mapped.
    """

    __slots__ = ("_made", "address", "buffer", "host", "memory", "nbytes")

    def __init__(self, device: LogicalDevice, nbytes: int, kind: MemoryKind) -> None:
        functions, handle, null = device.functions, device.handle, device.api.ffi.NULL
        self.nbytes = nbytes
        with contextlib.ExitStack() as made:
            self.buffer = _create_buffer(device, nbytes)
            made.callback(functions.vkDestroyBuffer, handle, self.buffer, null)
            self.memory = _allocate(device, self.buffer, nbytes, kind.type_index)
            made.callback(functions.vkFreeMemory, handle, self.memory, null)  # unmaps it, too
            bound = functions.vkBindBufferMemory(handle, self.buffer, self.memory, 0)
            device.check(bound, "vkBindBufferMemory")
            self.address = _address(device, self.buffer)
            self.host = _map(device, self.memory) if kind.is_mapped else 0
            self._made = made.pop_all()

    def free(self) -> None:
        """Give the memory back. The device must have finished with it."""
        self._made.close()


def _create_buffer(device: LogicalDevice, nbytes: int) -> Handle:
    api, constants = device.api, device.api.constants
    info = api.new(
        "VkBufferCreateInfo",
        size=nbytes,
        usage=constants.VK_BUFFER_USAGE_STORAGE_BUFFER_BIT
        | constants.VK_BUFFER_USAGE_TRANSFER_SRC_BIT
        | constants.VK_BUFFER_USAGE_TRANSFER_DST_BIT
        | _SHADER_ADDRESS,
    )
    buffer = api.ffi.new("VkBuffer*")
    created = device.functions.vkCreateBuffer(device.handle, info, api.ffi.NULL, buffer)
    device.check(created, f"vkCreateBuffer of {nbytes} bytes")
    return buffer[0]


def _allocate(device: LogicalDevice, buffer: Handle, nbytes: int, kind: int) -> Handle:
    api = device.api
    flags = api.new("VkMemoryAllocateFlagsInfo", flags=_DEVICE_ADDRESS)
    info = api.new(
        "VkMemoryAllocateInfo",
        pNext=flags,
        allocationSize=_requirements(device, buffer).size,
        memoryTypeIndex=kind,
    )
    memory = api.ffi.new("VkDeviceMemory*")
    made = device.functions.vkAllocateMemory(device.handle, info, api.ffi.NULL, memory)
    device.check(made, f"vkAllocateMemory of {nbytes} bytes")
    return memory[0]


def _requirements(device: LogicalDevice, buffer: Handle) -> Handle:
    needs = device.api.ffi.new("VkMemoryRequirements*")
    device.functions.vkGetBufferMemoryRequirements(device.handle, buffer, needs)
    return needs


def _address(device: LogicalDevice, buffer: Handle) -> int:
    info = device.api.new("VkBufferDeviceAddressInfo", buffer=buffer)
    return int(device.functions.vkGetBufferDeviceAddress(device.handle, info))


def _map(device: LogicalDevice, memory: Handle) -> int:
    ffi, pointer = device.api.ffi, device.api.ffi.new("void**")
    whole = (1 << 64) - 1  # VK_WHOLE_SIZE
    mapped = device.functions.vkMapMemory(device.handle, memory, 0, whole, 0, pointer)
    device.check(mapped, "vkMapMemory")
    return int(ffi.cast("uintptr_t", pointer[0]))
