"""Vulkan from Python: the only module that imports the package `vulkan`.

Of that package only the C declarations (`ffi`) and the loader (`lib`) are used. Its wrapper
functions cost 5 to 20 µs a call, a raw function pointer 0.5 µs, and its wrapper of
``vkGetBufferDeviceAddress`` loses the address.

Nothing is opened before `vulkan()` is called.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, Final, TypeAlias

from vkml_vulkan.errors import (
    DeviceLostError,
    LoaderMissingError,
    OutOfDeviceMemoryError,
    VulkanError,
)

Handle: TypeAlias = Any
"""A Vulkan handle or struct, as cffi gives it: cffi's types cannot be named in annotations."""

_NO_MEMORY: Final = (
    "VK_ERROR_OUT_OF_DEVICE_MEMORY",
    "VK_ERROR_OUT_OF_HOST_MEMORY",
    "VK_ERROR_TOO_MANY_OBJECTS",  # drivers limit the number of allocations
)
_INSTALL_LOADER: Final = (
    "Install the loader and a driver, on Debian or Ubuntu: "
    "apt install libvulkan1 mesa-vulkan-drivers. Then run: vkml-vulkan doctor"
)
# VkMemoryBarrier2 has the type MEMORY_BARRIER_2, VkPhysicalDeviceVulkan13Features VULKAN_1_3.
_WORD: Final = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[a-z])(?=[0-9])")
_API_VERSION: Final = re.compile("VULKAN_([0-9])([0-9])")


class Vulkan:
    """The loaded API: C declarations, the loader's functions, constants by name."""

    def __init__(self, package: Any) -> None:
        self.ffi: Any = package.ffi
        self.lib: Any = package.lib
        self.constants: Any = package
        self._results: dict[int, str] = {}
        self._types: dict[str, int | None] = {}

    def new(self, declaration: str, **fields: Any) -> Handle:
        """Return a new struct, its `sType` filled in where it has one.

        What the fields point to must be kept alive by the caller; cffi keeps only the struct.
        """
        struct = self.ffi.new(declaration + "*")
        if declaration not in self._types:
            self._types[declaration] = self._type_of(declaration)
        number = self._types[declaration]
        if number is not None:
            struct.sType = number
        for name, value in fields.items():
            setattr(struct, name, value)
        return struct

    def listed(self, declaration: str, call: str, look_up: Any, *owner: Handle) -> Iterator[Handle]:
        """Yield the structs that a function lists which is called for their number first.

        A struct lives as long as the iteration.
        """
        count = self.ffi.new("uint32_t*")
        self.check(look_up(*owner, count, self.ffi.NULL) or 0, call)
        found = self.ffi.new(declaration + "[]", max(count[0], 1))
        self.check(look_up(*owner, count, found) or 0, call)
        for index in range(count[0]):
            yield found[index]

    def _type_of(self, declaration: str) -> int | None:
        """Return the VkStructureType of a struct, by the rule that its name follows."""
        if "sType" not in dict(self.ffi.typeof(declaration).fields):
            return None
        words = _WORD.sub("_", declaration.removeprefix("Vk")).upper()
        words = _API_VERSION.sub(r"VULKAN_\1_\2", words)
        return int(getattr(self.constants, f"VK_STRUCTURE_TYPE_{words}"))

    def text(self, characters: Handle) -> str:
        """Return a C string as Python's."""
        return str(self.ffi.string(characters).decode("utf-8", "replace"))

    def name_of_result(self, result: int) -> str:
        """Return the name of a VkResult."""
        if not self._results:
            declared = self.ffi.typeof("VkResult").elements
            self._results.update({int(number): str(name) for number, name in declared.items()})
        return self._results.get(result, f"VkResult {result}")

    def check(self, result: int, call: str) -> None:
        """Raise unless the Vulkan call returned VK_SUCCESS."""
        if result == 0:
            return
        name = self.name_of_result(result)
        if name == "VK_ERROR_DEVICE_LOST":
            raise DeviceLostError(f"{call}: the driver gave the device up ({name}).")
        if name in _NO_MEMORY:
            raise OutOfDeviceMemoryError(f"{call}: no memory left ({name}).")
        raise VulkanError(f"{call} failed: {name}. Run vkml-vulkan doctor for what is installed.")

    def functions(self, look_up: Any, owner: Handle, names: tuple[str, ...]) -> SimpleNamespace:
        """Return a table of function pointers; tests replace entries by fakes.

        `look_up` is ``vkGetDeviceProcAddr`` or ``vkGetInstanceProcAddr``, `owner` its handle.
        """
        table = SimpleNamespace()
        for name in names:
            pointer = look_up(owner, name.encode())
            if pointer == self.ffi.NULL:
                raise VulkanError(f"the driver has no {name}; it is not Vulkan 1.3. Update it.")
            setattr(table, name, self.ffi.cast("PFN_" + name, pointer))
        return table


@functools.cache
def vulkan() -> Vulkan:
    """Return the loaded API.

    Raises
    ------
    LoaderMissingError
        There is no Vulkan loader here. The message says what to install.
    """
    try:
        package = importlib.import_module("vulkan")
    except OSError:  # whose text speaks of an SDK, which nobody needs
        message = f"there is no Vulkan loader (libvulkan.so.1) here. {_INSTALL_LOADER}"
        raise LoaderMissingError(message) from None
    except ImportError as error:
        message = f"the Python package vulkan cannot be imported: {error}. pip install vulkan"
        raise LoaderMissingError(message) from None
    return Vulkan(package)
