"""Signs and rounding against torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vkml

torch = pytest.importorskip("torch")

NAMES = ["abs", "sign", "floor", "ceil", "round", "trunc"]
STEPS = NAMES[1:]
EDGES = [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 1.7, -1.7, 3.0, 1e20, -1e20, np.inf, -np.inf]
each_name = pytest.mark.parametrize("name", NAMES)


def same(ours: vkml.Tensor, theirs: Any) -> None:
    assert ours.dtype.name == str(theirs.dtype).split(".")[-1]
    assert_array_equal(ours.numpy(), theirs.numpy())
    assert_array_equal(np.signbit(ours.numpy()), np.signbit(theirs.numpy()))


@each_name
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_edges_equal_torch(name: str, dtype: str) -> None:
    with np.errstate(over="ignore"):
        x = np.array(EDGES).astype(dtype)

    same(getattr(vkml, name)(vkml.tensor(x)), getattr(torch, name)(torch.tensor(x)))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "sign"])
def test_nan_stays_nan(name: str) -> None:
    result = getattr(vkml, name)(vkml.tensor([float("nan")]))

    assert np.isnan(result.item())


def test_the_sign_of_nan_is_0_as_in_torch() -> None:
    assert vkml.sign(vkml.tensor([float("nan"), -2.0])).tolist() == [0, -1]


@each_name
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64"])
def test_integers_equal_torch(name: str, dtype: str) -> None:
    x = np.array([0, 1, 127, -1]).astype(dtype)

    same(getattr(vkml, name)(vkml.tensor(x)), getattr(torch, name)(torch.tensor(x)))


@each_name
@pytest.mark.parametrize("shape", [(7, 5), (), (0, 3)])
def test_first_derivative_equals_torch(agrees_with_torch: Any, name: str, shape: Any) -> None:
    x = np.asarray(3 * np.random.default_rng(3).standard_normal(shape))

    agrees_with_torch(getattr(vkml, name), getattr(torch, name), x, second=False)


@each_name
def test_a_transposed_view_equals_torch(agrees_with_torch: Any, name: str) -> None:
    x = 3 * np.random.default_rng(3).standard_normal((4, 3)).T

    agrees_with_torch(getattr(vkml, name), getattr(torch, name), x, second=False)


@each_name
def test_gradient_at_0_is_0(name: str) -> None:
    x = vkml.zeros(1, requires_grad=True)

    getattr(vkml, name)(x).backward()

    assert x.grad is not None
    assert x.grad.item() == 0


def test_abs_of_complex_numbers_is_real() -> None:
    result = vkml.abs(vkml.tensor([3 + 4j, -1j]))

    assert result.dtype is vkml.float32
    assert result.tolist() == [5, 1]


def test_abs_is_a_builtin_too() -> None:
    assert abs(vkml.tensor([-1.5])).tolist() == [1.5]


def test_truth_values_have_no_sign() -> None:
    with pytest.raises(vkml.DTypeError, match="sign: truth values have no sign"):
        vkml.sign(vkml.tensor([True]))


@pytest.mark.parametrize("name", ["floor", "ceil"])
def test_complex_numbers_are_not_rounded(name: str) -> None:
    with pytest.raises(vkml.DTypeError, match=f"{name}: "):
        getattr(vkml, name)(vkml.tensor([1j]))
