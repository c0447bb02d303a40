from __future__ import annotations

import mmap
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vkml_io
from vkml_io import config

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    vkml_io.save(tmp_path / "a.vkml", {"w": np.arange(3.0)})
    return tmp_path / "a.vkml"


@pytest.fixture
def restored() -> Iterator[None]:
    before = config.load.mmap
    yield
    config.load.mmap = before


def _is_mapped(path: Path, **arguments: Any) -> bool:  # Any: arguments of load
    return not vkml_io.load(path, **arguments).tensors["w"].flags.owndata


def test_the_defaults_are_those_of_pytorch_with_a_safe_mmap_flag() -> None:
    torch_config = pytest.importorskip("torch.utils.serialization.config")

    for section in ("save", "load"):
        for option in ("compute_crc32", "storage_alignment", "use_pinned_memory_for_d2h", "mmap",
                       "endianness", "mmap_flags", "calculate_storage_offsets"):  # fmt: skip
            with suppress(AttributeError):
                theirs = getattr(getattr(torch_config, section), option)
                ours = getattr(getattr(config, section), option)
                assert ours == ("native" if theirs is None else theirs), option


def test_load_maps_where_the_configuration_says_so(path: Path) -> None:
    assert not _is_mapped(path)

    with config.patch("load.mmap", True):
        assert _is_mapped(path)

    assert not _is_mapped(path)


def test_an_argument_wins_over_the_configuration(path: Path) -> None:
    with config.patch("load.mmap", True):
        assert not _is_mapped(path, mmap=False)


def test_a_configured_map_gives_way_to_arrays_that_are_to_be_filled(path: Path) -> None:
    target = np.zeros(3)

    with config.patch("load.mmap", True):
        vkml_io.load(path, into={"w": target})

    assert target.tolist() == [0, 1, 2]


@pytest.mark.usefixtures("restored")
def test_an_assignment_holds_in_every_thread(path: Path) -> None:
    seen: list[bool] = []
    config.load.mmap = True

    thread = threading.Thread(target=lambda: seen.append(_is_mapped(path)))
    thread.start()
    thread.join()

    assert seen == [True]


def test_a_patch_is_seen_by_its_own_thread_only() -> None:
    seen: list[Any] = []

    with config.patch({"load.mmap": "c", "save.storage_alignment": 4096}):
        thread = threading.Thread(target=lambda: seen.append(config.load.mmap))
        thread.start()
        thread.join()
        seen.append((config.load.mmap, config.save.storage_alignment))

    assert seen == [False, ("c", 4096)]


def test_patches_nest_and_end_with_an_error() -> None:
    with suppress(KeyError), config.patch("load.endianness", "big"):
        with config.patch("load.mmap", True):
            assert (config.load.endianness, config.load.mmap) == ("big", True)
        assert (config.load.endianness, config.load.mmap) == ("big", False)
        raise KeyError

    assert config.load.endianness == "native"


def test_many_threads_patch_without_seeing_each_other() -> None:
    wrong: list[int] = []

    def work(alignment: int) -> None:
        for _ in range(200):
            with config.patch("save.storage_alignment", alignment):
                if config.save.storage_alignment != alignment:
                    wrong.append(alignment)

    threads = [threading.Thread(target=work, args=(2**power,)) for power in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("save.compute_crc32", 1),
        ("save.storage_alignment", 48),
        ("save.storage_alignment", True),
        ("save.storage_alignment", 2**16),
        ("load.mmap", "r"),
        ("load.mmap", 1),
        ("load.endianness", "middle"),
        ("load.mmap_flags", mmap.MAP_PRIVATE | mmap.MAP_SHARED),
        ("load.calculate_storage_offsets", None),
    ],
)
def test_a_value_that_an_option_does_not_take_is_a_value_error(name: str, value: Any) -> None:
    section, option = name.split(".")

    with pytest.raises(ValueError, match=name), config.patch(name, value):
        pass
    with pytest.raises(ValueError, match=name):
        setattr(getattr(config, section), option, value)


def test_an_option_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"load\.mmap"), config.patch("load.map", True):
        pass
    with pytest.raises(AttributeError, match=r"save.storage_alignment"):
        config.save.alignment = 64


def test_the_configuration_shows_its_options() -> None:
    assert "storage_alignment=64" in repr(config)
    assert "endianness='native'" in repr(config)
