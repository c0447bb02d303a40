from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import vkml
from vkml.ops.definition import OPERATIONS


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(7).standard_normal(shape).astype(dtype)


def test_dropout_of_seed_7_keeps_these() -> None:
    result = vkml.dropout(vkml.ones(8), 0.5, generator=vkml.Generator(7))

    assert result.tolist() == [2, 0, 0, 0, 0, 0, 2, 0]


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5, 1 / 3, 0.9])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dropout_keeps_where_the_uniform_number_reaches_p(p: float, dtype: str) -> None:
    x = vkml.tensor(numbers(40, 500), dtype=dtype)
    uniform = vkml.rand(40, 500, generator=vkml.Generator(3)).numpy()

    result = vkml.dropout(x, p, generator=vkml.Generator(3))

    assert result.dtype.name == dtype
    expected = np.where(uniform >= np.float32(p), x.numpy().astype(np.float64) / (1 - p), 0)
    assert_allclose(result.numpy(), expected, rtol=2e-3 if dtype == "float16" else 1e-6)


def test_a_number_equal_to_p_is_kept() -> None:
    p = float(vkml.rand(1, generator=vkml.Generator(3)).item())

    assert vkml.dropout(vkml.ones(1), p, generator=vkml.Generator(3)).item() > 0


def test_dropped_values_are_0_even_if_not_finite() -> None:
    result = vkml.dropout(vkml.full((8,), np.nan), 0.5, generator=vkml.Generator(7))

    assert np.isnan(result.numpy()).tolist() == [True, *[False] * 5, True, False]


def test_the_gradient_passes_where_elements_were_kept() -> None:
    x = vkml.tensor(numbers(3, 50), requires_grad=True)

    result = vkml.dropout(x, 0.4)
    result.backward(vkml.full((3, 50), 3.0))

    kept = result.detach().numpy() != 0
    assert x.grad is not None
    assert_allclose(x.grad.numpy(), np.where(kept, 3 / 0.6, 0), rtol=1e-6)


def test_the_gradient_can_be_differentiated_again() -> None:
    x = vkml.tensor(numbers(20, dtype=np.float64), requires_grad=True)
    result = vkml.dropout(x, 0.5, generator=vkml.Generator(7))
    (first,) = vkml.autograd.grad((result**3).sum(), x, create_graph=True)

    assert first is not None
    (second,) = vkml.autograd.grad(first.sum(), x)

    kept = result.detach().numpy() != 0
    assert second is not None
    assert_allclose(second.numpy(), np.where(kept, 6 * 8 * x.detach().numpy(), 0))


def test_a_transposed_tensor_drops_by_its_own_order() -> None:
    x = vkml.tensor(numbers(30, 20)).T

    strided = vkml.dropout(x, generator=vkml.Generator(5))
    packed = vkml.dropout(x.contiguous(), generator=vkml.Generator(5))

    assert_array_equal(strided.numpy(), packed.numpy())


@pytest.mark.parametrize("shape", [(), (0, 3), (5,)])
def test_the_fused_kernel_equals_its_decomposition(shape: Any) -> None:
    operation = OPERATIONS["dropout"]
    x = np.asarray(numbers(*shape))

    assert operation.cpu is not None
    assert operation.decomposition is not None
    fused = operation.cpu(x, 0.3, 11, 2)
    composed = operation.decomposition(vkml.device("cpu").raw, x, 0.3, 11, 2)

    for mine, other in zip(fused, composed, strict=True):
        assert_array_equal(mine, other)


def test_the_mean_stays() -> None:
    result = vkml.dropout(vkml.ones(100_000), 0.2, generator=vkml.Generator(1))

    assert abs(result.mean().item() - 1) < 0.01


def test_p_of_1_drops_everything() -> None:
    x = vkml.ones(5, requires_grad=True)

    result = vkml.dropout(x, 1.0)
    result.sum().backward()

    assert result.tolist() == [0] * 5
    assert x.grad is not None
    assert x.grad.tolist() == [0] * 5


def test_without_training_the_input_comes_back_and_nothing_is_drawn() -> None:
    source = vkml.Generator(1)
    x = vkml.ones(5)

    assert vkml.dropout(x, 0.5, training=False, generator=source) is x
    assert source.take() == (1, 0)


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_p_outside_0_and_1_is_refused(p: float) -> None:
    with pytest.raises(vkml.ArgumentError, match=r"dropout: p is"):
        vkml.dropout(vkml.ones(2), p)


def test_integers_are_refused() -> None:
    with pytest.raises(vkml.DTypeError, match=r"dropout: expected floating-point"):
        vkml.dropout(vkml.ones(2, dtype="int64"))
