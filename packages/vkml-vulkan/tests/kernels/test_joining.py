"""`cat` and `roll` on the device: parts of every dtype, size and layout side by side."""

from __future__ import annotations

import numpy as np
import pytest

import vkml

DTYPES = (
    "bool", "uint8", "int8", "uint16", "int16", "float16", "uint32", "int32", "float32", "uint64",
    "int64", "float64", "complex64",
)  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [0, 1])
def test_parts_of_odd_sizes_lie_side_by_side(gpu: vkml.Device, dtype: str, axis: int) -> None:
    generator = np.random.default_rng(0)
    shapes = [(3, 5), (3, 5)] if axis == 0 else [(3, 5), (3, 1), (3, 0), (3, 7)]
    parts = [generator.integers(0, 2, shape).astype(dtype) for shape in shapes]

    joined = vkml.cat([vkml.tensor(part).to(gpu) for part in parts], axis)

    np.testing.assert_array_equal(joined.cpu().numpy(), np.concatenate(parts, axis))


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "int64"])
def test_parts_of_several_workgroups_lie_side_by_side(gpu: vkml.Device, dtype: str) -> None:
    generator = np.random.default_rng(1)
    parts = [generator.integers(0, 100, (3, n, 71)).astype(dtype) for n in (331, 1, 513)]

    joined = vkml.cat([vkml.tensor(part).to(gpu) for part in parts], 1)

    np.testing.assert_array_equal(joined.cpu().numpy(), np.concatenate(parts, 1))


def test_parts_of_any_strides_are_joined(gpu: vkml.Device) -> None:
    x = np.arange(24, dtype=np.int16).reshape(4, 6)
    tensor = vkml.tensor(x).to(gpu)

    joined = vkml.cat([tensor.T, tensor[:, ::-1][::2].T, tensor[:1].expand(6, 6)], 1)

    expected = np.concatenate([x.T, x[:, ::-1][::2].T, np.broadcast_to(x[:1], (6, 6))], 1)
    np.testing.assert_array_equal(joined.cpu().numpy(), expected)


def test_one_tensor_may_stand_at_many_places(gpu: vkml.Device) -> None:
    x = np.arange(7, dtype=np.int8)
    tensor = vkml.tensor(x).to(gpu)

    joined = vkml.cat([tensor] * 100)

    np.testing.assert_array_equal(joined.cpu().numpy(), np.tile(x, 100))


@pytest.mark.parametrize(
    ("shifts", "dims"),
    [
        ((2,), (1,)),
        ((-3, 4), (0, 2)),
        ((1, 1), (2, 2)),
        ((0,), (0,)),
        ((7, 5, -1), (0, 1, 2)),
        ((1, 2, 3, 4), (0, 1, 2, 3)),
    ],
)
@pytest.mark.parametrize("dtype", ["uint8", "float32", "int64"])
def test_elements_roll_over_the_end(
    gpu: vkml.Device, dtype: str, shifts: tuple[int, ...], dims: tuple[int, ...]
) -> None:
    x = np.arange(5 * 7 * 9 * 3).astype(dtype).reshape(5, 7, 9, 3)

    rolled = vkml.roll(vkml.tensor(x).to(gpu), shifts, dims)

    np.testing.assert_array_equal(rolled.cpu().numpy(), np.roll(x, shifts, dims))


def test_a_transposed_tensor_rolls(gpu: vkml.Device) -> None:
    x = np.arange(700 * 300, dtype=np.float32).reshape(700, 300)

    rolled = vkml.roll(vkml.tensor(x).to(gpu).T, (123, -45), (0, 1))

    np.testing.assert_array_equal(rolled.cpu().numpy(), np.roll(x.T, (123, -45), (0, 1)))
