"""The engine of an open device: its parts, made and closed together, and what kernels ask of it."""

from __future__ import annotations

import atexit
import contextlib
import os
from collections.abc import Callable
from typing import Any, Final, TypeVar

from vkml.backends.interface import DeviceInfo
from vkml.errors import BackendError, UnsupportedOperationError
from vkml_vulkan._api import Handle
from vkml_vulkan.allocation import (
    buffer_memory_types,
    choose_device_memory,
    choose_staging_memory,
)
from vkml_vulkan.capabilities import Capabilities, version_text
from vkml_vulkan.checked_recorder import CheckedRecorder
from vkml_vulkan.device import LogicalDevice
from vkml_vulkan.errors import DeviceClosedError
from vkml_vulkan.formats import RAW, format_of
from vkml_vulkan.guarded_memory import GuardedPool, debug_pool
from vkml_vulkan.instance import Instance, close_instance, forget_instance
from vkml_vulkan.kernel_table import KERNELS
from vkml_vulkan.layouts import MAX_ELEMENTS, require_countable
from vkml_vulkan.operand import Dtype, Operand, dense_form
from vkml_vulkan.pipelines import Pipelines
from vkml_vulkan.profile import profile_of
from vkml_vulkan.recorder import Recorder
from vkml_vulkan.settings import Settings
from vkml_vulkan.transfer import Transfer

Part = TypeVar("Part")


class Engine:
    """The parts of an open device.

    Attributes
    ----------
    info : DeviceInfo
    profile : Profile
        How kernels are shaped here.
    device, recorder, pool, pipelines, transfer
        The parts.
    """

    def __init__(
        self, instance: Instance, physical: Handle, capabilities: Capabilities, settings: Settings
    ) -> None:
        self.info: Final = describe(capabilities)
        self.profile: Final = profile_of(capabilities, min_spec=settings.min_spec)
        with contextlib.ExitStack() as parts:  # where one cannot be made, the others are closed
            self._make(parts, instance, physical, capabilities, settings)
            self._parts = parts.pop_all()
        self._shared: dict[Callable[[Engine], Any], Any] = {}
        _open_engines.append(self)

    def _make(
        self,
        parts: contextlib.ExitStack,
        instance: Instance,
        physical: Handle,
        capabilities: Capabilities,
        settings: Settings,
    ) -> None:
        """Make the parts; `parts` closes them, the last first."""
        float64 = self.profile.float64
        self.device = LogicalDevice(instance, physical, capabilities, float64=float64)
        parts.callback(self.device.close)
        types = buffer_memory_types(self.device)
        staging = choose_staging_memory(capabilities, types)
        kind = choose_device_memory(capabilities, types, force_staging=settings.force_staging)
        recorder = CheckedRecorder if "access" in settings.debug else Recorder
        self.recorder = recorder(self.device, staging)
        parts.callback(self.recorder.close)
        self.pool = debug_pool(settings.debug)(
            self.device,
            kind,
            limit_bytes=settings.memory_limit_bytes,
            wait_until_idle=self.recorder.wait_until_idle,
        )
        parts.callback(self.pool.close)
        self.pipelines = Pipelines(self.device, self.profile)
        parts.callback(self.pipelines.close)
        self.transfer = Transfer(self.device, self.recorder, kind, staging)
        parts.callback(self.transfer.close)
        if isinstance(self.recorder, CheckedRecorder):
            self.recorder.watch(self.pool)
        if isinstance(self.pool, GuardedPool):
            self.pool.guard(self.recorder, self.transfer)

    # What kernels ask for ---------------------------------------------------------------

    def empty(self, shape: tuple[int, ...], dtype: Dtype) -> Operand:
        """Return a new operand; its values are undefined."""
        made = dense_form(shape, dtype)
        if made.size > MAX_ELEMENTS:
            require_countable("a tensor", made.size)
        storage = self.pool.allocate(made.nbytes)
        return Operand(storage, made, storage.address)

    def shared(self, make: Callable[[Engine], Part]) -> Part:
        """Return what `make` makes of this engine, made once: what several kernels share."""
        found: Part | None = self._shared.get(make)
        if found is None:
            found = self._shared.setdefault(make, make(self))
        return found

    def why_not_dtype(self, name: str, dtype: Dtype) -> str | None:
        """Return None where the shader of an operation takes a dtype, else why it does not."""
        found = format_of(dtype)
        if found is None:
            return f"the Vulkan backend does not compute with {dtype}; use the CPU: x.cpu()."
        if found.compute == "f64" and not self.profile.float64:
            return "the device has no float64 arithmetic; convert on the CPU: x.cpu().float()."
        if found.compute not in KERNELS[name].classes:
            return f"{name} has no shader for {dtype}; convert with x.to(dtype)."
        return None

    def module(self, name: str, dtype: Dtype) -> str:
        """Return the shader module of an operation for a dtype.

        Raises
        ------
        UnsupportedOperationError
            There is none. The message is the sentence of `why_not`.
        """
        reason = self.why_not_dtype(name, dtype)
        if reason is not None:
            raise UnsupportedOperationError(f"{name} on {self.info.name}: {reason}")
        found = format_of(dtype)
        assert found is not None  # noqa: S101 - why_not_dtype has looked
        return f"{KERNELS[name].shader}_{found.compute}"

    def require_raw(self, name: str, dtype: Dtype) -> None:
        """Raise unless shaders can move elements of a dtype."""
        if dtype.itemsize not in RAW:
            reason = f"the Vulkan backend does not move {dtype}; use the CPU: x.cpu()."
            raise UnsupportedOperationError(f"{name} on {self.info.name}: {reason}")

    def grid(self, groups: int) -> tuple[int, int, int]:
        """Return workgroups along each axis for `groups` of them, or a few more."""
        most = self.profile.max_groups
        if groups <= most:
            return groups, 1, 1
        rows = -(-groups // most)
        return -(-groups // rows), rows, 1

    # Life -----------------------------------------------------------------------------

    def synchronize(self) -> None:
        """Wait until all work is done."""
        self.recorder.wait_until_idle()
        if isinstance(self.pool, GuardedPool):
            self.pool.check()

    def close(self) -> None:
        """Wait for the device and release everything. May be called twice."""
        try:
            _open_engines.remove(self)
        except ValueError:  # closed before
            return
        closed = DeviceClosedError(f"{self.info.name} was closed; open it again to use it.")
        with self._parts:
            self._parts.callback(self.device.shut, closed)  # before the parts are closed
            with contextlib.suppress(BackendError):  # a lost device is closed all the same
                self.recorder.wait_until_idle()

    def disown(self) -> None:
        """Leave the device to the process that this one is a fork of."""
        for part in (self.pool, self.pipelines, self.transfer):
            part.disown()
        self.device.disown(
            DeviceClosedError(
                f"{self.info.name} was opened before this process was forked, and does not work in "
                "the child. Start workers by spawn or forkserver, or open devices in the child "
                "alone."
            )
        )


def describe(capabilities: Capabilities) -> DeviceInfo:
    """Return what a person would want to know of a device."""
    return DeviceInfo(
        name=capabilities.name,
        kind=capabilities.kind,
        memory_bytes=capabilities.memory_bytes,
        details={
            "driver": capabilities.driver,
            "vulkan": version_text(capabilities.api_version),
            "subgroup": capabilities.subgroup_size,
            "float64": capabilities.float64,
        },
    )


_open_engines: Final[list[Engine]] = []


def close_devices() -> None:
    """Close every open device, and the instance: at the end of the process."""
    with contextlib.ExitStack() as everything:
        everything.callback(close_instance)
        for each in _open_engines:
            everything.callback(each.close)


def _disown_devices() -> None:
    for each in _open_engines:
        each.disown()
    _open_engines.clear()
    forget_instance()


atexit.register(close_devices)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown_devices)
