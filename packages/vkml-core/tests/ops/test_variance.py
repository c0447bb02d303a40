import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import vkml

torch = pytest.importorskip("torch")

AgreesWithTorch = Callable[..., None]

DTYPES = [np.float32, np.float64]


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(7).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [None, 1, (0, 2), -1])
@pytest.mark.parametrize(("correction", "keepdim"), [(1, False), (0, True), (2, False)])
def test_var_and_std_and_their_derivatives_equal_torch(
    name: str,
    dim: Any,
    correction: int,
    keepdim: bool,
    dtype: Any,
    agrees_with_torch: AgreesWithTorch,
) -> None:
    options = {"correction": correction, "keepdim": keepdim}

    agrees_with_torch(
        lambda x: getattr(vkml, name)(x, dim, **options),
        lambda x: getattr(torch, name)(x, dim, **options),
        numbers(3, 4, 5, dtype=dtype),
        tolerance=5,
    )


def test_var_of_numbers_with_a_large_mean_does_not_cancel() -> None:
    x = numbers(1000) + np.float32(1e4)

    assert_allclose(vkml.var(vkml.tensor(x)).item(), x.astype(np.float64).var(ddof=1), rtol=1e-4)


def test_var_without_freedom_is_nan() -> None:
    assert math.isnan(vkml.var(vkml.tensor([1.0])).item())
    assert math.isnan(vkml.var(vkml.zeros(0, 3)).item())


def test_the_gradient_of_std_is_0_where_all_elements_are_equal(
    agrees_with_torch: AgreesWithTorch,
) -> None:
    x = np.stack([np.ones(4), numbers(4)]).astype(np.float32)

    agrees_with_torch(lambda x: vkml.std(x, 1), lambda x: torch.std(x, 1), x, second=False)


def test_var_mean_returns_both() -> None:
    x = vkml.tensor(numbers(3, 4))

    variance, average = vkml.var_mean(x, 1, correction=0, keepdim=True)

    assert_array_equal(variance.numpy(), vkml.var(x, 1, correction=0, keepdim=True).numpy())
    assert_array_equal(average.numpy(), vkml.mean(x, 1, True).numpy())


@pytest.mark.parametrize("name", ["var", "std", "norm"])
def test_integers_are_refused(name: str) -> None:
    with pytest.raises(vkml.DTypeError, match=r"expected floating-point numbers, got int64"):
        getattr(vkml, name)(vkml.ones(3, dtype="int64"))


# norm ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("p", [2, 1, math.inf, -math.inf, 3, 0.5])
@pytest.mark.parametrize(("dim", "keepdim"), [(None, False), (1, True), ((0, 2), False)])
def test_norm_and_its_derivatives_equal_torch(
    p: float, dim: Any, keepdim: bool, dtype: Any, agrees_with_torch: AgreesWithTorch
) -> None:
    agrees_with_torch(
        lambda x: vkml.norm(x, p, dim, keepdim),
        lambda x: torch.linalg.vector_norm(x, p, dim, keepdim),
        numbers(3, 4, 5, dtype=dtype),
        tolerance=20,
    )


def test_norm_0_counts_what_is_not_zero() -> None:
    result = vkml.norm(vkml.tensor([[0.0, 3.0], [0.0, 0.0]]), 0, 1)

    assert result.dtype is vkml.float32
    assert result.tolist() == [1, 0]


def test_the_gradient_of_norm_at_zero_is_zero() -> None:
    x = vkml.zeros(3, requires_grad=True)

    vkml.norm(x).backward()

    assert x.grad is not None
    assert x.grad.tolist() == [0, 0, 0]


def test_norm_names_a_p_that_it_does_not_know() -> None:
    with pytest.raises(vkml.ArgumentError, match=r"norm: p is 'nuc'"):
        vkml.norm(vkml.ones(2, 2), "nuc")


@pytest.mark.parametrize("name", ["norm", "std"])
def test_squares_that_float16_cannot_hold_do_not_overflow(name: str) -> None:
    x = np.array([300.0, -400.0])

    result = getattr(vkml, name)(vkml.tensor(x, dtype="float16"))

    assert result.dtype is vkml.float16
    assert_allclose(result.item(), getattr(vkml, name)(vkml.tensor(x)).item(), rtol=1e-3)


@pytest.mark.parametrize("axis", [0, 1, None])
def test_a_variance_far_from_zero_keeps_its_digits(axis: int | None) -> None:
    values = np.random.default_rng(0).normal(1e4, 1, (5000, 300)).astype(np.float32)

    result = vkml.var(vkml.tensor(values), axis).numpy()

    assert_allclose(result, values.astype(np.float64).var(axis, ddof=1), rtol=1e-6)


def test_the_variance_of_equal_numbers_is_0_and_never_less() -> None:
    x = vkml.full((3001, 7), 0.1)

    assert (vkml.var(x, 0) >= 0).all()
    assert not vkml.isnan(vkml.std(x, 0)).any()


@pytest.mark.parametrize("p", [1.5, 3, 4])
def test_norm_of_a_zero_vector_has_a_gradient_of_0(p: float) -> None:
    x = vkml.zeros(3, requires_grad=True)

    vkml.norm(x, p).backward()

    assert x.grad is not None
    assert x.grad.tolist() == [0, 0, 0]
