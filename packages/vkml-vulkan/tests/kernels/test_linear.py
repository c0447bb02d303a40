"""The fused affine map, beside NumPy in float64."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import vkml


def values(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(
    ("leading", "inputs", "outputs"),
    [
        ((), 20, 30),
        ((1,), 300, 7),
        ((128,), 128, 10),
        ((65,), 33, 67),
        ((2, 3, 5), 16, 40),
        ((3,), 9000, 5),
        ((200,), 1, 1),
        ((4,), 0, 3),
    ],
)
@pytest.mark.parametrize("has_bias", [True, False])
def test_linear_is_a_product_and_a_sum(
    gpu: vkml.Device, leading: tuple[int, ...], inputs: int, outputs: int, has_bias: bool
) -> None:
    x, weight, bias = values(*leading, inputs), values(outputs, inputs, seed=1), values(outputs)
    on_gpu = [vkml.tensor(each).to(gpu) for each in (x, weight, bias)]

    found = vkml.linear(on_gpu[0], on_gpu[1], on_gpu[2] if has_bias else None).cpu().numpy()

    exact = x.astype(np.float64) @ weight.T.astype(np.float64) + (bias if has_bias else 0)
    scale = np.abs(x).astype(np.float64) @ np.abs(weight.T) + np.abs(bias)
    assert found.shape == exact.shape
    assert np.all(np.abs(found - exact) <= 1e-6 * scale)


def test_a_bias_may_be_strided(gpu: vkml.Device) -> None:
    x, weight, bias = values(9, 5000), values(4, 5000, seed=1), values(12)

    found = vkml.linear(
        vkml.tensor(x).to(gpu), vkml.tensor(weight).to(gpu), vkml.tensor(bias).to(gpu)[::3]
    )

    expected = x.astype(np.float64) @ weight.T.astype(np.float64) + bias[::3]
    np.testing.assert_allclose(found.cpu().numpy(), expected, rtol=1e-4, atol=1e-3)


def test_a_transposed_input_is_read_where_it_lies(gpu: vkml.Device) -> None:
    x, weight, bias = values(30, 20), values(40, 30, seed=1), values(40)

    found = vkml.linear(
        vkml.tensor(x).to(gpu).T, vkml.tensor(weight).to(gpu), vkml.tensor(bias).to(gpu)
    )

    expected = x.T.astype(np.float64) @ weight.T.astype(np.float64) + bias
    np.testing.assert_allclose(found.cpu().numpy(), expected, rtol=1e-4, atol=1e-4)


def test_a_float16_bias_is_added_before_rounding(gpu: vkml.Device) -> None:
    x, weight, bias = (each.astype(np.float16) for each in (values(9, 7), values(5, 7), values(5)))
    on_gpu = [vkml.tensor(each).to(gpu) for each in (x, weight, bias)]

    found = vkml.linear(*on_gpu).cpu().numpy()

    exact = x.astype(np.float32) @ weight.T.astype(np.float32) + bias.astype(np.float32)
    np.testing.assert_allclose(found.astype(np.float32), exact, rtol=5e-4, atol=1e-3)


def test_integers_are_mapped_exactly(gpu: vkml.Device) -> None:
    generator = np.random.default_rng(0)
    x, weight, bias = (generator.integers(-99, 99, size) for size in ((8, 5), (6, 5), (6,)))

    found = vkml.linear(*(vkml.tensor(each).to(gpu) for each in (x, weight, bias)))

    np.testing.assert_array_equal(found.cpu().numpy(), x @ weight.T + bias)
