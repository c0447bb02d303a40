"""What the environment asks of the backend. Read when a device is listed or opened."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Final

from vkml.errors import ArgumentError

_SIZE: Final = re.compile(r"(\d+)([KMG]?)(?:i?B)?", re.IGNORECASE)
_UNITS: Final = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
VALIDATION_LEVELS: Final = ("", "core", "sync", "gpu")
DEBUG_MODES: Final = ("access", "canaries", "separate")


@dataclass(frozen=True, slots=True)
class Settings:
    """One reading of the environment.

    Attributes
    ----------
    min_spec : bool
        ``VKML_MIN_SPEC=1``: use no more of a device than every Vulkan 1.3 device has.
    force_staging : bool
        ``VKML_VULKAN_FORCE_STAGING=1``: copy through staging memory, as for a discrete GPU.
    memory_limit_bytes : int or None
        ``VKML_VULKAN_MEMORY_LIMIT``, like ``512M``: never take more memory than this.
    validation : str
        ``VKML_VULKAN_VALIDATION``: "core", "sync" or "gpu" switches the Khronos layer on.
    debug : frozenset of str
        ``VKML_VULKAN_DEBUG``, a list: "access" checks what each dispatch touches, "canaries"
        guards each tensor with bytes that are checked, "separate" gives each its own buffer.
    """

    min_spec: bool = False
    force_staging: bool = False
    memory_limit_bytes: int | None = None
    validation: str = ""
    debug: frozenset[str] = frozenset()


def read_settings() -> Settings:
    """Return what the environment variables say now.

    Raises
    ------
    ArgumentError
        A variable has a value that means nothing. The message names it.
    """
    return Settings(
        min_spec=_flag("VKML_MIN_SPEC"),
        force_staging=_flag("VKML_VULKAN_FORCE_STAGING"),
        memory_limit_bytes=_size("VKML_VULKAN_MEMORY_LIMIT"),
        validation=_choice("VKML_VULKAN_VALIDATION"),
        debug=_modes("VKML_VULKAN_DEBUG"),
    )


def _flag(name: str) -> bool:
    value = os.environ.get(name, "")
    if value not in ("", "0", "1"):
        raise ArgumentError(f"{name} is {value!r}; set it to 1 or 0.")
    return value == "1"


def _size(name: str) -> int | None:
    value = os.environ.get(name, "")
    if not value:
        return None
    match = _SIZE.fullmatch(value.strip())
    if match is None:
        raise ArgumentError(f"{name} is {value!r}; give bytes, or a size such as 512M or 2G.")
    return int(match[1]) * _UNITS[match[2].upper()]


def _choice(name: str) -> str:
    value = os.environ.get(name, "")
    value = {"0": "", "1": "core"}.get(value, value)
    if value not in VALIDATION_LEVELS:
        raise ArgumentError(f"{name} is {value!r}; set it to core, sync, gpu or 0.")
    return value


def _modes(name: str) -> frozenset[str]:
    value = os.environ.get(name, "")
    found = frozenset(each.strip() for each in value.split(",")) - {"", "0"}
    if not found <= frozenset(DEBUG_MODES):
        raise ArgumentError(f"{name} is {value!r}; name some of: {', '.join(DEBUG_MODES)}.")
    return found
