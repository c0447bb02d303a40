"""Keys that are no safe names of files get members of other names, and none is lost."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import pytest

import vkml_io

if TYPE_CHECKING:
    from pathlib import Path

ODD = [
    "../w",
    "/w",
    "a//b",
    "a\\b",
    "a\nb",
    "../..",
    "x/../y",
    "k" * 4096,
    "\x00",
    "ü/./ü",
    "k" * 70_000,
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.vkml"


@pytest.mark.parametrize("key", ODD, ids=[f"odd {i}" for i in range(len(ODD))])
@pytest.mark.parametrize("compress", [False, True])
def test_an_odd_key_round_trips(path: Path, key: str, compress: bool) -> None:
    vkml_io.save(path, {"plain": 1, key: np.arange(3)}, compress=compress, sha256=True)

    loaded = vkml_io.load(path)
    assert list(loaded.tensors) == ["plain", key]
    assert loaded.tensors[key].tolist() == [0, 1, 2]
    assert loaded.version == 2
    assert vkml_io.validate(path).is_sound
    with vkml_io.open(path) as reader:
        assert reader[key].tolist() == [0, 1, 2]
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["tensors/plain.npy", "escaped/1.npy", "vkml.json"]
        header = json.loads(archive.read("vkml.json"))
    assert header["members"] == {key: "escaped/1.npy"}
    assert header["requires"] == ["members"]


def test_unzip_writes_nothing_outside_its_folder(path: Path, tmp_path: Path) -> None:
    unzip = shutil.which("unzip")
    if unzip is None:
        pytest.skip("there is no unzip here")
    vkml_io.save(path, {key: np.arange(3) for key in ODD})
    target = tmp_path / "out" / "deep"
    target.mkdir(parents=True)

    subprocess.run([unzip, "-q", str(path), "-d", str(target)], check=True)

    assert {each.name for each in tmp_path.iterdir()} == {"a.vkml", "out"}
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["deep"]
    assert len(list(target.rglob("*.npy"))) == len(ODD)


def test_keys_named_like_our_own_members_are_keys(path: Path) -> None:
    base = np.arange(10)
    keys = ["storages/0", "escaped/0", "storages/1", "tensors/a.npy", "vkml.json"]
    arrays = {key: base[i : i + 6] for i, key in enumerate(keys)}

    vkml_io.save(path, {**arrays, "../up": base})

    loaded = vkml_io.load(path).tensors
    for key, array in arrays.items():
        np.testing.assert_array_equal(loaded[key], array)
    loaded["../up"][5] = 100
    assert loaded["storages/0"][5] == 100


def test_a_view_with_an_odd_key_needs_no_escaped_member(path: Path) -> None:
    base = np.arange(10)

    vkml_io.save(path, {"base": base, "../part": base[2:4]})

    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["tensors/base.npy", "vkml.json"]
    assert vkml_io.load(path).tensors["../part"].tolist() == [2, 3]
