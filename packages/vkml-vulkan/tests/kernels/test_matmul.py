"""Matrix products of all dtypes, ranks and layouts, in several workgroups and parts."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

import vkml

EPSILON: Final = float(np.finfo(np.float32).eps)
INTEGERS: Final = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")

# Odd sizes around those of tiles, few rows or columns, long sums, broadcast stacks, vectors.
SHAPES: Final = [
    ((1, 1), (1, 1)),
    ((5, 3), (3, 7)),
    ((33, 17), (17, 65)),
    ((64, 64), (64, 64)),
    ((67, 129), (129, 131)),
    ((300, 20), (20, 210)),
    ((1030, 9), (9, 1050)),
    ((1, 300), (300, 500)),
    ((500, 300), (300, 1)),
    ((3, 5000), (5000, 2)),
    ((4, 30_000), (30_000, 4)),
    ((9, 9000), (9000, 21)),
    ((40, 3000), (3000, 50)),
    ((400, 2100), (2100, 330)),
    ((100_003,), (100_003,)),
    ((700,), (700, 33)),
    ((33, 700), (700,)),
    ((4, 1, 6, 5), (3, 5, 2)),
    ((2, 3, 17, 4), (2, 3, 4, 9)),
    ((6, 4), (5, 1, 4, 3)),
    ((3, 50, 8), (8, 20)),
    ((8,), (2, 3, 8, 5)),
    ((70_000, 1, 2), (2, 1)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
    ((0,), (0,)),
]


def values(*shape: int, seed: int = 0) -> NDArray[np.float64]:
    return np.random.default_rng([math.prod(shape), seed]).standard_normal(shape)


def whole_numbers(*shape: int, dtype: str, seed: int = 0) -> NDArray[Any]:
    limits = np.iinfo(dtype)
    generator = np.random.default_rng([math.prod(shape), seed])
    return generator.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def product(gpu: vkml.Device, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    found = vkml.tensor(a).to(gpu) @ vkml.tensor(b).to(gpu)
    result: NDArray[Any] = found.cpu().numpy()
    return result


def assert_close(found: NDArray[Any], a: NDArray[Any], b: NDArray[Any], epsilon: float) -> None:
    """Assert that each element errs no more than a sum of its products may."""
    exact = np.matmul(a.astype(np.float64), b.astype(np.float64))
    scale = np.matmul(np.abs(a).astype(np.float64), np.abs(b).astype(np.float64))
    assert found.shape == exact.shape
    assert np.all(np.abs(found - exact) <= 8 * epsilon * scale + 1e-30)


@pytest.mark.parametrize(("a_shape", "b_shape"), SHAPES, ids=str)
def test_a_float32_product_is_close_to_the_exact_one(
    gpu: vkml.Device, a_shape: tuple[int, ...], b_shape: tuple[int, ...]
) -> None:
    a, b = values(*a_shape).astype(np.float32), values(*b_shape, seed=1).astype(np.float32)

    found = product(gpu, a, b)

    assert found.dtype == np.float32
    assert_close(found, a, b, EPSILON)


@pytest.mark.parametrize(("a_shape", "b_shape"), SHAPES[1:15], ids=str)
def test_a_float64_product_is_close_to_the_exact_one(
    gpu_with_float64: vkml.Device, a_shape: tuple[int, ...], b_shape: tuple[int, ...]
) -> None:
    a, b = values(*a_shape), values(*b_shape, seed=1)

    found = product(gpu_with_float64, a, b)

    assert found.dtype == np.float64
    assert_close(found, a, b, float(np.finfo(np.float64).eps))


@pytest.mark.parametrize("shapes", [((33, 65), (65, 34)), ((3, 4099), (4099, 3))], ids=str)
def test_a_float16_product_is_summed_in_float32(
    gpu: vkml.Device, shapes: tuple[tuple[int, int], tuple[int, int]]
) -> None:
    a = values(*shapes[0]).astype(np.float16)
    b = values(*shapes[1], seed=1).astype(np.float16)

    found = product(gpu, a, b)

    exact = np.matmul(a.astype(np.float64), b.astype(np.float64))
    np.testing.assert_allclose(found.astype(np.float64), exact, rtol=6e-4, atol=1e-3)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize(
    "shapes", [((21, 37), (37, 45)), ((2, 9001), (9001, 1)), ((130, 5), (5, 140))], ids=str
)
def test_integer_products_wrap_around_as_those_of_numpy(
    gpu: vkml.Device, dtype: str, shapes: tuple[tuple[int, int], tuple[int, int]]
) -> None:
    a = whole_numbers(*shapes[0], dtype=dtype)
    b = whole_numbers(*shapes[1], dtype=dtype, seed=1)

    np.testing.assert_array_equal(product(gpu, a, b), np.matmul(a, b))


def test_a_product_of_truth_values_tells_whether_any_pair_is_true(gpu: vkml.Device) -> None:
    generator = np.random.default_rng(0)
    a, b = generator.random((40, 9)) < 0.2, generator.random((9, 33)) < 0.2

    found = product(gpu, a, b)

    assert found.dtype == np.bool_
    np.testing.assert_array_equal(found, np.matmul(a, b))


@pytest.mark.parametrize("a_order", ["plain", "transposed", "reversed", "gaps", "repeated"])
@pytest.mark.parametrize("b_order", ["plain", "transposed", "reversed", "gaps", "repeated"])
def test_operands_are_read_where_they_lie(gpu: vkml.Device, a_order: str, b_order: str) -> None:
    a, a_array = arranged(gpu, 37, 70, a_order)
    b, b_array = arranged(gpu, 70, 43, b_order)

    found = (a @ b).cpu().numpy()

    assert_close(found, a_array, b_array, EPSILON)


def arranged(
    gpu: vkml.Device, rows: int, columns: int, order: str
) -> tuple[vkml.Tensor, NDArray[np.float32]]:
    """Return a matrix, on the device as a view in some order, and as an array."""
    if order == "transposed":
        array = values(columns, rows).astype(np.float32)
        return vkml.tensor(array).to(gpu).T, array.T
    if order == "gaps":
        array = values(2 * rows + 1, 3 * columns + 2).astype(np.float32)
        return vkml.tensor(array).to(gpu)[1::2, 2::3], array[1::2, 2::3]
    if order == "repeated":
        array = values(1, columns).astype(np.float32)
        view = vkml.tensor(array).to(gpu).expand(rows, columns)
        return view, np.broadcast_to(array, (rows, columns))
    array = values(rows, columns).astype(np.float32)
    tensor = vkml.tensor(array).to(gpu)
    if order == "reversed":
        return vkml.flip(tensor, (0, 1)), array[::-1, ::-1]
    return tensor, array


@pytest.mark.parametrize("dtype", ["float16", "int8", "int64"])
def test_views_that_begin_inside_a_word_are_products_too(gpu: vkml.Device, dtype: str) -> None:
    generator = np.random.default_rng(0)
    a = generator.integers(-3, 4, (13, 9)).astype(dtype)
    b = generator.integers(-3, 4, (9, 21)).astype(dtype)

    found = vkml.tensor(a).to(gpu)[3:, 1:8] @ vkml.tensor(b).to(gpu)[1:8, 5:]

    np.testing.assert_array_equal(found.cpu().numpy(), a[3:, 1:8] @ b[1:8, 5:])


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    ("rows", "inner", "columns"), [(35, 20, 37), (1, 70, 40), (40, 70, 1), (3, 5000, 3)]
)
def test_a_special_value_reaches_its_row_alone(
    gpu: vkml.Device, special: float, rows: int, inner: int, columns: int
) -> None:
    a, b = np.ones((rows, inner), np.float32), np.ones((inner, columns), np.float32)
    a[rows - 1, inner - 1] = special

    found = product(gpu, a, b)

    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(found, a @ b)


def test_infinity_times_zero_is_nan(gpu: vkml.Device) -> None:
    a, b = np.full((20, 3), np.inf, np.float32), np.zeros((3, 20), np.float32)

    assert np.isnan(product(gpu, a, b)).all()


def test_a_long_sum_keeps_its_accuracy(gpu: vkml.Device) -> None:
    ones = np.full(3_000_001, 0.1, np.float32)

    found = product(gpu, ones, ones)

    assert float(found) == pytest.approx(3_000_001 * float(np.float32(0.1)) ** 2, rel=2e-6)


def test_a_product_has_the_same_bits_every_time(gpu: vkml.Device) -> None:
    a, b = values(9, 20_000).astype(np.float32), values(20_000, 11).astype(np.float32)

    first, second = product(gpu, a, b), product(gpu, a, b)

    assert first.tobytes() == second.tobytes()


def test_a_product_with_itself_reads_one_operand_twice(gpu: vkml.Device) -> None:
    a = values(50, 50).astype(np.float32)
    x = vkml.tensor(a).to(gpu)

    assert_close((x @ x.T).cpu().numpy(), a, a.T, EPSILON)
