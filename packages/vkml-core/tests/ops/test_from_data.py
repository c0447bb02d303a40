"""Tensors from data: what dtype numbers become, what is shared, what does not fit."""

from __future__ import annotations

import array as standard_array
from enum import IntEnum
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vkml

torch = pytest.importorskip("torch")


class Label(IntEnum):
    CAT = 1
    DOG = 2


def name_of(dtype: Any) -> str:
    return str(dtype).split(".")[-1]


# Python numbers ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        True, 2, 2.5, 1j, [True, False], [1, 2], [1.0, 2], [True, 2], [True, 1.5], [1, 1j],
        [2.0, 1j], [[1, 2], [3.5, 4]], (1, 2), [(1, 2), [3, 4]], range(3), [], [[]], [[], []],
        [[[1]]], 2**62, -(2**63), [2**53 + 1, 1], float("inf"), [float("nan")], 1e300,
    ],
    ids=str,
)  # fmt: skip
def test_python_numbers_become_what_they_become_in_torch(data: Any) -> None:
    ours, theirs = vkml.tensor(data), torch.tensor(data)

    assert ours.dtype.name == name_of(theirs.dtype)
    assert ours.shape == tuple(theirs.shape)
    assert_array_equal(ours.numpy(), theirs.numpy())


@pytest.mark.parametrize(
    "data",
    [
        [np.float32(1.5), 1.5],
        [1.5, np.float64(1.5)],
        [np.float64(1.5), 2],
        [np.int32(1), 2],
        [np.int16(1), True],
        [[np.float32(1.5)], [2]],
    ],
    ids=str,
)
def test_a_sequence_with_numpy_numbers_has_their_common_dtype(data: Any) -> None:
    assert vkml.tensor(data).dtype.name == name_of(torch.tensor(data).dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "bool"])
def test_a_sequence_with_tensors_has_their_common_dtype(dtype: str) -> None:
    ours = vkml.tensor([vkml.tensor(1.5).to(dtype), 2, True])
    theirs = torch.tensor([torch.tensor(1.5).to(getattr(torch, dtype)), 2, True])

    assert ours.dtype.name == name_of(theirs.dtype)
    assert_array_equal(ours.numpy(), theirs.numpy())


def test_tensors_of_one_shape_are_stacked() -> None:
    rows = [vkml.tensor([1, 2]), np.array([3, 4])]

    assert_array_equal(vkml.tensor(rows).numpy(), [[1, 2], [3, 4]])


def test_enumeration_members_are_integers() -> None:
    result = vkml.tensor([Label.CAT, Label.DOG])

    assert result.dtype is vkml.int64
    assert result.tolist() == [1, 2]


def test_an_array_of_the_standard_library_is_a_sequence_of_numbers() -> None:
    assert vkml.tensor(standard_array.array("d", [1.0, 2.0])).tolist() == [1.0, 2.0]


def test_floats_become_the_default_dtype() -> None:
    vkml.set_default_dtype("float64")
    try:
        found = [vkml.tensor(each).dtype for each in (1.5, [1.5], [1, 2.5], [], 1j)]
    finally:
        vkml.set_default_dtype("float32")

    assert found == [vkml.float64] * 4 + [vkml.complex128]


# what does not fit -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (300, "uint8"), ([300], "uint8"), ([[1], [-1]], "uint8"), (128, "int8"), (-129, "int8"),
        (2**40, "int32"), (2**63, None), ([2**63, -1], None), (2**63, "int64"), (2**64, "uint64"),
        (300.7, "uint8"), (255.5, "uint8"), (1e300, "int64"), (2.0**63, "int64"),
        (float("nan"), "int64"), ([1.0, float("inf")], "int32"), (1j, "float32"), ([1j], "int8"),
        (np.int64(300), "uint8"), ([np.int64(300)], "uint8"),
    ],
    ids=str,
)  # fmt: skip
def test_a_number_that_does_not_fit_is_an_error(data: Any, dtype: str | None) -> None:
    with pytest.raises(vkml.DTypeError, match=r"tensor: .* does not fit in"):
        vkml.tensor(data, dtype=dtype)


@pytest.mark.parametrize("data", [2**70, [2**70], [1, -(2**70)]])
def test_an_integer_larger_than_any_dtype_is_an_error_that_names_floats(data: Any) -> None:
    with pytest.raises(vkml.DTypeError, match=r"180591620717411303424 does not fit.*float\("):
        vkml.tensor(data)


@pytest.mark.parametrize(
    ("data", "dtype", "expected"),
    [
        (255, "uint8", 255),
        (-128, "int8", -128),
        (2**63, "uint64", 2**63),
        (2.7, "int64", 2),
        (-2.7, "int64", -2),
        (70000.0, "float16", float("inf")),
        (3, "bool", True),
        (float("nan"), "bool", True),
        (1, "complex64", 1 + 0j),
    ],
)
def test_a_number_that_fits_is_converted(data: Any, dtype: str, expected: Any) -> None:
    assert vkml.tensor(data, dtype=dtype).item() == expected


def test_an_array_is_cast_as_numpy_and_torch_cast_it() -> None:
    values = np.array([300, -1])

    ours = vkml.tensor(values, dtype="uint8").numpy()

    assert_array_equal(ours, torch.tensor(values, dtype=torch.uint8).numpy())


@pytest.mark.parametrize(
    "data",
    [None, [None], "1", ["a"], [1, "a"], b"a", {1: 2}, {1}, object(), [object()],
     np.array(["a"]), np.array([object()]), np.datetime64("2020"), [np.datetime64("2020")]],
    ids=range(14),
)  # fmt: skip
def test_what_is_no_number_is_an_error(data: Any) -> None:
    with pytest.raises(vkml.DTypeError, match="expected numbers"):
        vkml.tensor(data)


@pytest.mark.parametrize(
    "data",
    [[[1, 2], [3]], [[1, 2], 3], (1, (2,)), [[], [1]], [[[1]], [[1, 2]]], [np.ones(2), 3],
     [vkml.ones(2), vkml.ones(3)]],
    ids=lambda data: str(data).replace("\n", ""),
)  # fmt: skip
def test_uneven_sequences_are_an_error(data: Any) -> None:
    with pytest.raises(vkml.ArgumentError, match="uneven lengths"):
        vkml.tensor(data)


# arrays ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [
        np.arange(6.0).reshape(2, 3).T,
        np.arange(6, dtype=np.int16)[::-2],
        np.broadcast_to(np.float32(1.5), (2, 3)),
        np.zeros((0, 3)),
        np.array(2.5),
        np.array([1, 2], ">i4"),
        np.array([1.5, 2], ">f8"),
        np.asfortranarray(np.ones((2, 3), np.complex64)),
        np.array([(1, 2.5)], "i4,f8")["f1"],
        np.ma.array([1, 2], mask=[False, True]),
    ],
    ids=repr,
)
def test_an_array_of_any_layout_is_copied(values: Any) -> None:
    result = vkml.tensor(values)

    assert result.is_contiguous()
    assert result.dtype.dtype == values.dtype.newbyteorder("=")
    assert not np.shares_memory(result.numpy(), values)
    assert_array_equal(result.numpy(), np.asarray(values))


def test_a_read_only_array_is_copied_into_memory_that_can_be_written() -> None:
    values = np.zeros(2, np.float32)
    values.flags.writeable = False

    result = vkml.tensor(values).add_(1)

    assert_array_equal(result.numpy(), [1, 1])
    assert_array_equal(values, [0, 0])


def test_a_tensor_is_copied_without_its_history() -> None:
    source = vkml.ones(2, requires_grad=True) * 2

    copy = vkml.tensor(source)

    assert copy.storage() != source.storage()
    assert not copy.requires_grad
    assert copy.tolist() == [2, 2]


def test_a_tensor_is_copied_to_another_dtype_and_wants_a_gradient() -> None:
    copy = vkml.tensor(vkml.arange(2), dtype="float64", requires_grad=True)

    assert copy.dtype is vkml.float64
    assert copy.requires_grad


# from_numpy, as_tensor --------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8", "bool", "complex64"])
def test_from_numpy_shares_memory_both_ways(dtype: str) -> None:
    values = np.zeros((2, 3), dtype)

    x = vkml.from_numpy(values)
    values[0, 0] = 1
    x[1, 2] = 1

    assert_array_equal(values, [[1, 0, 0], [0, 0, 1]])
    assert_array_equal(x.numpy(), values)


def test_from_numpy_of_a_part_writes_into_the_whole() -> None:
    values = np.arange(6.0).reshape(2, 3)

    vkml.from_numpy(values[:, 1]).zero_()

    assert_array_equal(values, [[0, 0, 2], [3, 0, 5]])


def test_from_numpy_of_a_part_cannot_be_viewed_beyond_the_whole() -> None:
    part = vkml.from_numpy(np.arange(6.0)[2:4])

    assert part.storage().size() == 6
    with pytest.raises(vkml.ShapeError, match="outside the storage"):
        part.as_strided((5,), (1,))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([1, 2], ">i4"), "native byte order"),
        (np.array(["a"]), "no dtype"),
        (np.zeros(2, np.longdouble), "no dtype"),
        ([1, 2], "expected a numpy.ndarray, got list"),
        (np.float32(1), "expected a numpy.ndarray, got float32"),
    ],
    ids=repr,
)
def test_from_numpy_refuses_what_has_no_memory_to_share(values: Any, message: str) -> None:
    with pytest.raises(vkml.DTypeError, match=message):
        vkml.from_numpy(values)


def test_from_numpy_refuses_memory_with_gaps_inside_elements() -> None:
    values = np.zeros(3, "f4,u1")["f0"]

    with pytest.raises(vkml.ArgumentError, match=r"vkml\.tensor\(array\)"):
        vkml.from_numpy(values)


def test_as_tensor_returns_a_tensor_itself() -> None:
    x = vkml.ones(2)

    assert vkml.as_tensor(x) is x
    assert vkml.as_tensor(x, dtype="float32", device="cpu") is x
    assert vkml.as_tensor(x, dtype="int64").dtype is vkml.int64


def test_as_tensor_shares_the_memory_of_an_array() -> None:
    values = np.zeros(2, np.float32)

    vkml.as_tensor(values).add_(1)

    assert_array_equal(values, [1, 1])


@pytest.mark.parametrize("values", [np.array([1, 2], ">i4"), np.zeros(2, "f4,u1")["f0"], [1, 2]])
def test_as_tensor_copies_what_cannot_be_shared(values: Any) -> None:
    assert vkml.as_tensor(values).tolist() == np.asarray(values).tolist()


def test_asarray_is_as_tensor() -> None:
    assert vkml.asarray is vkml.as_tensor
