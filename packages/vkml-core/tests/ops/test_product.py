from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vkml

torch = pytest.importorskip("torch")

AgreesWithTorch = Callable[..., None]


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(7).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(3, 4, 5), (2, 7, 3), (3, 0, 2), (0, 3, 2)])
@pytest.mark.parametrize(("dim", "keepdim"), [(0, False), (1, True), (-1, False)])
def test_prod_and_its_derivatives_equal_torch(
    shape: Any, dim: int, keepdim: bool, dtype: Any, agrees_with_torch: AgreesWithTorch
) -> None:
    agrees_with_torch(
        lambda x: vkml.prod(x, dim, keepdim),
        lambda x: torch.prod(x, dim, keepdim),
        numbers(*shape, dtype=dtype),
    )


@pytest.mark.parametrize("shape", [(), (1,), (6,), (2, 3)])
def test_prod_of_all_elements_equals_torch(shape: Any, agrees_with_torch: AgreesWithTorch) -> None:
    agrees_with_torch(vkml.prod, torch.prod, numbers(*shape))


@pytest.mark.parametrize("zeros", [1, 2, 3])
def test_derivatives_are_right_where_elements_are_zero(
    zeros: int, agrees_with_torch: AgreesWithTorch
) -> None:
    x = numbers(2, 5, dtype=np.float64)
    x[0, :zeros] = 0

    agrees_with_torch(lambda x: vkml.prod(x, 1), lambda x: torch.prod(x, 1), x)


def test_prod_over_several_axes_is_that_over_each_in_turn() -> None:
    x = vkml.tensor(numbers(3, 4, 5), requires_grad=True)
    y = vkml.tensor(numbers(3, 4, 5), requires_grad=True)

    together, in_turn = vkml.prod(x, (0, 2)), vkml.prod(vkml.prod(y, 2), 0)
    together.sum().backward()
    in_turn.sum().backward()

    np.testing.assert_allclose(together.detach().numpy(), in_turn.detach().numpy(), rtol=1e-5)
    assert x.grad is not None
    assert y.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-5)


def test_prod_of_integers_is_int64() -> None:
    result = vkml.prod(vkml.full((3,), 100, dtype="uint8"))

    assert result.dtype is vkml.int64
    assert result.item() == 1_000_000


def test_prod_of_nothing_is_1() -> None:
    assert vkml.prod(vkml.zeros(0)).item() == 1
