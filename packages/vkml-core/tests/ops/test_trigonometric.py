"""Trigonometric and hyperbolic functions against torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vkml

torch = pytest.importorskip("torch")

NAMES = ["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"]
EDGES = [0.0, -0.0, 1.0, -1.0, 1.5, -1.5, 1e-20, 30.0, -30.0, 1e4, np.inf, -np.inf, np.nan]
each_name = pytest.mark.parametrize("name", NAMES)


def angles(*shape: int, dtype: Any = np.float64) -> Any:
    return np.asarray(np.random.default_rng(3).uniform(-0.9, 0.9, shape), dtype)


@each_name
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(7, 5), (), (0, 3), (2, 1, 5)])
def test_function_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, name: str, shape: Any, dtype: Any
) -> None:
    x = angles(*shape, dtype=dtype)

    agrees_with_torch(getattr(vkml, name), getattr(torch, name), x, tolerance=10)


@each_name
def test_function_of_a_transposed_view_equals_torch(agrees_with_torch: Any, name: str) -> None:
    agrees_with_torch(getattr(vkml, name), getattr(torch, name), angles(4, 3).T)


@each_name
def test_edges_and_their_gradients_equal_torch(name: str) -> None:
    x = np.array(EDGES, np.float32)
    ours, theirs = vkml.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)

    found, expected = getattr(vkml, name)(ours), getattr(torch, name)(theirs)
    found.sum().backward()
    expected.sum().backward()

    assert ours.grad is not None
    assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=2e-6, atol=1e-6)
    assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-5, atol=1e-6)


@each_name
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float16", "complex64"])
def test_dtype_is_that_of_torch(name: str, dtype: str) -> None:
    x = np.array([0, 1, 0]).astype(dtype)

    found, expected = getattr(vkml, name)(vkml.tensor(x)), getattr(torch, name)(torch.tensor(x))

    assert found.dtype.name == str(expected.dtype).split(".")[-1]
    tolerance = 2e-3 if dtype == "float16" else 1e-6
    assert_allclose(found.numpy(), expected.numpy(), rtol=tolerance, atol=tolerance)


def test_tanh_of_large_numbers_is_1_with_a_gradient_of_0() -> None:
    x = vkml.tensor([50.0, -50.0], requires_grad=True)

    result = vkml.tanh(x)
    result.sum().backward()

    assert x.grad is not None
    assert result.tolist() == [1, -1]
    assert x.grad.tolist() == [0, 0]


def test_tanh_in_place_writes_into_the_tensor() -> None:
    x = vkml.zeros(2)

    assert x.tanh_() is x
