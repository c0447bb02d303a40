"""Signal handlers and finalizers that use a device: they work, or are told; nothing hangs."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable

import numpy as np
import pytest

from vkml_vulkan.errors import VulkanError
from vkml_vulkan.exclusion import Exclusive
from vkml_vulkan.handle import VulkanDevice

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("staging", ["0", "1"])
def test_a_signal_handler_that_downloads_gets_right_values_or_an_error(
    run_python: Run, staging: str
) -> None:
    ended = run_python(
        """
        import random, signal, time
        import numpy as np
        from vkml_vulkan.backend import VULKAN_BACKEND
        from vkml_vulkan.errors import VulkanError

        handle = VULKAN_BACKEND.open_device(0)
        add = handle.kernel("add")
        kept = handle.upload(np.arange(5, dtype=np.float32))
        results = []

        def handler(*_):
            try:
                results.append(handle.download(add(kept, 1.0)).tolist())
            except VulkanError as error:
                results.append(type(error).__name__)
                assert "signal handler" in str(error), error
            signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0005, 0.003))

        add(kept, 1.0)
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        value, count, end = handle.upload(np.zeros(3, np.float32)), 0, time.monotonic() + 2
        while time.monotonic() < end:
            for _ in range(20):
                value, count = add(value, 1.0), count + 1
            assert handle.download(value).tolist() == [count] * 3
        signal.setitimer(signal.ITIMER_REAL, 0)
        right = [1, 2, 3, 4, 5]
        assert all(each in (right, "VulkanError") for each in results), results
        assert right in results
        handle.close()
        """,
        VKML_VULKAN_FORCE_STAGING=staging,
    )

    assert (ended.returncode, ended.stderr) == (0, "")


def test_use_in_the_midst_of_a_launch_is_refused(handle: VulkanDevice) -> None:
    add, refused = handle.kernel("add"), []
    assert add is not None
    operand = handle.upload(np.ones(3, np.float32))
    add(operand, 1.0)
    real = handle.device.functions.vkCmdDispatch

    def interrupted(*arguments: object) -> None:
        for use in (lambda: add(operand, 1.0), handle.synchronize, handle.recorder.submit):
            try:
                use()
            except VulkanError as error:
                refused.append(str(error))
        real(*arguments)

    handle.device.functions.vkCmdDispatch = interrupted
    value = add(operand, 2.0)
    handle.device.functions.vkCmdDispatch = real

    assert len(refused) == 3
    assert all("Let the handler set a flag" in each for each in refused)
    assert handle.download(value).tolist() == [3, 3, 3]


def test_a_lock_is_free_after_it_refused() -> None:
    lock = Exclusive()
    with lock, pytest.raises(VulkanError), lock:
        pass

    taken: list[bool] = []
    thread = threading.Thread(target=lambda: taken.append(lock.mutex.acquire(timeout=10)))
    thread.start()
    thread.join()

    assert taken == [True]
    assert not lock.is_taken
