"""A driver without memory, which none here admits: played by fakes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from vkml.errors import BackendError
from vkml_vulkan.errors import OutOfDeviceMemoryError, VulkanError
from vkml_vulkan.handle import VulkanDevice

_OUT_OF_DEVICE_MEMORY = -2
_TOO_MANY_OBJECTS = -10
_FLOAT32 = np.dtype(np.float32)
_MIB = 2**20


def _fail(handle: VulkanDevice, name: str, results: list[int]) -> list[int]:
    """Let a function return these results first; return the list of those still to come."""
    real = getattr(handle.device.functions, name)

    def fake(*arguments: Any) -> Any:
        return results.pop(0) if results else real(*arguments)

    setattr(handle.device.functions, name, fake)
    return results


def test_an_allocation_that_fails_once_is_tried_again(handle: VulkanDevice) -> None:
    left = _fail(handle, "vkAllocateMemory", [_OUT_OF_DEVICE_MEMORY])

    assert handle.empty((4,), _FLOAT32).shape == (4,)
    assert left == []


def test_before_it_is_tried_again_idle_blocks_are_given_back(handle: VulkanDevice) -> None:
    handle.empty((100 * _MIB // 4,), _FLOAT32)
    _fail(handle, "vkAllocateMemory", [_OUT_OF_DEVICE_MEMORY])

    held = handle.empty((200 * _MIB // 4,), _FLOAT32)

    assert handle.memory()["blocks"] == 1
    assert held.shape == (200 * _MIB // 4,)


def test_the_second_try_asks_for_no_more_than_is_needed(handle: VulkanDevice) -> None:
    _fail(handle, "vkAllocateMemory", [_OUT_OF_DEVICE_MEMORY])

    handle.empty((64,), _FLOAT32)

    assert handle.memory()["reserved"] == 256


def test_an_allocation_that_always_fails_is_an_error_with_a_remedy(handle: VulkanDevice) -> None:
    _fail(handle, "vkAllocateMemory", [_OUT_OF_DEVICE_MEMORY] * 2)

    with pytest.raises(OutOfDeviceMemoryError, match=r"no room for 256 bytes.*Delete tensors"):
        handle.empty((4,), _FLOAT32)


def test_the_device_works_on_after_a_failed_allocation(handle: VulkanDevice) -> None:
    _fail(handle, "vkAllocateMemory", [_OUT_OF_DEVICE_MEMORY] * 2)
    with pytest.raises(MemoryError):
        handle.empty((4,), _FLOAT32)

    assert handle.download(handle.upload(np.arange(3, dtype=np.int32))).tolist() == [0, 1, 2]


def test_too_many_allocations_count_as_no_memory(handle: VulkanDevice) -> None:
    left = _fail(handle, "vkAllocateMemory", [_TOO_MANY_OBJECTS])

    assert handle.empty((4,), _FLOAT32).shape == (4,)
    assert left == []


def test_more_than_the_device_allocates_at_once_is_refused(handle: VulkanDevice) -> None:
    most = handle.device.capabilities.max_allocation_bytes

    with pytest.raises(OutOfDeviceMemoryError, match=f"allocates at most {most} bytes at once"):
        handle.pool.allocate(most + 1)


@pytest.mark.parametrize("name", ["vkCreateBuffer", "vkBindBufferMemory", "vkMapMemory"])
def test_an_allocation_that_fails_half_way_leaves_nothing_behind(
    handle: VulkanDevice, name: str
) -> None:
    if name == "vkMapMemory" and not handle.pool.kind.is_mapped:
        pytest.skip("tensors are not mapped here")
    left = _fail(handle, name, [-3])  # the validation layer tells at the end

    with pytest.raises(VulkanError):
        handle.empty((4,), _FLOAT32)

    assert left == []
    assert handle.memory()["blocks"] == 0


def test_staging_that_cannot_be_allocated_leaves_the_device_usable(
    open_device: Callable[..., VulkanDevice],
) -> None:
    handle = open_device(VKML_VULKAN_FORCE_STAGING="1")
    operand = handle.upload(np.ones(3, np.float32))
    handle.synchronize()
    _fail(handle, "vkAllocateMemory", [_OUT_OF_DEVICE_MEMORY])

    with pytest.raises(BackendError):
        handle.download(operand)

    assert handle.download(operand).tolist() == [1, 1, 1]
