"""The driver's pipeline cache on disk, so that a later process need not compile again."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path
from typing import Final

from vkml_vulkan._api import Handle
from vkml_vulkan.capabilities import Capabilities
from vkml_vulkan.device import LogicalDevice

_DIGEST_BYTES: Final = 32
_LARGEST_BYTES: Final = 256 * 2**20


def cache_path(capabilities: Capabilities) -> Path:
    """Return where the cache of a device and driver lies, below ``XDG_CACHE_HOME``."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    identity = (
        f"{capabilities.vendor_id:x}-{capabilities.device_id:x}-{capabilities.driver_version:x}"
    )
    name = f"{identity}-{capabilities.pipeline_cache_uuid.hex()}.pipelines"
    return Path(home) / "vkml" / "vulkan" / name


def load_cache(capabilities: Capabilities) -> bytes:
    """Return what was saved for this device and driver; nothing where it is missing or damaged.

    Drivers check the header of what they are given, but not its body: the digest does.
    """
    try:
        stored = cache_path(capabilities).read_bytes()
    except (OSError, RuntimeError):  # RuntimeError: there is no home folder
        return b""
    digest, data = stored[:_DIGEST_BYTES], stored[_DIGEST_BYTES:]
    return data if hashlib.sha256(data).digest() == digest else b""


def save_cache(device: LogicalDevice, cache: Handle) -> None:
    """Save the cache, whole or not at all. A folder that cannot be written is no error."""
    api, size = device.api, device.api.ffi.new("size_t*")
    read = device.functions.vkGetPipelineCacheData
    if read(device.handle, cache, size, api.ffi.NULL) != 0 or not 0 < size[0] <= _LARGEST_BYTES:
        return
    data = api.ffi.new("char[]", size[0])
    if read(device.handle, cache, size, data) != 0:
        return
    content = bytes(api.ffi.buffer(data, size[0]))
    with contextlib.suppress(OSError, RuntimeError):
        path = cache_path(device.capabilities)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(content).digest() + content)
            Path(temporary).replace(path)
        except OSError:  # the disk is full, say
            Path(temporary).unlink()
            raise
