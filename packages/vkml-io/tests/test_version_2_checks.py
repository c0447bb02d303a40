"""What a reader checks of a file of version 2: G1 to G6, whichever way it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import vkml_io
from hostile_version_2 import CASES, SOUND
from vkml_io.cli import main

if TYPE_CHECKING:
    from pathlib import Path

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


@pytest.mark.parametrize("compress", [False, True])
def test_a_flipped_byte_is_refused_or_harmless_and_every_prefix_is_refused(
    tmp_path: Path, compress: bool
) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    path = tmp_path / "a.vkml"
    base = np.arange(12, dtype="i2")
    tree = {
        "../base": base, "part": (base[1::3], base[2:4].view("u1")), "none": [base[::4], 1.5],
        "w": np.array([[1, -2, 3]], ml_dtypes.int4), "h": np.array([1.5], ml_dtypes.bfloat16),
    }  # fmt: skip
    vkml_io.save_tree(path, tree, {"epoch": 3}, compress)
    sound = path.read_bytes()
    expected = _content(path)

    for position in range(len(sound)):
        changed = bytearray(sound)
        changed[position] ^= 1 << position % 8
        path.write_bytes(changed)
        try:
            found = _content(path)
        except vkml_io.CheckpointError:
            assert not vkml_io.validate(path).is_sound
            continue
        assert found == expected, position
    for size in range(len(sound)):
        path.write_bytes(sound[:size])
        with pytest.raises(vkml_io.CheckpointError):
            vkml_io.load(path)


def _content(path: Path) -> object:
    loaded = vkml_io.load(path)
    arrays = {key: (str(x.dtype), x.shape, x.tobytes()) for key, x in loaded.tensors.items()}
    return arrays, loaded.metadata, repr(vkml_io.load_tree(path))


@pytest.mark.parametrize("name", [*CASES, *SOUND])
def test_the_fast_way_and_the_general_one_give_one_verdict(
    forge: Forge, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = SOUND[name] if name in SOUND else CASES[name][1]
    path = build(forge)
    fast = vkml_io.validate(path).to_json()

    monkeypatch.setattr("vkml_io.archive.read_canonical", lambda *_: None)

    assert vkml_io.validate(path).to_json() == fast
