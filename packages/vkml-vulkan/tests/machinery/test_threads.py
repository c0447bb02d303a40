"""Threads: one device, many users, right results and no standstill."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from vkml_vulkan.errors import DeviceClosedError
from vkml_vulkan.handle import VulkanDevice

_TIMEOUT_S = 60


def _together(count: int, work: Callable[[int], Any]) -> list[Any]:
    """Return what `work` returns in each of several threads."""
    results: list[Any] = [None] * count
    start = threading.Barrier(count)

    def run(number: int) -> None:
        start.wait()
        try:
            results[number] = work(number)
        except BaseException as error:  # noqa: BLE001 - the assertion shows it
            results[number] = error

    threads = [threading.Thread(target=run, args=(each,), daemon=True) for each in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(_TIMEOUT_S)
        assert not each.is_alive(), "a thread hangs"
    return results


_MODES: dict[str, tuple[dict[str, str], int]] = {
    "plain": ({}, 300),
    "access": ({"VKML_VULKAN_DEBUG": "access"}, 20),
    "access with guards": ({"VKML_VULKAN_DEBUG": "access,canaries"}, 10),
    "canaries": ({"VKML_VULKAN_DEBUG": "canaries"}, 60),
    "staging": ({"VKML_VULKAN_FORCE_STAGING": "1"}, 100),
    "little memory": ({"VKML_VULKAN_MEMORY_LIMIT": "256K"}, 60),
}


@pytest.mark.parametrize(("mode", "steps"), _MODES.values(), ids=_MODES.keys())
def test_four_threads_on_one_device_are_all_right(
    open_device: Callable[..., VulkanDevice], mode: dict[str, str], steps: int
) -> None:
    handle = open_device(**mode)

    def work(number: int) -> bool:
        add, mul = handle.kernel("add"), handle.kernel("mul")
        assert add is not None
        assert mul is not None
        value = handle.upload(np.full(1000 + number, number, np.float32))
        wanted = np.full(1000 + number, number, np.float32)
        for step in range(steps):
            other = handle.upload(np.full(1000 + number, step % 3, np.float32))
            value = add(mul(value, 0.5), other)
            wanted = wanted * np.float32(0.5) + step % 3
            if step % 7 == number and not np.array_equal(handle.download(value), wanted):
                return False
        return np.array_equal(handle.download(value), wanted)

    assert _together(4, work) == [True] * 4


def test_threads_that_want_the_same_pipeline_make_it_once(handle: VulkanDevice) -> None:
    functions, calls = handle.device.functions, []
    create = functions.vkCreateComputePipelines

    def creating(*arguments: Any) -> Any:
        calls.append(arguments)
        return create(*arguments)

    functions.vkCreateComputePipelines = creating

    found = _together(4, lambda _: handle.pipelines.get("unary_u32", (64, 0, 0, 7, 7, 0, 0, 0)))

    assert len(set(map(id, found))) == 1
    assert len(calls) == 1


def test_a_thread_that_waits_lets_others_record(handle: VulkanDevice) -> None:
    add = handle.kernel("add")
    assert add is not None
    operand = handle.upload(np.ones(3, np.float32))
    add(operand, 1.0)
    functions = handle.device.functions
    real, waiting, go_on = functions.vkWaitSemaphores, threading.Event(), threading.Event()

    def slow_device(*arguments: Any) -> Any:
        waiting.set()
        assert go_on.wait(_TIMEOUT_S)
        return real(*arguments)

    functions.vkWaitSemaphores = slow_device
    result: list[Any] = []
    waiter = threading.Thread(target=lambda: result.append(handle.download(add(operand, 2.0))))
    waiter.start()
    assert waiting.wait(_TIMEOUT_S)

    add(operand, 3.0)  # would hang, were the lock held
    handle.upload(np.ones(3, np.float32))
    go_on.set()
    waiter.join(_TIMEOUT_S)

    assert result[0].tolist() == [3, 3, 3]


def test_threads_wait_for_moments_of_their_own(handle: VulkanDevice) -> None:
    add = handle.kernel("add")
    assert add is not None

    def work(number: int) -> bool:
        for size in (10, 1000, 100_000):
            value = handle.upload(np.full(size, number, np.float32))
            for _ in range(10):
                value = add(value, 1.0)
                handle.recorder.wait(value.storage.chunk.busy_until)
            if not (handle.download(value) == number + 10).all():
                return False
        return True

    assert _together(4, work) == [True] * 4


@pytest.mark.parametrize("staging", ["0", "1"])
def test_closing_while_threads_work_ends_them_with_an_error(
    open_device: Callable[..., VulkanDevice], staging: str
) -> None:
    handle = open_device(VKML_VULKAN_FORCE_STAGING=staging)
    running = threading.Barrier(4)

    def work(number: int) -> None:
        add = handle.kernel("add")
        assert add is not None
        operand = handle.upload(np.ones(100_000, np.float32))
        running.wait()
        if number == 0:
            handle.close()
        while True:
            handle.download(add(operand, 1.0))
            handle.upload(np.ones(200_000, np.float32))

    assert [type(each) for each in _together(4, work)] == [DeviceClosedError] * 4


def test_several_threads_may_close(handle: VulkanDevice) -> None:
    handle.upload(np.ones(3))

    assert _together(4, lambda _: handle.close()) == [None] * 4
