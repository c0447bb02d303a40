from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vkml.backends.cpu_kernels.convolution import (
    conv2d,
    conv2d_input_gradient,
    conv2d_weight_gradient,
)

torch = pytest.importorskip("torch")

# x shape, weight shape, stride, padding, dilation, groups
CASES = [
    ((2, 3, 6, 7), (4, 3, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((2, 3, 6, 7), (40, 3, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((2, 3, 9, 8), (4, 3, 3, 2), (2, 3), (2, 1), (1, 2), 1),
    ((3, 1, 5, 5), (16, 1, 3, 3), (1, 1), (0, 0), (1, 1), 1),
    ((2, 32, 6, 7), (5, 32, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((9, 40, 4, 4), (48, 40, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((2, 32, 9, 8), (6, 32, 3, 3), (2, 2), (1, 1), (1, 1), 1),
    ((2, 32, 9, 11), (6, 32, 3, 2), (3, 2), (2, 0), (2, 3), 1),
    ((2, 16, 8, 8), (6, 16, 4, 4), (2, 2), (1, 1), (1, 1), 1),
    ((2, 32, 5, 5), (6, 32, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    ((2, 32, 5, 6), (6, 32, 1, 1), (2, 2), (0, 0), (1, 1), 1),
    ((2, 3, 5, 6), (6, 3, 1, 1), (1, 1), (1, 2), (1, 1), 1),
    ((2, 6, 6, 7), (4, 3, 3, 3), (1, 1), (1, 1), (1, 1), 2),
    ((2, 64, 6, 7), (4, 32, 3, 3), (2, 1), (1, 1), (1, 1), 2),
    ((2, 6, 6, 7), (4, 3, 1, 1), (1, 1), (0, 0), (1, 1), 2),
    ((2, 5, 6, 7), (5, 1, 3, 3), (1, 1), (1, 1), (1, 1), 5),
    ((2, 5, 9, 8), (5, 1, 3, 2), (2, 3), (2, 1), (2, 1), 5),
    ((2, 5, 6, 7), (10, 1, 3, 3), (1, 1), (1, 1), (1, 1), 5),
    ((1, 2, 3, 3), (2, 2, 3, 3), (1, 1), (4, 5), (1, 1), 1),
    ((2, 32, 4, 4), (3, 32, 1, 1), (3, 3), (2, 2), (1, 1), 1),
    ((0, 3, 6, 7), (4, 3, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((300, 16, 7, 7), (32, 16, 3, 3), (1, 1), (1, 1), (1, 1), 1),
]


@pytest.mark.parametrize(("shape", "weight", "stride", "padding", "dilation", "groups"), CASES)
@pytest.mark.parametrize("biased", [True, False])
def test_conv2d_and_its_gradients_equal_torch(
    shape: Any,
    weight: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    biased: bool,
    dtype: Any,
    layout: Any,
    close: Any,
    rng: Any,
) -> None:
    x, w = (layout(rng.normal(size=s).astype(dtype)) for s in (shape, weight))
    b = rng.normal(size=weight[0]).astype(dtype) if biased else None
    options = (stride, padding, dilation, groups)

    y, columns = conv2d(x, w, b, *options)
    g = layout(rng.normal(size=y.shape).astype(dtype))
    dx = conv2d_input_gradient(g, w, shape, *options)
    dw = conv2d_weight_gradient(g, x, columns, weight, *options)
    without_columns = conv2d_weight_gradient(g, x, None, weight, *options)

    tx, tw = (torch.tensor(a, requires_grad=True) for a in (x, w))
    tb = None if b is None else torch.tensor(b)
    ty = torch.nn.functional.conv2d(tx, tw, tb, stride, padding, dilation, groups)
    ty.backward(torch.tensor(g))
    close(y, ty, 10)
    close(dx, tx.grad, 10)
    close(dw, tw.grad, 50)
    close(without_columns, tw.grad, 50)


def test_conv2d_keeps_columns_no_larger_than_the_result(rng: Any) -> None:
    x = rng.normal(size=(4, 1, 8, 8)).astype("f4")

    y, columns = conv2d(x, np.ones((16, 1, 3, 3), "f4"), None, (1, 1), (1, 1), (1, 1), 1)
    _, none = conv2d(x, np.ones((2, 1, 3, 3), "f4"), None, (1, 1), (1, 1), (1, 1), 1)

    assert columns is not None
    assert columns.nbytes <= y.nbytes
    assert none is None


@pytest.mark.parametrize("channels", [2, 64])
def test_conv2d_gradient_of_a_padding_beyond_the_kernel_equals_torch(
    channels: int, close: Any, rng: Any
) -> None:
    shape = (2, channels, 3, 3)
    x, w = rng.normal(size=shape), rng.normal(size=(channels, channels, 2, 2))
    options = ((1, 1), (3, 3), (1, 1), 1)

    y, _ = conv2d(x, w, None, *options)
    dx = conv2d_input_gradient(y, w, shape, *options)

    tx = torch.tensor(x, requires_grad=True)
    ty = torch.nn.functional.conv2d(tx, torch.tensor(w), padding=3)
    ty.backward(ty.detach())
    close(dx, tx.grad, 10)


def test_conv2d_of_float16_is_float16() -> None:
    x, w = np.ones((1, 2, 3, 3), np.float16), np.ones((2, 2, 3, 3), np.float16)

    y, _ = conv2d(x, w, None, (1, 1), (0, 0), (1, 1), 1)

    assert y.dtype == np.float16
    assert (y == 18).all()
