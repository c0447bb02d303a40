"""Logic and bits against torch."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vkml

torch = pytest.importorskip("torch")

LOGICAL = ["logical_and", "logical_or", "logical_xor"]
BITWISE = ["bitwise_and", "bitwise_or", "bitwise_xor"]
INTEGERS = ["bool", "uint8", "int8", "int32", "int64"]
DTYPES = [*INTEGERS, "float16", "float32", "float64"]
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
}  # fmt: skip


def same(ours: vkml.Tensor, theirs: Any) -> None:
    assert ours.dtype.name == str(theirs.dtype).split(".")[-1]
    assert_array_equal(ours.numpy(), theirs.numpy())


@pytest.mark.parametrize("name", LOGICAL)
def test_logic_of_mixed_dtypes_equals_torch(name: str) -> None:
    for first, second in itertools.product(DTYPES, DTYPES):
        x, y = np.array([0, 1, 2, 0]).astype(first), np.array([0, 0, 3, 1]).astype(second)

        ours = getattr(vkml, name)(vkml.tensor(x), vkml.tensor(y))

        same(ours, getattr(torch, name)(torch.tensor(x), torch.tensor(y)))


@pytest.mark.parametrize("name", BITWISE)
def test_bits_of_mixed_dtypes_equal_torch(name: str) -> None:
    for first, second in itertools.product(INTEGERS, INTEGERS):
        x, y = np.array([0, 5, 2, -7]).astype(first), np.array([1, 3, -3, 1]).astype(second)

        ours = getattr(vkml, name)(vkml.tensor(x), vkml.tensor(y))

        same(ours, getattr(torch, name)(torch.tensor(x), torch.tensor(y)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_logical_not_equals_torch(dtype: str) -> None:
    x = np.array([0, 1, 2]).astype(dtype)

    same(vkml.logical_not(vkml.tensor(x)), torch.logical_not(torch.tensor(x)))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bitwise_not_equals_torch(dtype: str) -> None:
    x = np.array([0, 1, 2, -1]).astype(dtype)

    same(~vkml.tensor(x), ~torch.tensor(x))


@pytest.mark.parametrize("name", LOGICAL)
def test_nan_and_infinity_are_true(name: str) -> None:
    x = np.array([np.nan, np.inf, 0.0, -0.0])

    ours = getattr(vkml, name)(vkml.tensor(x), vkml.zeros(4))

    same(ours, getattr(torch, name)(torch.tensor(x), torch.zeros(4)))


@pytest.mark.parametrize("name", BITWISE)
@pytest.mark.parametrize(("data", "number"), [([0, 1, 6], 3), ([True, False], True), ([1], True)])
def test_a_number_may_stand_on_either_side_of_an_operator(
    name: str, data: Any, number: Any
) -> None:
    combine = OPERATORS[name]

    same(combine(vkml.tensor(data), number), combine(torch.tensor(data), number))
    same(combine(number, vkml.tensor(data)), combine(number, torch.tensor(data)))


@pytest.mark.parametrize("name", [*LOGICAL, *BITWISE])
@pytest.mark.parametrize("shapes", [((3, 1), (4,)), ((), (2, 2)), ((0, 3), (1, 3)), ((), ())])
def test_operands_broadcast(name: str, shapes: Any) -> None:
    x, y = (np.random.default_rng(3).integers(0, 4, shape) for shape in shapes)

    ours = getattr(vkml, name)(vkml.tensor(x), vkml.tensor(y))

    same(ours, getattr(torch, name)(torch.tensor(x), torch.tensor(y)))


@pytest.mark.parametrize("name", BITWISE)
@pytest.mark.parametrize("other", [1, 1.5, vkml.tensor(2.0)])
def test_floats_have_no_bits(name: str, other: Any) -> None:
    with pytest.raises(vkml.DTypeError, match=f"{name}: float32 has no bits"):
        getattr(vkml, name)(vkml.ones(2), other)


def test_floats_are_not_inverted() -> None:
    with pytest.raises(vkml.DTypeError, match="bitwise_not: float32 has no bits"):
        ~vkml.ones(2)


def test_masks_of_views_are_combined_element_by_element() -> None:
    x = vkml.arange(6).reshape(2, 3)

    result = (x.T > 1) & (x[:, ::-1].T < 4)

    assert_array_equal(result.numpy(), [[False, False], [False, False], [True, True]])
