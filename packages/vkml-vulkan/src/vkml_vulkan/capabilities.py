"""What a physical device can do, and whether that is enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from vkml_vulkan._api import Handle, Vulkan
from vkml_vulkan.instance import API_VERSION, Instance

# What the kernels stand on; all of it is a Vulkan 1.3 device's duty or nearly so.
_FEATURES_1_2: Final = ("bufferDeviceAddress", "scalarBlockLayout", "timelineSemaphore")
_FEATURES_1_3: Final = ("synchronization2", "subgroupSizeControl", "computeFullSubgroups")
_REQUIRED: Final = (*_FEATURES_1_2, "synchronization2")

_KINDS: Final = {1: "integrated", 2: "discrete", 3: "virtual", 4: "cpu"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """Facts about a physical device; sizes in bytes."""

    name: str
    kind: str
    """"discrete", "integrated", "virtual", "cpu" or "other"."""
    api_version: int
    driver: str
    driver_version: int
    vendor_id: int
    device_id: int
    pipeline_cache_uuid: bytes
    missing: tuple[str, ...]
    """Required features that the device lacks."""
    compute_queue_family: int | None
    float64: bool
    subgroup_size: int
    subgroup_arithmetic: bool
    full_subgroups: bool
    """Whether a workgroup can be asked to consist of whole subgroups of `subgroup_size`."""
    max_invocations: int
    max_group_counts: tuple[int, int, int]
    max_shared_bytes: int
    max_allocation_bytes: int
    memory_types: tuple[tuple[int, int], ...]
    """Property flags and heap of each memory type."""
    memory_heaps: tuple[tuple[int, bool], ...]
    """Size of each heap, and whether it is the device's own."""
    extensions: frozenset[str]

    @property
    def memory_bytes(self) -> int:
        """The size of the largest heap of the device's own."""
        own = [size for size, local in self.memory_heaps if local]
        return max(own or [size for size, _ in self.memory_heaps] or [0])

    def why_unusable(self) -> str | None:
        """Return None for a device that vkML can use, else a sentence that says why not."""
        if self.api_version < API_VERSION:
            found = version_text(self.api_version)
            return f"its driver offers Vulkan {found}, and vkML needs 1.3; update the driver."
        if self.missing:
            return f"it lacks {', '.join(self.missing)}; a newer driver may have them."
        if self.compute_queue_family is None:
            return "it has no queue that computes."
        return None


def version_text(version: int) -> str:
    """Return a packed Vulkan version as text: 1.3.204."""
    return f"{version >> 22 & 0x7F}.{version >> 12 & 0x3FF}.{version & 0xFFF}"


def query_capabilities(instance: Instance, device: Handle) -> Capabilities:
    """Return what the driver says of a physical device."""
    api, functions, constants = instance.api, instance.functions, instance.api.constants
    driver = api.new("VkPhysicalDeviceDriverProperties")
    subgroup_sizes = api.new("VkPhysicalDeviceSubgroupSizeControlProperties", pNext=driver)
    subgroup = api.new("VkPhysicalDeviceSubgroupProperties", pNext=subgroup_sizes)
    maintenance4 = api.new("VkPhysicalDeviceMaintenance4Properties", pNext=subgroup)
    maintenance3 = api.new("VkPhysicalDeviceMaintenance3Properties", pNext=maintenance4)
    properties = api.new("VkPhysicalDeviceProperties2", pNext=maintenance3)
    functions.vkGetPhysicalDeviceProperties2(device, properties)
    facts, limits = properties.properties, properties.properties.limits
    features, features_1_2, features_1_3 = feature_structs(api)
    functions.vkGetPhysicalDeviceFeatures2(device, features)
    memory = api.ffi.new("VkPhysicalDeviceMemoryProperties*")
    functions.vkGetPhysicalDeviceMemoryProperties(device, memory)
    has = {name: bool(getattr(features_1_2, name)) for name in _FEATURES_1_2}
    has |= {name: bool(getattr(features_1_3, name)) for name in _FEATURES_1_3}
    arithmetic = constants.VK_SUBGROUP_FEATURE_ARITHMETIC_BIT
    in_compute = constants.VK_SHADER_STAGE_COMPUTE_BIT
    return Capabilities(
        name=api.text(facts.deviceName),
        kind=_KINDS.get(int(facts.deviceType), "other"),
        api_version=int(facts.apiVersion),
        driver=f"{api.text(driver.driverName)} {api.text(driver.driverInfo)}".strip(),
        driver_version=int(facts.driverVersion),
        vendor_id=int(facts.vendorID),
        device_id=int(facts.deviceID),
        pipeline_cache_uuid=bytes(api.ffi.buffer(facts.pipelineCacheUUID)),
        missing=tuple(name for name in _REQUIRED if not has[name]),
        compute_queue_family=_compute_family(instance, device),
        float64=bool(features.features.shaderFloat64),
        subgroup_size=int(subgroup.subgroupSize),
        subgroup_arithmetic=bool(
            subgroup.supportedOperations & arithmetic and subgroup.supportedStages & in_compute
        ),
        full_subgroups=has["subgroupSizeControl"]
        and has["computeFullSubgroups"]
        and bool(subgroup_sizes.requiredSubgroupSizeStages & in_compute),
        max_invocations=min(
            int(limits.maxComputeWorkGroupInvocations), int(limits.maxComputeWorkGroupSize[0])
        ),
        max_group_counts=(
            int(limits.maxComputeWorkGroupCount[0]),
            int(limits.maxComputeWorkGroupCount[1]),
            int(limits.maxComputeWorkGroupCount[2]),
        ),
        max_shared_bytes=int(limits.maxComputeSharedMemorySize),
        max_allocation_bytes=min(
            int(maintenance3.maxMemoryAllocationSize), int(maintenance4.maxBufferSize)
        ),
        memory_types=tuple(
            (int(each.propertyFlags), int(each.heapIndex))
            for each in memory.memoryTypes[0 : memory.memoryTypeCount]
        ),
        memory_heaps=tuple(
            (int(each.size), bool(each.flags & constants.VK_MEMORY_HEAP_DEVICE_LOCAL_BIT))
            for each in memory.memoryHeaps[0 : memory.memoryHeapCount]
        ),
        extensions=_device_extensions(instance, device),
    )


def feature_structs(api: Vulkan) -> tuple[Handle, Handle, Handle]:
    """Return the chained structs of features: of Vulkan 1.0, 1.2 and 1.3; empty."""
    features_1_3 = api.new("VkPhysicalDeviceVulkan13Features")
    features_1_2 = api.new("VkPhysicalDeviceVulkan12Features", pNext=features_1_3)
    features = api.new("VkPhysicalDeviceFeatures2", pNext=features_1_2)
    return features, features_1_2, features_1_3


def _compute_family(instance: Instance, device: Handle) -> int | None:
    """Return the first queue family that computes, one that also draws last."""
    api, constants = instance.api, instance.api.constants
    look_up = instance.functions.vkGetPhysicalDeviceQueueFamilyProperties
    listed = api.listed("VkQueueFamilyProperties", "queue families", look_up, device)
    families = [int(each.queueFlags) for each in listed]
    computes, draws = constants.VK_QUEUE_COMPUTE_BIT, constants.VK_QUEUE_GRAPHICS_BIT
    able = [n for n, flags in enumerate(families) if flags & computes]
    return min(able, key=lambda n: (bool(families[n] & draws), n), default=None)


def _device_extensions(instance: Instance, device: Handle) -> frozenset[str]:
    api, look_up = instance.api, instance.functions.vkEnumerateDeviceExtensionProperties
    null = api.ffi.NULL
    found = api.listed("VkExtensionProperties", "device extensions", look_up, device, null)
    return frozenset(api.text(each.extensionName) for each in found)
