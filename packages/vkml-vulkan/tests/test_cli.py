"""`vkml-vulkan info` and `doctor`, with and without a loader, a driver and a device.

Where a test needs a machine without a loader, a stand-in for the package `vulkan` raises what the
real one raises there.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import vkml
from vkml.errors import DeviceError
from vkml_vulkan import cli, doctor
from vkml_vulkan.instance import the_instance

RUN = "import sys; from vkml_vulkan.cli import main; sys.exit(main({}))"
NO_LOADER = "raise OSError('Cannot find Vulkan SDK version.')"


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a new interpreter."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip


@pytest.fixture
def no_loader(tmp_path: Path) -> str:
    """Return a path of modules on which the package `vulkan` finds no loader."""
    package = tmp_path / "vulkan"
    package.mkdir()
    (package / "__init__.py").write_text(NO_LOADER)
    return str(tmp_path)


# Imports ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["vkml", "vkml_vulkan", "vkml_vulkan.backend", "vkml_vulkan.cli"])
def test_importing_opens_no_loader(name: str) -> None:
    found = python(f"import sys, {name}; sys.exit('vulkan' in sys.modules)")

    assert found.returncode == 0, found.stderr


def test_computing_on_the_cpu_opens_no_loader() -> None:
    found = python("import sys, vkml; vkml.ones(3).sum(); sys.exit('vulkan' in sys.modules)")

    assert found.returncode == 0, found.stderr


# A stand-in finds no loader --------------------------------------------------------------


def test_a_device_where_a_stand_in_finds_no_loader_is_an_error_that_says_what_to_install(
    no_loader: str,
) -> None:
    code = "import vkml\ntry: vkml.device('vulkan')\nexcept vkml.errors.DeviceError as e: print(e)"

    found = python(code, PYTHONPATH=no_loader)

    assert "there is no Vulkan loader" in found.stdout
    assert "apt install libvulkan1 mesa-vulkan-drivers" in found.stdout


def test_devices_are_listed_where_a_stand_in_finds_no_loader(no_loader: str) -> None:
    code = "import vkml; print(vkml.available_devices(), vkml.best_device())"

    found = python(code, PYTHONPATH=no_loader)

    assert found.stdout.startswith("[device('cpu')] (device('cpu'), 'vulkan: there is no Vulkan")


def test_info_where_a_stand_in_finds_no_loader_fails_and_says_so(no_loader: str) -> None:
    found = python(RUN.format(["info", "--json"]), PYTHONPATH=no_loader)

    assert found.returncode == 1
    assert json.loads(found.stdout) == []
    assert "there is no Vulkan loader" in found.stderr


def test_doctor_where_a_stand_in_finds_no_loader_says_what_to_install(no_loader: str) -> None:
    found = python(RUN.format(["doctor"]), PYTHONPATH=no_loader)

    lines = found.stdout.splitlines()
    assert found.returncode == 1
    assert lines[0].startswith("loader: MISSING (Cannot find Vulkan SDK version.")
    assert lines[-1].startswith("NEXT: Install")
    assert "vulkan" in lines[-1].lower()


def test_doctor_without_the_package_vulkan_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)

    assert cli.main(["doctor"]) == 1

    assert capsys.readouterr().out.endswith("NEXT: Install the package: pip install vulkan\n")


# A loader without drivers, and drivers without devices -----------------------------------


@pytest.mark.usefixtures("gpu")  # the loader is here, then
def test_a_device_without_a_driver_is_an_error_that_says_what_to_install() -> None:
    code = "import vkml\ntry: vkml.device('vulkan')\nexcept vkml.errors.DeviceError as e: print(e)"

    found = python(code, VK_DRIVER_FILES=os.devnull)

    assert "it found no driver. Install your GPU vendor's driver" in found.stdout


@pytest.mark.usefixtures("gpu")
def test_doctor_names_the_variable_that_hides_all_drivers(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.json")

    found = python(RUN.format(["doctor"]), VK_DRIVER_FILES=missing)

    lines = found.stdout.splitlines()
    assert found.returncode == 1
    assert any(f"{missing}: DOES NOT LOAD" in line for line in lines)
    assert lines[-1].startswith("NEXT: Unset VK_DRIVER_FILES")


@pytest.mark.usefixtures("gpu")
def test_doctor_names_the_one_damaged_file_that_fails_the_loader(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.json"
    damaged.write_text("no JSON")
    working = os.environ.get("VK_DRIVER_FILES", "")
    if not working:
        pytest.skip("VK_DRIVER_FILES names no driver to put a damaged file beside")

    both = os.pathsep.join((working, str(damaged)))
    found = python(RUN.format(["doctor"]), VK_DRIVER_FILES=both)

    assert found.stdout.splitlines()[-1].startswith(f"NEXT: Repair or remove {damaged}")


@pytest.mark.usefixtures("gpu")
def test_a_setting_that_means_nothing_is_what_doctor_says_to_mend() -> None:
    found = python(RUN.format(["doctor"]), VKML_VULKAN_MEMORY_LIMIT="much")

    assert found.stdout.splitlines()[-1].startswith("NEXT: VKML_VULKAN_MEMORY_LIMIT is 'much'")


@pytest.mark.usefixtures("gpu")
def test_listing_devices_never_raises_even_for_a_setting_that_means_nothing() -> None:
    code = "import vkml\nprint(vkml.available_devices(), vkml.best_device()[1])"

    found = python(code, VKML_VULKAN_MEMORY_LIMIT="much")

    assert found.stdout.startswith("[device('cpu')] VKML_VULKAN_MEMORY_LIMIT is 'much'")


@pytest.fixture
def no_hardware(gpu: vkml.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the loader say what it says where no driver finds its GPU."""
    failed = the_instance().api.constants.VK_ERROR_INITIALIZATION_FAILED
    functions = the_instance().functions
    monkeypatch.setattr(functions, "vkEnumeratePhysicalDevices", lambda *_: failed)


@pytest.mark.usefixtures("no_hardware")
def test_drivers_that_find_no_hardware_are_no_error_of_vulkan() -> None:
    with pytest.raises(DeviceError, match="no driver shows a device"):
        vkml.device("vulkan", 99)


@pytest.mark.usefixtures("no_hardware")
def test_doctor_says_that_no_driver_finds_its_hardware(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor"]) == 1

    assert "devices: NONE" in capsys.readouterr().out


# A device --------------------------------------------------------------------------------


def facts(capsys: pytest.CaptureFixture[str]) -> Any:
    assert cli.main(["info", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_info_writes_the_facts_of_each_device(
    gpu: vkml.Device, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {each["device"]: each for each in facts(capsys)}["vulkan:0"]

    assert found["name"] == gpu.info.name
    assert found["kind"] == gpu.info.kind
    assert found["memory_bytes"] == gpu.info.memory_bytes
    assert found["vulkan"] == gpu.info.details["vulkan"]
    assert found["driver"] == gpu.info.details["driver"]
    assert found["subgroup"]["size"] == gpu.info.details["subgroup"]
    assert found["unusable"] is None


def test_info_shows_the_profile_that_the_environment_asks_for(
    gpu: vkml.Device, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VKML_MIN_SPEC", "1")

    found = facts(capsys)[0]

    assert found["profile"]["workgroup"] == 128
    assert found["float64"] is False


def test_info_is_readable(gpu: vkml.Device, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["info"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"vulkan:0  {gpu.info.name}"
    assert [line.split()[0] for line in lines[1:8]] == [
        "kind", "driver", "Vulkan", "memory", "float64", "subgroup", "profile",
    ]  # fmt: skip


@pytest.mark.usefixtures("gpu")
def test_doctor_is_content_with_a_device_that_computes(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor"]) == 0

    said = capsys.readouterr().out
    assert "computes rightly" in said
    assert said.endswith("A device works; there is nothing to do.\n")


@pytest.mark.usefixtures("gpu")
def test_doctor_outlives_a_driver_that_ends_the_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "_CHECK", "import os; os._exit(70 + 0 * {index})")

    assert cli.main(["doctor"]) == 1

    said = capsys.readouterr().out
    assert "FAILS: the process ended with code 70" in said
    assert "NEXT: " in said.splitlines()[-1]


@pytest.mark.usefixtures("gpu")
def test_a_wrong_result_of_a_device_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = vkml.tensor
    monkeypatch.setattr(vkml, "tensor", lambda numbers: right(numbers + 0.5))

    with pytest.raises(SystemExit, match="1000 of 1000 are wrong"):
        doctor.compute(0)


# The command -----------------------------------------------------------------------------


def test_the_command_is_installed() -> None:
    (script,) = metadata.entry_points(group="console_scripts", name="vkml-vulkan")

    assert script.load() is cli.main


@pytest.mark.usefixtures("gpu")
def test_a_setting_that_means_nothing_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VKML_MIN_SPEC", "7")

    assert cli.main(["info"]) == 1
    assert capsys.readouterr().err == "VKML_MIN_SPEC is '7'; set it to 1 or 0.\n"
