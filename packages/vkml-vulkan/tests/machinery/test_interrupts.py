"""Ctrl-C: it ends a wait, and leaves the device as it should be."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy as np
import pytest

from vkml_vulkan.command_ring import CommandRing
from vkml_vulkan.errors import VulkanError
from vkml_vulkan.handle import VulkanDevice

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "pthread_kill"), reason="signals cannot be sent to a thread here"
)

_TIMEOUT = 2  # VK_TIMEOUT


@pytest.fixture(autouse=True)
def interrupts_are_heard() -> Iterator[None]:
    """Let Ctrl-C raise, also where these tests were started in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def ctrl_c() -> Callable[[], None]:
    """Return a function that does what Ctrl-C does."""
    assert threading.current_thread() is threading.main_thread()
    return lambda: os.kill(os.getpid(), signal.SIGINT)


def _adding(handle: VulkanDevice) -> Callable[[], Any]:
    add = handle.kernel("add")
    assert add is not None
    operand = handle.upload(np.ones(3, np.float32))
    add(operand, 1.0)
    return lambda: add(operand, 1.0)


def test_a_wait_ends(handle: VulkanDevice, ctrl_c: Callable[[], None]) -> None:
    value = _adding(handle)()
    functions = handle.device.functions
    real = functions.vkWaitSemaphores

    def hanging_device(*_: Any) -> int:
        ctrl_c()
        return _TIMEOUT

    functions.vkWaitSemaphores = hanging_device
    with pytest.raises(KeyboardInterrupt):
        handle.download(value)
    functions.vkWaitSemaphores = real

    assert handle.download(value).tolist() == [2, 2, 2]


def test_a_wait_for_a_command_buffer_ends(handle: VulkanDevice, ctrl_c: Callable[[], None]) -> None:
    add = _adding(handle)
    functions = handle.device.functions
    real = functions.vkWaitSemaphores

    def hanging_device(*_: Any) -> int:
        ctrl_c()
        return _TIMEOUT

    functions.vkWaitSemaphores = hanging_device
    with pytest.raises(KeyboardInterrupt):
        _for_ever(add)
    functions.vkWaitSemaphores = real

    assert handle.download(add()).tolist() == [2, 2, 2]


def _for_ever(action: Callable[[], Any]) -> None:
    while True:
        action()


def test_right_after_a_submission_nothing_is_lost(handle: VulkanDevice) -> None:
    value, submitted = _adding(handle)(), []
    functions = handle.device.functions
    real = functions.vkQueueSubmit

    def submitting(*arguments: Any) -> Any:
        result = real(*arguments)
        submitted.append(result)
        return result

    def interrupting(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code is CommandRing.submit.__code__:
            frame.f_trace_opcodes = True
            if event == "opcode" and submitted:  # the moment at which Python looks for signals
                raise KeyboardInterrupt
        return interrupting

    functions.vkQueueSubmit = submitting
    with pytest.raises(KeyboardInterrupt):
        _traced(interrupting, handle.recorder.submit)
    functions.vkQueueSubmit = real

    assert handle.download(value).tolist() == [2, 2, 2]


def _traced(trace: Callable[..., Any], action: Callable[[], None]) -> None:
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)


def test_before_a_submission_the_loss_is_not_passed_over(handle: VulkanDevice) -> None:
    value = _adding(handle)()

    def interrupted(*_: Any) -> int:
        raise KeyboardInterrupt

    handle.device.functions.vkEndCommandBuffer = interrupted
    with pytest.raises(KeyboardInterrupt):
        handle.synchronize()

    with pytest.raises(VulkanError, match=r"never reached the device .KeyboardInterrupt."):
        handle.download(value)


def test_many_interrupts_at_random_moments_give_right_values_or_an_error(
    run_python: Callable[..., Any],
) -> None:
    ended = run_python(
        """
        import os, random, signal, threading, time
        import numpy as np
        from vkml_vulkan.backend import VULKAN_BACKEND
        from vkml_vulkan.errors import VulkanError

        handle = VULKAN_BACKEND.open_device(0)
        add = handle.kernel("add")
        value, count, interrupts, lost = handle.upload(np.zeros(2, np.float32)), 0, 0, 0
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        end = time.monotonic() + 3

        while time.monotonic() < end and not lost:
            try:
                signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0005, 0.005))
                while True:
                    new = add(value, 1.0)
                    value, count = new, count + 1
            except KeyboardInterrupt:
                interrupts += 1
            except VulkanError:
                lost = 1
            signal.setitimer(signal.ITIMER_REAL, 0)
            if not lost:
                try:
                    found = handle.download(value)[0]
                except VulkanError:
                    break
                # The interrupt may come between the kernel and the counting of it.
                assert found in (count, count + 1), (found, count)
                count = int(found)
        assert interrupts > 20, interrupts
        handle.close()
        """
    )

    assert (ended.returncode, ended.stderr) == (0, "")
