from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vkml.backends.cpu_kernels.batch_normalization import (
    batch_norm_backward,
    batch_norm_eval,
    batch_norm_train,
)

torch = pytest.importorskip("torch")
SHAPES = [(6, 3), (4, 3, 5), (3, 2, 4, 5), (2, 3, 12, 13), (40, 64, 8, 8), (2, 1, 2, 3, 4)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("affine", [True, False])
def test_batch_norm_and_its_gradients_equal_torch(
    shape: Any, affine: bool, dtype: Any, layout: Any, close: Any, rng: Any
) -> None:
    x, g = (layout(rng.normal(size=shape).astype(dtype)) for _ in range(2))
    w, b = (rng.normal(size=shape[1]).astype(dtype) if affine else None for _ in range(2))

    y, mean, variance, rstd = batch_norm_train(x, w, b, 1e-5)
    gradients = batch_norm_backward(g, x, w, mean, rstd, (True, affine, affine))

    tx, tw, tb = (None if a is None else torch.tensor(a, requires_grad=True) for a in (x, w, b))
    ty = torch.nn.functional.batch_norm(tx, None, None, tw, tb, True, 0.1, 1e-5)
    ty.backward(torch.tensor(g))
    axes = (0, *range(2, x.ndim))
    close(y, ty)
    close(mean, x.mean(axes))
    close(variance, x.var(axes))
    close(rstd, (1 / np.sqrt(x.var(axes) + 1e-5)).astype(dtype))
    for actual, leaf in zip(gradients, (tx, tw, tb), strict=True):
        if leaf is not None:
            close(actual, leaf.grad, 20)


@pytest.mark.parametrize("shape", [*SHAPES, (0, 3, 4)])
@pytest.mark.parametrize("affine", [True, False])
def test_batch_norm_of_evaluation_equals_torch(
    shape: Any, affine: bool, dtype: Any, layout: Any, close: Any, rng: Any
) -> None:
    x = layout(rng.normal(size=shape).astype(dtype))
    mean, variance = (
        rng.normal(size=shape[1]).astype(dtype),
        rng.uniform(1, 2, shape[1]).astype(dtype),
    )
    w, b = (rng.normal(size=shape[1]).astype(dtype) if affine else None for _ in range(2))

    y = batch_norm_eval(x, mean, variance, w, b, 1e-5)

    statistics = torch.tensor(mean), torch.tensor(variance)
    parameters = (None if a is None else torch.tensor(a) for a in (w, b))
    close(y, torch.nn.functional.batch_norm(torch.tensor(x), *statistics, *parameters, eps=1e-5))


@pytest.mark.parametrize(
    "needs", [(False, False, True), (False, True, False), (True, False, False)]
)
def test_batch_norm_backward_gives_none_where_not_needed(needs: Any, rng: Any) -> None:
    x = rng.normal(size=(4, 3, 5)).astype("f4")
    _, mean, _, rstd = batch_norm_train(x, None, None, 1e-5)

    gradients = batch_norm_backward(x, x, None, mean, rstd, needs)

    assert tuple(gradient is not None for gradient in gradients) == needs


def test_batch_norm_keeps_five_digits_under_a_large_mean(rng: Any) -> None:
    x = (1000 + rng.normal(size=(8, 4, 20, 20))).astype(np.float32)

    y, _, _, _ = batch_norm_train(x, None, None, 1e-5)

    exact = x.astype(np.float64)
    exact -= exact.mean((0, 2, 3), keepdims=True)
    exact /= np.sqrt((exact**2).mean((0, 2, 3), keepdims=True) + 1e-5)
    np.testing.assert_allclose(y, exact, rtol=1e-5, atol=1e-5)
