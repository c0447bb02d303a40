from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vkml.backends.cpu_kernels.normalization import (
    layer_norm,
    layer_norm_backward,
    rms_norm,
    rms_norm_backward,
)

torch = pytest.importorskip("torch")
SHAPES = [((5,), 1), ((4, 7), 1), ((300, 256), 1), ((2, 3, 4), 2), ((2, 3, 4), 1), ((0, 4), 1)]


@pytest.mark.parametrize(("shape", "ndim"), SHAPES)
@pytest.mark.parametrize("affine", [True, False])
def test_layer_norm_and_its_gradients_equal_torch(
    shape: Any, ndim: int, affine: bool, dtype: Any, layout: Any, close: Any, rng: Any
) -> None:
    x, g = (layout(rng.normal(size=shape).astype(dtype)) for _ in range(2))
    inner = shape[len(shape) - ndim :]
    w, b = (rng.normal(size=inner).astype(dtype) if affine else None for _ in range(2))

    y, mean, rstd = layer_norm(x, w, b, ndim, 1e-5)
    gradients = layer_norm_backward(g, x, w, mean, rstd, ndim, (True, affine, affine))

    tx, tw, tb = (None if a is None else torch.tensor(a, requires_grad=True) for a in (x, w, b))
    ty = torch.nn.functional.layer_norm(tx, inner, tw, tb, 1e-5)
    ty.backward(torch.tensor(g))
    close(y, ty)
    for actual, leaf in zip(gradients, (tx, tw, tb), strict=True):
        assert (actual is None) == (leaf is None)
        if leaf is not None:
            close(actual, leaf.grad, 20)


@pytest.mark.parametrize(("shape", "ndim"), SHAPES)
@pytest.mark.parametrize("affine", [True, False])
def test_rms_norm_and_its_gradients_equal_torch(
    shape: Any, ndim: int, affine: bool, dtype: Any, layout: Any, close: Any, rng: Any
) -> None:
    x, g = (layout(rng.normal(size=shape).astype(dtype)) for _ in range(2))
    inner = shape[len(shape) - ndim :]
    w = rng.normal(size=inner).astype(dtype) if affine else None

    y, rstd = rms_norm(x, w, ndim, 1e-5)
    dx, dw = rms_norm_backward(g, x, w, rstd, ndim, (True, affine))

    tx = torch.tensor(x, requires_grad=True)
    tw = None if w is None else torch.tensor(w, requires_grad=True)
    ty = torch.nn.functional.rms_norm(tx, inner, tw, 1e-5)
    ty.backward(torch.tensor(g))
    close(y, ty)
    close(dx, tx.grad, 20)
    if tw is not None:
        close(dw, tw.grad, 20)


@pytest.mark.parametrize("size", [64, 1000])
def test_layer_norm_keeps_five_digits_under_a_large_mean(size: int, rng: Any) -> None:
    x = (1000 + rng.normal(size=(100, size))).astype(np.float32)

    y, _, _ = layer_norm(x, None, None, 1, 1e-5)

    exact = x.astype(np.float64)
    exact -= exact.mean(1, keepdims=True)
    exact /= np.sqrt((exact**2).mean(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(y, exact, rtol=1e-5, atol=1e-5)


def test_layer_norm_returns_statistics_for_each_row(close: Any) -> None:
    x = np.array([[1, 2, 3], [4, 4, 4]], "f4")

    _, mean, rstd = layer_norm(x, None, None, 1, 0.25)

    close(mean, np.array([[2], [4]], "f4"))
    close(rstd, np.array([[1 / np.sqrt(2 / 3 + 0.25)], [2]], "f4"))


def test_layer_norm_of_one_nan_spoils_only_its_row() -> None:
    x = np.array([[1, np.nan, 3], [1, 2, 3]], "f4")

    y, _, _ = layer_norm(x, None, None, 1, 1e-5)

    assert np.isnan(y[0]).all()
    assert np.isfinite(y[1]).all()
