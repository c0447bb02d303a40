"""The errors of the Vulkan backend.

Each is one of vkML's own, and the built-in error that fits::

    vkml.errors.BackendError
    ├── LoaderMissingError                 there is no Vulkan loader on this machine
    ├── DriverMissingError                 there is a loader, and no driver
    ├── VulkanError                        a Vulkan call failed
    │   └── DeviceLostError                the driver gave the device up
    ├── OutOfDeviceMemoryError (MemoryError)
    ├── DeviceClosedError                  used after `close`, after exit, or in a forked child
    └── AccessError                        a kernel touched what it had not declared (debugging)
"""

from __future__ import annotations

from vkml.errors import BackendError

__all__ = [
    "AccessError",
    "DeviceClosedError",
    "DeviceLostError",
    "DriverMissingError",
    "LoaderMissingError",
    "OutOfDeviceMemoryError",
    "VulkanError",
]


class LoaderMissingError(BackendError):
    """There is no Vulkan loader, or the package `vulkan` cannot find it."""


class DriverMissingError(BackendError):
    """The Vulkan loader found no driver."""


class VulkanError(BackendError):
    """A Vulkan call returned an error."""


class DeviceLostError(VulkanError):
    """The driver gave the device up; its tensors are lost."""


class OutOfDeviceMemoryError(BackendError, MemoryError):
    """The device has no memory left for a tensor."""


class DeviceClosedError(BackendError):
    """The device was closed, or this process is a fork of the one that opened it."""


class AccessError(BackendError):
    """A debug mode found a kernel that touches memory which it must not, or a missing barrier."""
