"""Reductions over several workgroups and stages, of all dtypes and layouts, beside NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

import vkml

BY_NAME: Final[dict[str, Callable[..., Any]]] = {
    "sum": np.sum, "amax": np.max, "amin": np.min, "any": np.any, "all": np.all,
}  # fmt: skip
INTEGERS: Final = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")

# Short and long rows, few and many of them, odd sizes; the last ones need partial results.
SHAPES: Final = [
    ((5, 7), (1,)),
    ((5, 7), (0,)),
    ((300, 3), (1,)),
    ((33, 1000), (1,)),
    ((1000, 33), (0,)),
    ((1000, 3), (0,)),
    ((3, 5, 7, 11), (0, 2)),
    ((4, 6, 8, 8), (0, 2, 3)),
    ((2, 3, 40_001), (2,)),
    ((100_003,), (0,)),
    ((70_000, 9), (0,)),
    ((9, 70_000), (0, 1)),
]


def values(*shape: int, dtype: str = "float32") -> NDArray[Any]:
    generator = np.random.default_rng(math.prod(shape))
    return generator.standard_normal(shape).astype(dtype)


def whole_numbers(*shape: int, dtype: str) -> NDArray[Any]:
    limits = np.iinfo(dtype)
    generator = np.random.default_rng(math.prod(shape))
    return generator.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def on(gpu: vkml.Device, array: NDArray[Any]) -> vkml.Tensor:
    return vkml.tensor(array).to(gpu)


# Sums, means, products --------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_a_sum_is_as_exact_as_one_in_pairs(
    gpu: vkml.Device, shape: tuple[int, ...], axes: tuple[int, ...]
) -> None:
    x = values(*shape)
    count = math.prod(shape[axis] for axis in axes)

    found = vkml.sum(on(gpu, x), axes).cpu().numpy()

    # Of random signs: sums of blocks are off by some units in the last place of sqrt(count).
    np.testing.assert_allclose(
        found, x.astype(np.float64).sum(axes), rtol=0, atol=1e-6 * math.sqrt(count)
    )


def test_a_million_equal_numbers_do_not_lose_digits(gpu: vkml.Device) -> None:
    x = np.full(1_000_000, 0.1, np.float32)

    assert vkml.sum(on(gpu, x)).item() == pytest.approx(100_000.0015, rel=2e-6)


@pytest.mark.parametrize("axis", [0, 1])
def test_a_long_column_or_row_of_equal_numbers_does_not_lose_digits(
    gpu: vkml.Device, axis: int
) -> None:
    shape = (100_000, 40) if axis == 0 else (40, 100_000)
    x = np.full(shape, 0.1, np.float32)

    found = vkml.sum(on(gpu, x), axis).cpu().numpy()

    np.testing.assert_allclose(found, 10_000.00015, rtol=3e-6)


@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_a_mean_divides_by_the_number_of_elements(
    gpu: vkml.Device, shape: tuple[int, ...], axes: tuple[int, ...]
) -> None:
    x = values(*shape) + 3

    found = vkml.mean(on(gpu, x), axes).cpu().numpy()

    np.testing.assert_allclose(found, x.astype(np.float64).mean(axes), rtol=1e-6)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_half_precision_is_summed_in_float32(gpu: vkml.Device, name: str) -> None:
    dtype = np.float16 if name == "float16" else pytest.importorskip("ml_dtypes").bfloat16
    x = np.full((3, 4096), 0.25).astype(dtype)

    found = vkml.sum(on(gpu, x), 1)

    assert found.cpu().numpy().astype(np.float32).tolist() == [1024, 1024, 1024]


@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_sums_of_int64_are_exact(
    gpu: vkml.Device, shape: tuple[int, ...], axes: tuple[int, ...]
) -> None:
    x = whole_numbers(*shape, dtype="int64")

    found = vkml.sum(on(gpu, x), axes).cpu().numpy()

    np.testing.assert_array_equal(found, x.sum(axes))


@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_products_of_int64_wrap_as_numpy_wraps_them(
    gpu: vkml.Device, shape: tuple[int, ...], axes: tuple[int, ...]
) -> None:
    x = whole_numbers(*shape, dtype="int64") | 1

    found = vkml.prod(on(gpu, x), axes).cpu().numpy()

    np.testing.assert_array_equal(found, x.prod(axes))


def test_a_product_of_many_numbers_near_one(gpu: vkml.Device) -> None:
    x = 1 + 1e-4 * values(50_000)

    found = vkml.prod(on(gpu, x)).item()

    assert found == pytest.approx(x.astype(np.float64).prod(), rel=1e-3)


def test_float64_is_summed_in_float64(gpu_with_float64: vkml.Device) -> None:
    x = values(3, 50_001, dtype="float64")

    found = vkml.sum(on(gpu_with_float64, x), 1).cpu().numpy()

    np.testing.assert_allclose(found, x.sum(1), rtol=1e-12, atol=1e-12)


def test_the_same_sum_twice_has_the_same_bits(gpu: vkml.Device) -> None:
    x = on(gpu, values(300_001))

    assert vkml.sum(x).item() == vkml.sum(x).item()


def test_a_gradient_is_summed_to_the_shape_that_was_broadcast(gpu: vkml.Device) -> None:
    x = on(gpu, values(4, 1, 3)).requires_grad_()

    (x * on(gpu, values(2, 4, 50, 3))).sum().backward()

    assert x.grad is not None
    wanted = values(2, 4, 50, 3).astype(np.float64).sum((0, 2))[:, None]
    np.testing.assert_allclose(x.grad.cpu().numpy(), wanted, rtol=1e-5, atol=1e-5)


# Extremes and questions ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["amax", "amin", "any", "all"])
@pytest.mark.parametrize("dtype", [*INTEGERS, "bool", "float16", "float32"])
def test_extremes_and_questions_of_every_dtype(gpu: vkml.Device, name: str, dtype: str) -> None:
    made = whole_numbers if dtype in INTEGERS else values
    x = made(6, 5001, dtype=dtype)
    x[1], x[2, 17], x[3:] = 0, 0, x[3:, ::-1]

    found = getattr(vkml, name)(on(gpu, x), 1).cpu().numpy()

    np.testing.assert_array_equal(found, BY_NAME[name](x, axis=1))


@pytest.mark.parametrize("name", ["amax", "amin"])
@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_extremes_of_every_shape(
    gpu: vkml.Device, name: str, shape: tuple[int, ...], axes: tuple[int, ...]
) -> None:
    x = values(*shape)

    found = getattr(vkml, name)(on(gpu, x), axes).cpu().numpy()

    np.testing.assert_array_equal(found, BY_NAME[name](x, axis=axes))


@pytest.mark.parametrize("name", ["sum", "amax", "amin"])
@pytest.mark.parametrize("place", [0, 3, 4000, 99_999])
def test_one_nan_wins(gpu: vkml.Device, name: str, place: int) -> None:
    x = values(100_000)
    x[place], x[50], x[51] = np.nan, np.inf, -np.inf

    assert math.isnan(getattr(vkml, name)(on(gpu, x)).item())


def test_nan_is_true(gpu: vkml.Device) -> None:
    x = on(gpu, np.array([[0, np.nan], [0, -0.0]], np.float32))

    assert vkml.any(x, 1).tolist() == [True, False]


@pytest.mark.parametrize("name", ["any", "all"])
@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_one_element_decides_a_question(
    gpu: vkml.Device, name: str, shape: tuple[int, ...], axes: tuple[int, ...]
) -> None:
    x = np.full(shape, name == "all")
    x.reshape(-1)[-3] = name == "any"

    found = getattr(vkml, name)(on(gpu, x), axes).cpu().numpy()

    np.testing.assert_array_equal(found, BY_NAME[name](x, axis=axes))


# Where extremes lie ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("axis", [None, 0, 1, 2])
@pytest.mark.parametrize("shape", [(3, 5, 7), (2, 40_000, 3), (40_000, 2, 3), (3, 2, 40_000)])
def test_places_of_extremes(
    gpu: vkml.Device, name: str, axis: int | None, shape: tuple[int, ...]
) -> None:
    x = values(*shape)

    found = getattr(vkml, name)(on(gpu, x), axis).cpu().numpy()

    np.testing.assert_array_equal(found, getattr(np, name)(x, axis=axis))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dtype", [*INTEGERS, "bool", "float16"])
def test_the_first_of_equals_is_taken(gpu: vkml.Device, name: str, dtype: str) -> None:
    x = (np.random.default_rng(0).integers(0, 3, (4, 30_000)) % 2).astype(dtype)
    x[0], x[1] = 0, 1

    found = getattr(vkml, name)(on(gpu, x), 1).cpu().numpy()

    np.testing.assert_array_equal(found, getattr(np, name)(x, axis=1))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_the_first_nan_is_the_extreme(gpu: vkml.Device, name: str) -> None:
    x = values(60_000)
    x[[5, 41_000, 50_000]] = np.inf, np.nan, np.nan

    assert getattr(vkml, name)(on(gpu, x)).item() == 41_000


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_zeros_of_both_signs_are_equal(gpu: vkml.Device, name: str) -> None:
    x = np.array([[0.0, -0.0, 0.0], [-0.0, 0.0, -0.0]], np.float32)

    assert getattr(vkml, name)(on(gpu, x), 1).tolist() == [0, 0]


def test_the_place_in_a_transposed_tensor_counts_its_own_order(gpu: vkml.Device) -> None:
    x = values(200, 300)

    assert vkml.argmax(on(gpu, x).T).item() == np.argmax(x.T)


# log-sum-exp -------------------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_logsumexp_of_every_shape(
    gpu: vkml.Device, shape: tuple[int, ...], axes: tuple[int, ...]
) -> None:
    x = 30 * values(*shape)
    wide = x.astype(np.float64)
    largest = wide.max(axes, keepdims=True)
    wanted = np.log(np.exp(wide - largest).sum(axes)) + largest.reshape(wide.sum(axes).shape)

    found = vkml.logsumexp(on(gpu, x), axes).cpu().numpy()

    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("size", [3, 600, 50_000])
@pytest.mark.parametrize(
    ("special", "wanted"),
    [
        ([-np.inf], 1.0),
        ([np.inf], np.inf),
        ([np.inf, -np.inf], np.inf),
        ([np.nan], np.nan),
        ([np.nan, np.inf], np.nan),
    ],
)
def test_infinities_and_nan_of_logsumexp(
    gpu: vkml.Device, size: int, special: list[float], wanted: float
) -> None:
    x = np.full(size, -np.inf, np.float32)
    x[0] = 1
    x[-len(special) :] = special

    np.testing.assert_equal(vkml.logsumexp(on(gpu, x), 0).item(), wanted)


def test_logsumexp_of_minus_infinity_alone_is_minus_infinity(gpu: vkml.Device) -> None:
    x = on(gpu, np.full((2, 700), -np.inf, np.float32))

    assert vkml.logsumexp(x, 1).tolist() == [-np.inf, -np.inf]


# Layouts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize("layout", ["permuted", "sliced", "reversed", "expanded", "offset"])
def test_every_layout_and_every_set_of_axes(
    gpu: vkml.Device, layout: str, axes: tuple[int, ...]
) -> None:
    x, tensor = values(12, 35, 44), on(gpu, values(12, 35, 44))
    if layout == "permuted":
        x, tensor = x.transpose(2, 0, 1), tensor.permute(2, 0, 1)
    elif layout == "sliced":
        x, tensor = x[::2, 1:, ::3], tensor[::2, 1:, ::3]
    elif layout == "reversed":
        x, tensor = x[::-1, :, ::-1], vkml.flip(tensor, (0, 2))
    elif layout == "expanded":
        x, tensor = np.broadcast_to(x[:, :1], x.shape), tensor[:, :1].expand(12, 35, 44)
    else:
        x, tensor = x[1:], tensor[1:]

    total = vkml.sum(tensor, axes).cpu().numpy()
    largest = vkml.amax(tensor, axes, keepdim=True).cpu().numpy()

    np.testing.assert_allclose(total, x.astype(np.float64).sum(axes), rtol=1e-5, atol=5e-4)
    np.testing.assert_array_equal(largest, x.max(axes, keepdims=True))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("sum", 0), ("mean", math.nan), ("prod", 1), ("any", 0), ("all", 1), ("logsumexp", -math.inf)],
)
def test_a_reduction_of_nothing(gpu: vkml.Device, name: str, wanted: float) -> None:
    x = on(gpu, values(3, 0))

    found = getattr(vkml, name)(x, 1).cpu().numpy()

    np.testing.assert_array_equal(found.astype(np.float64), [wanted] * 3)


def test_a_tensor_of_many_axes(gpu: vkml.Device) -> None:
    x = values(2, 3, 2, 3, 2, 3, 2, 3).transpose(1, 3, 5, 7, 0, 2, 4, 6)
    tensor = on(gpu, values(2, 3, 2, 3, 2, 3, 2, 3)).permute(1, 3, 5, 7, 0, 2, 4, 6)

    found = vkml.amax(tensor, (0, 2, 5, 7)).cpu().numpy()

    np.testing.assert_array_equal(found, x.max((0, 2, 5, 7)))
