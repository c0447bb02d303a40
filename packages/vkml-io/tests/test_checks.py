"""Every check of the format refuses what it is there for, under its own code."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

import vkml_io
from hostile_files import CASES, write_all
from vkml_io.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    from forge import Forge

# What a map does not show before verify() is called: the values, and what lies between members.
HIDDEN_BY_A_MAP = {"CRC", "a bool of 2"}
BETWEEN_MEMBERS = {"gap", "unlisted first member", "overlap"}


@pytest.mark.parametrize(
    ("name", "mmap"),
    [(name, False) for name in CASES]
    + [(name, True) for name in CASES if name not in HIDDEN_BY_A_MAP],
)
def test_load_refuses_with_the_code_of_the_check(forge: Forge, name: str, mmap: bool) -> None:
    code, build = CASES[name]
    path = build(forge)

    with pytest.raises(vkml_io.CheckpointError) as caught:
        vkml_io.load(path, mmap=mmap)

    assert caught.value.code == code
    assert caught.value.path == str(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", CASES)
def test_validate_reports_the_same_code_first(forge: Forge, name: str) -> None:
    code, build = CASES[name]

    report = vkml_io.validate(build(forge))

    assert report.violations[0].code == code


@pytest.mark.parametrize("name", sorted(CASES.keys() - HIDDEN_BY_A_MAP - BETWEEN_MEMBERS))
def test_a_reader_refuses_at_open_or_at_first_access(forge: Forge, name: str) -> None:
    code, build = CASES[name]
    path = build(forge)

    with pytest.raises(vkml_io.CheckpointError) as caught, vkml_io.open(path) as reader:
        list(reader.values())

    assert caught.value.code == code


@pytest.mark.parametrize("name", sorted(HIDDEN_BY_A_MAP | BETWEEN_MEMBERS))
def test_verify_finds_what_a_map_hides(forge: Forge, name: str) -> None:
    code, build = CASES[name]

    with vkml_io.open(build(forge)) as reader, pytest.raises(vkml_io.CheckpointError) as caught:
        reader.verify()

    assert caught.value.code == code


@pytest.mark.parametrize("name", CASES)
def test_the_command_gives_the_same_code_first(
    forge: Forge, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, build = CASES[name]

    assert main(["validate", str(build(forge))]) == 1

    first = capsys.readouterr().out.splitlines()[1]
    assert first.startswith(f"  {code}: ")


def test_all_hostile_files_can_be_written_to_a_folder(tmp_path: Path) -> None:
    sound, *hostile = write_all(tmp_path)

    assert vkml_io.validate(sound).is_sound
    assert len(hostile) == len(CASES) - 2  # a folder and a pipe are no files
    for path in hostile:
        assert vkml_io.validate(path).violations[0].code == path.name.split("-")[1]


def test_every_check_of_the_reader_has_a_case() -> None:
    codes = {code for code, _ in CASES.values()}

    expected = {
        "A1",
        "A2",
        *(f"B{i}" for i in range(1, 20) if i != 18),
        *(f"C{i}" for i in range(1, 10)),
    }
    expected |= {f"D{i}" for i in range(1, 12) if i != 7}
    assert codes == expected


def test_the_untouched_forgery_loads(forge: Forge) -> None:
    checkpoint = vkml_io.load(forge.write())

    assert checkpoint.tensors["w"].shape == (2, 3)


def test_zip64_records_that_agree_are_read(forge: Forge) -> None:
    sizes = struct.pack("<2H2Q", 1, 16, 152, 152)
    saturated = {"size": 0xFFFFFFFF, "stored": 0xFFFFFFFF}
    part = forge.tensor(local=saturated, central=saturated, local_extra=sizes, central_extra=sizes)

    path = forge.write(part, forge.header(), zip64={}, end={"here": 0xFFFF, "count": 0xFFFF})

    assert vkml_io.load(path).tensors["w"].shape == (2, 3)
