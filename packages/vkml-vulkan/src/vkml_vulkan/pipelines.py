"""Compute pipelines: a SPIR-V module and the constants that specialise it."""

from __future__ import annotations

import contextlib
import hashlib
import json
from importlib.resources import files
from typing import Any, Final, NamedTuple

from vkml_vulkan._api import Handle
from vkml_vulkan.device import LogicalDevice
from vkml_vulkan.errors import VulkanError
from vkml_vulkan.exclusion import Exclusive
from vkml_vulkan.pipeline_cache import load_cache, save_cache
from vkml_vulkan.profile import PUSH_BYTES, Profile

_FULL_SUBGROUPS: Final = 0x2


class Pipeline(NamedTuple):
    """A pipeline, and the layout of its push constants, which all share."""

    handle: Handle
    layout: Handle


class Pipelines:
    """The pipelines of one device, made when first asked for."""

    def __init__(self, device: LogicalDevice, profile: Profile) -> None:
        self._device = device
        self._profile = profile
        self._lock = Exclusive()
        self._made: dict[tuple[str, tuple[int, ...]], Pipeline] = {}
        self._modules: dict[str, Handle] = {}
        # Where the driver writes handles: known before it does, so that Ctrl-C loses none.
        self._pipeline_cells: list[Handle] = []
        self._module_cells: list[Handle] = []
        functions, handle, null = device.functions, device.handle, device.api.ffi.NULL
        with contextlib.ExitStack() as base:
            self._layout: Final = self._create_layout()
            base.callback(functions.vkDestroyPipelineLayout, handle, self._layout, null)
            self._cache: Final = self._create_cache()
            base.callback(functions.vkDestroyPipelineCache, handle, self._cache, null)
            self._base: Final = base.pop_all()

    def get(self, module: str, constants: tuple[int, ...]) -> Pipeline:
        """Return the pipeline of a module; `constants` have the ids 0, 1, 2, ...

        By agreement constant 0 is the number of invocations of a workgroup, and constant 1 tells
        whether the arguments lie in the ring.
        """
        found = self._made.get((module, constants))
        if found is not None:
            return found
        with self._lock:
            self._device.require_usable()
            found = self._made.get((module, constants))  # another thread may have been first
            if found is None:
                found = Pipeline(self._create(module, constants), self._layout)
                self._made[module, constants] = found
            return found

    def disown(self) -> None:
        """Leave all to the parent process; a thread that is gone may hold the lock."""
        self._lock = Exclusive()

    def close(self) -> None:
        """Save the driver's cache and destroy everything; the device must be idle."""
        functions, handle = self._device.functions, self._device.handle
        null = self._device.api.ffi.NULL
        with self._lock, self._base:
            save_cache(self._device, self._cache)
            for cell in self._pipeline_cells:
                functions.vkDestroyPipeline(handle, cell[0], null)
            for cell in self._module_cells:
                functions.vkDestroyShaderModule(handle, cell[0], null)
            self._made, self._modules = {}, {}

    def _create(self, module: str, constants: tuple[int, ...]) -> Handle:
        api, names = self._device.api, self._device.api.constants
        count = len(constants)
        data = api.ffi.new("uint32_t[]", [value & 0xFFFFFFFF for value in constants])
        entries = api.ffi.new("VkSpecializationMapEntry[]", count)
        for number, entry in enumerate(entries):
            entry.constantID, entry.offset, entry.size = number, 4 * number, 4
        special = api.new(
            "VkSpecializationInfo",
            mapEntryCount=count, pMapEntries=entries, dataSize=4 * count, pData=data,
        )  # fmt: skip
        entry_point = api.ffi.new("char[]", b"main")
        stage = api.new(
            "VkPipelineShaderStageCreateInfo",
            stage=names.VK_SHADER_STAGE_COMPUTE_BIT, module=self._module(module),
            pName=entry_point, pSpecializationInfo=special,
        )  # fmt: skip
        subgroup = self._subgroup_request(constants[0])
        if subgroup is not None:
            stage.pNext = subgroup
            stage.flags = _FULL_SUBGROUPS
        info = api.new("VkComputePipelineCreateInfo", stage=stage[0], layout=self._layout)
        made = api.ffi.new("VkPipeline*")
        self._pipeline_cells.append(made)
        result = self._device.functions.vkCreateComputePipelines(
            self._device.handle, self._cache, 1, info, api.ffi.NULL, made
        )
        self._device.check(result, f"vkCreateComputePipelines of {module}{constants}")
        return made[0]

    def _subgroup_request(self, workgroup: int) -> Handle | None:
        """Return the demand for whole subgroups of the profile's size, where it can be made."""
        size = self._profile.subgroup
        if size == 1 or workgroup % size or not self._device.capabilities.full_subgroups:
            return None
        return self._device.api.new(
            "VkPipelineShaderStageRequiredSubgroupSizeCreateInfo",
            requiredSubgroupSize=size,
        )

    def _module(self, name: str) -> Handle:
        found = self._modules.get(name)
        if found is not None:
            return found
        api = self._device.api
        code = read_module(name)
        words = api.ffi.new("uint32_t[]", len(code) // 4)
        api.ffi.memmove(words, code, len(code))
        info = api.new("VkShaderModuleCreateInfo", codeSize=len(code), pCode=words)
        made = api.ffi.new("VkShaderModule*")
        self._module_cells.append(made)
        functions = self._device.functions
        result = functions.vkCreateShaderModule(self._device.handle, info, api.ffi.NULL, made)
        self._device.check(result, f"vkCreateShaderModule of {name}")
        self._modules[name] = made[0]
        return made[0]

    def _create_layout(self) -> Handle:
        api, names = self._device.api, self._device.api.constants
        # One range for all: 128 bytes of push constants, which every device has.
        pushed = api.new(
            "VkPushConstantRange",
            stageFlags=names.VK_SHADER_STAGE_COMPUTE_BIT, size=PUSH_BYTES,
        )  # fmt: skip
        info = api.new(
            "VkPipelineLayoutCreateInfo",
            pushConstantRangeCount=1, pPushConstantRanges=pushed,
        )  # fmt: skip
        made = api.ffi.new("VkPipelineLayout*")
        functions = self._device.functions
        result = functions.vkCreatePipelineLayout(self._device.handle, info, api.ffi.NULL, made)
        self._device.check(result, "vkCreatePipelineLayout")
        return made[0]

    def _create_cache(self) -> Handle:
        api = self._device.api
        stored = load_cache(self._device.capabilities)
        data = api.ffi.from_buffer(stored)
        info = api.new("VkPipelineCacheCreateInfo", initialDataSize=len(stored), pInitialData=data)
        made = api.ffi.new("VkPipelineCache*")
        functions = self._device.functions
        result = functions.vkCreatePipelineCache(self._device.handle, info, api.ffi.NULL, made)
        self._device.check(result, "vkCreatePipelineCache")
        return made[0]


_manifest: dict[str, Any] = {}


def read_module(name: str) -> bytes:
    """Return a SPIR-V module of this package, if it is what the manifest says.

    Raises
    ------
    VulkanError
        The module is missing or altered.
    """
    root = files("vkml_vulkan")
    if not _manifest:
        _manifest.update(json.loads((root / "shaders" / "manifest.json").read_text()))
    try:
        code = (root / "spirv" / f"{name}.spv").read_bytes()
    except OSError as error:
        raise VulkanError(f"the shader {name} is missing: {error}. {_REINSTALL}") from None
    if hashlib.sha256(code).hexdigest() != _manifest.get(name):
        raise VulkanError(f"the shader {name} is not what the manifest lists. {_REINSTALL}")
    return code


_REINSTALL: Final = "Reinstall vkml-vulkan; in a checkout run: python -m vkml_vulkan.shader_build"
