from __future__ import annotations

import errno
import json
import os
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vkml_io
from vkml_io import platform

if TYPE_CHECKING:
    from forge import Forge
    from vkml_io.aliases import Array

OLD = {"epoch": 3, "note": "x" * 500}
NEW = {"epoch": 4, "loss": float("nan"), "$own": [1, None]}


@pytest.mark.parametrize("options", [{}, {"sha256": True, "align": 4096}, {"compress": True}])
def test_the_file_is_the_one_that_save_would_have_written(
    tmp_path: Path, arrays: dict[str, Array], options: dict[str, Any]
) -> None:
    vkml_io.save(tmp_path / "a.vkml", arrays, OLD, **options)
    vkml_io.save(tmp_path / "b.vkml", arrays, NEW, **options)

    vkml_io.update_metadata(tmp_path / "a.vkml", NEW)

    assert (tmp_path / "a.vkml").read_bytes() == (tmp_path / "b.vkml").read_bytes()


def test_shared_memory_escaped_keys_and_trees_stay(tmp_path: Path) -> None:
    numbers = np.arange(1, 10)
    tensors = {"numbers": numbers, "evens": numbers[1::2], "../escaped": np.ones(2)}
    vkml_io.save(tmp_path / "a.vkml", tensors, OLD, sha256=True)
    vkml_io.save(tmp_path / "b.vkml", tensors, NEW, sha256=True)
    vkml_io.save_tree(tmp_path / "tree.vkml", {"layers": [numbers, (numbers[:2], 3.5)]}, OLD)

    vkml_io.update_metadata(tmp_path / "a.vkml", NEW)
    vkml_io.update_metadata(tmp_path / "tree.vkml", NEW)

    assert (tmp_path / "a.vkml").read_bytes() == (tmp_path / "b.vkml").read_bytes()
    assert vkml_io.validate(tmp_path / "tree.vkml").is_sound
    loaded = vkml_io.load_tree(tmp_path / "tree.vkml")
    assert repr(vkml_io.load(tmp_path / "tree.vkml").metadata) == repr(NEW)
    assert repr(loaded) == repr(vkml_io.load_tree(_saved_tree(tmp_path, numbers)))


def _saved_tree(folder: Path, numbers: Array) -> Path:
    vkml_io.save_tree(folder / "new.vkml", {"layers": [numbers, (numbers[:2], 3.5)]}, NEW)
    return folder / "new.vkml"


def test_a_checkpoint_without_arrays_can_be_updated(tmp_path: Path) -> None:
    vkml_io.save(tmp_path / "a.vkml", {}, OLD)
    vkml_io.save(tmp_path / "b.vkml", {}, NEW)

    vkml_io.update_metadata(tmp_path / "a.vkml", NEW)

    assert (tmp_path / "a.vkml").read_bytes() == (tmp_path / "b.vkml").read_bytes()


def test_a_file_with_its_header_first_keeps_its_arrays(tmp_path: Path) -> None:
    original = Path(__file__).parent / "data" / "v1" / "plain.vkml"
    path = tmp_path / "a.vkml"
    path.write_bytes(original.read_bytes())

    vkml_io.update_metadata(path, NEW)

    found, before = vkml_io.load(path), vkml_io.load(original)
    assert repr(found.metadata) == repr(NEW)
    assert list(found.tensors) == list(before.tensors)
    assert vkml_io.digest(path) == vkml_io.digest(original)
    assert vkml_io.validate(path).is_sound
    assert all(entry.data_offset % 64 == 0 for entry in vkml_io.inspect(path))
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.namelist()[-1] == "vkml.json"


def test_a_header_between_arrays_and_an_index_that_would_be_wrong_are_no_trouble(
    forge: Forge,
) -> None:
    tensors = [forge.tensor(key=key, deflate=key == "b") for key in "abc"]
    path = forge.write(tensors[0], forge.header(["a", "b", "c"], other={"kept": 1.5}), *tensors[1:])

    vkml_io.update_metadata(path, NEW)

    assert vkml_io.validate(path).is_sound
    assert list(vkml_io.load(path).tensors) == ["a", "b", "c"]
    with zipfile.ZipFile(path) as archive:
        assert json.loads(archive.read("vkml.json"))["other"] == {"kept": 1.5}


@pytest.mark.parametrize("failure", [errno.EXDEV, errno.ENOSYS, None])
def test_every_way_of_copying_gives_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: int | None
) -> None:
    tensors = {"w": np.arange(400_000.0)}
    vkml_io.save(tmp_path / "a.vkml", tensors, OLD)
    vkml_io.save(tmp_path / "b.vkml", tensors, NEW)
    if failure is None:
        monkeypatch.delattr(os, "copy_file_range")
    else:

        def fail(*_arguments: int) -> int:
            raise OSError(failure, "no")

        monkeypatch.setattr(os, "copy_file_range", fail)

    vkml_io.update_metadata(tmp_path / "a.vkml", NEW)

    assert (tmp_path / "a.vkml").read_bytes() == (tmp_path / "b.vkml").read_bytes()


@pytest.mark.parametrize("new", [{}, NEW | {"more": "y" * 9000}])
def test_a_file_that_shares_blocks_is_cut_to_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, new: dict[str, Any]
) -> None:
    vkml_io.save(tmp_path / "a.vkml", {"w": np.arange(9.0)}, OLD)
    vkml_io.save(tmp_path / "b.vkml", {"w": np.arange(9.0)}, new)

    def clone(source: int, target: int) -> bool:
        data = platform.read_bytes(source, 0, os.fstat(source).st_size)
        platform.write_at(target, data, 0)
        return True

    monkeypatch.setattr(platform, "clone_file", clone)
    monkeypatch.setattr(platform, "copy_range", None)  # nothing is left to copy

    vkml_io.update_metadata(tmp_path / "a.vkml", new)

    assert (tmp_path / "a.vkml").read_bytes() == (tmp_path / "b.vkml").read_bytes()


def test_a_damaged_array_is_copied_with_its_checksum_and_still_found(tmp_path: Path) -> None:
    path = tmp_path / "a.vkml"
    vkml_io.save(path, {"w": np.ones(3)})
    data = bytearray(path.read_bytes())
    data[vkml_io.inspect(path)[0].data_offset] ^= 1
    path.write_bytes(data)

    vkml_io.update_metadata(path, NEW)

    assert [finding.code for finding in vkml_io.validate(path).violations] == ["D9"]


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ({"x": object()}, TypeError),
        ({"x": "\ud800"}, vkml_io.CheckpointError),
        ({"x": "y" * 2**24}, vkml_io.CheckpointError),
        (["epoch"], TypeError),
    ],
)
def test_metadata_that_a_reader_would_refuse_change_nothing(
    tmp_path: Path, metadata: Any, error: type[Exception]
) -> None:
    path = tmp_path / "a.vkml"
    vkml_io.save(path, {"w": np.ones(3)}, OLD)
    before = path.read_bytes()

    with pytest.raises(error):
        vkml_io.update_metadata(path, metadata)

    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_with_a_gap_is_refused_and_stays(forge: Forge) -> None:
    path = forge.write(forge.tensor(), replace(forge.header(), gap=b"hidden"))
    before = path.read_bytes()

    with pytest.raises(vkml_io.CheckpointError, match="B16"):
        vkml_io.update_metadata(path, NEW)

    assert path.read_bytes() == before


def test_the_mode_of_the_file_is_kept_and_mapped_arrays_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.vkml"
    vkml_io.save(path, {"w": np.ones(3)}, OLD)
    path.chmod(0o640)
    mapped = vkml_io.load(path, mmap=True).tensors["w"]

    vkml_io.update_metadata(path, NEW)

    assert path.stat().st_mode & 0o777 == 0o640
    assert mapped.tolist() == [1, 1, 1]


def test_the_order_of_torch_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="path comes first"):
        vkml_io.update_metadata({}, tmp_path / "a.vkml")  # type: ignore[arg-type]  # the point
