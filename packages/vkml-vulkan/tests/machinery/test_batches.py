"""Batches: when work is submitted, and that the ring of command buffers wraps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

from vkml_vulkan import recorder as recorder_module
from vkml_vulkan.handle import VulkanDevice
from vkml_vulkan.operand import Operand

Calls: TypeAlias = Callable[[str], list[tuple[Any, ...]]]


def _adding(handle: VulkanDevice) -> Callable[[Operand], Operand]:
    add = handle.kernel("add")
    assert add is not None
    return lambda operand: add(operand, 1.0)


def test_values_are_right_after_thousands_of_dispatches(handle: VulkanDevice) -> None:
    add, value = _adding(handle), handle.upload(np.zeros(3, np.float32))

    for _ in range(3000):
        value = add(value)

    assert handle.download(value).tolist() == [3000, 3000, 3000]


def test_batches_begin_small_and_double(handle: VulkanDevice, calls: Calls) -> None:
    add, value = _adding(handle), handle.upload(np.zeros(3, np.float32))
    handle.synchronize()
    submitted, dispatched = calls("vkQueueSubmit"), calls("vkCmdDispatch")
    sizes = []

    for _ in range(8 + 16 + 32 + 64 + 64):
        before = len(submitted)
        add(value)
        if len(submitted) > before:
            sizes.append(len(dispatched))

    assert sizes == [8, 24, 56, 120, 184]


def test_after_a_wait_batches_begin_small_again(handle: VulkanDevice, calls: Calls) -> None:
    add, value = _adding(handle), handle.upload(np.zeros(3, np.float32))
    for _ in range(200):
        add(value)
    handle.synchronize()
    submitted = calls("vkQueueSubmit")

    for _ in range(8):
        add(value)

    assert len(submitted) == 1


def test_much_work_is_submitted_at_once(
    handle: VulkanDevice, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    add, value = _adding(handle), handle.upload(np.zeros(3000, np.float32))
    add(value)
    handle.synchronize()
    monkeypatch.setattr(recorder_module, "_LARGEST_WORK", 5000)
    submitted = calls("vkQueueSubmit")

    for _ in range(4):
        add(value)

    assert len(submitted) == 2


def test_transfers_alone_are_submitted_in_batches_too(handle: VulkanDevice, calls: Calls) -> None:
    chunk = handle.pool.allocate(256).chunk
    submitted = calls("vkQueueSubmit")

    for _ in range(9):
        handle.recorder.fill(chunk, 0, 256, 0)

    assert len(submitted) == 1


def test_nothing_recorded_is_nothing_submitted(handle: VulkanDevice, calls: Calls) -> None:
    submitted = calls("vkQueueSubmit")

    handle.synchronize()
    handle.recorder.submit()

    assert submitted == []


def test_recorded_work_runs_when_it_is_waited_for(handle: VulkanDevice, calls: Calls) -> None:
    add, value = _adding(handle), handle.upload(np.zeros(3, np.float32))
    submitted = calls("vkQueueSubmit")

    result = add(value)
    assert submitted == []

    assert handle.download(result).tolist() == [1, 1, 1]
    assert len(submitted) == 1


def test_what_is_done_is_not_waited_for(handle: VulkanDevice, calls: Calls) -> None:
    value = _adding(handle)(handle.upload(np.zeros(3, np.float32)))
    handle.synchronize()
    waits = calls("vkWaitSemaphores")

    handle.recorder.wait(value.storage.chunk.busy_until)

    assert waits == []


def test_arguments_that_are_too_long_to_push_go_through_the_ring(
    handle: VulkanDevice, calls: Calls
) -> None:
    random = np.random.default_rng(3)
    shape = (2, 3, 2, 3, 2, 3, 2, 2)
    arrays = [random.standard_normal(shape, np.float32).T for _ in range(2)]
    condition = random.random(shape).T > 0.5
    choose, pushed = handle.kernel("where"), calls("vkCmdPushConstants")
    assert choose is not None

    def transposed(array: np.ndarray[Any, Any]) -> Operand:
        operand = handle.upload(np.ascontiguousarray(array.T))
        strides = tuple(reversed(operand.form.strides))
        return handle.view(operand, array.shape, strides, 0)

    found = choose(transposed(condition), transposed(arrays[0]), _permuted(handle, arrays[1]))

    assert pushed[-1][4] == 8  # the address of the block alone
    assert np.array_equal(handle.download(found), np.where(condition, *arrays))


def _permuted(handle: VulkanDevice, array: np.ndarray[Any, Any]) -> Operand:
    """Return an operand with the values of `array` and a layout of its own."""
    order = (3, 0, 5, 2, 7, 4, 1, 6)
    operand = handle.upload(np.ascontiguousarray(array.transpose(order)))
    strides = [0] * 8
    for place, axis in enumerate(order):
        strides[axis] = operand.form.strides[place]
    return handle.view(operand, array.shape, tuple(strides), 0)


def test_long_arguments_of_many_batches_do_not_overwrite_each_other(handle: VulkanDevice) -> None:
    add = handle.kernel("add")
    assert add is not None
    base = np.arange(2**8, dtype=np.float32).reshape((2,) * 8)
    total, expected = handle.upload(np.zeros_like(base)), np.zeros_like(base)

    for step in range(400):
        order = tuple(np.random.default_rng(step).permutation(8).tolist())
        operand = _layout_of(handle, base + step, order)
        total = add(total, operand)
        expected = expected + (base + step).transpose(np.argsort(order))

    assert np.array_equal(handle.download(total), expected)


def _layout_of(
    handle: VulkanDevice, array: np.ndarray[Any, Any], order: tuple[int, ...]
) -> Operand:
    operand = handle.upload(array)
    strides = [0] * 8
    for place, axis in enumerate(order):
        strides[axis] = operand.form.strides[place]
    return handle.view(operand, array.shape, tuple(strides), 0)
