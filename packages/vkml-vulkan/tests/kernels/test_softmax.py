"""Softmax and its logarithm on the device: any axis, layout, length and dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import vkml

torch = pytest.importorskip("torch")

NAMES = ["softmax", "log_softmax"]
SHAPES = [
    ((1, 1), 1), ((3, 5), 1), ((5, 33), 1), ((2, 64), 1), ((7, 1000), 1), ((2, 100_003), 1),
    ((1, 65_536), 1), ((2000, 3), 1), ((3, 7), 0), ((33, 1100), 0), ((100, 70), 0),
    ((2, 37, 3), 1), ((3, 40, 5, 4), 1), ((2, 3, 4, 36), 2),
]  # fmt: skip


def expected(name: str, x: NDArray[Any], dim: int) -> tuple[Any, Any]:
    """Return value and gradient of a weighted sum in float64."""
    leaf = torch.tensor(x.astype(np.float64), requires_grad=True)
    value = getattr(torch, name)(leaf, dim)
    (gradient,) = torch.autograd.grad(value, leaf, torch.tensor(weights(x)))
    return value.detach().numpy(), gradient.numpy()


def found(gpu: vkml.Device, name: str, x: NDArray[Any], dim: int) -> tuple[Any, Any]:
    leaf = vkml.tensor(x).to(gpu).requires_grad_()
    value = getattr(vkml, name)(leaf, dim)
    upstream = vkml.tensor(weights(x).astype(x.dtype)).to(gpu)
    gradients: tuple[Any, ...] = vkml.autograd.grad(value, leaf, upstream)
    return value.detach().cpu().numpy(), gradients[0].cpu().numpy()


def weights(x: NDArray[Any]) -> NDArray[Any]:
    return np.random.default_rng(1).uniform(-1, 1, x.shape)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("shape", "dim"), SHAPES)
def test_values_and_gradients_are_those_of_float64(
    gpu: vkml.Device, name: str, shape: tuple[int, ...], dim: int
) -> None:
    x = np.random.default_rng(0).normal(0, 3, shape).astype(np.float32)

    results = found(gpu, name, x, dim)

    for ours, theirs in zip(results, expected(name, x, dim), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("shape", "dim"), [((5, 300), 1), ((5, 301), 1), ((33, 70), 0)])
def test_half_precision_is_computed_in_float32(
    gpu: vkml.Device, name: str, shape: tuple[int, ...], dim: int
) -> None:
    x = np.random.default_rng(0).normal(0, 3, shape).astype(np.float16)

    value, _ = found(gpu, name, x, dim)

    np.testing.assert_allclose(value, expected(name, x, dim)[0], rtol=1e-3, atol=6e-8)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("shape", "dim"), [((5, 300), 1), ((33, 70), 0), ((2000, 3), 1)])
def test_float64_keeps_its_precision(
    gpu_with_float64: vkml.Device, name: str, shape: tuple[int, ...], dim: int
) -> None:
    x = np.random.default_rng(0).normal(0, 3, shape)

    results = found(gpu_with_float64, name, x, dim)

    for ours, theirs in zip(results, expected(name, x, dim), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.permute(2, 0, 1),
        lambda x: x[:, 1::2, 1:-3],
        lambda x: x.flip(2),
        lambda x: x[:, :, :1].expand(4, 36, 40),
        lambda x: x.reshape(-1)[1:1001].reshape(10, 100),
    ],
)
@pytest.mark.parametrize("dim", [0, -1])
def test_any_layout_is_read(gpu: vkml.Device, name: str, view: Any, dim: int) -> None:
    x = np.random.default_rng(0).normal(0, 2, (4, 36, 40)).astype(np.float32)

    value = getattr(vkml, name)(view(vkml.tensor(x).to(gpu)), dim).cpu().numpy()

    wanted = getattr(vkml, name)(view(vkml.tensor(x)), dim).numpy()
    np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("length", [3, 100, 3000])
def test_nan_is_where_torch_has_it(gpu: vkml.Device, name: str, length: int) -> None:
    x = np.zeros((4, length), np.float32)
    x[0, 1] = np.nan
    x[1] = -np.inf
    x[2, 2] = np.inf

    value = getattr(vkml, name)(vkml.tensor(x).to(gpu), 1).cpu().numpy()

    wanted = getattr(torch, name)(torch.tensor(x), 1).numpy()
    np.testing.assert_array_equal(np.isnan(value), np.isnan(wanted))


@pytest.mark.parametrize("length", [5, 1000])
def test_minus_infinity_has_probability_0(gpu: vkml.Device, length: int) -> None:
    x = np.zeros((2, length), np.float32)
    x[:, 1:] = -np.inf

    value = vkml.softmax(vkml.tensor(x).to(gpu), 1).cpu().numpy()

    np.testing.assert_array_equal(value, np.where(np.isinf(x), 0, 1))


def test_large_numbers_do_not_overflow(gpu: vkml.Device) -> None:
    x = np.array([[3e38, 3e38, -3e38]], np.float32)

    value = vkml.softmax(vkml.tensor(x).to(gpu), 1).cpu().numpy()

    np.testing.assert_array_equal(value, [[0.5, 0.5, 0]])


@pytest.mark.parametrize("name", NAMES)
def test_the_same_row_gives_the_same_bits(gpu: vkml.Device, name: str) -> None:
    x = np.tile(np.random.default_rng(0).normal(size=1001).astype(np.float32), (50, 1))

    value = getattr(vkml, name)(vkml.tensor(x).to(gpu), 1).cpu().numpy()

    assert (value == value[0]).all()
