"""Dropout on the device keeps the elements that the CPU keeps, and scales them alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import vkml
from vkml.backends.cpu_kernels import random as cpu


def dropped(gpu: vkml.Device, x: vkml.Tensor, *options: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    result, mask = gpu.kernels["dropout"](x._operand, *options)
    return gpu.handle.download(result), gpu.handle.download(mask)


def require_same(gpu: vkml.Device, x: NDArray[Any], *options: Any) -> None:
    found, mask = dropped(gpu, vkml.tensor(x).to(gpu), *options)
    expected, kept = cpu.dropout(x, *options)
    np.testing.assert_array_equal(mask, kept)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("size", [1, 2, 5, 4096, 1_000_003])
@pytest.mark.parametrize("name", ["float16", "float32"])
def test_result_and_mask_are_the_cpus(gpu: vkml.Device, name: str, size: int) -> None:
    x = np.random.default_rng(0).standard_normal(size).astype(name)

    require_same(gpu, x, 0.3, 42, 5)


@pytest.mark.parametrize("p", [1e-9, 2**-24, 0.1, 0.5, 1 - 2**-24, 0.999999999, 1.0])
def test_any_probability_is_rounded_as_on_the_cpu(gpu: vkml.Device, p: float) -> None:
    require_same(gpu, np.ones(100_003, np.float32), p, 2**63 + 1, 2**35)


def test_float64_keeps_its_precision(gpu_with_float64: vkml.Device) -> None:
    require_same(gpu_with_float64, np.random.default_rng(0).standard_normal(4099), 0.3, 42, 5)


def test_bfloat16_is_scaled_as_on_the_cpu(gpu: vkml.Device) -> None:
    dtype = pytest.importorskip("ml_dtypes").bfloat16
    x = np.random.default_rng(0).standard_normal(4099).astype(dtype)

    found, mask = dropped(gpu, vkml.tensor(x).to(gpu), 0.3, 42, 5)

    expected, kept = cpu.dropout(x, 0.3, 42, 5)
    np.testing.assert_array_equal(mask, kept)
    np.testing.assert_array_equal(found[mask].view("u2"), expected[kept].view("u2"))
    assert not found[~mask].view("u2").any()


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.permute(2, 0, 1),
        lambda x: x[:, 1::2, :-1],
        lambda x: x.flip(1)[1:],
        lambda x: x[:1].expand(5, -1, -1),
    ],
    ids=["permuted", "sliced", "flipped", "repeated"],
)
def test_the_mask_follows_the_order_of_a_strided_operand(gpu: vkml.Device, view: Any) -> None:
    x = vkml.tensor(np.random.default_rng(0).standard_normal((7, 9, 33)).astype(np.float32))

    found, mask = dropped(gpu, view(x.to(gpu)), 0.4, 1, 2)

    expected, kept = cpu.dropout(view(x).contiguous().numpy(), 0.4, 1, 2)
    np.testing.assert_array_equal(mask, kept)
    np.testing.assert_array_equal(found, expected)


def test_dropped_nan_and_infinity_become_0_and_kept_ones_stay(gpu: vkml.Device) -> None:
    x = np.tile(np.array([np.nan, np.inf, -np.inf, -1], np.float32), 1000)

    require_same(gpu, x, 0.5, 42, 5)


def test_the_gradient_is_scaled_where_elements_were_kept(gpu: vkml.Device) -> None:
    x = vkml.ones(1001, device=gpu, requires_grad=True)

    result = vkml.dropout(x, 0.25, generator=vkml.Generator(3))
    (result * 2).backward(vkml.ones(1001, device=gpu))

    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.cpu().numpy(), 2 * result.detach().cpu().numpy())
