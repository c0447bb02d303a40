from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vkml.backends.cpu_kernels import reduction

torch = pytest.importorskip("torch")

SHAPES = [((5,), (0,)), ((3, 4, 5), (1,)), ((3, 4, 5), (0, 2)), ((3, 4, 5), (0, 1, 2))]
LARGE = [
    ((40, 50), (1,)),
    ((40, 50), (0,)),
    ((3, 5001), (1,)),
    ((5001, 3), (0,)),
    ((4097, 2), (0, 1)),
    ((6, 7, 8, 9), (0, 2, 3)),
    ((6, 7, 8, 9), (0, 2)),
    ((6, 7, 8, 9), (1, 2)),
    ((100, 100), (0, 1)),
]


@pytest.mark.parametrize(("shape", "dims"), [*SHAPES, *LARGE])
@pytest.mark.parametrize("keepdim", [True, False])
def test_sum_mean_and_variance_equal_torch(
    shape: Any, dims: Any, keepdim: bool, dtype: Any, layout: Any, close: Any, rng: Any
) -> None:
    x = layout(rng.normal(size=shape).astype(dtype) + 1)

    tx = torch.tensor(x)
    close(reduction.sum(x, dims, keepdim), tx.sum(dims, keepdim), 10)
    close(reduction.mean(x, dims, keepdim), tx.mean(dims, keepdim))
    close(reduction.var(x, dims, 1.0, keepdim), tx.var(dims, correction=1, keepdim=keepdim))
    close(reduction.var(x, dims, 0.0, keepdim), tx.var(dims, correction=0, keepdim=keepdim))


@pytest.mark.parametrize(("shape", "dims"), SHAPES)
@pytest.mark.parametrize("keepdim", [True, False])
def test_extremes_products_and_truths_equal_torch(
    shape: Any, dims: Any, keepdim: bool, dtype: Any, layout: Any, close: Any, rng: Any
) -> None:
    x = layout(np.round(rng.normal(size=shape)).astype(dtype))

    tx = torch.tensor(x)
    expected = tx
    for dim in reversed(dims):
        expected = expected.prod(dim, keepdim)
    close(reduction.prod(x, dims, keepdim), expected)
    close(reduction.amax(x, dims, keepdim), tx.amax(dims, keepdim))
    close(reduction.amin(x, dims, keepdim), tx.amin(dims, keepdim))
    assert np.array_equal(reduction.any(x, dims, keepdim), tx.any(dims, keepdim))
    assert np.array_equal(reduction.all(x, dims, keepdim), tx.all(dims, keepdim))


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("keepdim", [True, False])
def test_positions_of_extremes_equal_torch(
    name: str, dim: int, keepdim: bool, dtype: Any, layout: Any, close: Any, rng: Any
) -> None:
    x = layout(rng.normal(size=(3, 4, 5)).astype(dtype))

    values, positions = getattr(reduction, f"{name}_dim")(x, dim, keepdim)

    expected = getattr(torch.tensor(x), name)(dim, keepdim)
    close(values, expected.values)
    close(positions, expected.indices)
    close(getattr(reduction, f"arg{name}")(x, dim, keepdim), expected.indices)


@pytest.mark.parametrize("keepdim", [True, False])
def test_position_in_the_flat_array_equals_torch(
    keepdim: bool, layout: Any, close: Any, rng: Any
) -> None:
    x = layout(rng.normal(size=(3, 4)))

    close(reduction.argmax(x, None, keepdim), torch.tensor(x).argmax(None, keepdim))
    close(reduction.argmin(x, None, keepdim), torch.tensor(x).argmin(None, keepdim))


def test_first_nan_wins_every_extreme(close: Any) -> None:
    x = np.array([[1, np.nan, 3, np.nan], [2, 2, 1, 1]], "f4")

    close(reduction.argmax(x, 1, False), np.array([1, 0]))
    close(reduction.argmin(x, 1, False), np.array([1, 2]))
    close(reduction.amax(x, (1,), False), np.array([np.nan, 2], "f4"))
    close(reduction.amin(x, (1,), False), np.array([np.nan, 1], "f4"))
    close(reduction.max_dim(x, 1, False)[0], np.array([np.nan, 2], "f4"))


@pytest.mark.parametrize("kind", [np.bool_, np.int8, np.uint8, np.int32, np.int64])
def test_integers_reduce_to_int64(kind: Any, close: Any) -> None:
    x = np.array([[1, 0, 1], [1, 1, 1]]).astype(kind)

    close(reduction.sum(x, (1,), False), np.array([2, 3]))
    close(reduction.prod(x, (1,), False), np.array([0, 1]))
    close(reduction.cumsum(x, 1), np.array([[1, 1, 2], [1, 2, 3]]))
    close(reduction.amax(x, (0, 1), False), np.ones((), kind))


def test_no_axes_reduce_nothing_and_give_a_fresh_array(rng: Any) -> None:
    for size in (3, 3000):
        x = rng.normal(size=size)
        for kernel in (
            reduction.sum,
            reduction.mean,
            reduction.prod,
            reduction.amax,
            reduction.amin,
        ):
            y = kernel(x, (), False)
            assert np.array_equal(y, x)
            assert not np.shares_memory(y, x)


def test_scalars_reduce_to_scalars(close: Any) -> None:
    x: Any = np.float32(3)

    close(reduction.sum(x, (), False), x)
    close(reduction.mean(x, (), True), x)
    close(reduction.amax(x, (), False), x)
    close(reduction.argmax(x, 0, False), np.int64(0))
    close(reduction.argmin(x, None, True), np.int64(0))
    close(reduction.cumsum(x, 0), x)
    values, position = reduction.max_dim(x, 0, False)
    close(values, x)
    close(position, np.int64(0))
    close(reduction.var(x, (), 0.0, False), np.float32(0))


def test_reductions_of_nothing_equal_torch(close: Any) -> None:
    x = np.zeros((0, 3), "f4")

    close(reduction.sum(x, (0,), False), np.zeros(3, "f4"))
    close(reduction.mean(x, (0,), False), np.full(3, np.nan, "f4"))
    close(reduction.prod(x, (0,), False), np.ones(3, "f4"))
    close(reduction.var(x, (0,), 1.0, False), np.full(3, np.nan, "f4"))
    close(reduction.var(np.ones((1, 3), "f4"), (0,), 1.0, False), np.full(3, np.nan, "f4"))
    assert not reduction.any(x, (0,), False).any()
    assert reduction.all(x, (0,), False).all()
    assert reduction.sum(x, (1,), False).shape == (0,)
    assert reduction.cumsum(x, 0).shape == (0, 3)


@pytest.mark.parametrize("dim", [0, 1])
def test_cumsum_equals_torch(dim: int, dtype: Any, layout: Any, close: Any, rng: Any) -> None:
    x = layout(rng.normal(size=(6, 7)).astype(dtype))

    close(reduction.cumsum(x, dim), torch.cumsum(torch.tensor(x), dim))


def test_sum_of_many_equal_values_keeps_six_digits() -> None:
    x = np.full((1000, 1000), 0.1, np.float32)

    for dims in ((0, 1), (0,), (1,)):
        exact = np.float64(x[0, 0]) * np.prod([x.shape[axis] for axis in dims])
        np.testing.assert_allclose(reduction.sum(x, dims, False), exact, rtol=2e-6)


def test_sum_of_float16_accumulates_in_float32() -> None:
    x = np.ones(4096, np.float16)

    assert reduction.sum(x, (0,), False) == 4096
    assert reduction.sum(x, (0,), False).dtype == np.float16
    assert reduction.argmax(x, 0, False).dtype == np.int64
    assert reduction.max_dim(x, 0, False)[0].dtype == np.float16


def test_infinity_sums_to_infinity_or_nan() -> None:
    x = np.zeros((2, 2000), "f4")
    x[0, 3] = np.inf
    x[1, :2] = np.inf, -np.inf

    y = reduction.sum(x, (1,), False)

    assert y[0] == np.inf
    assert np.isnan(y[1])
