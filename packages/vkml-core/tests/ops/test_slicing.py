"""Slices of one axis: `narrow`, `select` and basic indices, as views with gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vkml

torch = pytest.importorskip("torch")


def numbers(*shape: int) -> Any:
    return np.asarray(np.random.default_rng(3).standard_normal(shape))


@pytest.mark.parametrize(
    ("dim", "start", "length"), [(0, 1, 3), (0, -2, 2), (0, 5, 0), (0, 0, 5), (1, 2, 1), (-1, 0, 3)]
)
def test_narrow_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, dim: int, start: int, length: int
) -> None:
    def part(library: Any) -> Any:
        return lambda x: library.narrow(x * x, dim, start, length)

    agrees_with_torch(part(vkml), part(torch), numbers(5, 3))


@pytest.mark.parametrize(("dim", "index"), [(0, 0), (0, -5), (0, 4), (1, 2), (-1, -1)])
def test_select_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, dim: int, index: int
) -> None:
    def part(library: Any) -> Any:
        return lambda x: library.select(x * x, dim, index)

    agrees_with_torch(part(vkml), part(torch), numbers(5, 3))
    agrees_with_torch(part(vkml), part(torch), numbers(3, 5).T)


@pytest.mark.parametrize(
    "index",
    [
        slice(1, 4), slice(None, None, 2), slice(-2, None), slice(4, 1), slice(10, 20),
        (slice(None), 1), (..., 0), (None, 2), (slice(1, 3), None, slice(0, 3, 2)), -1, ...,
    ],
    ids=str,
)  # fmt: skip
def test_basic_index_and_its_derivatives_equal_torch(agrees_with_torch: Any, index: Any) -> None:
    agrees_with_torch(lambda x: (x * x)[index], lambda x: (x * x)[index], numbers(5, 3))


@pytest.mark.parametrize(
    "index", [slice(None, None, -1), slice(4, None, -2), slice(0, 4, -1)], ids=str
)
def test_a_negative_step_reads_backwards_with_its_gradient(index: slice) -> None:
    x = vkml.tensor(numbers(5, 2), requires_grad=True)

    part = x[index]
    weights = vkml.arange(1.0, part.numel() + 1, dtype="float64").reshape(part.shape)
    (gradient,) = vkml.autograd.grad((part * weights).sum(), x)

    expected = np.zeros((5, 2))
    expected[index] = weights.numpy()
    assert gradient is not None
    assert_array_equal(part.detach().numpy(), x.detach().numpy()[index])
    assert_array_equal(gradient.numpy(), expected)


def test_parts_share_memory_and_version() -> None:
    x = vkml.arange(12).reshape(3, 4)
    row, column, backwards = vkml.select(x, 0, 1), vkml.narrow(x, 1, 1, 2), x[::-1]

    x.add_(1)
    column.zero_()

    assert row.storage() == column.storage() == backwards.storage() == x.storage()
    assert row.tolist() == [5, 0, 0, 8]
    assert backwards[1].tolist() == [5, 0, 0, 8]


def test_parts_of_parts_lie_where_they_should() -> None:
    part = vkml.arange(24).reshape(4, 6)[1:, ::2]

    inner = vkml.narrow(part, 0, 1, 2)[:, -1]

    assert inner.tolist() == [16, 22]
    assert inner.storage_offset() == 16
    assert inner.stride() == (6,)


def test_numpy_integers_are_places() -> None:
    x = vkml.arange(5)

    assert vkml.narrow(x, 0, np.int64(1), np.int32(2)).tolist() == [1, 2]  # type: ignore[arg-type]
    assert vkml.select(x, 0, np.int64(-1)).item() == 4  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("start", "length"), [(3, 3), (6, 0), (-6, 1), (0, -1), (0, 6), (-2, 3), (10**20, 1)]
)
def test_narrow_beyond_the_axis_is_an_error(start: int, length: int) -> None:
    with pytest.raises(vkml.ArgumentError, match=r"narrow: .* reaches outside axis 0 of size 5"):
        vkml.narrow(vkml.arange(5), 0, start, length)


@pytest.mark.parametrize("index", [5, -6, 10**20])
def test_select_beyond_the_axis_is_an_error(index: int) -> None:
    with pytest.raises(IndexError, match=f"select: index {index} lies outside axis 0 of size 5"):
        vkml.select(vkml.arange(5), 0, index)


def test_select_from_an_empty_axis_is_an_error() -> None:
    with pytest.raises(vkml.IndexOutOfRangeError, match="of size 0"):
        vkml.select(vkml.zeros(0, 3), 0, 0)


def test_rank_0_has_no_axis() -> None:
    with pytest.raises(vkml.ArgumentError, match="narrow: a rank-0 tensor"):
        vkml.narrow(vkml.tensor(1), 0, 0, 1)
    with pytest.raises(vkml.IndexOutOfRangeError, match="select: a rank-0 tensor"):
        vkml.select(vkml.tensor(1), 0, 0)


@pytest.mark.parametrize("place", [1.5, None, "a"])
def test_what_is_no_integer_is_no_place(place: Any) -> None:
    with pytest.raises(vkml.ShapeError, match="made of integers"):
        vkml.select(vkml.arange(5), 0, place)
    with pytest.raises(vkml.ShapeError, match="made of integers"):
        vkml.narrow(vkml.arange(5), 0, place, 1)
