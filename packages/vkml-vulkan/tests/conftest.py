"""The fixture `gpu` and the marker `gpu`, and loud words where no Vulkan device is.

What is tested is chosen by environment variables: VK_DRIVER_FILES (the driver), VKML_MIN_SPEC,
VKML_VULKAN_FORCE_STAGING, VKML_VULKAN_DEBUG, VKML_VULKAN_VALIDATION ("core" here by default). With
VKML_REQUIRE_VULKAN=1 a missing device or validation layer ends the session; without it, tests are
skipped or run without the layer, and the summary says so.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import numpy as np
import pytest

import vkml
from vkml_vulkan._api import vulkan
from vkml_vulkan.backend import VULKAN_BACKEND
from vkml_vulkan.errors import LoaderMissingError
from vkml_vulkan.instance import VALIDATION_LAYER, layer_names, the_instance
from vkml_vulkan.settings import read_settings

os.environ.setdefault("VKML_VULKAN_VALIDATION", "core")
os.environ.setdefault("LP_NUM_THREADS", "0")  # lavapipe wakes a thread for each dispatch otherwise

_REQUIRED: Final = os.environ.get("VKML_REQUIRE_VULKAN", "") not in ("", "0")
_DID_NOT_RUN: Final = "VULKAN TESTS DID NOT RUN: "
_NOT_VALIDATED: Final = "VULKAN TESTS RAN WITHOUT VALIDATION: "
_NO_LAYER: Final = (
    f"there is no {VALIDATION_LAYER} here. "
    "Install it, on Debian or Ubuntu: apt install vulkan-validationlayers"
)
_RAN_ON: Final = "vulkan"
"""The property of a test's report that holds what it ran on; it reaches xdist's controller."""


@pytest.fixture(scope="session")
def gpu() -> Iterator[vkml.Device]:
    """Yield the first Vulkan device; tests are skipped where there is none."""
    reason = _why_not()
    if reason is not None and _REQUIRED:
        pytest.fail(reason, pytrace=False)
    if reason is not None:
        pytest.skip(_DID_NOT_RUN + reason)
    device = vkml.device("vulkan:0")
    yield device
    with _silence():
        device.handle.close()  # the layer knows what is left behind


@pytest.fixture
def gpu_with_float64(gpu: vkml.Device) -> vkml.Device:
    """Return the device; tests are skipped where it has no float64 arithmetic."""
    reason = gpu.handle.why_not("exp", [np.dtype(np.float64)], ())
    if reason is not None:
        pytest.skip(reason)
    return gpu


@pytest.fixture(autouse=True)
def validation_is_silent(request: pytest.FixtureRequest) -> Iterator[None]:
    """Assert that the validation layer has nothing to say of what a test does on the device."""
    if "gpu" not in request.fixturenames:
        yield
        return
    device: vkml.Device = request.getfixturevalue("gpu")
    request.node.user_properties.append((_RAN_ON, _description(device)))
    with _silence():
        yield
        device.synchronize()  # what is submitted later would be held against the next test


@contextmanager
def _silence() -> Iterator[None]:
    """Assert that the validation layer says nothing meanwhile."""
    messages = the_instance().messages
    known = len(messages)
    yield
    said = messages[known:]
    assert not said, "the validation layer said:\n" + "\n".join(said)


def _why_not() -> str | None:
    """Return None where tests can run on a Vulkan device, else what is missing."""
    if read_settings().validation and _layer_is_missing():
        if _REQUIRED:
            return _NO_LAYER
        os.environ["VKML_VULKAN_VALIDATION"] = "0"
    return VULKAN_BACKEND.why_unavailable()


@functools.cache
def _layer_is_missing() -> bool:
    try:
        return VALIDATION_LAYER not in layer_names(vulkan())
    except LoaderMissingError:
        return False  # nothing else is there either


def _description(device: vkml.Device) -> str:
    settings = [f"{name}={os.environ[name]}" for name in sorted(os.environ) if "VKML_" in name]
    ran_on = f"{device.info.name} with {' '.join(settings)}"
    if read_settings().validation:
        return f"Vulkan tests ran on {ran_on}"
    return _NOT_VALIDATED + (_NO_LAYER if _layer_is_missing() else ran_on)


# pytest's hooks --------------------------------------------------------------------------


def pytest_sessionstart(session: pytest.Session) -> None:
    """End at once where a device is required and missing, rather than fail every test."""
    is_worker = hasattr(session.config, "workerinput")
    reason = _why_not() if _REQUIRED and not is_worker else None
    if reason is not None:
        pytest.exit(_DID_NOT_RUN + reason, returncode=1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every test that asks for the device the marker `gpu`."""
    for item in items:
        if "gpu" in getattr(item, "fixturenames", ()):
            item.add_marker("gpu")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what the Vulkan tests ran on, or that they did not and why."""
    reports = [each for kind in terminalreporter.stats.values() for each in kind]
    ran_on = {
        value
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == _RAN_ON
    }
    for value in sorted(ran_on):
        terminalreporter.write_line(value, bold=True)
    skipped = [str(each.longrepr[2]) for each in terminalreporter.stats.get("skipped", ())]
    silent = {each[each.index(_DID_NOT_RUN) :] for each in skipped if _DID_NOT_RUN in each}
    for line in sorted(silent):
        terminalreporter.write_line(line, red=True, bold=True)
