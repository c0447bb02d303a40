"""Cross entropy on the device: reductions, weights, smoothing, ignored targets, gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import vkml

torch = pytest.importorskip("torch")

SHAPES = [
    (1,), (7,), (1, 1), (5, 3), (70, 1000), (3, 20_001), (5000, 10), (2, 5, 7), (3, 64, 4, 5),
    (2, 40, 30, 30),
]  # fmt: skip


def make(shape: tuple[int, ...], dtype: str = "float32") -> tuple[NDArray[Any], ...]:
    """Return logits, targets of which some are -100, and weights of classes."""
    generator = np.random.default_rng(0)
    positions, classes = ((shape[0], *shape[2:]), shape[1]) if len(shape) > 1 else ((), shape[0])
    target = np.asarray(generator.integers(0, classes, positions))
    if target.size > 3:
        target = np.where(generator.random(positions) < 0.2, -100, target)
    logits = generator.normal(0, 3, shape).astype(dtype)
    return logits, target, generator.uniform(0.5, 2, classes).astype(dtype)


def gradient(value: Any, leaf: Any, *upstream: Any, **options: Any) -> Any:
    return vkml.autograd.grad(value, leaf, *upstream, **options)[0]


def run(library: Any, tensors: list[Any], upstream: Any, **options: Any) -> list[NDArray[Any]]:
    """Return the loss and its gradient."""
    function = library.nn.functional if library is torch else library
    loss = function.cross_entropy(*tensors, **options)
    (slope,) = library.autograd.grad(loss, tensors[0], upstream)
    return [each.detach().cpu().numpy() for each in (loss, slope)]


def compare(
    gpu: vkml.Device,
    given: tuple[NDArray[Any], ...],
    *,
    rtol: float = 2e-5,
    weighted: bool = False,
    **options: Any,
) -> None:
    logits, target, weight = given
    upstream = np.random.default_rng(1).uniform(
        0.5, 2, target.shape if options.get("reduction") == "none" else ()
    )
    ours = [vkml.tensor(logits).to(gpu).requires_grad_(), vkml.tensor(target).to(gpu)]
    leaf = torch.tensor(logits.astype(np.float64), requires_grad=True)
    theirs = [leaf, torch.tensor(target.astype(np.int64))]
    if weighted:
        ours.append(vkml.tensor(weight).to(gpu))
        theirs.append(torch.tensor(weight.astype(np.float64)))

    found = run(vkml, ours, vkml.tensor(upstream.astype(logits.dtype)).to(gpu), **options)
    wanted = run(torch, theirs, torch.tensor(upstream), **options)

    for mine, other in zip(found, wanted, strict=True):
        assert mine.dtype == logits.dtype
        np.testing.assert_allclose(mine, other, rtol=rtol, atol=rtol * abs(other).max())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses_and_gradients_are_those_of_float64(
    gpu: vkml.Device, shape: tuple[int, ...], reduction: str
) -> None:
    compare(gpu, make(shape), reduction=reduction)


@pytest.mark.parametrize("shape", [(7,), (5, 3), (70, 1000), (3, 64, 4, 5)])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_and_smoothing(
    gpu: vkml.Device, shape: tuple[int, ...], reduction: str, weighted: bool
) -> None:
    compare(gpu, make(shape), reduction=reduction, weighted=weighted, label_smoothing=0.1)


@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_weights_without_smoothing(gpu: vkml.Device, reduction: str) -> None:
    compare(gpu, make((70, 33)), reduction=reduction, weighted=True)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
def test_targets_may_be_any_integers(gpu: vkml.Device, dtype: str) -> None:
    logits, target, weight = make((70, 33))
    target = np.where(target < 0, 2, target).astype(dtype)

    compare(gpu, (logits, target, weight), ignore_index=2)


def test_half_precision_is_computed_in_float32(gpu: vkml.Device) -> None:
    compare(gpu, make((70, 64), "float16"), rtol=2e-3, weighted=True, label_smoothing=0.1)


def test_float64_keeps_its_precision(gpu_with_float64: vkml.Device) -> None:
    given = make((70, 64), "float64")

    compare(gpu_with_float64, given, rtol=1e-12, weighted=True, label_smoothing=0.1)


def test_a_million_positions_lose_no_digits(gpu: vkml.Device) -> None:
    logits = np.random.default_rng(0).normal(0, 3, (300_000, 3)).astype(np.float32)
    target = np.random.default_rng(1).integers(0, 3, 300_000)

    compare(gpu, (logits, target, logits[0]), rtol=2e-6)


def test_the_loss_of_ignored_rows_is_0_even_if_they_are_nan(gpu: vkml.Device) -> None:
    logits = np.array([[np.nan, 1], [0, 0]], np.float32)
    target = vkml.tensor(np.array([-100, 1])).to(gpu)

    loss = vkml.cross_entropy(vkml.tensor(logits).to(gpu), target, reduction="none")

    np.testing.assert_allclose(loss.cpu().numpy(), [0, np.log(2)], rtol=1e-6)


def test_the_mean_over_nothing_is_nan(gpu: vkml.Device) -> None:
    logits = vkml.tensor(np.zeros((4, 3), np.float32)).to(gpu)
    target = vkml.tensor(np.full(4, -100)).to(gpu)

    assert np.isnan(vkml.cross_entropy(logits, target).cpu().numpy())


@pytest.mark.parametrize("wrong", [3, -1, 2**32, 2**31, -(2**40)])
def test_a_target_that_is_no_class_counts_as_ignored(gpu: vkml.Device, wrong: int) -> None:
    logits = np.random.default_rng(0).normal(size=(2, 3)).astype(np.float32)
    target = vkml.tensor(np.array([wrong, 1])).to(gpu)

    loss = vkml.cross_entropy(vkml.tensor(logits).to(gpu), target, reduction="none")

    assert loss.cpu().numpy()[0] == 0


def test_logits_with_large_numbers_do_not_overflow(gpu: vkml.Device) -> None:
    logits = np.array([[3e38, -3e38], [1e4, 0]], np.float32)

    compare(gpu, (logits, np.array([0, 1]), logits[0]), reduction="none")


@pytest.mark.parametrize("view", [lambda x: x.T, lambda x: x[::2, 1:], lambda x: x.flip(1)])
def test_any_layout_is_read(gpu: vkml.Device, view: Any) -> None:
    x = np.random.default_rng(0).normal(size=(40, 40)).astype(np.float32)
    count, classes = view(vkml.tensor(x)).shape
    target = np.random.default_rng(1).integers(0, classes, count)

    results = []
    for on in (gpu, "cpu"):
        leaf = vkml.tensor(x).to(on).requires_grad_()
        loss = vkml.cross_entropy(view(leaf), vkml.tensor(target).to(on))
        slope = gradient(loss, leaf)
        results.append((loss.detach().cpu().numpy(), slope.cpu().numpy()))

    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_second_derivatives_are_those_of_the_cpu(gpu: vkml.Device) -> None:
    logits, target, _ = make((5, 3))

    second = []
    for on in (gpu, "cpu"):
        leaf = vkml.tensor(logits).to(on).requires_grad_()
        loss = vkml.cross_entropy(leaf, vkml.tensor(target).to(on))
        first = gradient(loss, leaf, create_graph=True)
        second.append(gradient(vkml.square(first).sum(), leaf).cpu().numpy())

    np.testing.assert_allclose(second[0], second[1], rtol=1e-4, atol=1e-7)
