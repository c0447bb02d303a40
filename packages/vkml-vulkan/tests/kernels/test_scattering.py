"""Sums by an index on the device: both ways to add, all dtypes, many elements."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import vkml
from vkml_vulkan.kernels import scattering

INTEGERS = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64")


@pytest.fixture(params=["walk", "sort"])
def way(request: pytest.FixtureRequest, gpu: vkml.Device, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make the kernels add in one way, whatever the sizes are."""
    monkeypatch.setattr(scattering, "should_walk", lambda *_, **__: request.param == "walk")
    names = ("scatter_add_zeros", "index_add_zeros", "embedding_backward")
    for name in names:  # they keep their plans
        gpu.kernels.pop(name, None)
    yield request.param
    for name in names:
        gpu.kernels.pop(name, None)


def run(gpu: vkml.Device, name: str, *arguments: Any) -> NDArray[Any]:
    operands = [gpu.handle.upload(x) if isinstance(x, np.ndarray) else x for x in arguments]
    return gpu.handle.download(gpu.kernels[name](*operands))


def added(src: NDArray[Any], index: NDArray[Any], size: int) -> NDArray[Any]:
    """Return sums of rows in the widest type of the same kind."""
    wide = {"b": np.uint64, "u": np.uint64, "i": np.int64}.get(src.dtype.kind, np.float64)
    total = np.zeros((size, *src.shape[1:]), wide)
    np.add.at(total, index, src.astype(wide))
    return total


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("dtype", [*INTEGERS, "bool"])
@pytest.mark.parametrize(
    ("count", "size", "width"), [(1, 1, 1), (9, 4, 4), (300, 1000, 8), (5000, 3, 3)]
)
def test_integers_are_added_exactly(
    gpu: vkml.Device, dtype: str, count: int, size: int, width: int
) -> None:
    generator = np.random.default_rng(0)
    src = generator.integers(0, 2**62, (count, width)).astype(dtype)
    index = generator.integers(0, size, count)

    found = run(gpu, "index_add_zeros", src, index, size, 0)

    np.testing.assert_array_equal(found, added(src, index, size).astype(dtype))


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16, "float32"])
@pytest.mark.parametrize("index_dtype", ["int64", "int32"])
@pytest.mark.parametrize(("count", "size"), [(7, 20), (2049, 50), (20_000, 4)])
def test_floats_are_added_as_in_float64(
    gpu: vkml.Device, dtype: Any, index_dtype: str, count: int, size: int
) -> None:
    generator = np.random.default_rng(1)
    src = generator.uniform(0.5, 1, (count, 5)).astype(dtype)
    index = generator.integers(0, size, count).astype(index_dtype)
    precision = 1e-6 if dtype == "float32" else 1e-3 if dtype == "float16" else 8e-3

    found = run(gpu, "index_add_zeros", src, index, size, 0)

    np.testing.assert_allclose(found.astype(np.float64), added(src, index, size), rtol=precision)


@pytest.mark.usefixtures("way")
def test_float64_is_added_in_float64(gpu_with_float64: vkml.Device) -> None:
    generator = np.random.default_rng(2)
    src, index = generator.normal(size=(3000, 2)), generator.integers(0, 10, 3000)

    found = run(gpu_with_float64, "index_add_zeros", src, index, 10, 0)

    np.testing.assert_allclose(found, added(src, index, 10), rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_elements_are_scattered_along_every_axis(gpu: vkml.Device, dim: int) -> None:
    generator = np.random.default_rng(3)
    shape = [13, 17, 19]
    index_shape = [11, 17, 5]
    index_shape[dim] = 23
    src = generator.integers(-9, 9, index_shape).astype(np.float32)
    index = generator.integers(0, shape[dim], index_shape)

    found = run(gpu, "scatter_add_zeros", src, index, tuple(shape), dim)

    expected = np.zeros(shape, np.float32)
    places = list(np.indices(index_shape))
    places[dim] = index
    np.add.at(expected, tuple(places), src)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.usefixtures("way")
def test_strided_operands_are_added(gpu: vkml.Device) -> None:
    generator = np.random.default_rng(4)
    src = generator.integers(-9, 9, (40, 60)).astype(np.float32)
    index = generator.integers(0, 7, 80)
    rows = vkml.tensor(src).to(gpu).T[::-1]
    places = vkml.tensor(index).to(gpu)[::2]

    found = vkml.index_add(vkml.zeros((60, 7), device=gpu), 1, places, rows)

    expected = added(src.T[::-1].T, index[::2], 7).T
    np.testing.assert_array_equal(found.cpu().numpy(), expected)


@pytest.mark.usefixtures("way")
def test_two_runs_give_the_same_bits(gpu: vkml.Device) -> None:
    generator = np.random.default_rng(5)
    src = generator.normal(size=(10_000, 3)).astype(np.float32)
    index = generator.integers(0, 30, 10_000)

    first, second = (run(gpu, "index_add_zeros", src, index, 30, 0) for _ in range(2))

    np.testing.assert_array_equal(first.view(np.uint32), second.view(np.uint32))


@pytest.mark.usefixtures("way")
def test_what_is_not_a_number_stays_in_its_row(gpu: vkml.Device) -> None:
    src = np.ones((6, 2), np.float32)
    src[1, 0], src[4, 1] = np.nan, np.inf

    found = run(gpu, "index_add_zeros", src, np.array([0, 1, 2, 2, 3, 0]), 5, 0)

    expected = [[2, 2], [np.nan, 1], [2, 2], [1, np.inf], [0, 0]]
    np.testing.assert_array_equal(found, np.array(expected, np.float32))


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("wrong", [-1, 5, 2**32, 2**32 + 1, -(2**63), 2**63 - 1])
def test_an_index_outside_its_axis_adds_nothing(gpu: vkml.Device, wrong: int) -> None:
    src = np.arange(1, 5, dtype=np.float32)

    found = run(gpu, "index_add_zeros", src, np.array([4, wrong, 4, 0]), 5, 0)

    assert found.tolist() == [4, 0, 0, 0, 4]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("padding", [None, 0, 7])
@pytest.mark.parametrize("shape", [(600,), (20, 30), ()])
def test_rows_of_an_embedding_receive_their_gradients(
    gpu: vkml.Device, padding: int | None, shape: tuple[int, ...]
) -> None:
    generator = np.random.default_rng(6)
    indices = np.asarray(generator.integers(0, 8, shape))
    upstream = generator.integers(-9, 9, (*shape, 33)).astype(np.float32)

    found = run(gpu, "embedding_backward", upstream, indices, 8, padding)

    expected = added(upstream.reshape(-1, 33), indices.reshape(-1), 8)
    if padding is not None:
        expected[padding] = 0
    np.testing.assert_array_equal(found, expected)


@pytest.mark.usefixtures("way")
def test_a_long_sum_stays_accurate(gpu: vkml.Device) -> None:
    src = np.full(300_000, 0.1, np.float32)

    found = run(gpu, "scatter_add_zeros", src, np.zeros(300_000, np.int64), (2,), 0)

    np.testing.assert_allclose(found, [np.float64(src[0]) * 300_000, 0], rtol=5e-6)


@pytest.mark.usefixtures("way")
def test_nothing_added_is_zero(gpu: vkml.Device) -> None:
    none = np.zeros(0, np.int64)

    found = run(gpu, "index_add_zeros", np.zeros((0, 3), np.float32), none, 4, 0)

    np.testing.assert_array_equal(found, np.zeros((4, 3)))


def test_by_sizes_alone_a_large_table_receives_its_gradient(gpu: vkml.Device) -> None:
    generator = np.random.default_rng(7)
    indices = generator.integers(0, 20_000, 3000)
    upstream = generator.integers(-9, 9, (3000, 32)).astype(np.float32)

    found = run(gpu, "embedding_backward", upstream, indices, 20_000, None)

    np.testing.assert_array_equal(found, added(upstream, indices, 20_000))
