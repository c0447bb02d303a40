"""Steps of optimisers on the device follow the CPU's, in place."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import vkml
from vkml.ops.optimizer_steps import adam_step, sgd_step

SIZES = [1, 7, 4099, 100_003]
SETTINGS = list(itertools.product([0.0, 0.1], [False, True], [False, True]))


def arrays(size: int, dtype: str) -> list[NDArray[Any]]:
    """Return a parameter, a gradient and three states, of which the last two are positive."""
    generator = np.random.default_rng(0)
    made = [generator.normal(size=size) for _ in range(3)]
    made += [generator.random(size) for _ in range(2)]
    return [each.astype(dtype) for each in made]


def adam(
    on: Any, given: list[NDArray[Any]], amsgrad: bool = False, start: int = 0, **options: Any
) -> list[NDArray[Any]]:
    tensors = [vkml.tensor(each).to(on)[start:] for each in given]
    states = tensors if amsgrad else [*tensors[:4], None]
    for step in (1, 2, 3):
        adam_step(
            *states, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-6, step=step, amsgrad=amsgrad,
            **options,
        )  # fmt: skip
    return [each.cpu().numpy() for each in tensors]


def sgd(on: Any, given: list[NDArray[Any]], momentum: float, **options: Any) -> list[NDArray[Any]]:
    tensors = [vkml.tensor(each).to(on) for each in given[:3]]
    for first in (True, False, False):
        param, grad, buffer = tensors[0], tensors[1], tensors[2] if momentum else None
        sgd_step(
            param, grad, buffer, lr=0.01, momentum=momentum, dampening=0.2, first=first, **options
        )
    return [each.cpu().numpy() for each in tensors]


def require_close(found: list[NDArray[Any]], wanted: list[NDArray[Any]], rtol: float) -> None:
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol / 10)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize(("decay", "decoupled", "maximize"), SETTINGS)
def test_adam_follows_the_cpu(
    gpu: vkml.Device, size: int, amsgrad: bool, decay: float, decoupled: bool, maximize: bool
) -> None:
    given = arrays(size, "float32")
    options: dict[str, Any] = {
        "amsgrad": amsgrad, "weight_decay": decay, "decoupled": decoupled, "maximize": maximize,
    }  # fmt: skip

    found = adam(gpu, given, **options)

    require_close(found, adam("cpu", given, **options), 1e-6)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize(("decay", "nesterov", "maximize"), SETTINGS)
def test_sgd_follows_the_cpu(
    gpu: vkml.Device, size: int, momentum: float, decay: float, nesterov: bool, maximize: bool
) -> None:
    given = arrays(size, "float32")
    options: dict[str, Any] = {"weight_decay": decay, "nesterov": nesterov, "maximize": maximize}

    found = sgd(gpu, given, momentum, **options)

    require_close(found, sgd("cpu", given, momentum, **options), 1e-6)


def test_views_that_do_not_begin_at_16_bytes_are_written(gpu: vkml.Device) -> None:
    given = arrays(1003, "float32")
    options: dict[str, Any] = {"weight_decay": 0.1, "decoupled": True, "maximize": False}

    found = adam(gpu, given, start=1, **options)

    require_close(found, adam("cpu", given, start=1, **options), 1e-6)


def test_elements_outside_a_view_are_left_alone(gpu: vkml.Device) -> None:
    whole = vkml.tensor(np.zeros(9, np.float32)).to(gpu)
    grad = vkml.tensor(np.ones(6, np.float32)).to(gpu)

    sgd_step(whole[1:7], grad, None, lr=1.0)

    np.testing.assert_array_equal(whole.cpu().numpy(), [0, *[-1] * 6, 0, 0])


def test_half_precision_is_composed_as_on_the_cpu(gpu: vkml.Device) -> None:
    given = arrays(1003, "float16")

    found = sgd(gpu, given, 0.9)

    require_close(found, sgd("cpu", given, 0.9), 2e-3)


def test_float64_follows_the_cpu(gpu_with_float64: vkml.Device) -> None:
    given = arrays(1003, "float64")
    options: dict[str, Any] = {"weight_decay": 0.1, "decoupled": False, "maximize": False}

    found = adam(gpu_with_float64, given, amsgrad=True, **options)

    require_close(found, adam("cpu", given, amsgrad=True, **options), 1e-14)


def test_a_nan_gradient_reaches_the_largest_average(gpu: vkml.Device) -> None:
    given = arrays(5, "float32")
    given[1][2] = np.nan

    found = adam(gpu, given, amsgrad=True, weight_decay=0.0, decoupled=False, maximize=False)

    assert [np.isnan(each).tolist() for each in (found[0], found[4])] == [
        [False, False, True, False, False]
    ] * 2


def test_empty_parameters_take_a_step(gpu: vkml.Device) -> None:
    found = sgd(gpu, arrays(0, "float32"), 0.9)

    assert found[0].shape == (0,)
