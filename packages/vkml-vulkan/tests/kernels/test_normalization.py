"""Layer and root-mean-square normalization on the device, with gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import vkml

torch = pytest.importorskip("torch")
F = torch.nn.functional

SHAPES = [
    ((1, 3), 1), ((3, 5), 1), ((5, 33), 1), ((2, 64), 1), ((300, 768), 1), ((2, 50_001), 1),
    ((5000, 12), 1), ((3, 4, 5), 2), ((2, 3, 8, 16), 3), ((7, 1300, 4), 1), ((1500, 40), 2),
]  # fmt: skip


def run(
    library: Any, name: str, tensors: list[Any], upstream: Any, ndim: int
) -> tuple[NDArray[Any], ...]:
    """Return value and gradients."""
    x, weight, *bias = tensors
    function = library.nn.functional if library is torch else library
    value = getattr(function, name)(x, x.shape[-ndim:], weight, *bias, eps=1e-5)
    gradients = library.autograd.grad(value, tensors, upstream)
    return tuple(each.detach().cpu().numpy() for each in (value, *gradients))


def operands(name: str, shape: tuple[int, ...], ndim: int, dtype: str) -> list[NDArray[Any]]:
    generator = np.random.default_rng(0)
    parameters = 2 if name == "layer_norm" else 1
    shapes = [shape, *[shape[-ndim:]] * parameters, shape]
    return [generator.normal(1, 2, each).astype(dtype) for each in shapes]


def compare(
    gpu: vkml.Device, name: str, shape: tuple[int, ...], ndim: int, dtype: str, rtol: float
) -> None:
    *given, upstream = operands(name, shape, ndim, dtype)
    leaves = [vkml.tensor(each).to(gpu).requires_grad_() for each in given]
    wide = [torch.tensor(each.astype(np.float64), requires_grad=True) for each in given]

    found = run(vkml, name, leaves, vkml.tensor(upstream).to(gpu), ndim)
    wanted = run(torch, name, wide, torch.tensor(upstream.astype(np.float64)), ndim)

    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.dtype == dtype
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol * abs(theirs).max())


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
@pytest.mark.parametrize(("shape", "ndim"), SHAPES)
def test_values_and_gradients_are_those_of_float64(
    gpu: vkml.Device, name: str, shape: tuple[int, ...], ndim: int
) -> None:
    compare(gpu, name, shape, ndim, "float32", 2e-5)


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
@pytest.mark.parametrize(("shape", "ndim"), [((5, 64), 1), ((5, 63), 1), ((3, 4, 5), 2)])
def test_half_precision_is_computed_in_float32(
    gpu: vkml.Device, name: str, shape: tuple[int, ...], ndim: int
) -> None:
    compare(gpu, name, shape, ndim, "float16", 2e-3)


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
@pytest.mark.parametrize(("shape", "ndim"), [((5, 64), 1), ((300, 63), 1), ((3, 4, 5), 2)])
def test_float64_keeps_its_precision(
    gpu_with_float64: vkml.Device, name: str, shape: tuple[int, ...], ndim: int
) -> None:
    compare(gpu_with_float64, name, shape, ndim, "float64", 1e-12)


def test_without_weight_and_bias(gpu: vkml.Device) -> None:
    x = np.random.default_rng(0).normal(size=(5, 40)).astype(np.float32)

    value = vkml.layer_norm(vkml.tensor(x).to(gpu), 40).cpu().numpy()

    wanted = F.layer_norm(torch.tensor(x.astype(np.float64)), (40,)).numpy()
    np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-6)


def test_a_bias_without_weight(gpu: vkml.Device) -> None:
    x = np.random.default_rng(0).normal(size=(5, 40)).astype(np.float32)
    tensors = [vkml.tensor(each).to(gpu) for each in (x, x[0])]

    value = vkml.layer_norm(tensors[0], 40, None, tensors[1]).cpu().numpy()

    wanted = vkml.layer_norm(vkml.tensor(x), 40, None, vkml.tensor(x[0])).numpy()
    np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-6)


def test_a_large_mean_does_not_cancel_the_deviation(gpu: vkml.Device) -> None:
    x = (10_000 + np.random.default_rng(0).normal(size=(3, 2000))).astype(np.float32)

    value = vkml.layer_norm(vkml.tensor(x).to(gpu), 2000).cpu().numpy()

    wanted = F.layer_norm(torch.tensor(x.astype(np.float64)), (2000,)).numpy()
    np.testing.assert_allclose(value, wanted, atol=1e-5)


def test_constant_rows_become_0(gpu: vkml.Device) -> None:
    x = np.full((3, 1000), 1234.567, np.float32)

    value = vkml.layer_norm(vkml.tensor(x).to(gpu), 1000).cpu().numpy()

    np.testing.assert_allclose(value, np.zeros_like(x), atol=1e-3)


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_nan_stays_in_its_row(gpu: vkml.Device, name: str) -> None:
    x = np.random.default_rng(0).normal(size=(3, 100)).astype(np.float32)
    x[1, 7] = np.nan

    value = getattr(vkml, name)(vkml.tensor(x).to(gpu), 100).cpu().numpy()

    assert np.isnan(value).all(axis=1).tolist() == [False, True, False]
    assert np.isfinite(value[[0, 2]]).all()


@pytest.mark.parametrize(
    ("view", "ndim"),
    [
        (lambda x: x.permute(2, 1, 0), 1),
        (lambda x: x.permute(2, 0, 1), 2),
        (lambda x: x.permute(1, 2, 0), 2),
        (lambda x: x[:, 1::2, 1:-3], 2),
        (lambda x: x.flip(2), 1),
        (lambda x: x[:1].expand(4, 36, 40), 1),
    ],
)
def test_any_layout_is_read(gpu: vkml.Device, view: Any, ndim: int) -> None:
    x = np.random.default_rng(0).normal(0, 2, (4, 36, 40)).astype(np.float32)
    leaves = [vkml.tensor(x).to(on).requires_grad_() for on in (gpu, "cpu")]

    results = []
    for leaf in leaves:
        value = vkml.layer_norm(view(leaf), view(leaf).shape[-ndim:])
        upstream = vkml.sin(vkml.arange(value.numel()).float()).reshape(value.shape)
        results.append((value, *vkml.autograd.grad(value, leaf, upstream.to(leaf.device))))

    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(
            ours.detach().cpu().numpy(), theirs.detach().numpy(), rtol=1e-4, atol=1e-5
        )
