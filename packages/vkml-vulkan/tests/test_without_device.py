"""Where there is no Vulkan device, the tests say so: skipped loudly, or failed where required."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]


def run_pytest(**environment: str) -> subprocess.CompletedProcess[str]:
    """Run one test that needs a device, in a session of its own where no driver is found."""
    if not (ROOT / "pyproject.toml").exists():
        pytest.skip("the settings of pytest lie beside the packages, which are not here")
    test = f"{HERE / 'test_backend_suite.py'}::test_vulkan[exp: out=]"
    settings = [
        "-c",
        str(ROOT / "pyproject.toml"),
        "--rootdir",
        str(ROOT),
        "-p",
        "no:cacheprovider",
    ]
    inherited = {k: v for k, v in os.environ.items() if k != "VKML_REQUIRE_VULKAN"}
    return subprocess.run(
        [sys.executable, "-P", "-m", "pytest", *settings, test],
        capture_output=True, text=True, check=False,
        env=inherited | {"VK_DRIVER_FILES": os.devnull} | environment,
    )  # fmt: skip


def test_tests_that_did_not_run_are_loud() -> None:
    found = run_pytest()

    assert found.returncode == 0
    assert "1 skipped" in found.stdout
    loud = [each for each in found.stdout.splitlines() if each.startswith("VULKAN TESTS DID NOT")]
    assert len(loud) == 1
    assert "Install" in loud[0]


def test_a_required_device_that_is_missing_ends_the_session() -> None:
    found = run_pytest(VKML_REQUIRE_VULKAN="1")

    assert found.returncode == 1
    assert "Exit: VULKAN TESTS DID NOT RUN: " in found.stdout + found.stderr
    assert "skipped" not in found.stdout
