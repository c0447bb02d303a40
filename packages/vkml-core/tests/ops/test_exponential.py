"""Exponentials, logarithms and roots against torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vkml

torch = pytest.importorskip("torch")

NAMES = ["exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "rsqrt", "sqrt"]
EDGES = [0.0, -0.0, 1.0, -1.0, 1e-8, -1e-8, 100.0, -100.0, 1e-40, np.inf, -np.inf, np.nan]
each_name = pytest.mark.parametrize("name", NAMES)


def positive(*shape: int, dtype: Any = np.float64) -> Any:
    return np.asarray(np.random.default_rng(3).uniform(0.2, 3, shape), dtype)


@each_name
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(7, 5), (), (0, 3), (2, 1, 5)])
def test_function_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, name: str, shape: Any, dtype: Any
) -> None:
    x = positive(*shape, dtype=dtype)

    agrees_with_torch(getattr(vkml, name), getattr(torch, name), x, tolerance=10)


@each_name
def test_function_of_a_transposed_view_equals_torch(agrees_with_torch: Any, name: str) -> None:
    agrees_with_torch(getattr(vkml, name), getattr(torch, name), positive(4, 3).T)


@each_name
def test_function_of_views_equals_torch(name: str) -> None:
    x = positive(6)
    ours, theirs = vkml.tensor(x), torch.tensor(x)

    found = getattr(vkml, name)(ours[::-1][::2].reshape(3, 1).expand(3, 2))

    expected = getattr(torch, name)(theirs.flip(0)[::2].reshape(3, 1).expand(3, 2))
    assert_allclose(found.numpy(), expected.numpy(), rtol=1e-12)


@each_name
def test_edges_and_their_gradients_equal_torch(name: str) -> None:
    x = np.array(EDGES, np.float32)
    ours, theirs = vkml.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)

    found, expected = getattr(vkml, name)(ours), getattr(torch, name)(theirs)
    found.sum().backward()
    expected.sum().backward()

    assert ours.grad is not None
    assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-6, atol=1e-44)
    assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-6, atol=1e-44)


@each_name
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float16", "complex64"])
def test_dtype_is_that_of_torch(name: str, dtype: str) -> None:
    x = np.array([1, 2, 3]).astype(dtype)

    found, expected = getattr(vkml, name)(vkml.tensor(x)), getattr(torch, name)(torch.tensor(x))

    assert found.dtype.name == str(expected.dtype).split(".")[-1]
    assert_allclose(found.numpy(), expected.numpy(), rtol=2e-3 if dtype == "float16" else 1e-5)


def test_expm1_and_log1p_are_exact_near_0() -> None:
    x = vkml.tensor([1e-10, -1e-10])

    assert_allclose(vkml.expm1(x).numpy(), x.numpy(), rtol=1e-7)
    assert_allclose(vkml.log1p(x).numpy(), x.numpy(), rtol=1e-7)


def test_rsqrt_of_zeros_is_infinite_with_their_sign() -> None:
    assert vkml.rsqrt(vkml.tensor([0.0, -0.0])).tolist() == [np.inf, -np.inf]


@pytest.mark.parametrize("name", ["exp", "sqrt"])
def test_in_place_writes_into_the_tensor(name: str) -> None:
    x = vkml.tensor([[1.0, 4.0], [9.0, 16.0]])
    expected = getattr(vkml, name)(x[:, 1])

    result = getattr(x[:, 1], f"{name}_")()

    assert result.tolist() == expected.tolist() == x[:, 1].tolist()
    assert x[:, 0].tolist() == [1, 9]
