"""What keeps Vulkan from working on this machine: ``vkml-vulkan doctor``.

Each finding is said as soon as it is made, so that a driver which ends the process is the one
named last.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np

import vkml
from vkml.errors import VkmlError
from vkml_vulkan._api import Vulkan, vulkan
from vkml_vulkan.backend import all_devices
from vkml_vulkan.capabilities import version_text
from vkml_vulkan.driver_files import chosen_by, driver_files, why_unusable
from vkml_vulkan.errors import DriverMissingError, LoaderMissingError
from vkml_vulkan.instance import VALIDATION_LAYER, layer_names, the_instance

Say = Callable[[str], None]

_LOADER: Final = {
    "linux": "Install the Vulkan loader and a driver. Debian, Ubuntu: apt install libvulkan1 "
    "mesa-vulkan-drivers; Fedora: dnf install vulkan-loader mesa-vulkan-drivers; "
    "Arch: pacman -S vulkan-icd-loader and the package of your GPU's driver.",
    "darwin": "Install the Vulkan loader and MoltenVK: brew install vulkan-loader molten-vk, or "
    "the Vulkan SDK from vulkan.lunarg.com.",
    "win32": "Install your GPU vendor's driver, which brings the Vulkan loader (vulkan-1.dll).",
}
_DRIVER: Final = {
    "linux": "Install your GPU vendor's driver, or Mesa's, which has one for the CPU, too. Debian, "
    "Ubuntu: apt install mesa-vulkan-drivers; Fedora: dnf install mesa-vulkan-drivers; "
    "Arch: pacman -S with the package of your GPU's driver, or vulkan-swrast.",
    "darwin": "Install MoltenVK: brew install molten-vk.",
    "win32": "Install your GPU vendor's driver.",
}
_RENDER_NODES: Final = Path("/dev/dri")
_TIMEOUT_S: Final = 300
_CHECK: Final = "from vkml_vulkan.doctor import compute; compute({index})"


def diagnose(say: Say) -> str | None:
    """Say what is found, line by line. Return None where a device works, else what to do next."""
    missing = _loader(say)
    unusable = _drivers(say)
    if missing is not None:
        return missing
    return _devices(say, unusable)


def compute(index: int) -> None:
    """Compute a few numbers on a device; end the process with a message if they are wrong."""
    place = vkml.device(f"vulkan:{index}")
    numbers = np.arange(1000, dtype=np.float32)
    found = (vkml.tensor(numbers).to(place) * 2.0 + 1.0).cpu().numpy()
    wrong = np.flatnonzero(found != 2 * numbers + 1)
    if wrong.size:
        first = int(wrong[0])
        sys.exit(f"2 * {numbers[first]} + 1 gave {found[first]} ({wrong.size} of 1000 are wrong)")


def _loader(say: Say) -> str | None:
    """Say what the loader is; return what to do where there is none."""
    if importlib.util.find_spec("vulkan") is None:
        say("loader: not looked for, because the Python package vulkan is missing")
        return "Install the package: pip install vulkan"
    try:
        api = vulkan()
    except LoaderMissingError as error:
        say(f"loader: MISSING ({error.__context__ or error})")
        return _LOADER.get(sys.platform, _LOADER["linux"])
    version = api.ffi.new("uint32_t*")
    api.check(api.lib.vkEnumerateInstanceVersion(version), "vkEnumerateInstanceVersion")
    say(f"loader: found, for Vulkan {version_text(int(version[0]))}")
    _layers(say, api)
    return None


def _layers(say: Say, api: Vulkan) -> None:
    names = layer_names(api)
    say(f"layers: {', '.join(names) or 'none'}")
    if VALIDATION_LAYER not in names:
        say(f"  without {VALIDATION_LAYER}, which only VKML_VULKAN_VALIDATION needs")


def _drivers(say: Say) -> dict[Path, str]:
    """Say which drivers the loader is told of; return those that do not load, and why."""
    variable = chosen_by()
    chosen = f"{variable}={os.environ[variable]}" if variable else "as the loader looks for them"
    files = driver_files()
    say(f"drivers: {chosen}")
    if not files:
        say("  none" if sys.platform != "win32" else "  none but those of the registry")
    reasons = {}
    for file in files:
        reason = why_unusable(file)
        say(f"  {file}: {'loads' if reason is None else f'DOES NOT LOAD: {reason}'}")
        if reason is not None:
            reasons[file] = reason
    return reasons


def _devices(say: Say, unusable_drivers: dict[Path, str]) -> str | None:
    """Say what each device can do; return None if one computes, else what to do."""
    try:
        found = all_devices(the_instance())
    except VkmlError as error:
        say(f"devices: NONE ({error})")
        if not isinstance(error, DriverMissingError):
            return _despite_drivers(error, unusable_drivers)
        return _without_devices(unusable_drivers)
    say(f"devices: {len(found) or 'NONE'}")
    works, remedy, index = False, None, 0
    for _, capabilities in found:
        reason = capabilities.why_unusable()
        if reason is not None:
            say(f"  {capabilities.name}: UNUSABLE: {reason}")
            remedy = remedy or f"{capabilities.name}: {reason}"
            continue
        failure = _failure(index)
        state = "computes rightly" if failure is None else f"FAILS: {failure}"
        say(f"  vulkan:{index} {capabilities.name}: {state}")
        works = works or failure is None
        driver = f"{capabilities.driver} failed to compute on {capabilities.name}"
        advice = f"{driver}: update it, or choose another driver by VK_DRIVER_FILES."
        remedy = remedy or (failure if "VKML_" in (failure or "") else advice)
        index += 1
    if works:
        return None
    return remedy or _without_devices(unusable_drivers)


def _failure(index: int) -> str | None:
    """Return what goes wrong when a device computes. In a process of its own, as it may crash."""
    command = [sys.executable, "-c", _CHECK.format(index=index)]
    try:
        ended = subprocess.run(  # noqa: S603 - this interpreter, with our program
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no result after {_TIMEOUT_S} s"
    if ended.returncode == 0:
        return None
    said = ended.stderr.strip().splitlines() or [""]
    return said[-1] or f"the process ended with code {ended.returncode}"


def _despite_drivers(error: VkmlError, unusable_drivers: dict[Path, str]) -> str:
    """Return what to do where listing fails: for one bad file the loader fails as a whole."""
    if unusable_drivers:
        file, reason = next(iter(unusable_drivers.items()))
        return f"Repair or remove {file}, or leave it out of VK_DRIVER_FILES: {reason}"
    return str(error)


def _without_devices(unusable_drivers: dict[Path, str]) -> str:
    """Return what to do where the loader shows no device."""
    variable, files = chosen_by(), driver_files()
    if variable is not None and (not files or len(unusable_drivers) == len(files)):
        return f"Unset {variable}, or let it name the .json file of a driver that loads."
    if not files:
        return _DRIVER.get(sys.platform, _DRIVER["linux"])
    if len(unusable_drivers) == len(files):
        file, reason = next(iter(unusable_drivers.items()))
        return f"Install the driver of {file} anew: {reason}"
    closed = [each for each in _RENDER_NODES.glob("renderD*") if not os.access(each, os.R_OK)]
    if closed:
        group = "sudo usermod -aG render $USER"
        return f"You may not use {closed[0]}. Join its group, usually: {group}; then log in anew."
    return (
        "The drivers find no GPU of theirs. In a container, hand the GPU in (docker run --device "
        "/dev/dri, or --gpus all). Else: " + _DRIVER.get(sys.platform, _DRIVER["linux"])
    )
