"""The backend named ``vulkan``, as its entry point names it. Nothing is opened on import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from vkml.backends.interface import INTERFACE_VERSION, Backend, DeviceHandle, DeviceInfo
from vkml.errors import BackendError
from vkml_vulkan._api import Handle
from vkml_vulkan.capabilities import Capabilities, query_capabilities
from vkml_vulkan.engine import describe
from vkml_vulkan.errors import DriverMissingError, LoaderMissingError
from vkml_vulkan.handle import VulkanDevice
from vkml_vulkan.instance import Instance, the_instance
from vkml_vulkan.settings import read_settings

_PREFERENCE: Final = ("discrete", "integrated", "virtual", "other", "cpu")
_INSTALL_DRIVER: Final = (
    "Install your GPU vendor's driver, or on Debian or Ubuntu: apt install mesa-vulkan-drivers. "
    "Then run: vkml-vulkan doctor"
)


class VulkanBackend:
    """Devices of any vendor that speak Vulkan 1.3."""

    interface_version = INTERFACE_VERSION

    def list_devices(self) -> Sequence[DeviceInfo]:
        """Return the usable devices, GPUs before software. Empty where there is no driver."""
        try:
            return tuple(describe(each) for _, each in usable_devices(the_instance()))
        except (LoaderMissingError, DriverMissingError):
            return ()

    def why_unavailable(self) -> str | None:
        """Return None where there are devices, else what is missing."""
        try:
            found = all_devices(the_instance())
        except LoaderMissingError as error:
            return str(error)
        except DriverMissingError as error:
            return f"{error} {_INSTALL_DRIVER}"
        reasons = [(each.name, each.why_unusable()) for _, each in found]
        if any(reason is None for _, reason in reasons):
            return None
        if not reasons:
            return f"the Vulkan loader is here, and no driver shows a device. {_INSTALL_DRIVER}"
        return " ".join(f"{name}: {reason}" for name, reason in reasons)

    def open_device(self, index: int) -> DeviceHandle:
        """Open the device at `index` of `list_devices`."""
        instance = the_instance()
        found = usable_devices(instance)
        if not 0 <= index < len(found):
            reason = self.why_unavailable() or f"there are {len(found)}, numbered from 0."
            raise BackendError(f"there is no device 'vulkan:{index}': {reason}")
        physical, capabilities = found[index]
        return VulkanDevice(instance, physical, capabilities, read_settings())


def all_devices(instance: Instance) -> list[tuple[Handle, Capabilities]]:
    """Return every device that a driver shows, best first."""
    found = [(each, query_capabilities(instance, each)) for each in instance.physical_devices()]
    return sorted(found, key=lambda pair: _PREFERENCE.index(pair[1].kind))


def usable_devices(instance: Instance) -> list[tuple[Handle, Capabilities]]:
    """Return the devices that vkML can use, best first."""
    return [pair for pair in all_devices(instance) if pair[1].why_unusable() is None]


VULKAN_BACKEND: Final[Backend] = VulkanBackend()
