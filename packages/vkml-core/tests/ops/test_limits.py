"""Limits against torch: NaN, infinities, ties, dtypes; clamping in bfloat16."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import vkml

pytest.importorskip("ml_dtypes")
torch = pytest.importorskip("torch")

EDGES = [0.0, -0.0, 1.0, -1.0, 2.0, -2.5, 0.5, np.inf, -np.inf, np.nan]
DTYPES = ["uint8", "int8", "int32", "int64", "float16", "float32", "float64"]
NUMBERS = [(0, 1), (None, 1), (0.5, None), (2, -2), (np.nan, 1), (0, np.nan), (-np.inf, np.inf)]


def numbers(*shape: int, dtype: Any = np.float64) -> Any:
    return np.asarray(2 * np.random.default_rng(3).standard_normal(shape), dtype)


def with_gradients(library: Any, function: Any, *values: Any) -> Any:
    """Return the values and the gradients of a function."""
    leaves = [library.tensor(each, requires_grad=True) for each in values]
    result = function(*leaves)
    gradients = library.autograd.grad(result.sum(), leaves)
    return [each.detach().numpy() for each in (result, *gradients)]


def same_with_gradients(ours: Any, theirs: Any, *values: Any) -> None:
    found = with_gradients(vkml, ours, *values)
    for mine, other in zip(found, with_gradients(torch, theirs, *values), strict=True):
        assert_allclose(mine, other)


# maximum, minimum -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "shapes", [((7, 5), (7, 5)), ((3, 1), (4,)), ((), ()), ((), (2, 3)), ((0, 3), (3,))], ids=str
)
def test_extremes_of_two_and_their_derivatives_equal_torch(
    agrees_with_torch: Any, shapes: Any, dtype: Any, name: str
) -> None:
    x, y = (numbers(*shape, dtype=dtype) for shape in shapes)

    agrees_with_torch(getattr(vkml, name), getattr(torch, name), x, np.asarray(y + 0.1, dtype))


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_extremes_at_the_edges_and_their_gradients_equal_torch(name: str) -> None:
    x, y = np.array(list(itertools.product(EDGES, EDGES)), np.float32).T

    same_with_gradients(getattr(vkml, name), getattr(torch, name), x, y)


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_mixed_dtypes_meet_as_in_torch(name: str) -> None:
    for first, second in itertools.product(["bool", *DTYPES], ["bool", *DTYPES]):
        x, y = np.array([0, 1, 3, 2]).astype(first), np.array([1, 0, 2, 2]).astype(second)

        ours = getattr(vkml, name)(vkml.tensor(x), vkml.tensor(y))

        theirs = getattr(torch, name)(torch.tensor(x), torch.tensor(y))
        assert ours.dtype.name == str(theirs.dtype).split(".")[-1]
        assert_array_equal(ours.numpy(), theirs.numpy())


def test_a_number_may_stand_on_either_side() -> None:
    x = vkml.tensor([1.0, 3.0])

    assert vkml.maximum(x, 2).tolist() == vkml.maximum(2, x).tolist() == [2, 3]


# clamp ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("low", "high"), NUMBERS)
def test_clamp_by_numbers_and_its_gradient_equal_torch(low: Any, high: Any) -> None:
    def clamp(library: Any) -> Any:
        return lambda x: library.clamp(x, low, high)

    same_with_gradients(clamp(vkml), clamp(torch), np.array(EDGES, np.float32))


@pytest.mark.parametrize(("low", "high"), [(-1, 1), (None, 0.5), (0, None)])
def test_clamp_by_numbers_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, low: Any, high: Any
) -> None:
    def clamp(library: Any) -> Any:
        return lambda x: library.clamp(x, low, high)

    agrees_with_torch(clamp(vkml), clamp(torch), numbers(4, 3).T)


def test_clamp_by_tensors_and_its_derivatives_equal_torch(agrees_with_torch: Any) -> None:
    low, high = numbers(4) - 1, numbers(3, 1) + 1

    agrees_with_torch(vkml.clamp, torch.clamp, numbers(3, 4), low, high)


@pytest.mark.parametrize("side", ["min", "max"])
def test_clamp_by_a_tensor_at_the_edges_and_its_gradient_equal_torch(side: str) -> None:
    def clamp(library: Any) -> Any:
        return lambda x, limit: library.clamp(x, **{side: limit})

    grid = itertools.product([each for each in EDGES if each == each], EDGES)
    x, limit = np.array([pair for pair in grid if pair[1] == pair[1]], np.float32).T

    same_with_gradients(clamp(vkml), clamp(torch), x, limit)


def test_clamp_by_tensors_at_the_edges_has_the_values_of_torch() -> None:
    values = np.array(list(itertools.product(EDGES, EDGES, EDGES)), np.float32).T

    ours = vkml.clamp(*map(vkml.tensor, values)).numpy()

    assert_array_equal(ours, torch.clamp(*map(torch.tensor, values)).numpy())


@pytest.mark.parametrize("limit", [0.0, vkml.tensor(0.0)])
def test_an_element_equal_to_its_limit_keeps_its_gradient(limit: Any) -> None:
    x = vkml.zeros(1, requires_grad=True)

    vkml.clamp_min(x, limit).backward()

    assert x.grad is not None
    assert x.grad.item() == 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("limits", [(1, 2), (0.5, None), (None, 2), (1, 2.5)])
def test_clamped_dtypes_are_those_of_torch(limits: Any, dtype: str) -> None:
    x = np.array([0, 1, 3, 2]).astype(dtype)

    ours, theirs = vkml.clamp(vkml.tensor(x), *limits), torch.clamp(torch.tensor(x), *limits)

    assert ours.dtype.name == str(theirs.dtype).split(".")[-1]
    assert_array_equal(ours.numpy(), theirs.numpy())


def test_a_limit_outside_the_dtype_limits_nothing() -> None:
    x = vkml.tensor([1, 200], dtype="uint8")

    assert vkml.clamp(x, -5, 300).tolist() == [1, 200]


def test_clamp_without_limits_is_an_error() -> None:
    with pytest.raises(vkml.ArgumentError, match="give min, max or both"):
        vkml.clamp(vkml.ones(1))


@pytest.mark.parametrize(
    ("dtype", "limits"), [("complex64", (0, 1)), ("complex64", (0.5, None)), ("bool", (0, 1))]
)
def test_what_has_no_order_has_no_limits(dtype: str, limits: Any) -> None:
    with pytest.raises(vkml.DTypeError, match=r"clamp: .* no"):
        vkml.clamp(vkml.ones(2, dtype=dtype), *limits)


def test_clamp_min_and_clamp_max_are_clamp_with_one_limit() -> None:
    x = vkml.tensor([-1.0, 2.0])

    assert vkml.clamp_min(x, 0).tolist() == x.clamp_min(0).tolist() == [0, 2]
    assert vkml.clamp_max(x, 0).tolist() == x.clamp_max(0).tolist() == [-1, 0]


# bfloat16 ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("low", "high"), [(-1, 1), (-1.0, None), (None, 0.5)])
def test_clamping_bfloat16_stays_in_it(low: float | None, high: float | None) -> None:
    x = vkml.tensor([-2.0, 0.25, 3.0], dtype="bfloat16", requires_grad=True)

    result = vkml.clamp(x, low, high)
    (gradient,) = vkml.autograd.grad(result.sum(), x)

    assert gradient is not None
    assert result.dtype is gradient.dtype is vkml.bfloat16
    wide = vkml.clamp(x.detach().float(), low, high)
    assert_array_equal(result.detach().float().numpy(), wide.numpy())


@pytest.mark.parametrize("function", [vkml.tanh, vkml.sqrt, vkml.mean, vkml.var, vkml.sigmoid])
@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_of_bfloat16_are_bfloat16(function: object, create_graph: bool) -> None:
    x = vkml.tensor([2.0, 0.25, 3.0], dtype="bfloat16", requires_grad=True)
    y = x * 1
    seen = []
    x.register_hook(lambda gradient: seen.append(gradient.dtype))

    result = function(y).sum()  # type: ignore[operator]
    gradients = vkml.autograd.grad(result, (x, y), create_graph=create_graph)

    assert [each.dtype for each in gradients if each is not None] == [vkml.bfloat16] * 2
    assert seen == [vkml.bfloat16]
