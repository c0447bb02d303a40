"""VKML_VULKAN_MEMORY_LIMIT: an error that helps, and no harm afterwards."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import numpy as np
import pytest

import vkml
from vkml.errors import UnsupportedOperationError, VkmlError
from vkml_vulkan.errors import OutOfDeviceMemoryError
from vkml_vulkan.handle import VulkanDevice

_MIB = 2**20
_FLOAT32 = np.dtype(np.float32)


@pytest.fixture
def small(open_device: Callable[..., VulkanDevice]) -> VulkanDevice:
    """Return a device of 16 MiB."""
    return open_device(VKML_VULKAN_MEMORY_LIMIT="16M")


def _fill(handle: VulkanDevice, nbytes: int = _MIB) -> list[object]:
    """Make tensors of so many bytes until there is no room; return them."""
    held: list[object] = []
    with contextlib.suppress(OutOfDeviceMemoryError):
        while True:
            held.append(handle.empty((nbytes // 4,), _FLOAT32))
    return held


def test_no_more_than_the_limit_is_taken(small: VulkanDevice) -> None:
    held = _fill(small)

    assert small.memory()["reserved"] <= 16 * _MIB
    assert len(held) == 16


def test_the_error_is_a_memory_error_and_one_of_vkml(small: VulkanDevice) -> None:
    with pytest.raises(MemoryError) as caught:
        small.empty((100 * _MIB,), _FLOAT32)

    assert isinstance(caught.value, VkmlError)


def test_the_error_lists_what_is_held_and_the_remedy(small: VulkanDevice) -> None:
    held = _fill(small)

    with pytest.raises(OutOfDeviceMemoryError) as caught:
        small.empty((_MIB // 2,), _FLOAT32)

    message = str(caught.value)
    assert small.info.name in message
    assert f"no room for {2 * _MIB} bytes" in message
    assert "VKML_VULKAN_MEMORY_LIMIT is 16777216 bytes" in message
    assert f"Tensors hold {16 * _MIB} bytes of {16 * _MIB}" in message
    assert "Delete tensors" in message
    assert held


def test_deleted_tensors_make_room(small: VulkanDevice) -> None:
    held = _fill(small)

    held.clear()

    assert small.empty((4 * _MIB,), _FLOAT32).shape == (4 * _MIB,)  # of another size, too


def test_a_long_piece_serves_for_small_tensors_where_there_is_no_other(small: VulkanDevice) -> None:
    held = _fill(small)
    del held[0]
    add = small.kernel("add")
    assert add is not None

    assert small.download(add(small.upload(np.ones(3, np.float32)), 1.0)).tolist() == [2, 2, 2]


def test_graphs_of_gradients_that_are_cycles_are_collected(
    small: VulkanDevice, device_of: Callable[[VulkanDevice], vkml.Device]
) -> None:
    device = device_of(small)

    def leave_a_cycle() -> None:
        x = vkml.zeros(_MIB // 4, device=device, requires_grad=True)
        y = x * x
        y.register_hook(lambda gradient: gradient + y)  # the graph holds y, whose graph it is

    for _ in range(60):  # 120 MiB, were they kept
        leave_a_cycle()

    assert small.memory()["reserved"] <= 16 * _MIB


def test_a_chunk_that_the_collection_frees_in_a_block_in_use_is_found(
    open_device: Callable[..., VulkanDevice],
) -> None:
    handle = open_device(VKML_VULKAN_MEMORY_LIMIT="1K")  # one block of four chunks, never empty
    held: list[object] = [handle.pool.allocate(256) for _ in range(3)]

    def leave_a_cycle() -> None:
        cycle: list[object] = [handle.pool.allocate(256)]
        cycle.append(cycle)

    for _ in range(5):
        leave_a_cycle()

    assert len(held) == 3


def test_a_limit_of_nothing_refuses_everything(open_device: Callable[..., VulkanDevice]) -> None:
    handle = open_device(VKML_VULKAN_MEMORY_LIMIT="0")

    with pytest.raises(OutOfDeviceMemoryError):
        handle.empty((1,), _FLOAT32)


def test_guards_count_towards_the_limit_and_are_given_back(
    open_device: Callable[..., VulkanDevice],
) -> None:
    handle = open_device(VKML_VULKAN_MEMORY_LIMIT="64K", VKML_VULKAN_DEBUG="canaries")

    for number in range(1, 200):  # each size has its own chunks: only trimming makes room
        handle.empty((64 * number % 3000 + 1,), _FLOAT32)

    handle.synchronize()
    assert handle.memory()["reserved"] <= 65536


def test_short_pieces_that_are_neighbours_serve_for_a_long_tensor(small: VulkanDevice) -> None:
    held = _fill(small, 64 * 1024)
    del held[1:33]  # two MiB in pieces of 64 KiB, all in a block that stays in use

    assert small.empty((_MIB // 2 - 1,), _FLOAT32).shape == (_MIB // 2 - 1,)


def test_pieces_that_were_cut_and_joined_keep_the_values_right(small: VulkanDevice) -> None:
    add = small.kernel("add")
    assert add is not None
    random, held = np.random.default_rng(7), [small.upload(np.zeros(1, np.float32))]
    values = [0.0]

    for step in range(400):
        size = int(random.integers(1, 300_000))
        operand = small.upload(np.full(size, step, np.float32))
        held.append(add(operand, 1.0))
        values.append(step + 1.0)
        while sum(each.form.nbytes for each in held) > 7 * _MIB:
            index = int(random.integers(len(held)))
            del held[index], values[index]

    assert small.memory()["reserved"] <= 16 * _MIB
    for operand, value in zip(held, values, strict=True):
        assert (small.download(operand) == value).all()


def test_a_tensor_that_shaders_cannot_count_is_refused_before_memory_is_taken(
    small: VulkanDevice,
) -> None:
    with pytest.raises(UnsupportedOperationError, match="2147483648 elements are more"):
        small.empty((2**31,), np.dtype(np.bool_))
