"""The logical device: one compute queue, a table of function pointers, and its state."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Final

from vkml_vulkan._api import Handle
from vkml_vulkan.capabilities import Capabilities, feature_structs
from vkml_vulkan.errors import DeviceLostError, VulkanError
from vkml_vulkan.exclusion import Exclusive
from vkml_vulkan.instance import Instance

_PORTABILITY_SUBSET: Final = "VK_KHR_portability_subset"  # must be enabled where it is offered

_FUNCTIONS: Final = (
    "vkAllocateCommandBuffers", "vkAllocateMemory", "vkBeginCommandBuffer", "vkBindBufferMemory",
    "vkCmdBindPipeline", "vkCmdCopyBuffer", "vkCmdDispatch", "vkCmdFillBuffer",
    "vkCmdPipelineBarrier2", "vkCmdPushConstants", "vkCmdUpdateBuffer", "vkCreateBuffer",
    "vkCreateCommandPool", "vkCreateComputePipelines", "vkCreatePipelineCache",
    "vkCreatePipelineLayout", "vkCreateSemaphore", "vkCreateShaderModule", "vkDestroyBuffer",
    "vkDestroyCommandPool", "vkDestroyDevice", "vkDestroyPipeline", "vkDestroyPipelineCache",
    "vkDestroyPipelineLayout", "vkDestroySemaphore", "vkDestroyShaderModule", "vkDeviceWaitIdle",
    "vkEndCommandBuffer", "vkFreeMemory", "vkGetBufferDeviceAddress",
    "vkGetBufferMemoryRequirements", "vkGetDeviceQueue", "vkGetPipelineCacheData",
    "vkGetSemaphoreCounterValue", "vkMapMemory", "vkQueueSubmit", "vkWaitSemaphores",
)  # fmt: skip


class LogicalDevice:
    """An open device. Everything below the tensors shares this one object.

    Attributes
    ----------
    functions : SimpleNamespace
        Function pointers by name; tests replace entries by fakes.
    lock : Exclusive
        Held around recording and submitting, and never while Python waits for the device, except
        for the next command buffer.
    unusable : Exception or None
        Once set, every further use raises it: the device is lost, closed, or a fork's parent's.
    when_unusable : list of callable
        What the parts do at that moment, so that their quick paths end at `require_usable`.
    in_use : context manager
        Around the use of the device's objects outside the lock: waits, and access to mapped memory.
        `shut` waits for its end.
    """

    def __init__(
        self, instance: Instance, physical: Handle, capabilities: Capabilities, *, float64: bool
    ) -> None:
        self.api: Final = instance.api
        self.instance: Final = instance
        self.capabilities: Final = capabilities
        self.lock = Exclusive()
        self.unusable: Exception | None = None
        self.when_unusable: Final[list[Callable[[], None]]] = []
        self.in_use: Final = _InUse(self)
        family = capabilities.compute_queue_family
        assert family is not None  # noqa: S101 - the backend lists only devices that have one
        self.handle: Final = self._create(physical, family, float64=float64)
        look_up = instance.functions.vkGetDeviceProcAddr
        try:
            self.functions: Final = self.api.functions(look_up, self.handle, _FUNCTIONS)
        except VulkanError:
            destroy = self.api.functions(look_up, self.handle, ("vkDestroyDevice",))
            destroy.vkDestroyDevice(self.handle, self.api.ffi.NULL)
            raise
        queue = self.api.ffi.new("VkQueue*")
        self.functions.vkGetDeviceQueue(self.handle, family, 0, queue)
        self.queue: Final = queue[0]
        self.queue_family: Final = family

    def require_usable(self) -> None:
        """Raise what makes the device unusable, if anything does."""
        if self.unusable is not None:
            # The same error each time, without the frames, and their tensors, of the time before.
            raise self.unusable.with_traceback(None)

    def make_unusable(self, error: Exception) -> None:
        """Let every further use raise `error`."""
        self.unusable = error
        for stop in self.when_unusable:
            stop()

    def check(self, result: int, call: str, doing: Iterable[str] = ()) -> None:
        """Raise unless a call succeeded; a lost device stays lost."""
        if result == 0:
            return
        try:
            self.api.check(result, call)
        except DeviceLostError as error:
            names = ", ".join(doing)
            what = f" Last recorded: {names}." if names else ""
            lost = DeviceLostError(
                f"{error}{what} Its tensors are gone; restart the process, and see "
                "vkml-vulkan doctor."
            )
        if self.unusable is None:
            self.make_unusable(lost)
        self.require_usable()

    def shut(self, error: Exception) -> None:
        """Let every further use raise `error`, and wait until nobody uses the device any more."""
        with self.lock:
            self.make_unusable(error)
            # Also a device that failed may still run what it was given before.
            self.functions.vkDeviceWaitIdle(self.handle)
        while self.in_use.by_another_thread():
            time.sleep(0.001)

    def disown(self, error: Exception) -> None:
        """Leave the device to the parent process; a thread that is gone may hold the lock."""
        self.lock = Exclusive()
        self.make_unusable(error)

    def close(self) -> None:
        """Destroy the device. What was made from it must be destroyed before."""
        self.functions.vkDestroyDevice(self.handle, self.api.ffi.NULL)

    def _create(self, physical: Handle, family: int, *, float64: bool) -> Handle:
        api, ffi = self.api, self.api.ffi
        priority = ffi.new("float*", 1.0)
        queue = api.new(
            "VkDeviceQueueCreateInfo",
            queueFamilyIndex=family, queueCount=1, pQueuePriorities=priority,
        )  # fmt: skip
        features, features_1_2, features_1_3 = feature_structs(api)
        features.features.shaderFloat64 = float64
        features_1_2.bufferDeviceAddress = 1
        features_1_2.scalarBlockLayout = 1
        features_1_2.timelineSemaphore = 1
        features_1_3.synchronization2 = 1
        features_1_3.subgroupSizeControl = self.capabilities.full_subgroups
        features_1_3.computeFullSubgroups = self.capabilities.full_subgroups
        wanted = self.capabilities.extensions & {_PORTABILITY_SUBSET}
        names = [ffi.new("char[]", name.encode()) for name in wanted]
        array = ffi.new("char*[]", names)
        info = api.new(
            "VkDeviceCreateInfo",
            pNext=features,
            pQueueCreateInfos=queue, queueCreateInfoCount=1,
            ppEnabledExtensionNames=array, enabledExtensionCount=len(names),
        )  # fmt: skip
        handle = ffi.new("VkDevice*")
        created = self.instance.functions.vkCreateDevice(physical, info, ffi.NULL, handle)
        api.check(created, f"vkCreateDevice of {self.capabilities.name}")
        return handle[0]


class _InUse:
    """Counts who uses a device outside its lock."""

    __slots__ = ("_device", "_threads")

    def __init__(self, device: LogicalDevice) -> None:
        self._device = device
        self._threads: list[int] = []

    def __enter__(self) -> None:
        with self._device.lock:
            self._device.require_usable()
            self._threads.append(threading.get_ident())

    def __exit__(self, *_: object) -> None:
        self._threads.remove(threading.get_ident())  # atomic, so it needs no lock

    def by_another_thread(self) -> bool:
        """Return whether a thread other than this one is inside."""
        me = threading.get_ident()
        return any(thread != me for thread in list(self._threads))
