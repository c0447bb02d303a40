"""Devices of a test's own, fakes of Vulkan's functions, and interpreters of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import vkml
from vkml_vulkan.backend import VULKAN_BACKEND
from vkml_vulkan.handle import VulkanDevice

_TIME_LIMIT_S = 60
"""What hangs does so for ever; a busy machine is merely slow."""


@pytest.fixture
def open_device(
    gpu: vkml.Device, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., VulkanDevice]]:
    """Open devices apart from `vkml.device`; the arguments are environment variables.

    What the test itself does not set is as a user has it: no limit, no debug mode.
    """
    opened: list[VulkanDevice] = []

    def open_it(**environment: str) -> VulkanDevice:
        with monkeypatch.context() as patch:
            for name in ("VKML_VULKAN_MEMORY_LIMIT", "VKML_VULKAN_DEBUG"):
                patch.setenv(name, environment.pop(name, ""))
            for name, value in environment.items():
                patch.setenv(name, value)
            handle = VULKAN_BACKEND.open_device(0)
        assert isinstance(handle, VulkanDevice)
        opened.append(handle)
        return handle

    yield open_it
    for each in opened:
        each.close()


@pytest.fixture
def handle(open_device: Callable[..., VulkanDevice]) -> VulkanDevice:
    """Return an open device that no other test sees."""
    return open_device()


@pytest.fixture
def calls(handle: VulkanDevice) -> Callable[[str], list[tuple[Any, ...]]]:
    """Return a function that starts to list the calls of a Vulkan function."""

    def listen(name: str) -> list[tuple[Any, ...]]:
        made: list[tuple[Any, ...]] = []
        real = getattr(handle.device.functions, name)

        def listed(*arguments: Any) -> Any:
            made.append(arguments)
            return real(*arguments)

        setattr(handle.device.functions, name, listed)
        return made

    return listen


@pytest.fixture
def device_of() -> Callable[[VulkanDevice], vkml.Device]:
    """Return a function that makes a device for tensors of a handle."""

    def make(handle: VulkanDevice) -> vkml.Device:
        device = vkml.Device("vulkan", 0)
        device._handle = handle
        return device

    return make


@pytest.fixture
def run_python(gpu: vkml.Device) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a program in an interpreter of its own; the arguments are environment variables."""

    def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-X", "faulthandler", "-W", "error", "-c", textwrap.dedent(program)],
            env={**os.environ, **environment},
            timeout=_TIME_LIMIT_S,
            capture_output=True,
            text=True,
            check=False,
        )

    return run
