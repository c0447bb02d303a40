"""The files that name drivers are found as the loader finds them, and their drivers tried."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from vkml_vulkan.driver_files import chosen_by, driver_files, why_unusable

VARIABLES = [
    "VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES",
    "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS",
]  # fmt: skip

not_windows = pytest.mark.skipif(sys.platform == "win32", reason="drivers are in the registry")


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def written(file: Path, library: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"file_format_version": "1.0.0", "ICD": {"library_path": library}}))
    return file


# Finding them ----------------------------------------------------------------------------


def test_vk_driver_files_replaces_the_search(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first, second = tmp_path / "b.json", tmp_path / "a.json"
    monkeypatch.setenv(
        "VK_DRIVER_FILES", f"{first}{':' if sys.platform != 'win32' else ';'}{second}"
    )
    monkeypatch.setenv("VK_ADD_DRIVER_FILES", str(tmp_path / "c.json"))

    assert driver_files() == [first, second]


def test_a_folder_in_vk_driver_files_stands_for_the_files_in_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files = [written(tmp_path / f"{name}.json", "x") for name in "ab"]
    (tmp_path / "notes.txt").write_text("no driver")
    monkeypatch.setenv("VK_DRIVER_FILES", str(tmp_path))

    assert driver_files() == files


def test_the_old_name_counts_where_the_new_one_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VK_ICD_FILENAMES", "/old.json")
    assert driver_files() == [Path("/old.json")]

    monkeypatch.setenv("VK_DRIVER_FILES", "/new.json")
    assert driver_files() == [Path("/new.json")]


def test_an_empty_vk_driver_files_names_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VK_DRIVER_FILES", "")

    assert chosen_by() == "VK_DRIVER_FILES"
    assert driver_files() == []


@not_windows
def test_the_folders_of_a_user_are_searched_before_the_systems(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = written(tmp_path / "own/vulkan/icd.d/own.json", "x")
    shared = written(tmp_path / "shared/vulkan/icd.d/shared.json", "x")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path / "shared"))

    found = driver_files()

    assert found.index(own) < found.index(shared)


@not_windows
def test_vk_add_driver_files_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shared = written(tmp_path / "vulkan/icd.d/shared.json", "x")
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path))
    monkeypatch.setenv("VK_ADD_DRIVER_FILES", "/added.json")

    found = driver_files()

    assert found[0] == Path("/added.json")
    assert shared in found


# Trying them -----------------------------------------------------------------------------


def test_a_missing_file_is_unusable(tmp_path: Path) -> None:
    assert "cannot be read" in str(why_unusable(tmp_path / "missing.json"))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"ICD": {}}', '{"ICD": 1}'])
def test_a_file_that_names_no_library_is_unusable(tmp_path: Path, text: str) -> None:
    file = tmp_path / "driver.json"
    file.write_text(text)

    assert "library_path" in str(why_unusable(file))


def test_a_library_that_is_missing_is_named(tmp_path: Path) -> None:
    reason = why_unusable(written(tmp_path / "driver.json", "libvkml_no_such_driver.so"))

    assert "libvkml_no_such_driver.so" in str(reason)


def test_a_path_of_a_library_is_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "broken.so").write_bytes(b"not a library")

    reason = why_unusable(written(tmp_path / "driver.json", "./broken.so"))

    assert str(tmp_path / "broken.so") in str(reason)


def test_a_library_that_loads_is_usable(tmp_path: Path) -> None:
    import _ctypes  # an extension module is a shared library that is here for sure

    library = getattr(_ctypes, "__file__", None)
    if library is None:
        pytest.skip("this interpreter has _ctypes built in")

    assert why_unusable(written(tmp_path / "driver.json", library)) is None
