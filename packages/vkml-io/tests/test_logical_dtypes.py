"""Dtypes that NumPy lacks: saved as bits, loaded as ml_dtypes, or as the bits themselves."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vkml_io
from vkml_io.logical_dtypes import LOGICAL_DTYPES

if TYPE_CHECKING:
    from pathlib import Path

    from vkml_io.aliases import Array

ml_dtypes = pytest.importorskip("ml_dtypes")
NAMES = sorted(name for name in LOGICAL_DTYPES if hasattr(ml_dtypes, name))
SHAPES = [(), (1,), (5,), (3, 5), (2, 0), (0, 3), (2, 3, 4), (7, 1)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.vkml"


def _array(name: str, shape: tuple[int, ...] = (3, 5)) -> Array:
    """Return an array with all kinds of bits."""
    bits = LOGICAL_DTYPES[name].bits
    carrier = np.uint16 if bits == 16 else np.uint8
    random = np.random.default_rng(3).integers(0, 2**bits, shape, dtype=carrier)
    return np.asarray(random).view(getattr(ml_dtypes, name))


def _same(found: Array, expected: Array) -> None:
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("options", [{}, {"mmap": True}, {"mmap": "c"}], ids=str)
@pytest.mark.parametrize("compress", [False, True])
def test_every_shape_and_order_round_trips(
    path: Path, name: str, options: dict[str, Any], compress: bool
) -> None:
    arrays = {str(shape): _array(name, shape) for shape in SHAPES}
    arrays["fortran"] = np.asfortranarray(_array(name))
    arrays["strided"] = _array(name, (9, 9))[::-2, 1::3]

    vkml_io.save(path, arrays, compress=compress)

    loaded = vkml_io.load(path, **options).tensors
    assert vkml_io.validate(path).violations == ()
    assert vkml_io.digest(path) == vkml_io.digest(arrays)
    with vkml_io.open(path) as reader:
        for key, array in arrays.items():
            _same(loaded[key], array)
            _same(reader[key], array)
            _same(reader.slice(key, ...), array)
        _same(reader.slice("(3, 5)", np.s_[1:, ::2]), arrays["(3, 5)"][1:, ::2])


@pytest.mark.parametrize("name", NAMES)
def test_inspect_and_an_allocation_have_dtype_and_shape(path: Path, name: str) -> None:
    vkml_io.save(path, {"w": _array(name)})

    (entry,) = vkml_io.inspect(path)
    empty = vkml_io.load(path, data=False).tensors["w"]

    assert (entry.dtype, entry.shape) == (name, (3, 5))
    assert (empty.dtype, empty.shape) == (_array(name).dtype, (3, 5))


@pytest.mark.parametrize("name", NAMES)
def test_views_of_them_share_memory(path: Path, name: str) -> None:
    array = _array(name)
    vkml_io.save(path, {"w": array, "t": array.T, "part": array[1:, ::2]})

    loaded = vkml_io.load(path).tensors
    loaded["w"][1, 2] = 1

    array[1, 2] = 1
    for key, expected in {"w": array, "t": array.T, "part": array[1:, ::2]}.items():
        _same(loaded[key], expected)


@pytest.mark.parametrize("name", NAMES)
def test_given_arrays_are_filled(path: Path, name: str) -> None:
    array = _array(name)
    vkml_io.save(path, {"w": array})
    mine = np.zeros((5, 3), array.dtype).T

    loaded = vkml_io.load(path, into={"w": mine}).tensors

    assert loaded["w"] is mine
    _same(mine, array)


def test_a_given_array_of_another_dtype_does_not_fit(path: Path) -> None:
    vkml_io.save(path, {"w": _array("float8_e5m2")})

    with pytest.raises(vkml_io.StateMismatchError, match=r"float8_e4m3.*float8_e5m2"):
        vkml_io.load(path, into={"w": np.zeros((3, 5), ml_dtypes.float8_e4m3)})


def test_members_are_plain_arrays_that_numpy_reads(path: Path) -> None:
    values = np.array([1, -2, 3.140625, np.inf], ml_dtypes.bfloat16)
    fours = np.array([[1, -1, 7], [-8, 0, 2]], ml_dtypes.int4)
    vkml_io.save(path, {"w": values, "q": fours, "e": values.astype(ml_dtypes.float8_e5m2)})

    with np.load(path) as npz:
        assert npz["tensors/w"].dtype == np.dtype("<u2")
        wide = (npz["tensors/w"].astype("<u4") << 16).view("<f4")
        np.testing.assert_array_equal(wide, values.astype("f4"))
        # The low nibble comes first, and the last axis has half the length.
        assert npz["tensors/q"].tolist() == [[0xF1, 0x07], [0x08, 0x02]]
        assert npz["tensors/e"].tobytes() == values.astype(ml_dtypes.float8_e5m2).tobytes()
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("vkml.json"))
    assert (header["version"], header["requires"]) == (2, ["dtypes"])
    assert header["dtypes"] == {"w": "bfloat16", "q": "int4", "e": "float8_e5m2"}
    assert [entry.rpartition(" ")[0] for entry in header["index"]] == [
        "bfloat16 4", "int4 2,3", "float8_e5m2 4",
    ]  # fmt: skip


def test_six_bits_are_packed_one_after_the_other_low_bits_first(path: Path) -> None:
    bits = np.array([0b000001, 0b100000, 0b111111, 0b000010, 0b110000], "u1")

    vkml_io.save(path, {"w": bits.view(ml_dtypes.float6_e2m3fn)})

    with np.load(path) as npz:
        packed = npz["tensors/w"]
    expected = "".join(f"{each:06b}"[::-1] for each in bits.tolist())
    stream = np.unpackbits(packed, bitorder="little")[:30]
    assert "".join(map(str, stream)) == expected


def test_raw_gives_the_carriers(path: Path) -> None:
    arrays = {name: _array(name) for name in NAMES}
    vkml_io.save(path, arrays)

    raw = vkml_io.load(path, raw=True).tensors

    assert {each.dtype.str for each in raw.values()} == {"<u2", "|u1"}
    assert raw["bfloat16"].tobytes() == arrays["bfloat16"].tobytes()
    assert raw["int4"].shape == (3, 3)
    with vkml_io.open(path, raw=True) as reader:
        for key, array in raw.items():
            np.testing.assert_array_equal(reader[key], array, strict=True)


def test_without_ml_dtypes_the_package_is_named_and_raw_still_reads(path: Path) -> None:
    vkml_io.save(path, {"w": _array("bfloat16"), "plain": np.arange(3)})
    code = f"""
import sys
sys.modules["ml_dtypes"] = None
import vkml_io
path = {str(path)!r}
for read in (vkml_io.load, lambda p: vkml_io.load(p, mmap=True), lambda p: vkml_io.open(p)["w"]):
    try:
        read(path)
    except vkml_io.MissingPackageError as error:
        assert isinstance(error, vkml_io.CheckpointError)
        print(error)
print(vkml_io.load(path, keys=["plain"]).tensors["plain"].tolist())
print(vkml_io.load(path, raw=True).tensors["w"].dtype, vkml_io.inspect(path)[0].dtype)
assert vkml_io.validate(path).is_sound and vkml_io.digest(path)
"""

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    *errors, plain, raw = done.stdout.splitlines()
    assert len(errors) == 3
    for error in errors:
        assert "'w' is bfloat16" in error
        assert "pip install --upgrade ml_dtypes" in error
        assert "raw=True" in error
    assert (plain, raw) == ("[0, 1, 2]", "uint16 bfloat16")


@pytest.mark.parametrize("name", NAMES)
def test_values_that_are_not_finite_are_counted_as_ml_dtypes_does(path: Path, name: str) -> None:
    logical = LOGICAL_DTYPES[name]
    carrier = np.uint16 if logical.bits == 16 else np.uint8
    every = np.arange(2**logical.bits, dtype=carrier)
    if "float" not in name:
        assert logical.count_non_finite(every) == 0
        return

    with np.errstate(invalid="ignore"):
        values = every.view(getattr(ml_dtypes, name)).astype("f8")

    assert logical.count_non_finite(every) == np.count_nonzero(~np.isfinite(values))


def test_diff_compares_values(path: Path, tmp_path: Path) -> None:
    first = np.array([1, 2, 4], ml_dtypes.bfloat16)
    vkml_io.save(path, {"w": first, "q": first.astype(ml_dtypes.int4)})
    vkml_io.save(tmp_path / "b.vkml", {"w": first + 1, "q": first.astype(ml_dtypes.int4)})

    (change,) = vkml_io.diff(path, tmp_path / "b.vkml").changed

    assert (change.key, change.dtypes) == ("w", ("bfloat16", "bfloat16"))
    assert (change.differing, change.max_abs_difference) == (3, 1.0)


@pytest.mark.parametrize("compress", [False, True])
def test_an_entry_of_another_library_may_be_bfloat16(path: Path, compress: bool) -> None:
    values = np.arange(12, dtype="u2")

    class Entry:
        storage = "one"
        dtype = "bfloat16"
        shape = (2, 3)
        strides = (12, 2)
        offset = 4
        storage_nbytes = 24

        def read_into(self, buffer: memoryview) -> None:
            buffer[:] = values.tobytes()

    class Tensor:
        def __vkml_entry__(self) -> Entry:
            return Entry()

    vkml_io.save(path, {"w": Tensor()}, compress=compress)

    loaded = vkml_io.load(path)
    assert loaded.version == 2
    np.testing.assert_array_equal(loaded.tensors["w"].view("u2"), [[2, 3, 4], [8, 9, 10]])
