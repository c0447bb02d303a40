"""Writing at an index on the device: ``x[index] = value``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import vkml


def gradient_of(x: vkml.Tensor) -> NDArray[Any]:
    assert x.grad is not None
    return x.grad.cpu().numpy()


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int16", "float16", "int32", "float32", "int64", "float64"]
)
@pytest.mark.parametrize("count", [1, 5, 200, 257, 3000])
def test_elements_are_written_and_the_last_one_stays(
    gpu: vkml.Device, dtype: str, count: int
) -> None:
    generator = np.random.default_rng(0)
    x = generator.integers(0, 100, (37, 11)).astype(dtype)
    index = generator.integers(0, 37, count), generator.integers(0, 11, count)
    values = generator.integers(0, 100, count).astype(dtype)
    tensor = vkml.tensor(x).to(gpu)

    tensor[index] = vkml.tensor(values).to(gpu)

    for row, column, value in zip(*index, values, strict=True):
        x[row, column] = value
    np.testing.assert_array_equal(tensor.cpu().numpy(), x)


@pytest.mark.parametrize("count", [7, 1000])
def test_a_view_of_any_strides_is_written(gpu: vkml.Device, count: int) -> None:
    generator = np.random.default_rng(1)
    x = generator.integers(0, 100, (30, 40)).astype(np.uint8)
    index = generator.integers(0, 20, count)
    tensor = vkml.tensor(x).to(gpu)

    tensor.T[::-2][index] = 5

    x.T[::-2][index] = 5
    np.testing.assert_array_equal(tensor.cpu().numpy(), x)


def test_one_value_is_written_to_many_places(gpu: vkml.Device) -> None:
    x = np.zeros(100_000, np.float32)
    places = np.random.default_rng(2).permutation(100_000)[:40_000]
    tensor = vkml.tensor(x).to(gpu)

    tensor[places] = 3

    x[places] = 3
    np.testing.assert_array_equal(tensor.cpu().numpy(), x)


@pytest.mark.parametrize("count", [3, 300])
def test_gradients_reach_what_was_written_and_what_was_left(gpu: vkml.Device, count: int) -> None:
    places = np.random.default_rng(3).permutation(500)[:count]
    x = vkml.ones(500, device=gpu, requires_grad=True)
    values = vkml.ones(count, device=gpu, requires_grad=True)

    written = x * 2
    written[places] = values * 5
    written.sum().backward()

    expected = np.full(500, 2, np.float32)
    expected[places] = 0
    np.testing.assert_array_equal(gradient_of(x), expected)
    np.testing.assert_array_equal(gradient_of(values), np.full(count, 5))


@pytest.mark.parametrize("size", [4, 600])
def test_an_index_outside_the_tensor_writes_nothing(gpu: vkml.Device, size: int) -> None:
    put = gpu.kernels["put"]
    upload = gpu.handle.upload
    x = np.zeros(size, np.int16)
    index = np.resize(np.array([size, -1, 2**32, -size - 1, 2**31, 1]), max(size, 6))

    result = put(upload(x), upload(index), upload(np.full(index.size, 7, np.int16)))

    x[[-1, 1]] = 7
    np.testing.assert_array_equal(gpu.handle.download(result), x)


def test_a_source_that_is_the_target_counts_as_it_was(gpu: vkml.Device) -> None:
    put = gpu.kernels["put"]
    upload = gpu.handle.upload
    x, index, target = (
        upload(each) for each in (np.arange(4.0, dtype=np.float32), np.array([3, 2, 1, 0]),
                                  np.arange(10.0, 14, dtype=np.float32))
    )  # fmt: skip

    put(x, index, target, out=target)

    assert gpu.handle.download(target).tolist() == [13, 12, 11, 10]
