"""Data types and promotion; PyTorch's table, exhaustively."""

from __future__ import annotations

import copy
import itertools
import pickle
from typing import Any

import numpy as np
import pytest

import vkml
from vkml import dtypes
from vkml.errors import DTypeError

torch: Any = pytest.importorskip("torch")

ALL = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip
WIDE_UNSIGNED = ("uint16", "uint32", "uint64")
"""PyTorch has no promotion for these with other integers."""
NUMBERS = [True, 3, 2.5, 1j]


def numpy_dtype(name: str) -> np.dtype[Any]:
    return dtypes.as_numpy(name)


def name_of(dtype: np.dtype[Any]) -> str:
    return dtypes.of(dtype).name


def torch_name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.").replace("complex32", "complex64")  # NumPy lacks it


@pytest.mark.parametrize(("first", "second"), list(itertools.product(ALL, ALL)))
def test_promotion_of_tensors_is_torch_s(first: str, second: str) -> None:
    try:
        expected = torch.promote_types(getattr(torch, first), getattr(torch, second))
    except RuntimeError:
        assert {first, second} & set(WIDE_UNSIGNED)
        return

    assert name_of(dtypes.promote(numpy_dtype(first), numpy_dtype(second))) == torch_name(expected)


@pytest.mark.parametrize(("first", "second"), list(itertools.product(ALL, ALL)))
def test_promotion_with_rank_zero_is_torch_s(first: str, second: str) -> None:
    with_axes = torch.ones(2, dtype=getattr(torch, first))
    rank_zero = torch.tensor(1, dtype=getattr(torch, second))
    try:
        expected = torch.result_type(with_axes, rank_zero)
    except RuntimeError:
        assert {first, second} & set(WIDE_UNSIGNED)
        return

    found = dtypes.result_dtype([numpy_dtype(first)], [numpy_dtype(second)])

    assert name_of(found) == torch_name(expected)


@pytest.mark.parametrize(("dtype", "number"), list(itertools.product(ALL, NUMBERS)))
@pytest.mark.parametrize("rank", [0, 1])
def test_promotion_with_python_numbers_is_torch_s(dtype: str, number: Any, rank: int) -> None:
    expected = torch.result_type(torch.ones((2,) * rank, dtype=getattr(torch, dtype)), number)
    group = [numpy_dtype(dtype)]

    found = dtypes.result_dtype(group if rank else [], [] if rank else group, [number])

    assert name_of(found) == torch_name(expected)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("uint16", "int16", "int32"), ("uint16", "uint8", "uint16"), ("uint32", "int8", "int64"),
        ("uint32", "uint64", "uint64"), ("uint64", "bool", "uint64"),
    ],
)  # fmt: skip
def test_wide_unsigned_integers_meet_in_the_smallest_that_holds_both(
    first: str, second: str, expected: str
) -> None:
    assert name_of(dtypes.promote(numpy_dtype(first), numpy_dtype(second))) == expected


def test_integers_that_nothing_holds_are_refused() -> None:
    with pytest.raises(DTypeError, match="no integer dtype holds both"):
        dtypes.promote(numpy_dtype("uint64"), numpy_dtype("int8"))


@pytest.mark.parametrize(("first", "second"), list(itertools.product(ALL, ALL)))
def test_addition_has_torch_s_dtype(first: str, second: str) -> None:
    try:
        expected = torch.ones(2, dtype=getattr(torch, first)) + torch.ones(
            2, dtype=getattr(torch, second)
        )
    except RuntimeError:
        return

    found = vkml.ones(2, dtype=first) + vkml.ones(2, dtype=second)

    assert found.dtype.name == torch_name(expected.dtype)


@pytest.mark.parametrize("name", ALL)
def test_division_of_anything_is_floating(name: str) -> None:
    expected = torch.ones(2, dtype=getattr(torch, name)) / 2

    assert (vkml.ones(2, dtype=name) / 2).dtype.name == torch_name(expected.dtype)


@pytest.mark.parametrize("name", ALL)
def test_facts_are_torch_s(name: str) -> None:
    ours, theirs = dtypes.as_dtype(name), getattr(torch, name)

    assert ours.itemsize == theirs.itemsize
    assert ours.is_floating_point == theirs.is_floating_point
    assert ours.is_complex == theirs.is_complex
    assert ours.is_signed == theirs.is_signed
    assert getattr(vkml, name) is ours
    assert repr(ours) == f"vkml.{name}"


@pytest.mark.parametrize("name", ALL)
def test_dtypes_are_one_object_each(name: str) -> None:
    dtype = dtypes.as_dtype(name)

    assert pickle.loads(pickle.dumps(dtype)) is dtype  # noqa: S301 - our own bytes
    assert copy.deepcopy(dtype) is dtype
    assert dtypes.as_dtype(dtype.dtype) is dtype
    assert dtypes.of(dtype.dtype) is dtype


def test_numpy_accepts_vkml_dtypes() -> None:
    assert np.zeros(2, vkml.float32).dtype == np.float32


def test_python_types_name_dtypes() -> None:
    found = [dtypes.as_dtype(each) for each in (bool, int, float, np.int16, ">f8")]

    assert [each.name for each in found] == ["bool", "int64", "float32", "int16", "float64"]


@pytest.mark.parametrize("wrong", ["float33", "S3", object, np.dtype("M8[s]"), 7])
def test_other_dtypes_are_refused_with_a_list(wrong: Any) -> None:
    with pytest.raises(DTypeError, match=r"no dtype .*; it has bool, int8"):
        dtypes.as_dtype(wrong)


def test_the_default_dtype_is_what_python_floats_become() -> None:
    vkml.set_default_dtype("float64")
    try:
        assert vkml.tensor([1.5]).dtype is vkml.float64
        assert vkml.zeros(1).dtype is vkml.float64
        assert (vkml.ones(1, dtype="int32") * 0.5).dtype is vkml.float64
        assert vkml.tensor(1j).dtype is vkml.complex128
    finally:
        vkml.set_default_dtype("float32")

    assert vkml.get_default_dtype() is vkml.float32


def test_the_default_dtype_is_floating() -> None:
    with pytest.raises(DTypeError, match="holds no floating-point numbers"):
        vkml.set_default_dtype("int32")
