from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING

import numpy as np
import pytest

import vkml_io
from vkml_io.sharing import VIEWS

if TYPE_CHECKING:
    from pathlib import Path

    from forge import Forge
    from vkml_io.aliases import Array


def _by_hand(arrays: dict[str, Array]) -> str:
    """Return the digest as docs/format.md describes it."""
    parts = [b"vkml-content-1\n"]
    for key in sorted(arrays):
        array = arrays[key]
        for text in (key.encode(), array.dtype.name.encode()):
            parts += [struct.pack("<Q", len(text)), text]
        parts += [struct.pack("<Q", number) for number in (array.ndim, *array.shape)]
        parts.append(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())
    return hashlib.sha256(b"".join(parts)).hexdigest()


@pytest.fixture
def path(tmp_path: Path, arrays: dict[str, Array]) -> Path:
    vkml_io.save(tmp_path / "a.vkml", arrays, {"epoch": 3})
    return tmp_path / "a.vkml"


def test_the_digest_of_a_file_is_the_one_that_the_format_describes(
    path: Path, arrays: dict[str, Array]
) -> None:
    assert vkml_io.digest(path) == _by_hand(arrays)


def test_arrays_in_memory_and_a_reader_have_the_digest_of_their_file(
    path: Path, arrays: dict[str, Array]
) -> None:
    assert vkml_io.digest(arrays) == vkml_io.digest(path)
    with vkml_io.open(path) as reader:
        assert vkml_io.digest(reader) == vkml_io.digest(path)
    with path.open("rb") as file:
        assert vkml_io.digest(file) == vkml_io.digest(path)


def test_the_way_of_writing_does_not_change_the_digest(
    tmp_path: Path, path: Path, arrays: dict[str, Array]
) -> None:
    other = {key: arrays[key] for key in reversed(arrays)}
    other = {key: array.astype(array.dtype.newbyteorder()) for key, array in other.items()}
    other = {key: np.array(array, order="F") for key, array in other.items()}

    vkml_io.save(tmp_path / "b.vkml", other, {"epoch": 4}, compress=True, align=4096)

    assert vkml_io.digest(tmp_path / "b.vkml") == vkml_io.digest(path)


def test_shared_memory_and_escaped_keys_do_not_change_the_digest(tmp_path: Path) -> None:
    numbers = np.arange(1, 1000, dtype=">i4")
    arrays = {"numbers": numbers, "evens": numbers[1::2], "../small": numbers[:5], "../x": numbers}
    digests = set()
    for views in VIEWS:
        vkml_io.save(tmp_path / "a.vkml", arrays, views=views)
        digests.add(vkml_io.digest(tmp_path / "a.vkml"))

    assert digests == {_by_hand(arrays)}


def test_a_dtype_that_numpy_lacks_is_hashed_by_its_bits(tmp_path: Path) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    values = np.array([1.5, -2, np.nan], ml_dtypes.bfloat16)
    vkml_io.save(tmp_path / "a.vkml", {"w": values})

    parts = [b"vkml-content-1\n"]
    for text in (b"w", b"bfloat16"):
        parts += [struct.pack("<Q", len(text)), text]
    parts += [struct.pack("<2Q", 1, 3), values.view("<u2").tobytes()]
    assert vkml_io.digest(tmp_path / "a.vkml") == hashlib.sha256(b"".join(parts)).hexdigest()
    assert vkml_io.digest({"w": values}) == vkml_io.digest(tmp_path / "a.vkml")


@pytest.mark.parametrize(
    "changed",
    [
        {"w": np.array([[1, 2], [3, 5]], "i4")},
        {"w": np.array([[1, 2], [3, 4]], "u4")},
        {"w": np.array([1, 2, 3, 4], "i4")},
        {"v": np.array([[1, 2], [3, 4]], "i4")},
        {"w": np.array([[1, 2], [3, 4]], "i4"), "empty": np.zeros(0)},
    ],
)
def test_another_key_dtype_shape_or_value_changes_the_digest(changed: dict[str, Array]) -> None:
    assert vkml_io.digest(changed) != vkml_io.digest({"w": np.array([[1, 2], [3, 4]], "i4")})


def test_an_array_of_many_pieces_has_the_digest_of_its_bytes(tmp_path: Path) -> None:
    big = np.arange(700_001, dtype=">i4")
    arrays = {
        "big": big,
        "strided": big[::-2],
        "fortran": np.asfortranarray(big[1:].reshape(7, -1)),
    }
    vkml_io.save(tmp_path / "a.vkml", arrays)

    assert vkml_io.digest(tmp_path / "a.vkml") == vkml_io.digest(arrays) == _by_hand(arrays)


def test_a_damaged_file_has_no_digest(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[vkml_io.inspect(path)[0].data_offset] ^= 1
    path.write_bytes(data)

    with pytest.raises(vkml_io.IntegrityError) as caught:
        vkml_io.digest(path)

    assert (caught.value.code, caught.value.path) == ("D9", str(path))


def test_a_file_with_a_gap_has_no_digest(forge: Forge) -> None:
    header = forge.header()
    path = forge.write(forge.tensor(), type(header)(header.name, header.data, gap=b"hidden"))

    with pytest.raises(vkml_io.CheckpointError, match="B16"):
        vkml_io.digest(path)


def test_progress_ends_at_the_total(path: Path, arrays: dict[str, Array]) -> None:
    calls: list[vkml_io.Progress] = []

    vkml_io.digest(path, progress=calls.append)

    assert calls[-1].done == calls[-1].total == sum(array.nbytes for array in arrays.values())
    assert [call.done for call in calls] == sorted(call.done for call in calls)


def test_keys_that_are_no_text_are_a_type_error() -> None:
    with pytest.raises(TypeError, match="keys must be str"):
        vkml_io.digest({1: np.ones(2)})  # type: ignore[dict-item]  # the point
