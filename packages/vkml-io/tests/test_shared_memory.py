"""Arrays that share memory when they are saved share it when they are loaded."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vkml_io

if TYPE_CHECKING:
    from pathlib import Path

    from vkml_io.aliases import Array

WAYS: list[dict[str, Any]] = [
    {},
    {"mmap": "c"},
    {"compress": True},
    {"compress": True, "mmap": "c"},
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.vkml"


def _shared() -> dict[str, Array]:
    """Return arrays of all kinds that share memory with another one."""
    numbers = np.arange(1, 10)
    table = np.arange(24, dtype="f4").reshape(4, 6)
    z = np.array([1 + 2j, 3 - 4j])
    flags = np.array([[True, False], [False, False]])
    swapped = np.arange(6, dtype=">i4")
    return {
        "numbers": numbers, "evens": numbers[1::2], "backwards": numbers[::-1],
        "table.T": table.T, "table[1:3]": table[1:3], "table": table, "tied": table,
        "corner": table[:2, :2], "overlapping": table[1:, 1:],
        "real": z.real, "imag": z.imag, "bits": z.view("u1"),
        "flags.T": flags.T, "one": flags[0, :1], "first flag": flags[0, 0:1].reshape(()),
        "swapped": swapped, "of them": swapped[1::3],
        "wide": np.broadcast_to(swapped[:1], (3, 1)), "none": numbers[:0],
    }  # fmt: skip


@pytest.mark.parametrize("views", ["preserve", "whole", "copy"])
@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("options", [{}, {"mmap": True}, {"mmap": "c"}], ids=str)
def test_they_load_equal_in_every_way(
    path: Path, views: Any, compress: bool, options: dict[str, Any]
) -> None:
    arrays = _shared()

    vkml_io.save(path, arrays, views=views, compress=compress, sha256=True)

    loaded = vkml_io.load(path, **options).tensors
    assert list(loaded) == list(arrays)
    for key, array in arrays.items():
        np.testing.assert_array_equal(loaded[key], array, strict=True)
    assert vkml_io.validate(path).violations == ()
    assert vkml_io.digest(path) == vkml_io.digest(arrays)


@pytest.mark.parametrize("mmap", [True, False, "c"])
def test_a_reader_gives_them_one_by_one(path: Path, mmap: Any) -> None:
    arrays = _shared()
    vkml_io.save(path, arrays)

    with vkml_io.open(path, mmap=mmap) as reader:
        reader.verify()
        for key, array in arrays.items():
            np.testing.assert_array_equal(reader[key], array, strict=True)
            np.testing.assert_array_equal(reader.slice(key, ...), array, strict=True)
        np.testing.assert_array_equal(reader.slice("table.T", np.s_[1:5:2, -2]), [13, 15])


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_what_changes_one_changes_the_other(path: Path, way: dict[str, Any]) -> None:
    numbers = np.arange(1, 10)
    vkml_io.save(
        path, {"numbers": numbers, "evens": numbers[1::2]}, compress=way.get("compress", False)
    )

    loaded = vkml_io.load(path, mmap=way.get("mmap", False)).tensors
    loaded["evens"] *= 2

    assert loaded["numbers"].tolist() == [1, 4, 3, 8, 5, 12, 7, 16, 9]
    assert numbers.tolist() == list(range(1, 10))


def test_which_arrays_share_memory_is_what_numpy_says(path: Path) -> None:
    arrays = _shared()
    vkml_io.save(path, arrays)

    loaded = vkml_io.load(path).tensors

    for a in arrays:
        for b in arrays:
            expected = np.shares_memory(arrays[a], arrays[b])
            assert np.shares_memory(loaded[a], loaded[b]) == expected, (a, b)


def test_only_some_keys_share_memory_among_themselves(path: Path) -> None:
    numbers = np.arange(1, 10)
    vkml_io.save(path, {"numbers": numbers, "evens": numbers[1::2], "odds": numbers[::2]})

    loaded = vkml_io.load(path, keys=["odds", "evens"]).tensors
    loaded["evens"][:] = 0

    assert list(loaded) == ["odds", "evens"]
    assert np.may_share_memory(loaded["odds"], loaded["evens"])
    assert loaded["odds"].tolist() == [1, 3, 5, 7, 9]


def test_given_arrays_are_filled_and_keep_their_memory(path: Path) -> None:
    numbers = np.arange(1, 10)
    vkml_io.save(path, {"numbers": numbers, "evens": numbers[1::2], "odds": numbers[::2]})
    mine = {"numbers": np.zeros(9, int), "evens": np.zeros((4, 2), int)[:, 1]}

    loaded = vkml_io.load(path, into=mine).tensors

    assert loaded["numbers"] is mine["numbers"]
    assert loaded["evens"] is mine["evens"]
    assert [each.tolist() for each in loaded.values()] == [
        list(range(1, 10)), [2, 4, 6, 8], [1, 3, 5, 7, 9],
    ]  # fmt: skip


def test_without_data_they_are_allocated_as_they_lie(path: Path) -> None:
    numbers = np.arange(1, 10)
    vkml_io.save(path, {"numbers": numbers, "evens": numbers[1::2]})

    loaded = vkml_io.load(path, data=False).tensors

    assert loaded["evens"].strides == (16,)
    assert np.shares_memory(loaded["evens"], loaded["numbers"])


def test_tied_arrays_are_stored_once_and_the_first_is_a_plain_member(path: Path) -> None:
    weight = np.arange(10_000.0)

    vkml_io.save(path, {"embed": weight, "project": weight})

    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["tensors/embed.npy", "vkml.json"]
    with np.load(path) as npz:
        np.testing.assert_array_equal(npz["tensors/embed"], weight)
    assert [entry.member for entry in vkml_io.inspect(path)] == ["tensors/embed.npy"] * 2
    assert vkml_io.load(path).version == 2


def test_a_storage_holds_the_smallest_span_that_the_views_touch(path: Path) -> None:
    base = np.arange(1000, dtype="i2")

    vkml_io.save(path, {"a": base[100:110:3], "b": base[104:120:2]})

    (entry, other) = vkml_io.inspect(path)
    assert (entry.member, other.member) == ("storages/0.npy", "storages/0.npy")
    assert (entry.shape, entry.strides, other.strides) == ((4,), (6,), (4,))
    with np.load(path) as npz:
        assert npz["storages/0"].tobytes() == base[100:119].tobytes()


@pytest.mark.parametrize(("views", "stored"), [("preserve", 5), ("whole", 999), ("copy", 5)])
def test_a_part_of_a_large_array_is_stored_alone_or_with_the_whole(
    path: Path, views: Any, stored: int
) -> None:
    small = np.arange(1, 1000)[0:5]

    vkml_io.save(path, {"small": small}, views=views)

    loaded = vkml_io.load(path)
    assert loaded.version == (2 if views == "whole" else 1)
    (entry,) = vkml_io.inspect(path)
    assert entry.stored_bytes == 128 + 8 * stored
    owner = loaded.tensors["small"].base
    assert (loaded.tensors["small"] if owner is None else owner).nbytes == 8 * stored
    into = vkml_io.load(path, into={"small": np.zeros(5, int)}).tensors["small"]
    with vkml_io.open(path) as lazy, vkml_io.open(path, mmap=False) as copied:
        for found in (into, lazy["small"], copied["small"], lazy.slice("small", slice(None))):
            assert found.tolist() == [1, 2, 3, 4, 5]


def test_a_copy_stores_its_own_values_alone(path: Path) -> None:
    small = np.arange(1, 1000)[0:5].copy()

    vkml_io.save(path, {"small": small}, views="whole")

    assert vkml_io.load(path).version == 1
    assert vkml_io.inspect(path)[0].nbytes == 40


@pytest.mark.parametrize(
    "arrays",
    [
        {"a": (base := np.arange(10))[:5], "b": base[5:]},
        {"a": base[2::2]},
        {"a": base[:0], "b": base[3:3]},
        {"a": np.broadcast_to(base[0], (3, 3))},
        {"a": base, "b": base.copy()},
    ],
)
def test_arrays_that_share_no_memory_give_version_1(path: Path, arrays: dict[str, Array]) -> None:
    vkml_io.save(path, arrays)

    assert vkml_io.load(path).version == 1


def test_copies_are_readable_by_old_readers(path: Path) -> None:
    vkml_io.save(path, _shared(), views="copy")

    assert vkml_io.load(path).version == 1
    with np.load(path) as npz:
        for key, array in _shared().items():
            np.testing.assert_array_equal(npz[f"tensors/{key}"], array, strict=True)


def test_a_view_that_shows_far_more_than_is_stored_is_refused_with_the_remedy(path: Path) -> None:
    one = np.ones(1)
    arrays = {"one": one, "wide": np.broadcast_to(one, (1000, 1000))}

    with pytest.raises(vkml_io.ExpansionError, match="views='copy'"):
        vkml_io.save(path, arrays)

    assert not path.exists()
    vkml_io.save(path, arrays, views="copy")
    assert vkml_io.load(path).tensors["wide"].sum() == 10**6


def test_shared_zeros_that_pack_too_well_still_load_by_default(path: Path) -> None:
    zeros = np.zeros(10**6, "u1")

    vkml_io.save(path, {str(i): zeros[i:] for i in range(60)}, compress=True)

    assert not vkml_io.load(path).tensors["7"].any()


def test_odd_bools_in_a_view_are_refused_by_save_and_by_load(path: Path) -> None:
    odd = np.array([0, 1, 2, 1], "u1")

    with pytest.raises(vkml_io.CheckpointError) as caught:
        vkml_io.save(path, {"bytes": odd, "bools": odd.view("?")})
    assert caught.value.code == "D10"

    even = np.array([0, 1, 0, 1], "u1")
    vkml_io.save(path, {"bytes": even, "bools": even.view("?")})
    data = bytearray(path.read_bytes())
    data[vkml_io.inspect(path)[0].data_offset + 2] = 2
    path.write_bytes(data)
    for mmap in (False, "c"):
        with vkml_io.open(path, mmap=mmap, verify=False) as reader:
            if not mmap:
                with pytest.raises(vkml_io.CheckpointError) as caught:
                    reader["bools"]
                assert caught.value.code == "D10"
            with pytest.raises(vkml_io.CheckpointError):
                reader.verify()


def test_a_changed_byte_of_a_storage_is_found(path: Path) -> None:
    numbers = np.arange(100)
    vkml_io.save(path, {"a": numbers[::3], "b": numbers[::5]}, sha256=True)
    data = bytearray(path.read_bytes())
    data[vkml_io.inspect(path)[1].data_offset] ^= 1
    path.write_bytes(data)

    for read in (vkml_io.load, vkml_io.digest):
        with pytest.raises(vkml_io.IntegrityError):
            read(path)
    assert [finding.code for finding in vkml_io.validate(path).violations] == ["D9"]


def test_views_is_one_of_three_words(path: Path) -> None:
    with pytest.raises(ValueError, match=r"preserve.*whole.*copy.*'keep'"):
        vkml_io.save(path, {}, views="keep")  # type: ignore[arg-type]  # what is tested


def test_a_large_view_of_bools_is_checked_in_pieces(path: Path) -> None:
    flags = np.zeros((2000, 3000), bool)
    flags[1999, 2998] = True
    vkml_io.save(path, {"all": flags, "part": flags.T[::2, 1:]})

    assert vkml_io.validate(path).violations == ()
    np.testing.assert_array_equal(vkml_io.load(path).tensors["part"], flags.T[::2, 1:])
