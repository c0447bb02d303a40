"""What `save` writes: its bytes, its layout, and what it refuses."""

from __future__ import annotations

import enum
import hashlib
import io
import json
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vkml_io

if TYPE_CHECKING:
    from pathlib import Path

    from vkml_io.aliases import Array

LARGE = 3 * 2**20 // 8  # values of float64 beyond what is written in one batch


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("align", [64, 256, 4096])
def test_what_is_saved_loads_with_dtype_order_and_bits(
    tmp_path: Path, arrays: dict[str, Array], compress: bool, align: int
) -> None:
    path = tmp_path / "a.vkml"

    vkml_io.save(path, arrays, {"epoch": 3}, compress, align=align, sha256=True)

    checkpoint = vkml_io.load(path)
    assert list(checkpoint.tensors) == list(arrays)
    assert checkpoint.metadata == {"epoch": 3}
    assert checkpoint.version == 1
    for key, array in arrays.items():
        found = checkpoint.tensors[key]
        assert (found.dtype, found.shape) == (array.dtype, array.shape)
        assert found.tobytes() == array.tobytes()
    assert checkpoint.tensors["fortran"].flags.f_contiguous
    assert vkml_io.validate(path).is_sound


@pytest.mark.parametrize("order", ["C", "F", "strided"])
@pytest.mark.parametrize("compress", [False, True])
def test_large_arrays_of_any_order_round_trip(tmp_path: Path, order: str, compress: bool) -> None:
    table = np.arange(2 * LARGE, dtype="f8").reshape(2, -1)
    array = {"C": table, "F": np.asfortranarray(table), "strided": table[:, ::2]}[order]

    vkml_io.save(tmp_path / "a.vkml", {"a": array, "small": np.ones(3)}, compress=compress)

    tensors = vkml_io.load(tmp_path / "a.vkml").tensors
    np.testing.assert_array_equal(tensors["a"], array)
    np.testing.assert_array_equal(tensors["small"], np.ones(3))


def test_equal_input_gives_equal_bytes(tmp_path: Path, arrays: dict[str, Array]) -> None:
    for name in ("a", "b"):
        vkml_io.save(tmp_path / name, arrays, {"x": 1.5}, sha256=True)

    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_bytes_of_a_small_file_never_change(tmp_path: Path) -> None:
    path = tmp_path / "a.vkml"

    vkml_io.save(path, {"w": np.arange(3, dtype="<i2"), "é": np.float32(1)}, {"epoch": 1})

    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert digest == "59b70812291f87ef274394c8c2ef86fb5321fa8639db1aefe7fc5454cc95a1b5"


def test_vkml_json_has_the_documented_fields(tmp_path: Path) -> None:
    array = np.asfortranarray(np.ones((2, 3), dtype=">f4"))
    vkml_io.save(tmp_path / "a.vkml", {"w": array, "s": np.int64(1)}, {"n": float("nan")})

    with zipfile.ZipFile(tmp_path / "a.vkml") as archive:
        header = json.loads(archive.read("vkml.json"))

    assert header == {
        "format": "vkml-checkpoint",
        "version": 1,
        "keys": ["w", "s"],
        "metadata": {"n": {"$float": "nan"}},
        "index": ["float32 2,3 192 F>", "int64  448"],
        "alignment": 64,
    }


@pytest.mark.parametrize("compress", [False, True])
def test_zipfile_and_numpy_read_what_is_saved(
    tmp_path: Path, arrays: dict[str, Array], compress: bool
) -> None:
    vkml_io.save(tmp_path / "a.vkml", arrays, compress=compress)

    with zipfile.ZipFile(tmp_path / "a.vkml") as archive:
        assert archive.testzip() is None
        assert archive.namelist()[-1] == "vkml.json"
    with np.load(tmp_path / "a.vkml") as loaded:
        for key, array in arrays.items():
            np.testing.assert_array_equal(loaded[f"tensors/{key}"], array)


@pytest.mark.parametrize("align", [64, 256, 4096])
def test_stored_members_are_aligned(tmp_path: Path, arrays: dict[str, Array], align: int) -> None:
    vkml_io.save(tmp_path / "a.vkml", arrays, align=align)

    for entry in vkml_io.inspect(tmp_path / "a.vkml"):
        assert entry.data_offset % 64 == 0
        assert (entry.data_offset - 128) % align == 0


def test_the_header_of_each_array_is_the_one_that_numpy_writes(
    tmp_path: Path, arrays: dict[str, Array]
) -> None:
    vkml_io.save(tmp_path / "a.vkml", arrays)

    with zipfile.ZipFile(tmp_path / "a.vkml") as archive:
        for key, array in arrays.items():
            expected = io.BytesIO()
            np.lib.format.write_array(expected, np.asarray(array), version=(1, 0))
            assert archive.read(f"tensors/{key}.npy") == expected.getvalue()


def test_sha256_are_those_of_the_members(tmp_path: Path, arrays: dict[str, Array]) -> None:
    vkml_io.save(tmp_path / "a.vkml", arrays, sha256=True)

    with zipfile.ZipFile(tmp_path / "a.vkml") as archive:
        header = json.loads(archive.read("vkml.json"))
        digests = [hashlib.sha256(archive.read(f"tensors/{key}.npy")).hexdigest() for key in arrays]
    assert header["sha256"] == digests


def test_what_does_not_become_smaller_stays_stored(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, 3 * 2**20, dtype="u1")

    vkml_io.save(tmp_path / "a.vkml", {"noise": noise, "zeros": np.zeros(99)}, compress=True)

    stored = {entry.key: entry.stored_bytes for entry in vkml_io.inspect(tmp_path / "a.vkml")}
    assert stored["noise"] > noise.nbytes
    assert stored["zeros"] < 99 * 8
    np.testing.assert_array_equal(vkml_io.load(tmp_path / "a.vkml").tensors["noise"], noise)


def test_an_array_that_packs_too_well_still_loads_by_default(tmp_path: Path) -> None:
    vkml_io.save(tmp_path / "a.vkml", {"zeros": np.zeros(10**6)}, compress=True)

    assert vkml_io.load(tmp_path / "a.vkml").tensors["zeros"].shape == (10**6,)


def test_an_empty_checkpoint_round_trips(tmp_path: Path) -> None:
    vkml_io.save(tmp_path / "a.vkml", {}, sha256=True)

    assert vkml_io.load(tmp_path / "a.vkml") == vkml_io.Checkpoint({}, {}, 1)


def test_lists_and_numbers_are_saved_as_numpy_sees_them(tmp_path: Path) -> None:
    vkml_io.save(tmp_path / "a.vkml", {"list": [[1.0, 2.0]], "number": 3})

    tensors = vkml_io.load(tmp_path / "a.vkml").tensors
    assert tensors["list"].tolist() == [[1.0, 2.0]]
    assert tensors["number"].dtype == np.asarray(3).dtype


@pytest.mark.parametrize(
    "value",
    [
        np.array([None]),
        np.array(["a"]),
        np.array([b"a"]),
        np.zeros(2, dtype="f4,i4"),
        np.zeros(2, dtype="M8[s]"),
        np.zeros(2, dtype="V4"),
        np.zeros(2, dtype=np.longdouble),
        np.ma.masked_array([1, 2], [True, False]),
        object(),
        [[1], [1, 2]],
    ],
    ids=range(10),
)
def test_an_array_the_format_cannot_hold_is_refused_by_name(tmp_path: Path, value: Any) -> None:
    with pytest.raises(TypeError, match="'the key'"):
        vkml_io.save(tmp_path / "a.vkml", {"fine": 1, "the key": value})

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("dtype", "remedy"),
    [("O", "numbers"), ("f4,i4", "each field"), ("U3", "text"), ("M8[s]", "int64"), ("V4", "cast")],
)
def test_the_message_names_pickle_and_the_remedy(tmp_path: Path, dtype: str, remedy: str) -> None:
    with pytest.raises(TypeError, match=f"pickle; .*{remedy}"):
        vkml_io.save(tmp_path / "a.vkml", {"w": np.zeros(2, dtype)})


def test_a_key_with_a_lone_surrogate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(vkml_io.CheckpointError) as caught:
        vkml_io.save(tmp_path / "a.vkml", {"\ud800": 1})

    assert caught.value.code == "C5"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("key", [".", "a b", "日本語", "k" * 4084, "tensors/x.npy", "con"])
def test_an_odd_key_that_is_a_safe_name_round_trips(tmp_path: Path, key: str) -> None:
    vkml_io.save(tmp_path / "a.vkml", {key: 1})

    assert list(vkml_io.load(tmp_path / "a.vkml").tensors) == [key]


def test_an_empty_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(vkml_io.CheckpointError) as caught:
        vkml_io.save(tmp_path / "a.vkml", {"": 1})

    assert caught.value.code == "C6"


def test_a_key_that_is_no_str_is_a_type_error(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="int"):
        vkml_io.save(tmp_path / "a.vkml", {1: 1})  # type: ignore[dict-item]  # the point


class Word(str, enum.Enum):  # noqa: UP042  # its str() is not its text
    HOT = "hot"


def test_a_key_that_is_an_enumeration_of_texts_is_its_text(tmp_path: Path) -> None:
    vkml_io.save(tmp_path / "a.vkml", {Word.HOT: np.ones(1)})

    assert list(vkml_io.load(tmp_path / "a.vkml").tensors) == ["hot"]


@pytest.mark.parametrize("order", ["C", "strided"])
def test_bools_that_a_reader_would_refuse_are_refused(tmp_path: Path, order: str) -> None:
    flags = np.full(8, 2, np.uint8).view(np.bool_)

    with pytest.raises(vkml_io.CheckpointError) as caught:
        vkml_io.save(tmp_path / "a.vkml", {"a": flags if order == "C" else flags[::-2]})

    assert caught.value.code == "D10"
    assert list(tmp_path.iterdir()) == []


def test_more_than_32_dimensions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(vkml_io.CheckpointError) as caught:
        vkml_io.save(tmp_path / "a.vkml", {"w": np.ones((1,) * 33)})

    assert caught.value.code == "D4"


def test_too_much_metadata_is_refused_before_a_byte_is_written(tmp_path: Path) -> None:
    with pytest.raises(vkml_io.CheckpointError, match="split") as caught:
        vkml_io.save(tmp_path / "a.vkml", {}, {"text": "x" * 2**24})

    assert caught.value.code == "B20"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("align", [0, 1, 128, 63, 64.0, np.int64(64)])
def test_another_alignment_is_a_value_error(tmp_path: Path, align: Any) -> None:
    with pytest.raises(ValueError, match="align"):
        vkml_io.save(tmp_path / "a.vkml", {"a": np.ones(1)}, align=align)


def test_progress_ends_at_the_total(tmp_path: Path) -> None:
    calls: list[vkml_io.Progress] = []

    vkml_io.save(
        tmp_path / "a.vkml",
        {"a": np.zeros(3), "b": np.zeros(5)},
        progress=calls.append,
    )

    assert calls == [vkml_io.Progress(24, 64, "a"), vkml_io.Progress(64, 64, "b")]


@pytest.mark.parametrize("count", [65_535, 65_536])
def test_as_many_members_as_16_bits_and_more_round_trip(tmp_path: Path, count: int) -> None:
    tensors = dict.fromkeys(map(str, range(count - 1)), np.uint8(1))

    vkml_io.save(tmp_path / "a.vkml", tensors, durable=False)

    assert len(vkml_io.load(tmp_path / "a.vkml", mmap=True).tensors) == count - 1
    with zipfile.ZipFile(tmp_path / "a.vkml") as archive:
        assert len(archive.namelist()) == count
