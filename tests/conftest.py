"""The fixture `gpu` of tests across packages."""

from __future__ import annotations

import os

import pytest

import vkml


@pytest.fixture(scope="session")
def gpu() -> vkml.Device:
    """Return the first Vulkan device; without one, skip, or fail where one is required."""
    found = [each for each in vkml.available_devices() if each.type == "vulkan"]
    if found:
        return found[0]
    reason = f"VULKAN TESTS DID NOT RUN: {vkml.best_device()[1]}"
    if os.environ.get("VKML_REQUIRE_VULKAN", "") not in ("", "0"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
