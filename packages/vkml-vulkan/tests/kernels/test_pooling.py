"""2-D pooling on the device: windows, dtypes, layouts, and elements that are not numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import vkml

torch = pytest.importorskip("torch")
F = torch.nn.functional

WINDOWS: list[dict[str, Any]] = [
    {"kernel_size": 2},
    {"kernel_size": 3, "stride": 1, "padding": 1},
    {"kernel_size": (3, 2), "stride": (2, 1), "padding": (1, 0), "ceil_mode": True},
    {"kernel_size": (5, 4), "stride": (3, 7)},
    {"kernel_size": (23, 31)},
]


def gradient_of(x: vkml.Tensor) -> NDArray[Any]:
    assert x.grad is not None
    return x.grad.cpu().numpy()


@pytest.mark.parametrize("window", [*WINDOWS, {"kernel_size": 3, "stride": 2, "dilation": (3, 2)}])
@pytest.mark.parametrize("shape", [(5, 3, 23, 31), (2, 40, 35)])
def test_maxima_places_and_gradients_are_torchs(
    gpu: vkml.Device, window: dict[str, Any], shape: tuple[int, ...]
) -> None:
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    theirs = torch.tensor(x, requires_grad=True)
    ours = vkml.tensor(x).to(gpu).requires_grad_()

    wanted, wanted_places = F.max_pool2d(theirs, **window, return_indices=True)
    found, places = vkml.max_pool2d(ours, **window, return_indices=True)
    (wanted * wanted).sum().backward()
    (found * found).sum().backward()

    np.testing.assert_array_equal(found.detach().cpu().numpy(), wanted.detach().numpy())
    np.testing.assert_array_equal(places.cpu().numpy(), wanted_places.numpy())
    np.testing.assert_allclose(gradient_of(ours), theirs.grad.numpy(), rtol=1e-5)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("count_include_pad", [True, False])
@pytest.mark.parametrize("shape", [(5, 3, 23, 31), (2, 40, 35)])
def test_averages_and_gradients_are_torchs(
    gpu: vkml.Device, window: dict[str, Any], count_include_pad: bool, shape: tuple[int, ...]
) -> None:
    x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    options = {**window, "count_include_pad": count_include_pad}
    theirs = torch.tensor(x, requires_grad=True)
    ours = vkml.tensor(x).to(gpu).requires_grad_()

    wanted = F.avg_pool2d(theirs, **options)
    found = vkml.avg_pool2d(ours, **options)
    (wanted * wanted).sum().backward()
    (found * found).sum().backward()

    np.testing.assert_allclose(
        found.detach().cpu().numpy(), wanted.detach().numpy(), rtol=1e-5, atol=1e-6
    )
    np.testing.assert_allclose(gradient_of(ours), theirs.grad.numpy(), rtol=1e-5, atol=1e-6)


def test_gradients_without_places_are_those_with_places(gpu: vkml.Device) -> None:
    x = np.random.default_rng(2).integers(0, 3, (2, 3, 17, 18)).astype(np.float32)
    leaves = [vkml.tensor(x).to(gpu).requires_grad_() for _ in range(2)]

    vkml.max_pool2d(leaves[0], 3, 2, return_indices=True)[0].sum().backward()
    vkml.max_pool2d(leaves[1], 3, 2).sum().backward()

    np.testing.assert_array_equal(gradient_of(leaves[0]), gradient_of(leaves[1]))


@pytest.mark.parametrize(
    "dtype", ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16"]
)
def test_maxima_of_every_dtype_are_the_cpus(gpu: vkml.Device, dtype: str) -> None:
    found = np.dtype(dtype)
    limits = np.iinfo(found) if found.kind in "iu" else np.iinfo(np.int8)
    generator = np.random.default_rng(3)
    x = generator.integers(
        limits.min, limits.max, (3, 9, 11), np.int64 if limits.min else np.uint64
    )
    x = x.astype(dtype)
    options: dict[str, Any] = {"kernel_size": 3, "stride": 2, "padding": 1, "return_indices": True}

    ours = vkml.max_pool2d(vkml.tensor(x).to(gpu), **options)

    for mine, wanted in zip(ours, vkml.max_pool2d(vkml.tensor(x), **options), strict=True):
        np.testing.assert_array_equal(mine.cpu().numpy(), wanted.numpy())


def test_the_last_nan_is_the_largest_and_minus_infinity_has_a_place(gpu: vkml.Device) -> None:
    x = np.array([[1, np.nan, -np.inf, -np.inf], [np.nan, 9, -np.inf, -np.inf]], np.float32)

    found, places = vkml.max_pool2d(vkml.tensor(x[None]).to(gpu), 2, return_indices=True)

    np.testing.assert_array_equal(found.cpu().numpy(), [[[np.nan, -np.inf]]])
    assert places.tolist() == [[[4, 2]]]


def test_a_window_that_steps_over_everything_is_minus_infinity_and_has_no_gradient(
    gpu: vkml.Device,
) -> None:
    x = vkml.ones((1, 2, 2), device=gpu, requires_grad=True)

    found = vkml.max_pool2d(x, 2, 1, padding=1, dilation=3)
    found.sum().backward()

    assert found.tolist() == [[[-np.inf]]]
    assert gradient_of(x).tolist() == [[[0.0, 0.0], [0.0, 0.0]]]


def test_an_average_keeps_nan_and_infinity_in_their_windows(gpu: vkml.Device) -> None:
    x = np.ones((1, 4, 4), np.float32)
    x[0, 0, 0], x[0, 3, 3] = np.nan, np.inf

    found = vkml.avg_pool2d(vkml.tensor(x).to(gpu), 2)

    np.testing.assert_array_equal(found.cpu().numpy(), [[[np.nan, 1], [1, np.inf]]])


def test_images_of_any_strides_are_pooled(gpu: vkml.Device) -> None:
    x = np.random.default_rng(4).normal(size=(8, 9, 2, 3)).astype(np.float32)
    ours = vkml.tensor(x).to(gpu).permute(3, 2, 1, 0).flip(0)[..., ::-1]

    found = vkml.avg_pool2d(ours, 3, 2, 1), vkml.max_pool2d(ours, 3, 2, 1)

    theirs = torch.tensor(np.ascontiguousarray(x.transpose(3, 2, 1, 0)[::-1, ..., ::-1]))
    wanted = F.avg_pool2d(theirs, 3, 2, 1), F.max_pool2d(theirs, 3, 2, 1)
    for mine, their in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine.cpu().numpy(), their.numpy(), rtol=1e-5, atol=1e-6)


def test_the_average_of_a_large_plane_stays_accurate(gpu: vkml.Device) -> None:
    x = np.full((1, 512, 512), 0.1, np.float32)

    found = vkml.avg_pool2d(vkml.tensor(x).to(gpu), 512)

    np.testing.assert_allclose(found.item(), np.float64(x[0, 0, 0]), rtol=1e-5)


def test_float64_is_pooled_in_float64(gpu_with_float64: vkml.Device) -> None:
    x = np.random.default_rng(5).normal(size=(2, 9, 8))

    found = vkml.avg_pool2d(vkml.tensor(x).to(gpu_with_float64), 3, 2, 1)

    wanted = F.avg_pool2d(torch.tensor(x), 3, 2, 1).numpy()
    np.testing.assert_allclose(found.cpu().numpy(), wanted, rtol=1e-13)
