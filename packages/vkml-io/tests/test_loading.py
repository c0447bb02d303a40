"""`load`: its arguments, its limits, and what it gives back."""

from __future__ import annotations

import math
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vkml_io

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from vkml_io.aliases import Array


@pytest.fixture
def path(tmp_path: Path, arrays: dict[str, Array]) -> Path:
    vkml_io.save(tmp_path / "a.vkml", arrays)
    return tmp_path / "a.vkml"


def test_arrays_are_fresh_and_writable(path: Path) -> None:
    first, second = vkml_io.load(path).tensors, vkml_io.load(path).tensors

    for key, array in first.items():
        assert array.flags.writeable
        assert not np.shares_memory(array, second[key])


def test_keys_choose_and_order(path: Path) -> None:
    assert list(vkml_io.load(path, keys=["scalar", "flags"]).tensors) == ["scalar", "flags"]


def test_an_unknown_key_is_named(path: Path) -> None:
    with pytest.raises(vkml_io.StateMismatchError, match="'nothing'"):
        vkml_io.load(path, keys=["scalar", "nothing"])


def test_one_str_for_keys_is_a_type_error(path: Path) -> None:
    with pytest.raises(TypeError, match="keys"):
        vkml_io.load(path, keys="scalar")


def test_keys_may_come_from_an_iterator(path: Path) -> None:
    assert list(vkml_io.load(path, keys=iter(["scalar"])).tensors) == ["scalar"]  # type: ignore[arg-type]  # works all the same


def test_a_key_that_is_no_str_is_a_type_error_that_shows_it(path: Path) -> None:
    with pytest.raises(TypeError, match=r"keys must be str, not int \('1'\)"):
        vkml_io.load(path, keys=[1])  # type: ignore[list-item]  # the point


@pytest.mark.parametrize("ratio", [math.nan, -1])
def test_an_expansion_ratio_that_limits_nothing_is_a_value_error(path: Path, ratio: float) -> None:
    for function in (vkml_io.load, vkml_io.open, vkml_io.validate):
        with pytest.raises(ValueError, match="give a number of 0 or more"):
            function(path, max_expansion_ratio=ratio)


@pytest.mark.parametrize(
    "limit", ["max_expansion_ratio", "max_json", "max_directory", "max_file_size"]
)
def test_a_limit_that_is_no_number_is_a_type_error_that_names_it(path: Path, limit: str) -> None:
    with pytest.raises(TypeError, match=f"{limit} must be"):
        vkml_io.load(path, **{limit: "100"})  # type: ignore[arg-type]  # the point


def test_into_must_be_a_dict_of_arrays(path: Path) -> None:
    with pytest.raises(TypeError, match="into must be a dict of arrays, not list"):
        vkml_io.load(path, into=[1])  # type: ignore[arg-type]  # the point
    with pytest.raises(vkml_io.StateMismatchError, match="'scalar' is a list"):
        vkml_io.load(path, into={"scalar": [1]})  # type: ignore[dict-item]  # the point


@pytest.mark.parametrize("compress", [False, True])
def test_into_fills_the_arrays_that_are_given(
    tmp_path: Path, arrays: dict[str, Array], compress: bool
) -> None:
    vkml_io.save(tmp_path / "a.vkml", arrays, compress=compress)
    into = {
        "weight": np.zeros((4, 6), "f4", order="F"),
        "fortran": np.zeros((4, 6)),
        "block.0/bias": np.zeros(10, "<i8")[::2],
    }

    tensors = vkml_io.load(tmp_path / "a.vkml", into=into).tensors

    for key, target in into.items():
        assert tensors[key] is target
        np.testing.assert_array_equal(target, arrays[key])
    np.testing.assert_array_equal(tensors["scalar"], arrays["scalar"])


def test_into_that_does_not_fit_is_refused_before_anything_is_filled(path: Path) -> None:
    good = np.zeros((4, 6), "f4")
    read_only = np.zeros(3, "?")
    read_only.flags.writeable = False
    into = {"weight": good, "scalar": np.zeros(2), "nothing": good, "flags": read_only}

    with pytest.raises(vkml_io.StateMismatchError) as caught:
        vkml_io.load(path, into=into)

    for name in ("scalar", "nothing", "flags"):
        assert repr(name) in str(caught.value)
    assert not good.any()


def test_into_goes_with_neither_mmap_nor_data(path: Path) -> None:
    with pytest.raises(ValueError, match="into="):
        vkml_io.load(path, into={}, mmap=True)
    with pytest.raises(ValueError, match="into="):
        vkml_io.load(path, into={}, data=False)


def test_without_data_the_arrays_have_shape_and_dtype(path: Path, arrays: dict[str, Array]) -> None:
    tensors = vkml_io.load(path, data=False).tensors

    for key, array in arrays.items():
        assert (tensors[key].shape, tensors[key].dtype) == (array.shape, array.dtype)


def test_without_verify_a_wrong_crc_is_not_noticed(path: Path) -> None:
    entry = next(e for e in vkml_io.inspect(path) if e.key == "weight")
    data = bytearray(path.read_bytes())
    data[entry.data_offset] ^= 1
    path.write_bytes(data)

    assert vkml_io.load(path, verify=False).tensors["weight"].shape == (4, 6)
    with pytest.raises(vkml_io.IntegrityError):
        vkml_io.load(path)


def test_the_limits_are_arguments(path: Path) -> None:
    for limit, code in (
        ({"max_json": 10}, "B20"),
        ({"max_directory": 10}, "B6"),
        ({"max_file_size": 100}, "A2"),
        ({"max_expansion_ratio": 0.1}, "B17"),
    ):
        with pytest.raises(vkml_io.CheckpointError) as caught:
            vkml_io.load(path, **limit)
        assert caught.value.code == code


def test_a_raised_expansion_ratio_lets_a_well_packed_file_in(tmp_path: Path) -> None:
    vkml_io.save(tmp_path / "a.vkml", {"zeros": np.zeros(10**6)})
    with (
        zipfile.ZipFile(tmp_path / "a.vkml") as source,
        zipfile.ZipFile(tmp_path / "b.vkml", "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for name in ("tensors/zeros.npy", "vkml.json"):
            text = source.read(name)
            packed.writestr(name, text.replace(b'"index":["float64 1000000 192"],', b""))

    with pytest.raises(vkml_io.ExpansionError, match="max_expansion_ratio"):
        vkml_io.load(tmp_path / "b.vkml")
    loaded = vkml_io.load(tmp_path / "b.vkml", max_expansion_ratio=2000)
    assert not loaded.tensors["zeros"].any()


def test_a_missing_file_is_a_file_not_found_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        vkml_io.load(tmp_path / "missing.vkml")


def test_progress_ends_at_the_total(path: Path) -> None:
    calls: list[vkml_io.Progress] = []

    vkml_io.load(path, progress=calls.append)

    assert calls[-1].done == calls[-1].total > 0


def test_a_declared_terabyte_is_refused_in_little_memory(tmp_path: Path) -> None:
    code = (
        "import resource, sys, vkml_io\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))\n"
        "try:\n"
        "    vkml_io.load(sys.argv[1])\n"
        "except vkml_io.CheckpointError as error:\n"
        "    print(error.code)\n"
    )
    path = tmp_path / "a.vkml"
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (274877906944,), }"
    header += b" " * (117 - len(header)) + b"\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tensors/w.npy", b"\x93NUMPY\x01\x00v\x00" + header + bytes(24))
        archive.writestr(
            "vkml.json", '{"format":"vkml-checkpoint","version":1,"keys":["w"],"metadata":{}}'
        )

    result = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        env={"OPENBLAS_NUM_THREADS": "1"},
    )

    assert result.stdout == "D6\n", result.stderr


def test_inspect_describes_every_array_without_reading_it(
    path: Path, arrays: dict[str, Array]
) -> None:
    entries = {entry.key: entry for entry in vkml_io.inspect(path)}

    assert list(entries) == list(arrays)
    for key, array in arrays.items():
        entry = entries[key]
        loaded = vkml_io.load(path, keys=[key]).tensors[key]
        assert np.dtype(entry.dtype) == array.dtype.newbyteorder("=")
        assert (entry.shape, entry.nbytes) == (array.shape, array.nbytes)
        assert entry.member == entry.storage == f"tensors/{key}.npy"
        if loaded.size:
            assert entry.strides == loaded.strides
        data = path.read_bytes()[entry.data_offset :][: entry.nbytes]
        assert data == loaded.tobytes("A")


@pytest.mark.parametrize(
    ("use", "part"),
    [
        (lambda checkpoint: checkpoint["a"], r"Write checkpoint\.tensors\['a'\]"),
        (lambda checkpoint: "a" in checkpoint, r"Write checkpoint\.tensors$"),
        (lambda checkpoint: dict(checkpoint), r"Write checkpoint\.tensors$"),
    ],
)
def test_a_checkpoint_used_as_a_dict_names_its_tensors(
    tmp_path: Path,
    use: Callable[[Any], object],  # Any: used as what it is not
    part: str,
) -> None:
    vkml_io.save(tmp_path / "a.vkml", {"a": np.ones(1)})

    with pytest.raises(TypeError, match=part):
        use(vkml_io.load(tmp_path / "a.vkml"))
