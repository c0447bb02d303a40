"""The gradient of the mean squared error on the device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vkml


def gradients(on: Any, x: Any, y: Any, reduction: str) -> list[Any]:
    leaves = [vkml.tensor(each).to(on).requires_grad_() for each in (x, y)]
    loss = vkml.mse_loss(*leaves, reduction=reduction)
    upstream = vkml.full(loss.shape, 1.5, dtype=loss.dtype, device=on)
    found: tuple[Any, ...] = vkml.autograd.grad(loss, leaves, upstream)
    return [each.cpu().numpy() for each in found]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize(
    "shapes",
    [((3, 5), (3, 5)), ((100_003,), (100_003,)), ((4, 3, 5), (3, 1)), ((), ()), ((0, 2),) * 2],
)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_gradients_are_the_cpus(
    gpu: vkml.Device, reduction: str, shapes: tuple[tuple[int, ...], ...], dtype: str
) -> None:
    generator = np.random.default_rng(0)
    x, y = (np.asarray(generator.normal(size=each)).astype(dtype) for each in shapes)

    found, wanted = gradients(gpu, x, y, reduction), gradients("cpu", x, y, reduction)

    rtol = 1e-5 if dtype == "float32" else 3e-3
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.dtype == dtype
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol / 10)


def test_infinity_minus_infinity_is_nan(gpu: vkml.Device) -> None:
    x = np.array([np.inf, 1], np.float32)

    found = gradients(gpu, x, x, "sum")[0]

    np.testing.assert_array_equal(found, [np.nan, 0])
