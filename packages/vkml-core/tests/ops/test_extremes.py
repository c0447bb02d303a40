from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vkml

torch = pytest.importorskip("torch")

AgreesWithTorch = Callable[..., None]

DTYPES = [np.float32, np.float64]


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(7).standard_normal(shape).astype(dtype)


def with_ties(*shape: int) -> Any:
    return np.random.default_rng(4).integers(-2, 3, shape).astype(np.float32)


# amax, amin ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["amax", "amin"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shape", "dim", "keepdim"),
    [
        ((3, 4, 5), (0, 1, 2), False),
        ((3, 4, 5), 1, True),
        ((3, 4, 5), (0, 2), False),
        ((0, 3), 1, False),
        ((), (), False),
    ],
)
def test_amax_and_amin_and_their_derivatives_equal_torch(
    name: str, shape: Any, dim: Any, keepdim: bool, dtype: Any, agrees_with_torch: AgreesWithTorch
) -> None:
    agrees_with_torch(
        lambda x: getattr(vkml, name)(x, dim, keepdim) ** 2,
        lambda x: getattr(torch, name)(x, dim, keepdim) ** 2,
        numbers(*shape, dtype=dtype),
    )


@pytest.mark.parametrize("name", ["amax", "amin"])
@pytest.mark.parametrize("dim", [0, (0, 2), (0, 1, 2)])
def test_equal_extremes_share_the_gradient_as_in_torch(
    name: str, dim: Any, agrees_with_torch: AgreesWithTorch
) -> None:
    agrees_with_torch(
        lambda x: getattr(vkml, name)(x, dim),
        lambda x: getattr(torch, name)(x, dim),
        with_ties(3, 4, 5),
        second=False,
    )


@pytest.mark.parametrize("name", ["amax", "amin"])
def test_nan_is_the_extreme(name: str) -> None:
    x = vkml.tensor([[1.0, np.nan], [np.inf, -np.inf]])

    result = getattr(vkml, name)(x, 1).tolist()

    assert np.isnan(result[0])
    assert result[1] == (np.inf if name == "amax" else -np.inf)


@pytest.mark.parametrize("name", ["amax", "amin", "argmax", "argmin", "max", "min"])
def test_no_elements_have_no_extreme(name: str) -> None:
    with pytest.raises(vkml.ShapeError, match=r"axis 1 of shape \(2, 0\) is empty"):
        getattr(vkml, name)(vkml.zeros(2, 0), 1)


@pytest.mark.parametrize("name", ["amax", "amin", "argmax", "argmin"])
@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.bool_])
def test_integers_have_extremes(name: str, dtype: Any) -> None:
    x = (with_ties(3, 4) > 0).astype(dtype)

    result = getattr(vkml, name)(vkml.tensor(x), 1)

    assert_array_equal(result.numpy(), getattr(np, name)(x, 1))


# argmax, argmin --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dim", [None, 0, 1, -1])
@pytest.mark.parametrize("keepdim", [False, True])
def test_argmax_and_argmin_equal_torch(name: str, dim: Any, keepdim: bool) -> None:
    x = numbers(3, 4, 5)

    result = getattr(vkml, name)(vkml.tensor(x), dim, keepdim)

    assert result.dtype is vkml.int64
    assert_array_equal(result.numpy(), getattr(torch, name)(torch.tensor(x), dim, keepdim))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_the_first_of_equal_elements_and_the_first_nan_are_found(name: str) -> None:
    x = vkml.tensor([[1.0, 1.0, 1.0], [1.0, np.nan, np.nan]])

    assert getattr(vkml, name)(x, 1).tolist() == [0, 1]


def test_argmax_of_rank_0_is_0() -> None:
    assert vkml.argmax(vkml.tensor(3.0), 0).item() == 0


# max, min --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shape", "dim", "keepdim"),
    [((3, 4, 5), 1, False), ((3, 4, 5), -1, True), ((0, 3), 1, False), ((), 0, False)],
)
def test_extremes_along_an_axis_and_their_derivatives_equal_torch(
    name: str, shape: Any, dim: int, keepdim: bool, dtype: Any, agrees_with_torch: AgreesWithTorch
) -> None:
    agrees_with_torch(
        lambda x: getattr(vkml, name)(x, dim, keepdim).values ** 2,
        lambda x: getattr(torch, name)(x, dim, keepdim).values ** 2,
        numbers(*shape, dtype=dtype),
    )


@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_along_an_axis_come_with_their_places(name: str) -> None:
    x = numbers(3, 4, 5).T

    values, indices = getattr(vkml, name)(vkml.tensor(x), 1)
    expected = getattr(torch, name)(torch.tensor(x), 1)

    assert_array_equal(values.numpy(), expected.values)
    assert_array_equal(indices.numpy(), expected.indices)
    assert indices.dtype is vkml.int64


@pytest.mark.parametrize("name", ["max", "min"])
def test_only_the_first_of_equal_elements_gets_the_gradient_along_an_axis(name: str) -> None:
    x = vkml.tensor([1.0, 1.0], requires_grad=True)

    getattr(vkml, name)(x, 0).values.backward()

    assert x.grad is not None
    assert x.grad.tolist() == [1, 0]


@pytest.mark.parametrize("name", ["max", "min"])
def test_without_an_axis_equal_elements_share_the_gradient(
    name: str, agrees_with_torch: AgreesWithTorch
) -> None:
    agrees_with_torch(getattr(vkml, name), getattr(torch, name), with_ties(3, 4), second=False)


@pytest.mark.parametrize("name", ["max", "min"])
def test_of_two_tensors_it_is_the_elementwise_one(
    name: str, agrees_with_torch: AgreesWithTorch
) -> None:
    agrees_with_torch(
        getattr(vkml, name), getattr(torch, name), with_ties(3, 4), with_ties(2, 3, 4)[0] + 1
    )


def test_the_method_returns_named_values_and_indices() -> None:
    found = vkml.tensor([[1.0, 3.0]]).max(1)

    assert found.values.tolist() == [3]
    assert found.indices.tolist() == [1]
