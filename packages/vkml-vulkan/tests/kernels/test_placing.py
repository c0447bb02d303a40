"""Padding and the gradients of slices on the device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import vkml


def gradient_of(x: vkml.Tensor) -> NDArray[Any]:
    assert x.grad is not None
    return x.grad.cpu().numpy()


@pytest.mark.parametrize("dtype", ["bool", "uint8", "float16", "int16", "float32", "int64"])
@pytest.mark.parametrize("pads", [(1, 2), (3, 0, 0, 1), (-1, 2, 1, -2, 2, 2), (0, 0)])
def test_a_padded_tensor_is_surrounded(gpu: vkml.Device, dtype: str, pads: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).integers(0, 2, (4, 5, 7)).astype(dtype)

    padded = vkml.pad(vkml.tensor(x).to(gpu), pads, value=1)

    expected = vkml.pad(vkml.tensor(x), pads, value=1).numpy()
    np.testing.assert_array_equal(padded.cpu().numpy(), expected)


@pytest.mark.parametrize("value", [float("nan"), float("-inf"), 1e300, 0.1])
def test_the_constant_may_be_any_number(gpu: vkml.Device, value: float) -> None:
    x = np.zeros((2, 3), np.float32)

    padded = vkml.pad(vkml.tensor(x).to(gpu), (1, 1), value=value)

    with np.errstate(over="ignore"):
        expected = np.full((2, 5), np.float32(value))
    expected[:, 1:4] = 0
    np.testing.assert_array_equal(padded.cpu().numpy(), expected)


def test_all_may_be_cut_off(gpu: vkml.Device) -> None:
    padded = vkml.pad(vkml.ones(3, device=gpu), (2, -3), value=4)

    assert padded.tolist() == [4.0, 4.0]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize(
    "index",
    [
        (slice(1, None, 3), slice(None, None, -2)),
        (slice(4, 4),),
        (slice(None), slice(5, 6)),
        (slice(None, None, -1), slice(None, None, -1)),
    ],
)
def test_the_gradient_of_a_slice_lies_where_the_slice_lay(
    gpu: vkml.Device, dtype: str, index: tuple[slice, ...]
) -> None:
    x = np.random.default_rng(0).normal(size=(301, 77)).astype(dtype)
    expected = np.zeros_like(x)
    expected[index] = 2 * x[index]
    leaf = vkml.tensor(x).to(gpu).requires_grad_()

    part = leaf[index]
    (part * part).sum().backward()

    np.testing.assert_array_equal(gradient_of(leaf), expected)
