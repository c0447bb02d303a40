"""The driver's cache on disk: used if it is whole, and never in the way."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from vkml_vulkan import pipeline_cache
from vkml_vulkan.handle import VulkanDevice
from vkml_vulkan.pipeline_cache import cache_path, load_cache

Open = Callable[..., VulkanDevice]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def _use(open_device: Open) -> Path:
    """Open a device, use it and close it; return where its cache lies."""
    handle = open_device()
    add = handle.kernel("add")
    assert add is not None
    assert handle.download(add(handle.upload(np.ones(2, np.float32)), 1.0)).tolist() == [2, 2]
    handle.close()
    return cache_path(handle.device.capabilities)


def test_it_is_saved_when_a_device_closes(open_device: Open, home: Path) -> None:
    path = _use(open_device)

    assert path.is_relative_to(home / "vkml" / "vulkan")
    stored = path.read_bytes()
    assert stored[:32] == hashlib.sha256(stored[32:]).digest()


def test_what_was_saved_is_loaded(open_device: Open) -> None:
    path = _use(open_device)
    handle = open_device()

    assert load_cache(handle.device.capabilities) == path.read_bytes()[32:]


def test_its_name_tells_driver_and_device(handle: VulkanDevice) -> None:
    facts = handle.device.capabilities
    name = cache_path(facts).name

    assert facts.pipeline_cache_uuid.hex() in name
    assert f"{facts.vendor_id:x}-{facts.device_id:x}-{facts.driver_version:x}" in name


_DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda _: b"",
    "cut short": lambda stored: stored[:-1],
    "cut to its digest": lambda stored: stored[:32],
    "cut within its digest": lambda stored: stored[:10],
    "changed at the end": lambda stored: stored[:-1] + bytes([stored[-1] ^ 1]),
    "changed in its digest": lambda stored: bytes([stored[0] ^ 1]) + stored[1:],
    "longer": lambda stored: stored + b"x",
    "something else": lambda _: b"\x7fELF" + bytes(1000),
}


@pytest.mark.parametrize("damage", _DAMAGE.values(), ids=_DAMAGE.keys())
def test_a_damaged_file_is_passed_over_and_replaced(
    open_device: Open, damage: Callable[[bytes], bytes]
) -> None:
    path = _use(open_device)
    path.write_bytes(damage(path.read_bytes()))
    handle = open_device()
    assert load_cache(handle.device.capabilities) == b""

    _use(open_device)

    stored = path.read_bytes()
    assert stored[:32] == hashlib.sha256(stored[32:]).digest()


def test_the_file_of_another_driver_is_left_to_the_driver_to_refuse(open_device: Open) -> None:
    path = _use(open_device)
    content = bytearray(path.read_bytes()[32:])
    content[8:32] = bytes(24)  # vendor, device and UUID of its header
    path.write_bytes(hashlib.sha256(content).digest() + content)

    assert _use(open_device) == path


def test_a_folder_that_cannot_be_made_is_no_error(open_device: Open, home: Path) -> None:
    home.write_text("a file where the folder should be")

    _use(open_device)

    assert home.read_text() == "a file where the folder should be"


def test_a_user_without_a_home_has_no_cache(
    open_device: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", no_home)

    handle = open_device()
    assert load_cache(handle.device.capabilities) == b""
    handle.close()


def test_a_full_disk_leaves_the_old_file_and_no_other(
    open_device: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _use(open_device)
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    _use(open_device)

    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_cache_of_unreasonable_size_is_not_saved(
    open_device: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline_cache, "_LARGEST_BYTES", 4)

    assert not _use(open_device).exists()


def test_a_driver_that_gives_no_data_is_no_error(handle: VulkanDevice) -> None:
    handle.device.functions.vkGetPipelineCacheData = lambda *_: -1

    handle.close()

    assert not cache_path(handle.device.capabilities).exists()
