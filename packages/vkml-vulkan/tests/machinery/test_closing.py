"""Closing: everything made is destroyed, whatever happened, and what comes after is refused.

The validation layer names what is alive when a device is destroyed; every test here fails on that.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import vkml
from vkml_vulkan.command_ring import CommandRing
from vkml_vulkan.device import LogicalDevice
from vkml_vulkan.errors import DeviceClosedError, VulkanError
from vkml_vulkan.handle import VulkanDevice
from vkml_vulkan.instance import the_instance
from vkml_vulkan.operand import Operand
from vkml_vulkan.pipelines import Pipelines
from vkml_vulkan.settings import read_settings

_FAILED = -3  # VK_ERROR_INITIALIZATION_FAILED
_FLOAT32 = np.dtype(np.float32)


@pytest.fixture
def destroyed(monkeypatch: pytest.MonkeyPatch) -> list[LogicalDevice]:
    """Return the devices that were destroyed, as they are."""
    found: list[LogicalDevice] = []
    close = LogicalDevice.close

    def closing(device: LogicalDevice) -> None:
        close(device)
        found.append(device)

    monkeypatch.setattr(LogicalDevice, "close", closing)
    return found


def _used(handle: VulkanDevice) -> Any:
    add = handle.kernel("add")
    assert add is not None
    return add(handle.upload(np.ones(100_000, np.float32)), 1.0)


@pytest.mark.parametrize("debug", ["", "separate", "canaries", "access"])
@pytest.mark.parametrize("staging", ["0", "1"])
def test_nothing_is_left_when_a_device_closes(
    open_device: Callable[..., VulkanDevice], debug: str, staging: str
) -> None:
    handle = open_device(VKML_VULKAN_DEBUG=debug, VKML_VULKAN_FORCE_STAGING=staging)
    handle.download(_used(handle))

    handle.close()

    assert not the_instance().messages


def test_a_leak_would_be_seen(open_device: Callable[..., VulkanDevice]) -> None:
    handle = open_device()
    if not read_settings().validation:
        pytest.skip("VULKAN TESTS RAN WITHOUT VALIDATION: a leak is not seen")
    messages = the_instance().messages
    held = handle.pool.allocate(1)
    block = handle.pool.blocks()[0]
    handle.pool._blocks.clear()

    handle.close()

    said = messages[:]
    messages.clear()  # this test wants them
    assert any("vkDestroyDevice" in each for each in said)
    assert held.chunk.block is block


def test_closing_waits_for_work_in_flight(handle: VulkanDevice) -> None:
    for _ in range(200):
        _used(handle)

    handle.close()


def test_closing_twice_is_closing_once(handle: VulkanDevice) -> None:
    handle.close()
    handle.close()


def test_tensors_may_outlive_their_device(handle: VulkanDevice) -> None:
    operand = _used(handle)
    handle.close()

    del operand


class Used(NamedTuple):
    """A device, an operand on it, and a kernel that ran."""

    handle: VulkanDevice
    operand: Operand
    add: Callable[..., Operand]


_USES: dict[str, Callable[[Used], object]] = {
    "empty": lambda on: on.handle.empty((3,), _FLOAT32),
    "empty of a size used before": lambda on: on.handle.empty((100_000,), _FLOAT32),
    "upload": lambda on: on.handle.upload(np.ones(3, np.float32)),
    "upload of nothing": lambda on: on.handle.upload(np.ones(0, np.float32)),
    "download": lambda on: on.handle.download(on.operand),
    "download of a view": lambda on: on.handle.download(on.handle.view(on.operand, (3,), (2,), 0)),
    "a kernel": lambda on: on.add(on.operand, 1.0),
    "a kernel with out": lambda on: on.add(on.operand, 1.0, on.operand),
    "a kernel of other shapes": lambda on: on.add(on.handle.view(on.operand, (3,), (2,), 0), 1.0),
    "a new kernel": lambda on: on.handle.kernel("exp")(on.operand),  # type: ignore[misc]
    "fill": lambda on: on.handle.kernel("full")((3,), 1.0, _FLOAT32),  # type: ignore[misc]
    "copy": lambda on: on.handle.copy(on.operand, on.operand),
    "synchronize": lambda on: on.handle.synchronize(),
}


@pytest.mark.parametrize("use", _USES.values(), ids=_USES.keys())
def test_use_after_closing_is_refused(handle: VulkanDevice, use: Callable[[Used], object]) -> None:
    operand, add = _used(handle), handle.kernel("add")
    assert add is not None
    add(operand, 1.0, operand)
    handle.close()

    with pytest.raises(DeviceClosedError, match="was closed; open it again"):
        use(Used(handle, operand, add))


def test_a_closed_device_holds_no_memory(handle: VulkanDevice) -> None:
    _used(handle)
    handle.close()

    assert handle.memory() == {"reserved": 0, "allocated": 0, "blocks": 0}


def test_tensors_of_a_closed_device_say_so(
    handle: VulkanDevice, device_of: Callable[[VulkanDevice], vkml.Device]
) -> None:
    tensor = vkml.ones(3, device=device_of(handle))
    handle.close()

    with pytest.raises(DeviceClosedError):
        tensor.cpu()


_STEPS = (
    "vkCreateCommandPool", "vkCreateSemaphore", "vkAllocateCommandBuffers", "vkCreateBuffer",
    "vkAllocateMemory", "vkBindBufferMemory", "vkMapMemory", "vkCreatePipelineLayout",
    "vkCreatePipelineCache",
)  # fmt: skip


@pytest.mark.parametrize("step", _STEPS)
@pytest.mark.parametrize("after", [0, 2])
def test_opening_that_fails_half_way_leaves_nothing_behind(
    open_device: Callable[..., VulkanDevice],
    monkeypatch: pytest.MonkeyPatch,
    destroyed: list[LogicalDevice],
    step: str,
    after: int,
) -> None:
    open_device()  # the instance is there, and works
    _fail_later(monkeypatch, step, after)

    with contextlib.suppress(VulkanError):
        open_device().close()  # where the function is called no third time

    assert len(destroyed) == 1


def _fail_later(monkeypatch: pytest.MonkeyPatch, step: str, after: int) -> None:
    """Let a function of devices to be opened fail when it is called the time after `after`."""
    create, calls = LogicalDevice._create, [0]

    def functions_fail(device: LogicalDevice, *arguments: Any, **options: Any) -> Any:
        made = create(device, *arguments, **options)
        table = device.api.functions

        def with_failure(*names: Any) -> Any:
            found = table(*names)
            real: Any = getattr(found, step, None)

            def fail(*given: Any) -> Any:
                calls[0] += 1
                return _FAILED if calls[0] == after + 1 else real(*given)

            setattr(found, step, fail)
            return found

        monkeypatch.setattr(device.api, "functions", with_failure)
        return made

    monkeypatch.setattr(LogicalDevice, "_create", functions_fail)


@pytest.mark.parametrize("part", [CommandRing, Pipelines])
def test_opening_that_fails_in_python_leaves_nothing_behind(
    open_device: Callable[..., VulkanDevice],
    monkeypatch: pytest.MonkeyPatch,
    destroyed: list[LogicalDevice],
    part: type,
) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    name = "_prepare_structs" if part is CommandRing else "_create_cache"
    monkeypatch.setattr(part, name, fail)

    with pytest.raises(KeyboardInterrupt):
        open_device()

    assert len(destroyed) == 1


def test_a_driver_that_lacks_a_function_leaves_no_device_behind(
    open_device: Callable[..., VulkanDevice], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vkml_vulkan.device._FUNCTIONS", ("vkNoSuchFunction",))

    with pytest.raises(VulkanError, match="the driver has no vkNoSuchFunction"):
        open_device()


def test_a_part_that_fails_to_close_does_not_keep_the_others(
    destroyed: list[LogicalDevice], handle: VulkanDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("the disk burns")

    monkeypatch.setattr("vkml_vulkan.pipelines.save_cache", fail)

    with pytest.raises(RuntimeError, match="the disk burns"):
        handle.close()

    assert destroyed == [handle.device]


def test_a_device_that_was_forgotten_is_closed_at_exit(run_python: Callable[..., Any]) -> None:
    ended = run_python("""
        import gc
        import numpy as np
        from vkml_vulkan.backend import VULKAN_BACKEND

        VULKAN_BACKEND.open_device(0).upload(np.ones(3))
        gc.collect()
    """)

    assert (ended.returncode, ended.stderr) == (0, "")
