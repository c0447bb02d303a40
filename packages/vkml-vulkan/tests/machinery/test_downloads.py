"""Downloads: a copy of the values, whatever the layout, when the work on them is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from vkml_vulkan import transfer
from vkml_vulkan.handle import VulkanDevice


@pytest.fixture(params=["direct", "staged"])
def device(request: pytest.FixtureRequest, open_device: Callable[..., VulkanDevice]) -> Any:
    return open_device(VKML_VULKAN_FORCE_STAGING=str(int(request.param == "staged")))


def test_the_array_is_not_the_device_s_memory(device: VulkanDevice) -> None:
    operand = device.upload(np.arange(100_000))

    first = device.download(operand)
    first[:] = 0

    assert np.array_equal(device.download(operand), np.arange(100_000))


def test_the_array_outlives_the_device(device: VulkanDevice) -> None:
    found = device.download(device.upload(np.arange(100_000)))

    device.close()

    assert found.sum() == 4_999_950_000


def test_the_array_keeps_its_values_when_the_memory_is_used_again(device: VulkanDevice) -> None:
    operand = device.upload(np.arange(5))
    found = device.download(operand)
    del operand

    device.upload(np.zeros(5, np.int64))

    assert found.tolist() == [0, 1, 2, 3, 4]


def test_the_array_can_be_written_and_is_aligned(device: VulkanDevice) -> None:
    found = device.download(device.upload(np.arange(5.0)))

    assert found.flags.writeable
    assert found.flags.aligned


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "float32", "int64", "complex64"])
@pytest.mark.parametrize(
    ("shape", "strides", "offset"),
    [
        ((4, 3), (1, 4), 0),
        ((3, 2), (4, 2), 1),
        ((3, 4), (-4, -1), 11),
        ((2, 3, 4), (0, 4, 1), 0),
        ((5,), (0,), 7),
        ((), (), 5),
        ((0, 4), (4, 1), 0),
    ],
)
def test_views_come_as_they_look(
    device: VulkanDevice,
    dtype: str,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    offset: int,
) -> None:
    array = (np.arange(12) % 5).astype(dtype)
    operand = device.upload(array)

    found = device.download(device.view(operand, shape, strides, offset))

    nbytes = tuple(stride * array.itemsize for stride in strides)
    wanted = np.lib.stride_tricks.as_strided(array[offset:], shape, nbytes)
    assert found.dtype == wanted.dtype
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize("count", [131_071, 131_072, 131_073, 262_144, 300_001, 1_000_003])
def test_sizes_around_staging_buffers_come_whole(
    open_device: Callable[..., VulkanDevice], monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(transfer, "_STAGING_BYTES", 131_072)
    handle = open_device(VKML_VULKAN_FORCE_STAGING="1")
    array = np.random.default_rng(count).integers(0, 256, count, np.uint8)
    operand = handle.upload(array)

    part = handle.view(operand, (count - 5,), (1,), 5)

    assert np.array_equal(handle.download(operand), array)
    assert np.array_equal(handle.download(part), array[5:])


def test_recorded_work_is_waited_for(device: VulkanDevice) -> None:
    add = device.kernel("add")
    assert add is not None
    value = device.upload(np.zeros(200_000, np.float32))

    for _ in range(20):
        value = add(value, 1.0)

    assert (device.download(value) == 20).all()


def test_a_download_between_two_changes_sees_the_first_alone(device: VulkanDevice) -> None:
    add = device.kernel("add")
    assert add is not None
    value = device.upload(np.zeros(100_000, np.float32))

    add(value, 1.0, value)
    first = device.download(value)
    add(value, 1.0, value)
    second = device.download(value)

    assert (first == 1).all()
    assert (second == 2).all()
