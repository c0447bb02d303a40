"""Environment variables: what they mean, and that nonsense is refused by name."""

from __future__ import annotations

import pytest

from vkml.errors import ArgumentError
from vkml_vulkan.settings import Settings, read_settings

_NAMES = (
    "VKML_MIN_SPEC", "VKML_VULKAN_FORCE_STAGING", "VKML_VULKAN_MEMORY_LIMIT",
    "VKML_VULKAN_VALIDATION", "VKML_VULKAN_DEBUG",
)  # fmt: skip


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _NAMES:
        monkeypatch.delenv(name, raising=False)


def test_nothing_set_is_the_default() -> None:
    assert read_settings() == Settings()


@pytest.mark.parametrize(
    ("text", "nbytes"),
    [("0", 0), ("1000", 1000), ("4k", 4096), ("512M", 2**29), ("2G", 2**31), ("1GiB", 2**30),
     ("3MB", 3 * 2**20), (" 5K ", 5120), ("7B", 7)],
)  # fmt: skip
def test_a_limit_is_a_number_of_bytes_or_a_size(
    monkeypatch: pytest.MonkeyPatch, text: str, nbytes: int
) -> None:
    monkeypatch.setenv("VKML_VULKAN_MEMORY_LIMIT", text)

    assert read_settings().memory_limit_bytes == nbytes


@pytest.mark.parametrize(
    ("text", "level"), [("", ""), ("0", ""), ("1", "core"), ("core", "core"), ("gpu", "gpu")]
)
def test_validation_is_a_level(monkeypatch: pytest.MonkeyPatch, text: str, level: str) -> None:
    monkeypatch.setenv("VKML_VULKAN_VALIDATION", text)

    assert read_settings().validation == level


@pytest.mark.parametrize(
    ("text", "modes"),
    [
        ("", set()),
        ("0", set()),
        ("access", {"access"}),
        ("access, canaries", {"access", "canaries"}),
    ],
)
def test_debug_is_a_list_of_modes(
    monkeypatch: pytest.MonkeyPatch, text: str, modes: set[str]
) -> None:
    monkeypatch.setenv("VKML_VULKAN_DEBUG", text)

    assert read_settings().debug == modes


@pytest.mark.parametrize("name", ["VKML_MIN_SPEC", "VKML_VULKAN_FORCE_STAGING"])
@pytest.mark.parametrize(("text", "value"), [("", False), ("0", False), ("1", True)])
def test_a_switch_is_one_or_zero(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, value: bool
) -> None:
    monkeypatch.setenv(name, text)

    assert (read_settings().min_spec or read_settings().force_staging) is value


@pytest.mark.parametrize("name", _NAMES)
@pytest.mark.parametrize("value", ["yes", "-1", "1T", "acces", "1.5G"])
def test_nonsense_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(ArgumentError, match=name) as caught:
        read_settings()

    assert repr(value) in str(caught.value)
