"""Activations on the device: their values, slopes, edges, layouts and dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import vkml

torch = pytest.importorskip("torch")
F = torch.nn.functional

CASES: list[tuple[str, dict[str, Any]]] = [
    ("relu", {}),
    ("leaky_relu", {"negative_slope": 0.01}),
    ("leaky_relu", {"negative_slope": -2.0}),
    ("elu", {"alpha": 1.5}),
    ("silu", {}),
    ("gelu", {"approximate": "none"}),
    ("gelu", {"approximate": "tanh"}),
    ("softplus", {"beta": 1.0, "threshold": 20.0}),
    ("softplus", {"beta": 3.0, "threshold": 2.0}),
]


def gradient(value: Any, leaf: Any, *upstream: Any, **options: Any) -> Any:
    return vkml.autograd.grad(value, leaf, *upstream, **options)[0]


def expected(name: str, x: NDArray[Any], options: dict[str, Any]) -> tuple[Any, Any]:
    """Return value and slope in float64."""
    leaf = torch.tensor(x.astype(np.float64), requires_grad=True)
    value = getattr(F, name)(leaf, **options)
    (slope,) = torch.autograd.grad(value, leaf, torch.ones_like(value))
    return value.detach().numpy(), slope.numpy()


def found(gpu: vkml.Device, name: str, x: NDArray[Any], options: dict[str, Any]) -> tuple[Any, Any]:
    leaf = vkml.tensor(x).to(gpu).requires_grad_()
    value = getattr(vkml, name)(leaf, **options)
    slope = gradient(value, leaf, vkml.ones_like(value))
    return value.detach().cpu().numpy(), slope.cpu().numpy()


@pytest.mark.parametrize(("name", "options"), CASES)
@pytest.mark.parametrize("size", [1, 3, 100_003])
def test_values_and_slopes_are_those_of_float64(
    gpu: vkml.Device, name: str, options: dict[str, Any], size: int
) -> None:
    x = np.random.default_rng(0).normal(0, 4, size).astype(np.float32)

    results = found(gpu, name, x, options)

    for ours, theirs in zip(results, expected(name, x, options), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("name", "options"), CASES)
def test_float64_keeps_its_precision(
    gpu_with_float64: vkml.Device, name: str, options: dict[str, Any]
) -> None:
    x = np.random.default_rng(0).normal(0, 4, 1003)

    results = found(gpu_with_float64, name, x, options)

    for ours, theirs in zip(results, expected(name, x, options), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("name", "options"), CASES)
def test_half_precision_is_rounded_once(
    gpu: vkml.Device, name: str, options: dict[str, Any]
) -> None:
    x = np.random.default_rng(0).normal(0, 4, 1003).astype(np.float16)

    value, slope = found(gpu, name, x, options)

    assert value.dtype == slope.dtype == np.float16
    for ours, theirs in zip((value, slope), expected(name, x, options), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(("name", "options"), CASES)
def test_nan_stays_nan_in_value_and_slope(
    gpu: vkml.Device, name: str, options: dict[str, Any]
) -> None:
    x = vkml.tensor(np.full(5, np.nan, np.float32)).to(gpu)

    value = getattr(vkml, name)(x, **options)

    assert np.isnan(value.cpu().numpy()).all()


@pytest.mark.parametrize(("name", "options"), CASES)
def test_a_nan_upstream_stays_nan_where_the_slope_is_not_0(
    gpu: vkml.Device, name: str, options: dict[str, Any]
) -> None:
    leaf = vkml.tensor(np.ones(5, np.float32)).to(gpu).requires_grad_()
    upstream = vkml.tensor(np.full(5, np.nan, np.float32)).to(gpu)

    slope = gradient(getattr(vkml, name)(leaf, **options), leaf, upstream)

    assert np.isnan(slope.cpu().numpy()).all()


@pytest.mark.parametrize("name", ["relu", "leaky_relu", "elu", "softplus"])
def test_infinity_has_its_limit(gpu: vkml.Device, name: str) -> None:
    x = np.array([np.inf, -np.inf], np.float32)

    value = getattr(vkml, name)(vkml.tensor(x).to(gpu)).cpu().numpy()

    np.testing.assert_array_equal(value, getattr(F, name)(torch.tensor(x)).numpy())


def test_relu_passes_the_gradient_of_nan_as_the_cpu_does(gpu: vkml.Device) -> None:
    x = np.array([np.nan, -1, 0, 2], np.float32)

    slopes = [
        gradient(vkml.relu(leaf), leaf, vkml.ones_like(leaf)).cpu().numpy()
        for leaf in (vkml.tensor(x).to(on).requires_grad_() for on in (gpu, "cpu"))
    ]

    np.testing.assert_array_equal(slopes[0], slopes[1])


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8"])
def test_relu_of_integers_is_composed(gpu: vkml.Device, dtype: str) -> None:
    x = np.array([[100, 0, 7]]).astype(dtype) - np.array(0 if dtype == "uint8" else 50, dtype)

    value = vkml.relu(vkml.tensor(x).to(gpu)).cpu().numpy()

    np.testing.assert_array_equal(value, np.maximum(x, 0))


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.permute(2, 0, 1),
        lambda x: x[:, 1::2, :-1],
        lambda x: x.flip(0),
        lambda x: x[0, 0, 0].expand(3, 5),
    ],
)
def test_any_layout_is_read(gpu: vkml.Device, view: Any) -> None:
    x = np.random.default_rng(0).normal(0, 2, (4, 6, 10)).astype(np.float32)

    value = vkml.gelu(view(vkml.tensor(x).to(gpu))).cpu().numpy()

    np.testing.assert_allclose(value, vkml.gelu(view(vkml.tensor(x))).numpy(), rtol=1e-5, atol=1e-6)


def test_a_broadcast_upstream_gradient_is_read(gpu: vkml.Device) -> None:
    leaf = vkml.tensor(np.ones((3, 5), np.float32)).to(gpu).requires_grad_()

    slope = gradient(vkml.silu(leaf).sum(), leaf)

    np.testing.assert_allclose(slope.cpu().numpy(), np.full((3, 5), 0.92767054), rtol=1e-6)


# masked_scale ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("size", [1, 7, 100_003])
def test_masked_scale_scales_where_the_mask_holds(gpu: vkml.Device, dtype: str, size: int) -> None:
    generator = np.random.default_rng(0)
    x, mask = generator.normal(size=size).astype(dtype), generator.random(size) < 0.4
    operands = (vkml.tensor(x).to(gpu)._operand, vkml.tensor(mask).to(gpu)._operand)

    result = gpu.handle.download(gpu.kernels["masked_scale"](*operands, 1.25))

    np.testing.assert_array_equal(result, np.where(mask, x * x.dtype.type(1.25), 0))


def test_masked_scale_drops_infinity_and_nan(gpu: vkml.Device) -> None:
    x = vkml.tensor(np.array([np.inf, np.nan, np.inf, np.nan], np.float32)).to(gpu)
    mask = vkml.tensor(np.array([False, False, True, True])).to(gpu)

    result = gpu.handle.download(gpu.kernels["masked_scale"](x._operand, mask._operand, 2.0))

    np.testing.assert_array_equal(result, [0, 0, np.inf, np.nan])
