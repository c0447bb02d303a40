"""The files of the original C++ vkML load."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vkml_io

FOLDER = Path(__file__).parent / "data" / "v1"
MANIFEST: dict[str, dict[str, Any]] = json.loads(
    (FOLDER / "MANIFEST.json").read_text()
)  # Any: JSON
SOUND = sorted(set(MANIFEST) - {"oddkeys.vkml", "dtypes.vkml"})


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.parametrize("mmap", [False, True, "c"])
def test_dtypes_and_shapes_are_those_of_the_manifest(name: str, mmap: Any) -> None:
    tensors = vkml_io.load(FOLDER / name, mmap=mmap).tensors

    found = {key: [str(array.dtype), list(array.shape)] for key, array in tensors.items()}
    assert found == MANIFEST[name]["tensors"]
    assert list(tensors) == list(MANIFEST[name]["tensors"])


@pytest.mark.parametrize("name", SOUND)
def test_validate_calls_it_sound(name: str) -> None:
    assert vkml_io.validate(FOLDER / name).is_sound


@pytest.mark.parametrize("name", SOUND)
def test_saving_it_again_keeps_every_bit(name: str, tmp_path: Path) -> None:
    first = vkml_io.load(FOLDER / name)

    vkml_io.save(tmp_path / "again.vkml", first.tensors, first.metadata)

    second = vkml_io.load(tmp_path / "again.vkml")
    assert str(second.metadata) == str(first.metadata)  # NaN is not equal to itself
    for key, array in first.tensors.items():
        assert second.tensors[key].tobytes() == array.tobytes()
        assert second.tensors[key].dtype == array.dtype


def test_metadata_with_nan_load_and_give_a_warning() -> None:
    metadata = vkml_io.load(FOLDER / "metadata.vkml").metadata

    assert math.isnan(metadata["nan"])
    assert math.isinf(metadata["inf"])
    assert vkml_io.validate(FOLDER / "metadata.vkml").warnings[0].code == "W-JSON"


def test_dtypes_load_but_for_text_arrays() -> None:
    keys = [key for key in MANIFEST["dtypes.vkml"]["tensors"] if key not in ("str", "bytes")]

    tensors = vkml_io.load(FOLDER / "dtypes.vkml", keys=keys).tensors

    assert len(tensors) == 16
    assert tensors["bigendian"].dtype == np.dtype(">f4")
    assert tensors["fortran"].flags.f_contiguous


@pytest.mark.parametrize("key", ["str", "bytes"])
def test_text_arrays_are_refused_by_name(key: str) -> None:
    with pytest.raises(vkml_io.UnsafeContentError, match=f"tensors/{key}.npy") as caught:
        vkml_io.load(FOLDER / "dtypes.vkml", keys=[key])

    assert caught.value.code == "D3"


def test_a_key_outside_its_folder_is_refused_by_name() -> None:
    with pytest.raises(vkml_io.UnsafeContentError, match=r"tensors/\.\./up\.npy") as caught:
        vkml_io.load(FOLDER / "oddkeys.vkml")

    assert caught.value.code == "B10"
