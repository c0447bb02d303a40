"""Tensors of several devices: an operation on both is refused, and names both."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import vkml
from vkml.errors import DeviceError
from vkml_vulkan.errors import VulkanError
from vkml_vulkan.handle import VulkanDevice

_OPERATIONS: dict[str, Callable[[vkml.Tensor, vkml.Tensor], object]] = {
    "add": lambda x, y: x + y,
    "in place": lambda x, y: x.add_(y),
    "matmul": lambda x, y: x @ y,
    "where": lambda x, y: vkml.where(x > 0, x, y),
    "cat": lambda x, y: vkml.cat([x, y]),
}


@pytest.mark.parametrize("operation", _OPERATIONS.values(), ids=_OPERATIONS.keys())
@pytest.mark.parametrize("order", [1, -1])
def test_cpu_and_vulkan_in_one_operation_are_refused(
    gpu: vkml.Device, operation: Callable[[vkml.Tensor, vkml.Tensor], object], order: int
) -> None:
    x, y = (vkml.ones((2, 2)), vkml.ones((2, 2), device=gpu))[::order]

    with pytest.raises(DeviceError) as caught:
        operation(x, y)

    message = str(caught.value)
    assert "cpu" in message
    assert str(gpu) in message
    assert ".to(" in message


def test_a_copy_may_cross_devices(gpu: vkml.Device) -> None:
    target = vkml.zeros(3, device=gpu)

    target.copy_(vkml.ones(3))

    assert target.cpu().tolist() == [1, 1, 1]


def test_waiting_for_work_of_another_device_is_an_error_and_no_standstill(
    open_device: Callable[..., VulkanDevice],
) -> None:
    one, other = open_device(), open_device()
    add = one.kernel("add")
    assert add is not None
    value = add(one.upload(np.ones(3, np.float32)), 1.0)

    with pytest.raises(VulkanError, match="of another Vulkan device"):
        other.download(value)
