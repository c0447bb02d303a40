"""Where no feature of version 2 is used, the bytes are those that version 1 always had."""

from __future__ import annotations

import hashlib
import json
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vkml_io

if TYPE_CHECKING:
    from pathlib import Path

    from vkml_io.aliases import Array

# Of the files that vkml-io wrote before it knew version 2.
BEFORE: list[tuple[dict[str, Any], str]] = [
    ({}, "5381b10f11e3a22632491f9cc2a551375869e69d40c5d5befdf757216b4ac437"),
    (
        {"align": 256, "sha256": True},
        "de3bbd23c77204e7af8869c286766c31879a1ef02bc7c66405620c681f0aab08",
    ),
    ({"align": 4096}, "cd2cf87a1e0c325371663f9dde3bb6ab4b6ddedf875f3edcec640b4c028f5e33"),
]
METADATA = {"epoch": 3, "loss": float("nan"), "$k": [1, "x"]}


def _arrays() -> dict[str, Array]:
    table = np.arange(24.0).reshape(4, 6) / 7
    return {
        "weight": table.astype("f4"),
        "block.0/bias": np.arange(5, dtype="<i8"),
        "schlüssel 鍵": np.array([[1, 2], [3, 4]], dtype=">u2"),
        "fortran": np.asfortranarray(table),
        "strided": table[::2, ::-3],
        "broadcast": np.broadcast_to(np.float16(0.5), (3, 2)),
        "scalar": np.array(7, dtype="u1"),
        "empty": np.zeros((0, 3), dtype="c8"),
        "flags": np.array([True, False, True]),
        "specials": np.array([np.nan, np.inf, -0.0, 5e-324]),
        "complex": table.astype("c16"),
        "large": np.arange(300_000)[::-1],
    }


@pytest.mark.parametrize(("options", "expected"), BEFORE, ids=["plain", "sha256", "4096"])
def test_the_bytes_are_what_they_were(
    tmp_path: Path, options: dict[str, Any], expected: str
) -> None:
    vkml_io.save(tmp_path / "a.vkml", _arrays(), METADATA, **options)

    assert hashlib.sha256((tmp_path / "a.vkml").read_bytes()).hexdigest() == expected


@pytest.mark.parametrize("compress", [False, True])
def test_a_reader_made_of_zipfile_json_and_numpy_reads_it(tmp_path: Path, compress: bool) -> None:
    vkml_io.save(tmp_path / "a.vkml", _arrays(), {"epoch": 3}, compress)

    # How the original reads: the members by their names, in the order of the keys.
    with zipfile.ZipFile(tmp_path / "a.vkml") as archive:
        header = json.loads(archive.read("vkml.json"))
        assert (header["format"], header["version"]) == ("vkml-checkpoint", 1)
        assert set(archive.namelist()) == {
            "vkml.json", *(f"tensors/{key}.npy" for key in header["keys"]),
        }  # fmt: skip
        for key, expected in zip(header["keys"], _arrays().values(), strict=True):
            with archive.open(f"tensors/{key}.npy") as member:
                found = np.lib.format.read_array(member, allow_pickle=False)
            np.testing.assert_array_equal(found, expected, strict=True)
    assert header["metadata"] == {"epoch": 3}


def test_a_tree_leaves_the_version_at_1(tmp_path: Path) -> None:
    vkml_io.save_tree(tmp_path / "a.vkml", [_arrays()])

    assert vkml_io.load(tmp_path / "a.vkml").version == 1
