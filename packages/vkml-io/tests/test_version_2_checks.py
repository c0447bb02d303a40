"""What a reader checks of a file of version 2: G1 to G6, whichever way it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import vkml_io
from hostile_version_2 import CASES, SOUND
from vkml_io.cli import main

if TYPE_CHECKING:
    from forge import Forge


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("options", [{}, {"mmap": True}, {"data": False}, {"raw": True}], ids=str)
def test_load_refuses_with_the_code_of_the_check(
    forge: Forge, name: str, options: dict[str, bool]
) -> None:
    code, build = CASES[name]
    path = build(forge)

    with pytest.raises(vkml_io.CheckpointError) as caught:
        vkml_io.load(path, **options)  # type: ignore[arg-type]  # any of the options

    assert caught.value.code == code
    assert caught.value.path == str(path)


@pytest.mark.parametrize("name", CASES)
def test_validate_and_the_command_report_the_same_code_first(
    forge: Forge, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, build = CASES[name]
    path = build(forge)

    assert vkml_io.validate(path).violations[0].code == code
    assert main(["validate", str(path)]) == 1
    assert capsys.readouterr().out.splitlines()[1].startswith(f"  {code}: ")


@pytest.mark.parametrize("name", CASES)
def test_a_reader_refuses_at_open_or_at_first_access(forge: Forge, name: str) -> None:
    code, build = CASES[name]
    path = build(forge)

    with pytest.raises(vkml_io.CheckpointError) as caught, vkml_io.open(path, raw=True) as reader:
        list(reader.values())

    assert caught.value.code == code


@pytest.mark.parametrize("name", CASES)
def test_digest_and_trees_refuse_it_too(forge: Forge, name: str) -> None:
    code, build = CASES[name]
    path = build(forge)

    for read in (vkml_io.digest, vkml_io.load_tree):
        with pytest.raises(vkml_io.CheckpointError) as caught:
            read(path)
        assert caught.value.code == code


@pytest.mark.parametrize("name", SOUND)
def test_what_comes_close_is_sound(forge: Forge, name: str) -> None:
    path = SOUND[name](forge)

    assert vkml_io.validate(path).violations == ()
    assert len(vkml_io.inspect(path)) == len(vkml_io.load(path, raw=True).tensors)
    with vkml_io.open(path, raw=True) as reader:
        reader.verify()
        for key, array in vkml_io.load(path, raw=True).tensors.items():
            assert reader[key].tobytes() == array.tobytes()


def test_an_unknown_feature_is_named_with_what_to_do(forge: Forge) -> None:
    path = forge.write(forge.tensor(), forge.header(version=2, requires=["quantum"]))

    with pytest.raises(vkml_io.UnsupportedVersionError, match=r"'quantum'.*pip install --upgrade"):
        vkml_io.load(path)


def test_a_caller_who_trusts_the_file_raises_the_limit_on_views(forge: Forge) -> None:
    path = CASES["shows too much"][1](forge)

    with pytest.raises(vkml_io.ExpansionError, match="max_expansion_ratio=100"):
        vkml_io.load(path)
    shown = vkml_io.load(path, max_expansion_ratio=1e5).tensors["v"]

    assert shown.shape == (10**6,)
