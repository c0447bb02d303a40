"""Running sums of all layouts and over several workgroups and chunks, beside NumPy."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

import vkml

# Short and long lines, few and many of them; the last ones are cut into chunks.
CASES: Final = [
    ((5, 7), 0),
    ((5, 7), 1),
    ((300, 3), 1),
    ((33, 1000), 1),
    ((1000, 33), 0),
    ((3, 50, 7), 1),
    ((40_001,), 0),
    ((3, 20_001), 1),
    ((20_001, 3), 0),
    ((3000, 100), 0),
    ((200_003,), 0),
]


def values(*shape: int, dtype: str = "float32") -> NDArray[Any]:
    generator = np.random.default_rng(math.prod(shape))
    return generator.standard_normal(shape).astype(dtype)


def on(gpu: vkml.Device, array: NDArray[Any]) -> vkml.Tensor:
    return vkml.tensor(array).to(gpu)


@pytest.mark.parametrize(("shape", "axis"), CASES)
def test_running_sums_are_near_those_in_float64(
    gpu: vkml.Device, shape: tuple[int, ...], axis: int
) -> None:
    x = values(*shape)

    found = vkml.cumsum(on(gpu, x), axis).cpu().numpy()

    # Of random signs: off by some units in the last place of the square root of the length.
    tolerance = 4e-6 * math.sqrt(shape[axis])
    np.testing.assert_allclose(
        found, np.cumsum(x, axis, dtype=np.float64), rtol=1e-6, atol=tolerance
    )


@pytest.mark.parametrize(("shape", "axis"), CASES)
def test_running_sums_of_int64_are_exact(
    gpu: vkml.Device, shape: tuple[int, ...], axis: int
) -> None:
    limits = np.iinfo("int64")
    x = np.random.default_rng(0).integers(limits.min, limits.max, shape)

    found = vkml.cumsum(on(gpu, x), axis).cpu().numpy()

    np.testing.assert_array_equal(found, np.cumsum(x, axis))


@pytest.mark.parametrize("shape", [(1_000_000,), (100_000, 20)])
def test_many_equal_numbers_do_not_lose_digits(gpu: vkml.Device, shape: tuple[int, ...]) -> None:
    x = np.full(shape, 0.1, np.float32)

    found = vkml.cumsum(on(gpu, x), 0).cpu().numpy()

    np.testing.assert_allclose(found, np.cumsum(x, 0, dtype=np.float64), rtol=2e-5)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("layout", ["permuted", "sliced", "reversed", "expanded"])
def test_every_layout(gpu: vkml.Device, layout: str, axis: int) -> None:
    x, tensor = values(6, 35, 44), on(gpu, values(6, 35, 44))
    if layout == "permuted":
        x, tensor = x.transpose(2, 0, 1), tensor.permute(2, 0, 1)
    elif layout == "sliced":
        x, tensor = x[::2, 1:, ::3], tensor[::2, 1:, ::3]
    elif layout == "reversed":
        x, tensor = x[::-1, :, ::-1], vkml.flip(tensor, (0, 2))
    else:
        x, tensor = np.broadcast_to(x[:, :1], x.shape), tensor[:, :1].expand(6, 35, 44)

    found = vkml.cumsum(tensor, axis).cpu().numpy()

    np.testing.assert_allclose(found, np.cumsum(x, axis, dtype=np.float64), rtol=1e-6, atol=2e-5)


@pytest.mark.parametrize("size", [40, 3000, 50_000])
def test_nan_and_infinity_reach_only_what_comes_after(gpu: vkml.Device, size: int) -> None:
    x = np.ones(size, np.float32)
    x[[size // 3, size // 2]] = np.inf, np.nan

    found = vkml.cumsum(on(gpu, x), 0).cpu().numpy()

    np.testing.assert_array_equal(found, np.cumsum(x))


@pytest.mark.parametrize("axis", [0, 1])
def test_half_precision_is_added_up_in_float32(gpu: vkml.Device, axis: int) -> None:
    x = np.full((3001, 5) if axis == 0 else (5, 3001), 0.25, np.float16)

    found = vkml.cumsum(on(gpu, x), axis).cpu().numpy()

    np.testing.assert_array_equal(found, np.cumsum(x, axis, dtype=np.float32).astype(np.float16))


def test_running_sums_of_float64(gpu_with_float64: vkml.Device) -> None:
    x = values(3, 20_001, dtype="float64")

    found = vkml.cumsum(on(gpu_with_float64, x), 1).cpu().numpy()

    np.testing.assert_allclose(found, np.cumsum(x, 1), rtol=1e-12, atol=1e-11)
