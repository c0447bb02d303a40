"""The Vulkan instance of this process, and the messages of the validation layer."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, Final

from vkml_vulkan._api import Handle, Vulkan, vulkan
from vkml_vulkan.errors import DriverMissingError, VulkanError
from vkml_vulkan.settings import read_settings

VALIDATION_LAYER: Final = "VK_LAYER_KHRONOS_validation"
_PORTABILITY: Final = "VK_KHR_portability_enumeration"  # MoltenVK is listed only on request
_DEBUG_UTILS: Final = "VK_EXT_debug_utils"
API_VERSION: Final = (1 << 22) | (3 << 12)
"""1.3: buffer addresses, timeline semaphores and the short form of barriers are part of it."""

_FUNCTIONS: Final = (
    "vkEnumeratePhysicalDevices", "vkGetPhysicalDeviceProperties2", "vkGetPhysicalDeviceFeatures2",
    "vkGetPhysicalDeviceMemoryProperties", "vkGetPhysicalDeviceQueueFamilyProperties",
    "vkEnumerateDeviceExtensionProperties", "vkCreateDevice", "vkGetDeviceProcAddr",
    "vkDestroyInstance",
)  # fmt: skip

log = logging.getLogger("vkml_vulkan")


class Instance:
    """An open instance. `messages` holds what the validation layer said."""

    def __init__(self, validation: str) -> None:
        self.api: Final = vulkan()
        self.messages: list[str] = []
        self._alive: list[Any] = []  # C memory that the instance reads
        self._stop_listening: Callable[[], None] | None = None
        self.handle: Final = self._create(validation)
        look_up = self.api.lib.vkGetInstanceProcAddr
        self.functions: Final = self.api.functions(look_up, self.handle, _FUNCTIONS)

    def physical_devices(self) -> list[Handle]:
        """Return the devices that the installed drivers show."""
        api, count = self.api, self.api.ffi.new("uint32_t*")
        enumerate_devices = self.functions.vkEnumeratePhysicalDevices
        counted = enumerate_devices(self.handle, count, api.ffi.NULL)
        if counted == api.constants.VK_ERROR_INITIALIZATION_FAILED:
            return []  # the loader's word for drivers none of which finds its hardware
        api.check(counted, "vkEnumeratePhysicalDevices")
        found = api.ffi.new("VkPhysicalDevice[]", max(count[0], 1))
        api.check(enumerate_devices(self.handle, count, found), "vkEnumeratePhysicalDevices")
        return [found[index] for index in range(count[0])]

    def close(self) -> None:
        """Destroy the instance. Its devices must be closed before."""
        if self._stop_listening is not None:
            self._stop_listening()
        self.functions.vkDestroyInstance(self.handle, self.api.ffi.NULL)

    def _create(self, validation: str) -> Handle:
        api = self.api
        extensions = [name for name in (_PORTABILITY,) if name in extension_names(api)]
        application = api.new("VkApplicationInfo", apiVersion=API_VERSION)
        info = api.new(
            "VkInstanceCreateInfo",
            pApplicationInfo=application,
            flags=0x1 if extensions else 0,  # VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR
        )
        if validation:
            if VALIDATION_LAYER not in layer_names(api):
                message = (
                    f"VKML_VULKAN_VALIDATION is set, and there is no {VALIDATION_LAYER} here. "
                    "Install it, on Debian or Ubuntu: apt install vulkan-validationlayers"
                )
                raise VulkanError(message)
            extensions.append(_DEBUG_UTILS)
            layers = self._strings([VALIDATION_LAYER])
            info.ppEnabledLayerNames, info.enabledLayerCount = layers, 1
            info.pNext = self._listener(validation)
        if extensions:
            info.ppEnabledExtensionNames = self._strings(extensions)
            info.enabledExtensionCount = len(extensions)
        handle = api.ffi.new("VkInstance*")
        created = api.lib.vkCreateInstance(info, api.ffi.NULL, handle)
        if created == api.constants.VK_ERROR_INCOMPATIBLE_DRIVER:
            raise DriverMissingError("the Vulkan loader is here, and it found no driver.")
        api.check(created, "vkCreateInstance")
        if validation:
            self._listen(handle[0])
        return handle[0]

    def _strings(self, texts: list[str]) -> Handle:
        ffi = self.api.ffi
        characters = [ffi.new("char[]", text.encode()) for text in texts]
        array = ffi.new("char*[]", characters)
        self._alive += [*characters, array]
        return array

    def _listener(self, validation: str) -> Handle:
        """Return the create-info chain that collects messages, and what `validation` adds."""
        api, constants = self.api, self.api.constants

        @api.ffi.callback("PFN_vkDebugUtilsMessengerCallbackEXT")  # type: ignore[untyped-decorator]  # cffi has no annotations
        def collect(_severity: int, _kinds: int, data: Handle, _user: Handle) -> int:
            message = api.text(data.pMessage)
            self.messages.append(message)
            log.error("%s", message)
            return 0

        chain = api.ffi.NULL
        wanted = {
            "sync": [constants.VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT],
            "gpu": [
                constants.VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT,
                constants.VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_RESERVE_BINDING_SLOT_EXT,
            ],
        }.get(validation)
        if wanted:
            enabled = api.ffi.new("VkValidationFeatureEnableEXT[]", wanted)
            chain = api.new(
                "VkValidationFeaturesEXT",
                pEnabledValidationFeatures=enabled,
                enabledValidationFeatureCount=len(wanted),
            )
            self._alive += [enabled, chain]
        self._messenger = api.new(
            "VkDebugUtilsMessengerCreateInfoEXT",
            messageSeverity=constants.VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT
            | constants.VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
            messageType=constants.VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
            pfnUserCallback=collect,
            pNext=chain,
        )
        self._alive.append(collect)
        return self._messenger

    def _listen(self, handle: Handle) -> None:
        """Collect messages for the life of the instance; the chain covers only its making."""
        api = self.api
        names = ("vkCreateDebugUtilsMessengerEXT", "vkDestroyDebugUtilsMessengerEXT")
        table = api.functions(api.lib.vkGetInstanceProcAddr, handle, names)
        self._messenger.pNext = api.ffi.NULL
        messenger = api.ffi.new("VkDebugUtilsMessengerEXT*")
        created = table.vkCreateDebugUtilsMessengerEXT(
            handle, self._messenger, api.ffi.NULL, messenger
        )
        api.check(created, names[0])
        self._stop_listening = lambda: table.vkDestroyDebugUtilsMessengerEXT(
            handle, messenger[0], api.ffi.NULL
        )


def layer_names(api: Vulkan) -> list[str]:
    """Return the names of the installed layers."""
    look_up = api.lib.vkEnumerateInstanceLayerProperties
    return [api.text(each.layerName) for each in api.listed("VkLayerProperties", "layers", look_up)]


def extension_names(api: Vulkan) -> list[str]:
    """Return the names of the extensions of instances."""
    look_up = api.lib.vkEnumerateInstanceExtensionProperties
    found = api.listed("VkExtensionProperties", "instance extensions", look_up, api.ffi.NULL)
    return [api.text(each.extensionName) for each in found]


_open: list[Instance] = []
_lock = threading.Lock()


def the_instance() -> Instance:
    """Return the instance of this process, made when first asked for."""
    with _lock:
        if not _open:
            _open.append(Instance(read_settings().validation))
        return _open[0]


def close_instance() -> None:
    """Destroy the instance, if there is one."""
    while _open:
        _open.pop().close()


def forget_instance() -> None:
    """Leave the instance to the parent: this process is its fork, and may make its own."""
    global _lock
    _lock = threading.Lock()  # a thread that is gone may hold the old one
    _open.clear()
