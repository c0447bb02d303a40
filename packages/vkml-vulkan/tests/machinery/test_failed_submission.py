"""A submission that fails: the recorded work is lost, so nothing that follows may be believed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vkml_vulkan.errors import OutOfDeviceMemoryError, VulkanError
from vkml_vulkan.handle import VulkanDevice

_OUT_OF_HOST_MEMORY = -1
_UNKNOWN = -13


def _recorded(handle: VulkanDevice) -> Any:
    add = handle.kernel("add")
    assert add is not None
    return add(handle.upload(np.ones(3, np.float32)), 1.0)


@pytest.mark.parametrize("name", ["vkQueueSubmit", "vkEndCommandBuffer"])
def test_it_is_raised_where_it_happens(handle: VulkanDevice, name: str) -> None:
    _recorded(handle)
    setattr(handle.device.functions, name, lambda *_: _UNKNOWN)

    with pytest.raises(VulkanError, match=f"{name} failed: VK_ERROR_UNKNOWN"):
        handle.synchronize()


def test_every_later_use_raises_what_happened(handle: VulkanDevice) -> None:
    value = _recorded(handle)
    functions = handle.device.functions
    real, functions.vkQueueSubmit = functions.vkQueueSubmit, lambda *_: _OUT_OF_HOST_MEMORY
    with pytest.raises(OutOfDeviceMemoryError):
        handle.synchronize()
    functions.vkQueueSubmit = real

    for use in (handle.synchronize, lambda: _recorded(handle), lambda: handle.download(value)):
        with pytest.raises(OutOfDeviceMemoryError, match="recorded work never reached the device"):
            use()


def test_work_submitted_before_is_waited_for_on_closing(handle: VulkanDevice) -> None:
    for _ in range(50):
        _recorded(handle)
    handle.device.functions.vkQueueSubmit = lambda *_: _UNKNOWN
    with pytest.raises(VulkanError):
        handle.synchronize()

    handle.close()  # the validation layer would name what is destroyed in use


def test_a_failed_beginning_loses_nothing(handle: VulkanDevice) -> None:
    functions = handle.device.functions
    real, functions.vkBeginCommandBuffer = functions.vkBeginCommandBuffer, lambda *_: _UNKNOWN
    with pytest.raises(VulkanError, match="vkBeginCommandBuffer"):
        _recorded(handle)
    functions.vkBeginCommandBuffer = real

    assert handle.download(_recorded(handle)).tolist() == [2, 2, 2]


def test_arguments_that_do_not_fit_lose_nothing(handle: VulkanDevice) -> None:
    maximum = handle.kernel("maximum")
    assert maximum is not None
    operand = handle.upload(np.ones(3, np.uint32))
    maximum(operand, 1)

    with pytest.raises(OverflowError, match="is not between 0 and 4294967295"):
        maximum(operand, 2**40)

    assert handle.download(maximum(operand, 5)).tolist() == [5, 5, 5]
