"""The lazy reader: what it reads, when, and how it ends."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vkml_io

if TYPE_CHECKING:
    from forge import Forge
    from vkml_io.aliases import Array


@pytest.fixture
def path(tmp_path: Path, arrays: dict[str, Array]) -> Path:
    vkml_io.save(tmp_path / "a.vkml", arrays, {"epoch": 3}, sha256=True)
    return tmp_path / "a.vkml"


@pytest.mark.parametrize("mmap", [True, False, "c"])
def test_it_is_a_mapping_in_file_order(path: Path, arrays: dict[str, Array], mmap: Any) -> None:
    with vkml_io.open(path, mmap=mmap) as reader:
        assert list(reader) == list(arrays)
        assert len(reader) == len(arrays)
        assert "weight" in reader
        assert reader.get("nothing") is None
        assert reader.metadata == {"epoch": 3}
        for key, array in reader.items():
            assert array.tobytes() == arrays[key].tobytes()


@pytest.mark.parametrize(("mmap", "writable"), [(True, False), (False, True), ("c", True)])
def test_only_a_plain_map_is_read_only(path: Path, mmap: Any, writable: bool) -> None:
    with vkml_io.open(path, mmap=mmap) as reader:
        assert reader["weight"].flags.writeable is writable


def test_writing_to_a_private_map_leaves_the_file_alone(path: Path) -> None:
    before = path.read_bytes()

    with vkml_io.open(path, mmap="c") as reader:
        reader["weight"][:] = 9
        assert reader["weight"][0, 0] == 9

    assert path.read_bytes() == before


def test_mapped_arrays_share_memory_and_are_aligned(path: Path) -> None:
    with vkml_io.open(path) as reader:
        first, second = reader["weight"], reader["weight"]

    assert np.shares_memory(first, second)
    assert first.__array_interface__["data"][0] % 64 == 0


def test_mapped_arrays_outlive_the_reader(path: Path, arrays: dict[str, Array]) -> None:
    with vkml_io.open(path) as reader:
        array = reader["weight"]
    del reader

    np.testing.assert_array_equal(array, arrays["weight"])


def test_a_closed_reader_reads_no_more(path: Path) -> None:
    reader = vkml_io.open(path)
    reader.close()
    reader.close()

    with pytest.raises(ValueError, match="closed"):
        reader["weight"]


def test_no_descriptor_stays_open(path: Path, forge: Forge) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))

    with vkml_io.open(path) as reader:
        reader.verify()
    with pytest.raises(vkml_io.CheckpointError):
        vkml_io.open(forge.write(forge.tensor()))

    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_an_unknown_key_is_a_key_error_that_names_it(path: Path) -> None:
    with vkml_io.open(path) as reader, pytest.raises(KeyError, match="'nothing'"):
        reader["nothing"]


@pytest.mark.parametrize(
    "index",
    [
        np.s_[1],
        np.s_[-1],
        np.s_[1:3],
        np.s_[:, 2],
        np.s_[::-1, ::2],
        np.s_[..., 0],
        np.s_[1, 2],
        np.s_[None, 3],
        np.s_[5:9],
        np.s_[()],
        np.int64(2),
    ],
    ids=str,
)
@pytest.mark.parametrize("key", ["weight", "fortran"])
@pytest.mark.parametrize("compress", [False, True])
def test_a_slice_is_what_numpy_gives(
    tmp_path: Path, arrays: dict[str, Array], index: Any, key: str, compress: bool
) -> None:
    vkml_io.save(tmp_path / "s.vkml", {key: arrays[key]}, compress=compress)

    with vkml_io.open(tmp_path / "s.vkml") as reader:
        part = reader.slice(key, index)

    np.testing.assert_array_equal(part, arrays[key][index], strict=True)
    assert part.flags.writeable


@pytest.mark.parametrize("index", [[0, 1], np.array([True] * 4), True, "w"], ids=repr)
def test_a_slice_takes_basic_indices_only(path: Path, index: Any) -> None:
    with vkml_io.open(path) as reader, pytest.raises(TypeError, match="slice takes"):
        reader.slice("weight", index)


def test_a_slice_outside_the_array_is_an_index_error(path: Path) -> None:
    with vkml_io.open(path) as reader, pytest.raises(IndexError):
        reader.slice("weight", 4)


def test_a_damaged_array_is_refused_when_read_and_found_by_verify(path: Path) -> None:
    offset = next(e.data_offset for e in vkml_io.inspect(path) if e.key == "weight")
    data = bytearray(path.read_bytes())
    data[offset] ^= 1
    path.write_bytes(data)

    with vkml_io.open(path, mmap=False) as reader:
        assert reader["fortran"].shape == (4, 6)
        with pytest.raises(vkml_io.IntegrityError) as caught:
            reader["weight"]
    assert caught.value.member == "tensors/weight.npy"
    with vkml_io.open(path) as reader:
        assert reader["weight"].shape == (4, 6)
        with pytest.raises(vkml_io.IntegrityError):
            reader.verify()
    with vkml_io.open(path, mmap=False, verify=False) as reader:
        assert reader["weight"].shape == (4, 6)


def test_a_swapped_member_is_found_by_its_sha256(forge: Forge) -> None:
    path = forge.write(forge.tensor(), forge.header(sha256=["0" * 64]))

    with vkml_io.open(path) as reader, pytest.raises(vkml_io.IntegrityError, match="SHA-256"):
        reader.verify()
    with pytest.raises(vkml_io.IntegrityError, match="SHA-256"):
        vkml_io.load(path)
    assert "w" in vkml_io.load(path, verify=False).tensors


def test_an_open_file_can_be_read_whatever_its_position(path: Path) -> None:
    with path.open("rb") as file:
        file.seek(5)

        with vkml_io.open(file) as reader:
            assert reader["scalar"] == 7

        assert file.tell() == 5


@pytest.mark.parametrize("kind", ["fifo", "directory", "device"])
def test_a_path_that_is_no_regular_file_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "p"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")

    with pytest.raises(vkml_io.NotACheckpointError) as caught:
        vkml_io.open(path)

    assert caught.value.code == "A1"


def test_a_symlink_is_followed_unless_that_is_forbidden(path: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(path)

    vkml_io.open(tmp_path / "link").close()
    with pytest.raises(OSError, match="symbolic"):
        vkml_io.open(tmp_path / "link", follow_symlinks=False)


def test_a_file_that_was_cut_while_mapped_is_refused(path: Path) -> None:
    with vkml_io.open(path) as reader:
        os.truncate(path, 100)
        with pytest.raises(vkml_io.ChangedWhileReadError) as caught:
            reader["weight"]

    assert caught.value.code == "E2"


def test_a_file_that_changes_while_it_is_loaded_is_refused(path: Path) -> None:
    def touch(_progress: vkml_io.Progress) -> None:
        os.utime(path, ns=(1, 1))

    with pytest.raises(vkml_io.ChangedWhileReadError) as caught:
        vkml_io.load(path, progress=touch)

    assert caught.value.code == "E1"


def test_another_mmap_argument_is_a_value_error(path: Path) -> None:
    with pytest.raises(ValueError, match="mmap"):
        vkml_io.open(path, mmap="r")  # type: ignore[arg-type]  # the point
    with pytest.raises(ValueError, match="mmap"):
        vkml_io.load(path, mmap="r")  # type: ignore[arg-type]  # the point


def test_what_is_no_path_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="path"):
        vkml_io.open(3)  # type: ignore[arg-type]  # the point
