"""The fast ways through a file give the verdict of the general one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vkml_io
from vkml_io import archive as archive_module
from vkml_io import save_plan as save_plan_module
from vkml_io.archive import Archive
from vkml_io.directory_table import DirectoryTable
from vkml_io.features import Features
from vkml_io.format import Limits
from vkml_io.small_arrays import read_small

if TYPE_CHECKING:
    from pathlib import Path

    from vkml_io.aliases import Array


def _verdict(path: Path, **options: Any) -> object:
    """Return the code of the error, or everything that is loaded."""
    try:
        checkpoint = vkml_io.load(path, **options)
    except vkml_io.CheckpointError as error:
        return error.code, error.member
    tensors = checkpoint.tensors
    return [(k, a.dtype.str, a.shape, a.strides, a.tobytes()) for k, a in tensors.items()]


def _general_verdict(patch: pytest.MonkeyPatch, path: Path, **options: Any) -> object:
    """Return the same without any fast way."""
    with patch.context() as context:
        context.setattr(archive_module, "read_canonical", lambda *_: None)
        return _verdict(path, **options)


@pytest.mark.parametrize("align", [64, 256, 4096])
@pytest.mark.parametrize("sha256", [False, True])
def test_our_own_arrays_are_placed_at_once_and_as_one_by_one(
    tmp_path: Path, arrays: dict[str, Array], align: int, sha256: bool
) -> None:
    arrays["large"] = np.arange(50_000)
    vkml_io.save(tmp_path / "a.vkml", arrays, align=align, sha256=sha256)
    with Archive(tmp_path / "a.vkml", Limits()) as archive:
        one_by_one = {key: archive.locate(key) for key in arrays}
    with Archive(tmp_path / "a.vkml", Limits()) as archive:
        assert isinstance(archive.members, DirectoryTable)

        archive.check_layout()

        assert archive._placed == one_by_one
        assert list(archive._placed) == list(arrays)


@pytest.mark.parametrize("arrays_saved", [{}, {"w": np.zeros((0, 3))}])
def test_files_with_nothing_in_them_take_the_fast_way(
    tmp_path: Path, arrays_saved: dict[str, Array]
) -> None:
    vkml_io.save(tmp_path / "a.vkml", arrays_saved)
    with Archive(tmp_path / "a.vkml", Limits()) as archive:
        archive.check_layout()

        assert archive._placed.keys() == arrays_saved.keys()
        assert isinstance(archive.members, DirectoryTable)


@pytest.mark.parametrize("mmap", [False, True])
def test_a_changed_byte_gets_the_same_verdict_both_ways(
    tmp_path: Path, arrays: dict[str, Array], monkeypatch: pytest.MonkeyPatch, mmap: bool
) -> None:
    path = tmp_path / "a.vkml"
    vkml_io.save(path, {key: arrays[key] for key in ("weight", "fortran", "flags", "empty")})
    whole = bytearray(path.read_bytes())

    for position in range(len(whole)):
        whole[position] ^= 1 + position % 255
        path.write_bytes(whole)
        whole[position] ^= 1 + position % 255
        fast = _verdict(path, mmap=mmap)
        assert fast == _general_verdict(monkeypatch, path, mmap=mmap), position


ENTRIES = [
    "float32 4,6 192", "float32 4,6 191", "float32 6,4 192", "float64 4,6 192", "int32 4,6 192",
    "float32 4,6 192 F", "float32 4,6 192 >", "float32 4,6 192 F>", "float32 24 192",
    "float32 4,6,1 192", "float32  192", "float32 4,6 999999", "float32 4,6 0", "bool 96 192",
    "float32 4,9223372036854775807 192", "float32 0,9223372036854775807 192",
    "float32 4,6 1922222222222222222", "float32 4,6 9999999999999999999", "float32 4,6 ", "",
]  # fmt: skip


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("mmap", [False, True])
def test_a_wrong_index_gets_the_same_verdict_both_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str, mmap: bool
) -> None:
    with monkeypatch.context() as context:
        context.setattr(save_plan_module, "index_entry", lambda *_, **__: entry)
        vkml_io.save(tmp_path / "a.vkml", {"w": np.arange(24, dtype="f4").reshape(4, 6)})

    fast = _verdict(tmp_path / "a.vkml", mmap=mmap)

    assert fast == _general_verdict(monkeypatch, tmp_path / "a.vkml", mmap=mmap)


@pytest.mark.parametrize("mmap", [False, True])
def test_files_with_logical_dtypes_take_the_fast_way_and_get_the_same_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mmap: bool
) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    path = tmp_path / "a.vkml"
    arrays = {
        "w": np.ones((3, 5), ml_dtypes.bfloat16),
        "plain": np.arange(4.0),
        "packed": np.ones((2, 7), ml_dtypes.int4),
    }
    vkml_io.save(path, arrays)
    with Archive(path, Limits()) as archive:
        archive.check_layout()
        assert isinstance(archive.members, DirectoryTable)
        assert len(archive._places) == 3
    loaded = vkml_io.load(path, mmap=mmap).tensors
    assert {key: array.dtype for key, array in loaded.items()} == {
        key: array.dtype for key, array in arrays.items()
    }

    whole = bytearray(path.read_bytes())
    for position in range(len(whole)):
        whole[position] ^= 1 + position % 255
        path.write_bytes(whole)
        whole[position] ^= 1 + position % 255
        fast = _verdict(path, mmap=mmap)
        assert fast == _general_verdict(monkeypatch, path, mmap=mmap), position


@pytest.mark.parametrize("dtypes", [{"w": "bfloat16"}, {"plain": "bfloat16"}, {"w": "float8_e5m2"}])
@pytest.mark.parametrize("entry", ["bfloat16 3,5 192", "uint16 3,5 192", "float8_e5m2 3,10 192"])
def test_logical_dtypes_of_the_wrong_keys_get_the_same_verdict_both_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dtypes: dict[str, str], entry: str
) -> None:
    path = tmp_path / "a.vkml"
    arrays = {"w": np.ones((3, 5), "<u2"), "plain": np.ones(3, "<u2")}
    fields = {"requires": ["dtypes"], "dtypes": dtypes}
    with monkeypatch.context() as context:
        context.setattr(
            save_plan_module,
            "index_entry",
            lambda _, shape, *__, **___: entry if len(shape) == 2 else "uint16 3 448",
        )
        context.setattr(Features, "to_json", lambda _: fields)
        vkml_io.save(path, arrays)
    assert "uint16 3 448" in path.read_text("latin-1")

    fast = _verdict(path, raw=True)

    right = dtypes == {"w": "bfloat16"} and entry.startswith("bfloat16")
    assert isinstance(fast, list) == right
    assert fast == _general_verdict(monkeypatch, path, raw=True)


def test_small_arrays_are_read_together(tmp_path: Path, arrays: dict[str, Array]) -> None:
    for number in range(300):
        arrays[f"more.{number}"] = np.full((number % 7, 50), number)
    arrays["large"] = np.arange(3 * 10**5)
    arrays["behind"] = np.arange(3)
    vkml_io.save(tmp_path / "a.vkml", arrays)
    with Archive(tmp_path / "a.vkml", Limits()) as archive:
        places = {key: archive.locate(key) for key in reversed(arrays)}

        found = read_small(archive, places, verify=True)

        assert found.keys() == arrays.keys() - {"large"}
    for key, array in found.items():
        np.testing.assert_array_equal(array, arrays[key])
        assert array.flags.writeable
        assert array.flags.owndata


@pytest.mark.parametrize("key", ["first", "flags", "last"])
def test_damage_to_a_small_array_is_seen(tmp_path: Path, key: str) -> None:
    saved = {"first": np.arange(5), "flags": np.ones(3, bool), "last": np.arange(9)}
    path = tmp_path / "a.vkml"
    vkml_io.save(path, saved)
    offset = {entry.key: entry.data_offset for entry in vkml_io.inspect(path)}[key]
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(b"\x07")

    with pytest.raises(vkml_io.IntegrityError) as caught:
        vkml_io.load(path)
    assert caught.value.member == f"tensors/{key}.npy"

    if key == "flags":
        with pytest.raises(vkml_io.CheckpointError, match="D10"):
            vkml_io.load(path, verify=False)
