from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vkml.backends.cpu_kernels.pooling import (
    avg_pool2d,
    avg_pool2d_backward,
    max_pool2d,
    max_pool2d_backward,
)

torch = pytest.importorskip("torch")

# x shape, kernel, stride, padding, dilation, ceil_mode
CASES: list[tuple[Any, ...]] = [
    ((2, 3, 6, 8), (2, 2), (2, 2), (0, 0), (1, 1), False),
    ((2, 3, 7, 5), (2, 2), (2, 2), (0, 0), (1, 1), False),
    ((2, 3, 7, 5), (2, 2), (2, 2), (0, 0), (1, 1), True),
    ((2, 3, 7, 6), (3, 3), (2, 2), (1, 1), (1, 1), False),
    ((2, 3, 7, 6), (3, 3), (2, 2), (1, 1), (1, 1), True),
    ((2, 3, 8, 9), (3, 2), (1, 3), (1, 0), (1, 1), False),
    ((2, 3, 8, 9), (3, 2), (1, 3), (1, 1), (1, 1), True),
    ((3, 7, 6), (3, 3), (1, 1), (1, 1), (1, 1), False),
    ((0, 3, 6, 6), (2, 2), (2, 2), (0, 0), (1, 1), False),
]
DILATED: list[tuple[Any, ...]] = [
    ((2, 3, 9, 10), (3, 2), (2, 1), (1, 1), (2, 3), ceil) for ceil in (True, False)
]


@pytest.mark.parametrize(
    ("shape", "kernel", "stride", "padding", "dilation", "ceil"), CASES + DILATED
)
@pytest.mark.parametrize("ties", [True, False])
def test_max_pool2d_its_indices_and_its_gradient_equal_torch(
    shape: Any,
    kernel: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil: bool,
    ties: bool,
    dtype: Any,
    layout: Any,
    close: Any,
    rng: Any,
) -> None:
    x = layout((rng.integers(0, 3, shape) if ties else rng.normal(size=shape)).astype(dtype))
    options = (kernel, stride, padding, dilation, ceil)

    y, none = max_pool2d(x, *options)
    _, indices = max_pool2d(x, *options, True)
    g = layout(rng.normal(size=y.shape).astype(dtype))
    dx = max_pool2d_backward(g, x, y, None, *options)
    from_indices = max_pool2d_backward(g, x, y, indices, *options)

    tx = torch.tensor(x, requires_grad=True)
    ty, expected = torch.nn.functional.max_pool2d(
        tx, kernel, stride, padding, dilation, ceil, return_indices=True
    )
    ty.backward(torch.tensor(g))
    assert none is None
    close(y, ty)
    close(indices, expected)
    close(dx, tx.grad)
    close(from_indices, tx.grad)


@pytest.mark.parametrize("kernel", [2, 3])
def test_max_pool2d_lets_the_last_nan_win_as_torch_does(kernel: int, close: Any) -> None:
    x = np.zeros((1, 1, 6, 6), "f4")
    x[0, 0, 0, 0] = x[0, 0, 0, 1] = x[0, 0, 3, 2] = np.nan
    pair = (kernel, kernel)

    y, indices = max_pool2d(x, pair, pair, (0, 0), (1, 1), False, True)
    dx = max_pool2d_backward(np.ones_like(y), x, y, None, pair, pair, (0, 0), (1, 1), False)

    tx = torch.tensor(x, requires_grad=True)
    ty, expected = torch.nn.functional.max_pool2d(tx, kernel, return_indices=True)
    ty.backward(torch.ones_like(ty))
    close(y, ty)
    close(indices, expected)
    close(dx, tx.grad)


def test_max_pool2d_of_minus_infinity_points_into_the_input(close: Any) -> None:
    x = np.full((1, 1, 4, 4), -np.inf, "f4")
    options = ((3, 3), (2, 2), (1, 1), (1, 1), False)

    y, indices = max_pool2d(x, *options, True)

    expected = torch.nn.functional.max_pool2d(torch.tensor(x), 3, 2, 1, return_indices=True)
    close(y, expected[0])
    close(indices, expected[1])


@pytest.mark.parametrize(("shape", "kernel", "stride", "padding", "_dilation", "ceil"), CASES)
@pytest.mark.parametrize("include", [True, False])
def test_avg_pool2d_and_its_gradient_equal_torch(
    shape: Any,
    kernel: Any,
    stride: Any,
    padding: Any,
    _dilation: Any,
    ceil: bool,
    include: bool,
    dtype: Any,
    layout: Any,
    close: Any,
    rng: Any,
) -> None:
    x = layout(rng.normal(size=shape).astype(dtype))
    options = (kernel, stride, padding, ceil, include)

    y = avg_pool2d(x, *options)
    g = layout(rng.normal(size=y.shape).astype(dtype))
    dx = avg_pool2d_backward(g, shape, *options)

    tx = torch.tensor(x, requires_grad=True)
    ty = torch.nn.functional.avg_pool2d(tx, *options)
    ty.backward(torch.tensor(g))
    close(y, ty)
    close(dx, tx.grad)


def test_pooling_of_float16_is_float16() -> None:
    x = np.ones((1, 4, 4), np.float16)

    assert max_pool2d(x, (2, 2), (2, 2), (0, 0), (1, 1), False)[0].dtype == np.float16
    assert avg_pool2d(x, (2, 2), (2, 2), (0, 0), False, True).dtype == np.float16


def test_max_pool2d_backward_of_windows_in_the_padding_gives_nothing(rng: Any) -> None:
    x = rng.normal(size=(2, 2, 9))
    options = ((2, 3), (1, 4), (1, 0), (3, 2), False)

    y, indices = max_pool2d(x, *options, True)
    dx = max_pool2d_backward(np.ones_like(y), x, y, None, *options)
    from_indices = max_pool2d_backward(np.ones_like(y), x, y, indices, *options)

    assert (y == -np.inf).all()
    assert not dx.any()
    assert not from_indices.any()
