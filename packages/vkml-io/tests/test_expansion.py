"""What the limit on expansion rests on: ratios of real content, and its one false alarm."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import pytest

import vkml_io
from vkml_io.cli import main
from vkml_io.format import DEFAULT_EXPANSION_RATIO

if TYPE_CHECKING:
    from pathlib import Path

    from vkml_io.aliases import Array

COUNT = 1_000_000


@pytest.fixture(scope="module")
def weights() -> Array:
    """Values as of a trained layer: normal, small, in float32."""
    return np.random.default_rng(5).normal(0, 0.02, COUNT).astype("f4")


def _zip(path: Path, array: Array) -> float:
    """Write a checkpoint with another writer, which deflates as well as zlib can; return its ratio.

    Ours packs an array again that would unpack to more than its own readers allow.
    """
    header = {"format": "vkml-checkpoint", "version": 1, "keys": ["w"], "metadata": {}}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("vkml.json", json.dumps(header))
        with archive.open("tensors/w.npy", "w") as member:
            np.lib.format.write_array(member, array)
    return array.nbytes / path.stat().st_size


def _saved(path: Path, array: Array, *, compress: bool) -> float:
    vkml_io.save(path, {"w": array}, compress=compress, durable=False)
    return array.nbytes / path.stat().st_size


def test_a_stored_checkpoint_unpacks_to_its_own_size(tmp_path: Path, weights: Array) -> None:
    assert _saved(tmp_path / "a.vkml", weights, compress=False) == pytest.approx(1, abs=0.005)


def test_deflated_float32_weights_unpack_to_1_1_times_their_size(
    tmp_path: Path, weights: Array
) -> None:
    assert _saved(tmp_path / "a.vkml", weights, compress=True) == pytest.approx(1.08, abs=0.04)


def test_deflated_zeros_unpack_to_1000_times_their_size(tmp_path: Path) -> None:
    assert _zip(tmp_path / "a.vkml", np.zeros(4 * COUNT, "f4")) == pytest.approx(1000, abs=40)


def test_no_deflate_stream_goes_far_beyond_1000(tmp_path: Path) -> None:
    assert _zip(tmp_path / "a.vkml", np.zeros(20 * COUNT, "u1")) < 1032


def test_a_pruned_dense_model_is_refused_with_the_file_the_ratio_and_the_argument(
    tmp_path: Path, weights: Array
) -> None:
    path = tmp_path / "pruned.vkml"
    pruned = np.where(np.arange(COUNT) % 2000 == 0, weights, np.float32(0))
    ratio = _zip(path, pruned)
    assert ratio > DEFAULT_EXPANSION_RATIO

    with pytest.raises(vkml_io.ExpansionError) as caught:
        vkml_io.load(path)

    message = str(caught.value)
    assert message.startswith(f"{path}: the file expands {ratio:.0f} times")
    assert "raise max_expansion_ratio=100 if you trust it" in message
    assert caught.value.code == "B17"
    loaded = vkml_io.load(path, max_expansion_ratio=1000)
    assert np.array_equal(loaded.tensors["w"], pruned)


def test_the_argument_of_the_command_cures_the_false_alarm_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _zip(tmp_path / "a.vkml", np.zeros(COUNT, "f4"))

    assert main(["validate", str(tmp_path / "a.vkml")]) == 1
    assert "max_expansion_ratio" in capsys.readouterr().out
    assert main(["validate", "--max-expansion-ratio", "2000", str(tmp_path / "a.vkml")]) == 0


def test_our_own_writer_makes_no_file_that_its_readers_refuse(
    tmp_path: Path, weights: Array
) -> None:
    for array in (np.zeros(COUNT, "f4"), np.where(np.arange(COUNT) % 2000, 0, weights)):
        ratio = _saved(tmp_path / "a.vkml", array, compress=True)

        assert 4 < ratio < DEFAULT_EXPANSION_RATIO
        assert np.array_equal(vkml_io.load(tmp_path / "a.vkml").tensors["w"], array)
