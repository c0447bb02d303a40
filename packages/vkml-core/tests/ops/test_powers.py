"""Powers against torch: 0 to the 0, negative bases, gradients at 0, integers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import vkml

torch = pytest.importorskip("torch")

EDGES = [0.0, 1.0, -1.0, 2.0, -2.5, 0.5, 3.0, -3.0, np.inf, -np.inf, np.nan]
NUMBERS = [0, 0.0, 1, 2, 3, -1, -2, 0.5, -0.5, 2.5, float("inf"), float("-inf"), float("nan")]
DTYPES = ["uint8", "int8", "int32", "int64", "float16", "float32", "float64"]


def numbers(*shape: int, dtype: Any = np.float64) -> Any:
    return np.asarray(np.random.default_rng(3).uniform(0.5, 2, shape), dtype)


def gradient(library: Any, function: Any, *values: Any) -> Any:
    leaves = [library.tensor(each, requires_grad=True) for each in values]
    return [each.numpy() for each in library.autograd.grad(function(*leaves).sum(), leaves)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "shapes", [((7, 5), (7, 5)), ((3, 1), (4,)), ((), ()), ((0, 3), (3,)), ((), (2,))], ids=str
)
def test_pow_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, shapes: Any, dtype: Any
) -> None:
    x, y = (numbers(*shape, dtype=dtype) for shape in shapes)

    agrees_with_torch(vkml.pow, torch.pow, x, y, tolerance=10)


@pytest.mark.parametrize("exponent", [1, 2, 3, -1, 0.5, 2.5, -2.0])
def test_pow_by_a_number_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, exponent: float
) -> None:
    x = numbers(4, 3).T

    agrees_with_torch(lambda x: x**exponent, lambda x: x**exponent, x)


@pytest.mark.parametrize("base", [2, 0.5, 3.0])
def test_a_power_of_a_number_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, base: float
) -> None:
    agrees_with_torch(lambda x: base**x, lambda x: base**x, numbers(4) - 1)


@pytest.mark.parametrize("name", ["reciprocal", "square"])
@pytest.mark.parametrize("shape", [(7, 5), (), (0, 3)])
def test_reciprocal_and_square_and_their_derivatives_equal_torch(
    agrees_with_torch: Any, shape: Any, name: str
) -> None:
    agrees_with_torch(getattr(vkml, name), getattr(torch, name), numbers(*shape))


# edges ------------------------------------------------------------------------------------


def test_pow_at_the_edges_and_its_gradients_equal_torch() -> None:
    x, y = np.array(list(itertools.product(EDGES, EDGES)), np.float32).T

    result = vkml.pow(vkml.tensor(x), vkml.tensor(y))

    assert_allclose(result.numpy(), torch.pow(torch.tensor(x), torch.tensor(y)).numpy(), rtol=1e-6)
    expected = gradient(torch, torch.pow, x, y)
    for ours, theirs in zip(gradient(vkml, vkml.pow, x, y), expected, strict=True):
        assert_allclose(ours, theirs, rtol=1e-5)


@pytest.mark.parametrize("exponent", NUMBERS)
def test_pow_of_edges_by_a_number_and_its_gradient_equal_torch(exponent: float) -> None:
    x = np.array([each for each in EDGES if each != -np.inf], np.float32)

    def power(x: Any) -> Any:
        return x**exponent

    assert_allclose(power(vkml.tensor(x)).numpy(), power(torch.tensor(x)).numpy(), rtol=1e-6)
    assert_allclose(gradient(vkml, power, x), gradient(torch, power, x), rtol=1e-5)


@pytest.mark.parametrize("base", NUMBERS)
def test_a_number_to_the_power_of_edges_and_its_gradient_equal_torch(base: float) -> None:
    x = np.array(EDGES, np.float32)

    def power(x: Any) -> Any:
        return base**x

    assert_allclose(power(vkml.tensor(x)).numpy(), power(torch.tensor(x)).numpy(), rtol=1e-6)
    assert_allclose(gradient(vkml, power, x), gradient(torch, power, x), rtol=1e-5)


def test_reciprocal_of_zeros_is_infinite_with_their_sign() -> None:
    result = vkml.reciprocal(vkml.tensor([0.0, -0.0]))

    assert result.tolist() == [np.inf, -np.inf]


# integers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("shapes", [((4,), (4,)), ((), (4,)), ((4,), ())], ids=str)
def test_mixed_dtypes_meet_as_in_torch(shapes: Any) -> None:
    for first, second in itertools.product(DTYPES, DTYPES):
        x = np.resize([3, 0, 2, 1], shapes[0]).astype(first)
        y = np.resize([2, 0, 4, 5], shapes[1]).astype(second)

        ours = vkml.tensor(x) ** vkml.tensor(y)

        theirs = torch.tensor(x) ** torch.tensor(y)
        assert ours.dtype.name == str(theirs.dtype).split(".")[-1]
        assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", [2, 2.5, 0])
def test_numbers_and_tensors_meet_as_in_torch(number: float, dtype: str) -> None:
    x = np.array([3, 0, 2, 1]).astype(dtype)

    for ours, theirs in (
        (vkml.tensor(x) ** number, torch.tensor(x) ** number),
        (number ** vkml.tensor(x), number ** torch.tensor(x)),
    ):
        assert ours.dtype.name == str(theirs.dtype).split(".")[-1]
        assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-2)


@pytest.mark.parametrize(
    ("x", "exponent"),
    [
        (vkml.tensor([1, 2]), -1),
        (vkml.tensor([1, 2]), vkml.tensor(-1)),
        (vkml.tensor([1, 2], dtype="int8"), vkml.tensor([1, -1], dtype="int8")),
        (2, vkml.tensor([-1])),
    ],
    ids=str,
)
def test_a_negative_power_of_integers_is_an_error(x: Any, exponent: Any) -> None:
    with pytest.raises(vkml.ArgumentError, match=r"pow: integers have no.*x\.to\(vkml\.float32\)"):
        vkml.pow(x, exponent)


def test_a_negative_power_of_integers_by_a_float_is_a_fraction() -> None:
    assert (vkml.tensor([1, 2]) ** -1.0).tolist() == [1, 0.5]


def test_truth_values_have_no_powers() -> None:
    x = vkml.tensor([True])

    with pytest.raises(vkml.DTypeError, match="truth values have no powers"):
        x**x


def test_reciprocal_of_integers_is_a_fraction() -> None:
    result = vkml.reciprocal(vkml.tensor([2, 4]))

    assert result.dtype is vkml.float32
    assert result.tolist() == [0.5, 0.25]


def test_pow_writes_into_out() -> None:
    out = vkml.zeros(2)

    assert vkml.pow(vkml.tensor([2.0, 3.0]), 2, out=out) is out
    assert_array_equal(out.numpy(), [4, 9])
