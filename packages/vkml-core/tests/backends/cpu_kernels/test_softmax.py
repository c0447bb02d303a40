from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vkml.backends.cpu_kernels.softmax import (
    log_softmax,
    log_softmax_backward,
    logsumexp,
    softmax,
    softmax_backward,
)

torch = pytest.importorskip("torch")

CASES = [
    ((), 0),
    ((1,), 0),
    ((7,), -1),
    ((3, 5), 1),
    ((100, 10), 1),
    ((100, 33), -1),
    ((70, 130), 1),
    ((2, 5000), 1),
    ((4, 6), 0),
    ((3, 4, 5), 1),
    ((3, 4, 40), 1),
    ((0, 4), 1),
    ((4, 0), 1),
    ((0, 4), 0),
]


@pytest.mark.parametrize(("shape", "dim"), CASES)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_and_its_gradient_equal_torch(
    name: str, shape: Any, dim: int, dtype: Any, layout: Any, close: Any, rng: Any
) -> None:
    x, g = (layout(np.asarray(5 * rng.normal(size=shape), dtype)) for _ in range(2))
    forward, backward = (
        (softmax, softmax_backward) if name == "softmax" else (log_softmax, log_softmax_backward)
    )

    y = forward(x, dim)
    dx = backward(g, y, dim)

    tx = torch.tensor(x, requires_grad=True)
    ty = getattr(torch, name)(tx, dim)
    ty.backward(torch.tensor(g))
    close(y, ty)
    close(dx, tx.grad, 30)


@pytest.mark.parametrize("rows", [1, 200])
def test_softmax_keeps_nan_and_infinity_as_torch_does(rows: int, close: Any) -> None:
    inf, nan = np.inf, np.nan
    edges = np.array(
        [[1, nan, 2], [-inf, -inf, -inf], [inf, 1, 2], [-inf, 1, 2], [1e30, -1e30, 0]], "f4"
    )
    x = np.repeat(edges, rows, axis=0)

    close(softmax(x, 1), torch.softmax(torch.tensor(x), 1))
    close(log_softmax(x, 1), torch.log_softmax(torch.tensor(x), 1))
    close(softmax(x.T, 0), torch.softmax(torch.tensor(x.T), 0))


@pytest.mark.parametrize("dims", [(0,), (1,), (2,), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("keepdim", [True, False])
def test_logsumexp_equals_torch(
    dims: Any, keepdim: bool, dtype: Any, layout: Any, close: Any, rng: Any
) -> None:
    x = layout(100 * rng.normal(size=(3, 4, 5)).astype(dtype))

    close(logsumexp(x, dims, keepdim), torch.logsumexp(torch.tensor(x), dims, keepdim))


def test_logsumexp_of_infinities_nan_and_nothing_equals_torch(close: Any) -> None:
    inf = np.inf
    x = np.array([[-inf, -inf], [inf, 1], [inf, -inf], [np.nan, 1], [inf, inf]], "f4")

    close(logsumexp(x, (1,), False), torch.logsumexp(torch.tensor(x), 1))
    close(logsumexp(x[:, :0], (1,), True), torch.logsumexp(torch.tensor(x[:, :0]), 1, True))
    close(logsumexp(np.float32(3.0), (), False), np.float32(3.0))  # type: ignore[arg-type]


def test_softmax_of_float16_is_float16() -> None:
    y = softmax(np.zeros((2, 4), np.float16), 1)

    assert y.dtype == np.float16
    assert (y == 0.25).all()
