"""Comparison: dtypes, broadcasting, NaN, what is not comparable."""

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

NAMES = ["eq", "ne", "lt", "le", "gt", "ge"]
EDGES = [0.0, -0.0, 1.0, -2.5, 1e-45, float("inf"), float("-inf"), float("nan")]
DTYPES = ["bool", "uint8", "int8", "int32", "int64", "float16", "float32", "float64"]
each_name = pytest.mark.parametrize("name", NAMES)

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name) for name in NAMES
}


def same(ours: vkml.Tensor, theirs: Any) -> None:
    assert ours.dtype is vkml.bool
    assert_array_equal(ours.numpy(), theirs.numpy())


@each_name
def test_comparison_of_edges_equals_that_of_torch(name: str) -> None:
    x, y = np.array(list(itertools.product(EDGES, EDGES)), np.float32).T

    ours = getattr(vkml, name)(vkml.tensor(x), vkml.tensor(y))

    same(ours, getattr(torch, name)(torch.tensor(x), torch.tensor(y)))


@each_name
@pytest.mark.parametrize("other", DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_comparison_of_mixed_dtypes_equals_that_of_torch(name: str, dtype: str, other: str) -> None:
    x, y = np.array([0, 1, 2, 3]).astype(dtype), np.array([1, 1, 3, 2]).astype(other)

    ours = COMPARISONS[name](vkml.tensor(x), vkml.tensor(y))

    same(ours, COMPARISONS[name](torch.tensor(x), torch.tensor(y)))


@each_name
@pytest.mark.parametrize(
    ("dtype", "number"),
    [
        ("bool", 1), ("bool", True), ("bool", 1.5), ("uint8", 1), ("uint8", 1.5), ("int64", 1),
        ("int64", 1.5), ("float32", 1), ("float32", 0.1), ("float16", 0.1), ("float64", 0.1),
    ],
)  # fmt: skip
def test_comparison_with_a_number_equals_that_of_torch(
    name: str, dtype: str, number: float
) -> None:
    values = np.array([0, 1, 0.1, 2]).astype(dtype)
    compare = COMPARISONS[name]

    same(compare(vkml.tensor(values), number), compare(torch.tensor(values), number))
    same(compare(number, vkml.tensor(values)), compare(number, torch.tensor(values)))


@each_name
@pytest.mark.parametrize(
    ("dtype", "number"),
    [("uint8", 300), ("uint8", -1), ("int8", -129), ("int32", 2**40), ("uint32", -5)],
)
def test_comparison_with_a_number_that_the_dtype_lacks_is_exact(
    name: str, dtype: str, number: int
) -> None:
    values = [0, 1, 127]
    compare = COMPARISONS[name]

    ours = compare(vkml.tensor(values, dtype=dtype), number)

    assert ours.tolist() == [compare(each, number) for each in values]


@each_name
@pytest.mark.parametrize("shapes", [((3, 1), (4,)), ((), (2, 2)), ((0, 3), (1, 3)), ((), ())])
def test_comparison_broadcasts(name: str, shapes: Any) -> None:
    rng = np.random.default_rng(3)
    x, y = (rng.integers(0, 3, shape).astype(np.float32) for shape in shapes)

    ours = getattr(vkml, name)(vkml.tensor(x), vkml.tensor(y))

    same(ours, getattr(torch, name)(torch.tensor(x), torch.tensor(y)))


@each_name
def test_comparison_of_views_reads_their_elements(name: str) -> None:
    x = np.arange(12.0).reshape(3, 4)
    ours, theirs = vkml.tensor(x), torch.tensor(x)

    result = getattr(vkml, name)(ours.T[::2], ours[0, :1].expand(3))

    same(result, getattr(torch, name)(theirs.T[::2], theirs[0, :1].expand(3)))


@each_name
def test_comparison_has_no_gradient(name: str) -> None:
    x = vkml.ones(2, requires_grad=True)

    assert not getattr(vkml, name)(x, 1).requires_grad


@each_name
def test_shapes_that_do_not_broadcast_are_named(name: str) -> None:
    with pytest.raises(vkml.ShapeError, match=rf"{name}: shapes \(2,\) and \(3,\)"):
        getattr(vkml, name)(vkml.ones(2), vkml.ones(3))


# What is no number ------------------------------------------------------------------------


@pytest.mark.parametrize("other", [None, "a", {}, object(), np.float32, vkml.float32, ...])
@pytest.mark.parametrize("data", [1, [1, 2], []])
def test_a_tensor_equals_nothing_that_has_no_elements(data: Any, other: Any) -> None:
    x = vkml.tensor(data)

    assert (x == other) is False
    assert (other == x) is False
    assert (x != other) is True


def test_none_is_found_missing_among_tensors() -> None:
    assert None not in [vkml.ones(2)]


@pytest.mark.parametrize("other", [[1, 2], (1, 2), np.ones(2)], ids=repr)
@pytest.mark.parametrize("compare", [operator.eq, operator.ne])
def test_comparing_with_a_sequence_is_an_error_not_false(compare: Any, other: Any) -> None:
    with pytest.raises(vkml.DTypeError, match=r"vkml\.tensor\(data\)"):
        compare(vkml.ones(2), other)


@pytest.mark.parametrize("other", [None, "a"])
@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge"])
def test_what_is_no_number_has_no_order(name: str, other: Any) -> None:
    with pytest.raises(vkml.DTypeError, match=f"{name}: "):
        COMPARISONS[name](vkml.ones(2), other)


def test_an_integer_larger_than_any_dtype_is_an_error() -> None:
    with pytest.raises(vkml.DTypeError, match="does not fit in int64"):
        _ = vkml.arange(2) == 2**70


def test_contains_looks_for_an_element() -> None:
    x = vkml.tensor([1, 2])

    assert 1 in x
    assert 3 not in x


# equal, isnan, isinf, isfinite ------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "y"),
    [([1, 2], [1, 2]), ([1, 2], [1, 3]), ([1, 2], [1.0, 2.0]), ([1], [1, 1]), ([], []),
     ([float("nan")], [float("nan")]), ([0.0], [-0.0]), ([], [[]])],
)  # fmt: skip
def test_equal_is_one_truth_value_as_in_torch(x: Any, y: Any) -> None:
    ours = vkml.equal(vkml.tensor(x), vkml.tensor(y))

    assert ours is torch.equal(torch.tensor(x), torch.tensor(y))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "bool", "complex64"])
@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite"])
def test_tests_of_numbers_equal_those_of_torch(name: str, dtype: str) -> None:
    values = np.array(EDGES if dtype[0] in "fc" else [0, 1, 2]).astype(dtype)

    ours = getattr(vkml, name)(vkml.tensor(values))

    same(ours, getattr(torch, name)(torch.tensor(values)))
