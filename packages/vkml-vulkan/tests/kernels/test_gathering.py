"""Elements by an index on the device: `gather`, `index_select`, `embedding`."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import vkml

DTYPES = (
    "bool", "uint8", "int8", "uint16", "int16", "float16", "uint32", "int32", "float32", "uint64",
    "int64", "float64", "complex64",
)  # fmt: skip


@pytest.mark.parametrize("dtype", [*DTYPES, ml_dtypes.bfloat16])
@pytest.mark.parametrize("index_dtype", ["int64", "int32"])
def test_rows_of_every_dtype_are_selected(gpu: vkml.Device, dtype: str, index_dtype: str) -> None:
    generator = np.random.default_rng(0)
    x = generator.integers(0, 100, (13, 7)).astype(dtype)
    index = generator.integers(0, 13, 29).astype(index_dtype)

    chosen = vkml.index_select(vkml.tensor(x).to(gpu), 0, vkml.tensor(index).to(gpu))

    np.testing.assert_array_equal(chosen.cpu().numpy(), x[index])


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "int64"])
def test_many_elements_are_gathered_along_every_axis(
    gpu: vkml.Device, dtype: str, dim: int
) -> None:
    generator = np.random.default_rng(1)
    x = generator.integers(0, 100, (31, 45, 67)).astype(dtype)
    shape = [29, 41, 66]
    shape[dim] = 83
    index = generator.integers(0, x.shape[dim], shape)

    found = vkml.gather(vkml.tensor(x).to(gpu), dim, vkml.tensor(index).to(gpu))

    part = x[tuple(slice(None if axis == dim else shape[axis]) for axis in range(3))]
    np.testing.assert_array_equal(found.cpu().numpy(), np.take_along_axis(part, index, dim))


def test_strided_operands_and_indices_are_gathered(gpu: vkml.Device) -> None:
    generator = np.random.default_rng(2)
    x = generator.normal(size=(40, 30)).astype(np.float32)
    index = generator.integers(0, 40, (30, 50))
    tensor, places = vkml.tensor(x).to(gpu), vkml.tensor(index).to(gpu)

    found = vkml.gather(tensor.T[::-1], 1, places[:, ::-2])

    expected = np.take_along_axis(x.T[::-1], index[:, ::-2], 1)
    np.testing.assert_array_equal(found.cpu().numpy(), expected)


def test_one_index_for_all_chooses_one_element_for_all(gpu: vkml.Device) -> None:
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    index = vkml.tensor([[2]]).to(gpu).expand(3, 5)

    found = vkml.gather(vkml.tensor(x).to(gpu), 1, index)

    np.testing.assert_array_equal(found.cpu().numpy(), np.repeat(x[:, 2:3], 5, 1))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("width", [1, 3, 64])
def test_rows_of_a_large_table_are_embedded(gpu: vkml.Device, dtype: str, width: int) -> None:
    generator = np.random.default_rng(3)
    table = generator.normal(size=(5003, width)).astype(dtype)
    indices = generator.integers(0, 5003, (37, 2, 19))

    found = vkml.embedding(vkml.tensor(indices).to(gpu), vkml.tensor(table).to(gpu))

    np.testing.assert_array_equal(found.cpu().numpy(), table[indices])


@pytest.mark.parametrize("wrong", [-1, 5, 2**32, 2**32 + 1, -(2**63), 2**63 - 1])
def test_an_index_outside_its_axis_reads_nothing_and_gives_zero(
    gpu: vkml.Device, wrong: int
) -> None:
    x = np.arange(10, 15, dtype=np.float32)
    index = np.array([4, wrong, 0])

    found = vkml.index_select(vkml.tensor(x).to(gpu), 0, vkml.tensor(index).to(gpu))

    assert found.tolist() == [14.0, 0.0, 10.0]


def test_an_index_of_32_bits_outside_its_axis_gives_zero(gpu: vkml.Device) -> None:
    x = vkml.arange(1, 6).to(gpu)
    index = vkml.tensor(np.array([-1, 4, 5, -(2**31)], np.int32)).to(gpu)

    assert vkml.gather(x, 0, index).tolist() == [0, 5, 0, 0]


def test_an_empty_axis_has_nothing_to_choose(gpu: vkml.Device) -> None:
    x = vkml.zeros((0, 3), device=gpu)

    found = vkml.index_select(x, 0, vkml.tensor(np.zeros(0, np.int64)).to(gpu))

    assert found.shape == (0, 3)
