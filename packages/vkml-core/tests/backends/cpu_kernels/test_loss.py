from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vkml.backends.cpu_kernels.loss import (
    cross_entropy,
    cross_entropy_backward,
    mse_loss,
    mse_loss_backward,
)

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("shape", [(4,), (6, 5), (200, 10), (3, 4, 7), (2, 3, 4, 5), (0, 3)])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("ignore_index", [-100, 1])
def test_cross_entropy_and_its_gradient_equal_torch(
    shape: Any,
    reduction: str,
    weighted: bool,
    smoothing: float,
    ignore_index: int,
    dtype: Any,
    layout: Any,
    close: Any,
    rng: Any,
) -> None:
    classes = shape[0] if len(shape) == 1 else shape[1]
    logits = layout(3 * rng.normal(size=shape).astype(dtype))
    target = np.asarray(
        rng.integers(0, classes, (*shape[:1], *shape[2:]) if len(shape) > 1 else ())
    )
    if ignore_index == -100 and target.ndim:
        target[::3] = -100
    weight = rng.uniform(0.5, 2, classes).astype(dtype) if weighted else None
    options = (reduction, ignore_index, smoothing)

    loss, exponentials, sums = cross_entropy(logits, target, weight, *options)
    g = np.asarray(rng.normal(size=loss.shape), dtype)
    dx = cross_entropy_backward(g, logits, target, weight, exponentials, sums, *options)

    tx = torch.tensor(logits, requires_grad=True)
    expected = torch.nn.functional.cross_entropy(
        tx,
        torch.tensor(target),
        None if weight is None else torch.tensor(weight),
        reduction=reduction,
        ignore_index=ignore_index,
        label_smoothing=smoothing,
    )
    expected.backward(torch.tensor(g))
    close(loss, expected, 2)
    close(dx, tx.grad, 2)


def test_cross_entropy_mean_over_no_valid_target_is_nan(close: Any) -> None:
    loss, *_ = cross_entropy(np.zeros((2, 3), "f4"), np.full(2, -100), None, "mean", -100, 0.0)

    close(loss, np.float32(np.nan))


def test_cross_entropy_ignores_rows_with_infinite_loss() -> None:
    logits = np.array([[0, -np.inf], [0, 0]], "f4")

    loss, *_ = cross_entropy(logits, np.array([1, 0]), None, "none", -100, 0.0)
    ignored, *_ = cross_entropy(logits, np.array([1, 0]), None, "none", 1, 0.0)

    assert loss[0] == np.inf
    assert ignored[0] == 0


@pytest.mark.parametrize("value", [3, -1])
def test_cross_entropy_names_a_target_out_of_range(value: int) -> None:
    with pytest.raises(IndexError, match=rf"target {value} .*3 classes.*ignore_index \(-100\)"):
        cross_entropy(np.zeros((2, 3), "f4"), np.array([0, value]), None, "mean", -100, 0.0)


@pytest.mark.parametrize("shape", [(), (3,), (4, 5), (0, 2)])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_mse_loss_and_its_gradient_equal_torch(
    shape: Any, reduction: str, dtype: Any, layout: Any, close: Any, rng: Any
) -> None:
    x, y = (layout(np.asarray(rng.normal(size=shape), dtype)) for _ in range(2))

    loss = mse_loss(x, y, reduction)
    g = np.asarray(rng.normal(size=loss.shape), dtype)
    dx = mse_loss_backward(g, x, y, reduction)

    tx = torch.tensor(x, requires_grad=True)
    expected = torch.nn.functional.mse_loss(tx, torch.tensor(y), reduction=reduction)
    expected.backward(torch.tensor(g))
    close(loss, expected)
    close(dx, tx.grad)
