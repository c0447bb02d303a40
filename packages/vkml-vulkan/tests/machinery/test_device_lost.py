"""A lost device, which none here ever is: played by fakes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vkml
from vkml_vulkan.errors import DeviceLostError
from vkml_vulkan.handle import VulkanDevice

_DEVICE_LOST = -4
_FLOAT32 = np.dtype(np.float32)
_FUNCTIONS = ("vkQueueSubmit", "vkWaitSemaphores")


def _recorded(handle: VulkanDevice, name: str = "add") -> Any:
    kernel = handle.kernel(name)
    assert kernel is not None
    return kernel(handle.upload(np.ones(3, np.float32)), 1.0)


def _lose(handle: VulkanDevice, name: str) -> DeviceLostError:
    """Lose the device while `mul` and `sub` are recorded; return the error."""
    _recorded(handle, "mul")
    _recorded(handle, "sub")
    setattr(handle.device.functions, name, lambda *_: _DEVICE_LOST)
    with pytest.raises(DeviceLostError) as caught:
        handle.synchronize()
    return caught.value


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_the_error_names_the_call_and_the_last_dispatches(handle: VulkanDevice, name: str) -> None:
    message = str(_lose(handle, name))

    assert f"{name}: the driver gave the device up" in message
    assert "Last recorded: " in message
    assert "mul, update, sub. Its" in message
    assert "restart the process" in message


_USES: dict[str, Callable[[VulkanDevice, Any], object]] = {
    "empty": lambda handle, _: handle.empty((3,), _FLOAT32),
    "upload": lambda handle, _: handle.upload(np.ones(3, np.float32)),
    "upload of nothing": lambda handle, _: handle.upload(np.ones(0, np.float32)),
    "download": lambda handle, value: handle.download(value),
    "kernel": lambda handle, _: _recorded(handle),
    "new kernel": lambda handle, value: handle.kernel("exp")(value),  # type: ignore[misc]
    "kernel in place": lambda handle, value: handle.kernel("add")(value, 1.0, value),  # type: ignore[misc]
    "copy": lambda handle, value: handle.copy(value, value),
    "synchronize": lambda handle, _: handle.synchronize(),
}


@pytest.mark.parametrize("name", _FUNCTIONS)
@pytest.mark.parametrize("use", _USES.values(), ids=_USES.keys())
def test_every_later_use_raises_the_same(
    handle: VulkanDevice, name: str, use: Callable[[VulkanDevice, Any], object]
) -> None:
    value = _recorded(handle)
    error = _lose(handle, name)

    with pytest.raises(DeviceLostError) as caught:
        use(handle, value)

    assert str(caught.value) == str(error)


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_a_lost_device_closes(handle: VulkanDevice, name: str) -> None:
    _lose(handle, name)

    handle.close()

    assert handle.memory()["reserved"] == 0


def test_the_errors_do_not_keep_the_frames_of_earlier_uses(handle: VulkanDevice) -> None:
    _lose(handle, "vkQueueSubmit")
    depths = []

    for _ in range(3):
        with pytest.raises(DeviceLostError) as caught:
            handle.synchronize()
        depths.append(len(caught.traceback))

    assert depths[0] == depths[1] == depths[2]


def test_work_recorded_by_others_when_the_device_is_lost_is_dropped(handle: VulkanDevice) -> None:
    value = _recorded(handle)
    handle.synchronize()
    _recorded(handle)  # recorded, and waits for its batch

    handle.device.functions.vkWaitSemaphores = lambda *_: _DEVICE_LOST
    with pytest.raises(DeviceLostError):
        handle.recorder._ring.wait(10**9, ())

    with pytest.raises(DeviceLostError):
        handle.kernel("add")(value, 1.0, value)  # type: ignore[misc]  # it has a kernel


def test_a_device_lost_while_a_pipeline_is_made_is_lost(handle: VulkanDevice) -> None:
    handle.device.functions.vkCreateComputePipelines = lambda *_: _DEVICE_LOST

    with pytest.raises(DeviceLostError, match="vkCreateComputePipelines"):
        _recorded(handle)

    with pytest.raises(DeviceLostError, match="vkCreateComputePipelines"):
        handle.synchronize()


def test_waiting_for_the_next_command_buffer_names_the_last_dispatches(
    handle: VulkanDevice,
) -> None:
    handle.device.functions.vkGetSemaphoreCounterValue = lambda *_: 0  # it never gets anywhere
    handle.device.functions.vkWaitSemaphores = lambda *_: _DEVICE_LOST

    with pytest.raises(DeviceLostError, match=r"Last recorded: .*add"):
        _record_many(handle)


def _record_many(handle: VulkanDevice) -> None:
    for _ in range(1000):
        _recorded(handle)


def test_tensors_of_a_lost_device_say_so(
    handle: VulkanDevice, device_of: Callable[[VulkanDevice], vkml.Device]
) -> None:
    tensor = vkml.ones(3, device=device_of(handle))
    _lose(handle, "vkQueueSubmit")

    with pytest.raises(DeviceLostError):
        tensor.cpu()
    with pytest.raises(DeviceLostError):
        tensor + tensor
