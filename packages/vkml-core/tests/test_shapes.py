"""Arithmetic on shapes, against NumPy and PyTorch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vkml import shapes
from vkml.errors import ShapeError

SIZES = st.integers(0, 4)
SHAPES = st.lists(SIZES, max_size=4).map(tuple)


@st.composite
def views(draw: st.DrawFn) -> np.ndarray[Any, Any]:
    """Return an awkward view of an array: transposed, cut, stepped, reversed, broadcast."""
    array: np.ndarray[Any, Any] = np.arange(4**4).reshape(4, 4, 4, 4)
    for _ in range(draw(st.integers(0, 5))):
        kind = draw(st.sampled_from(["permute", "slice", "merge", "select", "expand"]))
        if kind == "permute" and array.ndim:
            array = array.transpose(draw(st.permutations(range(array.ndim))))
        elif kind == "slice" and array.ndim:
            axis = draw(st.integers(0, array.ndim - 1))
            start, step = draw(st.integers(0, 2)), draw(st.sampled_from([-2, -1, 1, 2]))
            index = [slice(None)] * array.ndim
            index[axis] = slice(None, None, step) if step < 0 else slice(start, None, step)
            array = array[tuple(index)]
        elif kind == "select" and array.ndim and array.shape[0]:
            array = array[draw(st.integers(0, array.shape[0] - 1))][...]
        elif kind == "merge":
            array = array.reshape(-1)
        elif kind == "expand" and array.ndim < 5:
            array = np.broadcast_to(array, (draw(st.integers(1, 3)), *array.shape))
    return array


@st.composite
def factorisations(draw: st.DrawFn, count: int) -> tuple[int, ...]:
    """Return a shape that holds `count` elements."""
    if count == 0:
        sizes = [draw(st.integers(0, 3)) for _ in range(draw(st.integers(0, 2)))]
        return (*sizes, 0)
    result = []
    while count > 1:
        factor = draw(st.sampled_from([n for n in range(2, count + 1) if count % n == 0]))
        result.append(factor)
        count //= factor
        if draw(st.booleans()):
            result.append(1)
    return tuple(result)


@given(views(), st.data())
def test_view_strides_show_the_same_elements_or_torch_needs_a_copy(
    array: np.ndarray[Any, Any], data: st.DataObject
) -> None:
    item = array.itemsize
    strides = tuple(stride // item for stride in array.strides)
    new_shape = data.draw(factorisations(array.size))

    found = shapes.view_strides(array.shape, strides, new_shape)

    if found is not None:
        shown = np.lib.stride_tricks.as_strided(array, new_shape, [item * n for n in found])
        np.testing.assert_array_equal(shown, array.reshape(new_shape))
    if min(strides, default=0) >= 0:
        assert (found is not None) == torch_can_view(array, new_shape)


def torch_can_view(array: np.ndarray[Any, Any], shape: tuple[int, ...]) -> bool:
    torch: Any = pytest.importorskip("torch")
    strides = [stride // array.itemsize for stride in array.strides]
    tensor = torch.empty(3**5 * 4**4, dtype=torch.int8).as_strided(array.shape, strides)
    try:
        tensor.view(shape)
    except RuntimeError:
        return False
    return True


@given(st.lists(SHAPES, min_size=1, max_size=3))
def test_broadcast_is_numpy_s(given_shapes: list[tuple[int, ...]]) -> None:
    try:
        expected = np.broadcast_shapes(*given_shapes)
    except ValueError:
        with pytest.raises(ShapeError, match="do not broadcast"):
            shapes.broadcast(*given_shapes)
        return

    assert shapes.broadcast(*given_shapes) == expected


@given(SHAPES, SHAPES)
def test_broadcasts_to_is_numpy_s(shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    try:
        np.broadcast_to(np.empty(shape), target)
        expected = True
    except ValueError:
        expected = False

    assert shapes.broadcasts_to(shape, target) == expected


@given(SHAPES)
def test_contiguous_strides_are_numpy_s(shape: tuple[int, ...]) -> None:
    expected = tuple(stride // 8 for stride in np.empty(shape, np.float64).strides)

    found = shapes.contiguous_strides(shape)

    assert shapes.is_contiguous(shape, found)
    if math.prod(shape):
        assert found == expected


@given(views())
def test_is_contiguous_is_numpy_s(array: np.ndarray[Any, Any]) -> None:
    strides = tuple(stride // array.itemsize for stride in array.strides)

    assert shapes.is_contiguous(array.shape, strides) == array.flags.c_contiguous


@given(views())
def test_span_is_what_the_view_touches(array: np.ndarray[Any, Any]) -> None:
    strides = [stride // array.itemsize for stride in array.strides]
    offsets = np.zeros(array.shape, int)
    for axis, stride in enumerate(strides):
        steps = np.arange(array.shape[axis]) * stride
        offsets += steps.reshape((-1,) + (1,) * (array.ndim - axis - 1))

    low, high = shapes.span(array.shape, tuple(strides))

    if array.size:
        assert (low, high) == (offsets.min(), offsets.max())
    else:
        assert low > high


@given(st.integers(-6, 6), st.integers(0, 4))
def test_axis_of_counts_from_either_end(dim: int, rank: int) -> None:
    limit = max(rank, 1)
    if -limit <= dim < limit:
        assert shapes.axis_of(dim, rank) == range(limit)[dim]
    else:
        with pytest.raises(ShapeError, match=f"axis {dim} is out of range for rank {rank}"):
            shapes.axis_of(dim, rank)


def test_axes_of_sorts_and_completes() -> None:
    assert shapes.axes_of(None, 3) == (0, 1, 2)
    assert shapes.axes_of((), 2) == (0, 1)
    assert shapes.axes_of((-1, 0), 3) == (0, 2)
    assert shapes.axes_of(-1, 2) == (1,)
    assert shapes.axes_of(0, 0) == ()


def test_an_axis_named_twice_is_refused() -> None:
    with pytest.raises(ShapeError, match="twice"):
        shapes.axes_of((0, -2), 2)


@pytest.mark.parametrize(
    ("shape", "axes", "keepdim", "expected"),
    [
        ((2, 3, 4), (1,), False, (2, 4)),
        ((2, 3, 4), (0, 2), True, (1, 3, 1)),
        ((), (), True, ()),
    ],
)
def test_reduced(shape: Any, axes: Any, keepdim: bool, expected: Any) -> None:
    assert shapes.reduced(shape, axes, keepdim) == expected


@given(SHAPES.filter(lambda shape: math.prod(shape) > 0 and len(shape) > 0), st.data())
def test_complete_finds_the_missing_size(shape: tuple[int, ...], data: st.DataObject) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    open_shape = (*shape[:axis], -1, *shape[axis + 1 :])

    assert shapes.complete(open_shape, math.prod(shape)) == shape


@pytest.mark.parametrize(
    ("sizes", "count", "message"),
    [
        ((-1, -1), 4, "one -1"),
        ((-2, 2), 4, "no other negative"),
        ((3, -1), 4, "do not fill"),
        ((0, -1), 0, "do not fill"),
        ((3, 2), 4, "holds 6 elements, the tensor has 4"),
    ],
)
def test_complete_refuses(sizes: Any, count: int, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        shapes.complete(sizes, count)


def test_as_shape_takes_sizes_either_way() -> None:
    expected = (2, 3)

    assert shapes.as_shape((2, 3)) == expected
    assert shapes.as_shape(((2, 3),)) == expected
    assert shapes.as_shape(([2, np.int64(3)],)) == expected
    with pytest.raises(ShapeError, match="made of integers"):
        shapes.as_shape((2, 3.5))
