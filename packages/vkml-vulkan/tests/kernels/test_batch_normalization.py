"""Batch normalization on the device, by the batch's statistics and by given ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import vkml

torch = pytest.importorskip("torch")

BATCHES = [
    (5, 3), (300, 70), (2, 3, 4, 5), (4, 3, 7), (1, 5, 8), (8, 16, 14, 14), (3, 2, 101, 99),
    (2, 1500, 3), (70, 4, 1), (2, 1, 64, 64),
]  # fmt: skip


def batch_norm(library: Any, tensors: list[Any], upstream: Any) -> tuple[NDArray[Any], ...]:
    x, weight, bias = tensors
    function = library.nn.functional if library is torch else library
    value = function.batch_norm(x, None, None, weight, bias, training=True)
    gradients = library.autograd.grad(value, tensors, upstream)
    return tuple(each.detach().cpu().numpy() for each in (value, *gradients))


def compare_batches(
    gpu: vkml.Device, shape: tuple[int, ...], dtype: str, rtol: float, moved: bool = False
) -> None:
    generator = np.random.default_rng(0)
    shapes = [shape, shape[1:2], shape[1:2], shape]
    *given, upstream = (generator.normal(1, 2, each).astype(dtype) for each in shapes)
    leaves = [vkml.tensor(each).to(gpu) for each in given]
    if moved:  # the same values, with the channels last in memory
        axes = (0, *range(2, len(shape)), 1)
        last = vkml.tensor(np.ascontiguousarray(given[0].transpose(axes))).to(gpu)
        leaves[0] = last.permute(0, len(shape) - 1, *range(1, len(shape) - 1))
    leaves = [each.detach().requires_grad_() for each in leaves]
    wide = [torch.tensor(each.astype(np.float64), requires_grad=True) for each in given]

    found = batch_norm(vkml, leaves, vkml.tensor(upstream).to(gpu))
    wanted = batch_norm(torch, wide, torch.tensor(upstream.astype(np.float64)))

    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.dtype == dtype
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol * abs(theirs).max())


@pytest.mark.parametrize("shape", BATCHES)
def test_batches_are_normalized_as_in_float64(gpu: vkml.Device, shape: tuple[int, ...]) -> None:
    compare_batches(gpu, shape, "float32", 2e-5)


@pytest.mark.parametrize("shape", [(8, 16, 14, 14), (4, 3, 7, 5), (4, 3, 7)])
def test_batches_with_the_channels_last_are_read(gpu: vkml.Device, shape: tuple[int, ...]) -> None:
    compare_batches(gpu, shape, "float32", 2e-5, moved=True)


@pytest.mark.parametrize("shape", [(8, 16, 14, 14), (4, 3, 7)])
def test_batches_of_half_precision_are_computed_in_float32(
    gpu: vkml.Device, shape: tuple[int, ...]
) -> None:
    compare_batches(gpu, shape, "float16", 3e-3)


@pytest.mark.parametrize("shape", [(8, 16, 14, 14), (4, 3, 7)])
def test_batches_of_float64_keep_their_precision(
    gpu_with_float64: vkml.Device, shape: tuple[int, ...]
) -> None:
    compare_batches(gpu_with_float64, shape, "float64", 1e-12)


def test_running_statistics_follow_the_cpus(gpu: vkml.Device) -> None:
    x = np.random.default_rng(0).normal(3, 2, (6, 4, 9)).astype(np.float32)

    running = []
    for on in (gpu, "cpu"):
        mean, var = (vkml.tensor(np.ones(4, np.float32)).to(on) for _ in range(2))
        vkml.batch_norm(vkml.tensor(x).to(on), mean, var, training=True)
        running.append([each.cpu().numpy() for each in (mean, var)])

    np.testing.assert_allclose(running[0], running[1], rtol=1e-5)


# By given statistics ---------------------------------------------------------------------


def evaluate(library: Any, tensors: list[Any]) -> Any:
    function = library.nn.functional if library is torch else library
    return function.batch_norm(*tensors).detach().cpu().numpy()


@pytest.mark.parametrize("shape", [*BATCHES, (3000, 4), (3, 50, 1)])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_given_statistics_normalize_as_in_float64(
    gpu: vkml.Device, shape: tuple[int, ...], dtype: str
) -> None:
    generator = np.random.default_rng(0)
    given = [generator.normal(1, 2, shape), *generator.uniform(0.5, 2, (4, shape[1]))]
    narrow = [each.astype(dtype) for each in given]

    found = evaluate(vkml, [vkml.tensor(each).to(gpu) for each in narrow])

    wanted = evaluate(torch, [torch.tensor(each.astype(np.float64)) for each in narrow])
    assert found.dtype == dtype
    rtol = 1e-5 if dtype == "float32" else 1e-3
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol)


def test_half_precision_may_have_statistics_in_float32(gpu: vkml.Device) -> None:
    x = np.random.default_rng(0).normal(size=(4, 3, 8)).astype(np.float16)
    statistics = [np.full(3, 0.5, np.float32), np.full(3, 2, np.float32)]

    found = evaluate(vkml, [vkml.tensor(each).to(gpu) for each in (x, *statistics)])

    np.testing.assert_allclose(found, (x - 0.5) / np.sqrt(2), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "view", [lambda x: x.permute(0, 3, 1, 2), lambda x: x.flip(3), lambda x: x[:, 1:, ::2, 1:]]
)
def test_any_layout_is_normalized_by_given_statistics(gpu: vkml.Device, view: Any) -> None:
    x = np.random.default_rng(0).normal(size=(2, 6, 6, 6)).astype(np.float32)
    channels = view(vkml.tensor(x)).shape[1]
    statistics = np.random.default_rng(1).uniform(0.5, 2, (4, channels)).astype(np.float32)

    found, wanted = (
        evaluate(vkml, [view(vkml.tensor(x).to(on)), *vkml.tensor(statistics).to(on).unbind(0)])
        for on in (gpu, "cpu")
    )

    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
