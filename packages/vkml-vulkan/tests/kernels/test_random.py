"""Random numbers on the device are the CPU backend's, of every dtype, size, seed and range."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import vkml
from vkml.backends.cpu_kernels import random as cpu
from vkml.errors import UnsupportedOperationError

SIZES = [1, 3, 4, 1023, 1_000_003]
SEEDS = [0, 42, 2**32 + 1, 2**64 - 1]
OFFSETS = [0, 7, 2**32, 2**64 - 1]
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
FLOATS = ["float16", "float32"]


def drawn(gpu: vkml.Device, name: str, shape: tuple[int, ...], *options: Any) -> NDArray[Any]:
    result: NDArray[Any] = gpu.handle.download(gpu.kernels[name](shape, *options))
    return result


# uniform ---------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", FLOATS)
def test_uniform_numbers_of_any_count_are_the_cpus(gpu: vkml.Device, name: str, size: int) -> None:
    options = ((size,), 42, 3, np.dtype(name))

    found = drawn(gpu, "random_uniform", *options)

    np.testing.assert_array_equal(found, cpu.random_uniform(*options))


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("seed", SEEDS)
def test_all_64_bits_of_seed_and_offset_count(gpu: vkml.Device, seed: int, offset: int) -> None:
    options = ((3, 7), seed, offset, np.dtype(np.float32))

    found = drawn(gpu, "random_uniform", *options)

    np.testing.assert_array_equal(found, cpu.random_uniform(*options))


def test_uniform_numbers_of_bfloat16_are_the_cpus(gpu: vkml.Device) -> None:
    dtype = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    options = ((10_001,), 42, 3, dtype)

    found = drawn(gpu, "random_uniform", *options)

    np.testing.assert_array_equal(found.view(np.uint16), cpu.random_uniform(*options).view("u2"))


def test_uniform_numbers_of_float64_have_all_their_bits(gpu_with_float64: vkml.Device) -> None:
    options = ((100_001,), 2**40 + 5, 3, np.dtype(np.float64))

    found = drawn(gpu_with_float64, "random_uniform", *options)

    np.testing.assert_array_equal(found, cpu.random_uniform(*options))


def test_rand_draws_the_same_numbers_on_both_devices(gpu: vkml.Device) -> None:
    here = vkml.rand(257, 65, generator=vkml.Generator(7))

    there = vkml.rand(257, 65, generator=vkml.Generator(7), device=gpu)

    assert there.device == gpu
    np.testing.assert_array_equal(there.cpu().numpy(), here.numpy())


def test_more_elements_than_shaders_count_are_refused_before_memory_is_taken(
    gpu: vkml.Device,
) -> None:
    reserved = gpu.handle.memory()["reserved"]

    with pytest.raises(UnsupportedOperationError, match="split the tensor"):
        vkml.rand(2**31, device=gpu)

    assert gpu.handle.memory()["reserved"] == reserved


# normal ----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
def test_normal_numbers_are_the_cpus_but_for_rounding(gpu: vkml.Device, size: int) -> None:
    options = ((size,), 42, 3, np.dtype(np.float32))

    found = drawn(gpu, "random_normal", *options)

    np.testing.assert_allclose(found, cpu.random_normal(*options), rtol=2e-6, atol=2e-6)


def test_normal_numbers_of_float16_are_the_cpus_but_for_rounding(gpu: vkml.Device) -> None:
    options = ((100_001,), 42, 3, np.dtype(np.float16))

    found = drawn(gpu, "random_normal", *options)

    expected = cpu.random_normal(*options)
    np.testing.assert_allclose(found.astype("f4"), expected.astype("f4"), rtol=1e-3, atol=1e-6)
    assert (found != expected).mean() < 0.001


def test_normal_numbers_of_float64_are_the_cpus_but_for_rounding(
    gpu_with_float64: vkml.Device,
) -> None:
    options = ((100_001,), 42, 3, np.dtype(np.float64))

    found = drawn(gpu_with_float64, "random_normal", *options)

    np.testing.assert_allclose(found, cpu.random_normal(*options), rtol=1e-14, atol=4e-15)


def test_normal_numbers_have_mean_0_and_deviation_1(gpu: vkml.Device) -> None:
    found = drawn(gpu, "random_normal", (1_000_000,), 1, 0, np.dtype(np.float32))

    assert abs(found.mean(dtype=np.float64)) < 0.005
    assert abs(found.std(dtype=np.float64) - 1) < 0.005


# integers --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_over_the_whole_range_of_a_dtype_are_the_cpus(gpu: vkml.Device, name: str) -> None:
    limits = np.iinfo(name)
    options = ((100_003,), 42, 3, int(limits.min), int(limits.max) + 1, np.dtype(name))

    found = drawn(gpu, "random_integers", *options)

    np.testing.assert_array_equal(found, cpu.random_integers(*options))


@pytest.mark.parametrize("count", [1, 2, 3, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**63, 2**64 - 1])
@pytest.mark.parametrize("low", [0, -(2**63), -5])
def test_integers_of_any_count_are_the_cpus(gpu: vkml.Device, low: int, count: int) -> None:
    options = ((1025,), 42, 3, low, low + count, np.dtype(np.int64))

    found = drawn(gpu, "random_integers", *options)

    np.testing.assert_array_equal(found, cpu.random_integers(*options))


@pytest.mark.parametrize("name", ["bool", "float16", "float32"])
def test_integers_are_converted_to_other_dtypes_as_on_the_cpu(gpu: vkml.Device, name: str) -> None:
    options = ((10_001,), 42, 3, -4, 4, np.dtype(name))

    found = drawn(gpu, "random_integers", *options)

    assert found.dtype == np.dtype(name)
    np.testing.assert_array_equal(found, cpu.random_integers(*options))


def test_large_integers_are_rounded_to_float32_as_on_the_cpu(gpu: vkml.Device) -> None:
    options = ((10_001,), 42, 3, -(2**62), 2**62, np.dtype(np.float32))

    found = drawn(gpu, "random_integers", *options)

    np.testing.assert_array_equal(found, cpu.random_integers(*options))


def test_integers_of_complex_dtype_are_refused(gpu: vkml.Device) -> None:
    with pytest.raises(UnsupportedOperationError, match="does not compute with complex64"):
        drawn(gpu, "random_integers", (3,), 42, 3, 0, 4, np.dtype(np.complex64))
