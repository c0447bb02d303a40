"""Slices: views of a part of each axis. `x[1:3, ::2]` is made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from vkml.errors import ArgumentError, IndexOutOfRangeError
from vkml.ops import rules
from vkml.ops.apply import apply
from vkml.ops.definition import (
    Operation,
    Ops,
    Sample,
    Spec,
    Value,
    ViewLayout,
    array,
    define,
    no_samples,
)
from vkml.shapes import Shape, as_shape, axis_of
from vkml.tensor import Tensor

__all__ = ["narrow", "select"]


# slice -----------------------------------------------------------------------------------


def _slice_gradient(
    k: Ops,
    upstream: Value,
    _output: Value,
    x_spec: Spec,
    starts: Shape,
    steps: Shape,
    _sizes: Shape,
) -> tuple[Value]:
    return (k.slice_backward(upstream, x_spec.shape, starts, steps),)


def _slice_view(
    _shape: Shape, strides: Shape, offset: int, starts: Shape, steps: Shape, sizes: Shape
) -> ViewLayout:
    first = offset
    if 0 not in sizes:  # an empty slice may start past the end; it needs no place
        first += sum([start * stride for start, stride in zip(starts, strides, strict=True)])
    scaled = tuple([step * stride for step, stride in zip(steps, strides, strict=True)])
    return ViewLayout(sizes, scaled, first)


def _numpy_slice(x: Any, starts: Shape, steps: Shape, sizes: Shape) -> Any:
    return x[(*_index(starts, steps, sizes), ...)]  # "..." keeps rank 0 a view


def _index(starts: Shape, steps: Shape, sizes: Shape) -> tuple[slice, ...]:
    return tuple(
        [
            slice(start, _stop(start, step, size), step) if size else slice(0, 0)
            for start, step, size in zip(starts, steps, sizes, strict=True)
        ]
    )


def _stop(start: int, step: int, size: int) -> int | None:
    stop = start + step * size
    return None if stop < 0 else stop


@rules.checked_elsewhere
def _sliced(x: Spec, _starts: Shape, _steps: Shape, sizes: Shape) -> Spec:
    return Spec(sizes, x.dtype)


SLICE = define(
    Operation(
        name="slice", gradient=_slice_gradient, view=_slice_view, cpu=_numpy_slice,
        result=_sliced,
        samples=lambda generator: [
            Sample((array(generator, 5, 6),), ((1, 0), (2, 3), (2, 2))),
            Sample((array(generator, 4),), ((3,), (-1,), (4,))),
            Sample((array(generator, 4),), ((4,), (1,), (0,))),
            Sample((array(generator),), ((), (), ())),
        ],
    )
)  # fmt: skip


# slice_backward ----------------------------------------------------------------------------


def _slice_backward_gradient(
    k: Ops,
    upstream: Value,
    _output: Value,
    part_spec: Spec,
    _shape: Shape,
    starts: Shape,
    steps: Shape,
) -> tuple[Value]:
    return (k.slice(upstream, starts, steps, part_spec.shape),)


def _placed_in_zeros(part: Any, shape: Shape, starts: Shape, steps: Shape) -> Any:
    result = np.zeros(shape, part.dtype)
    result[_index(starts, steps, part.shape)] = part
    return result


SLICE_BACKWARD = define(
    Operation(
        name="slice_backward", gradient=_slice_backward_gradient, cpu=_placed_in_zeros,
        result=lambda part, shape, _starts, _steps: Spec(shape, part.dtype), samples=no_samples,
    )
)  # fmt: skip


def narrow(x: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Return a view of `length` elements along axis `dim`, from `start` on.

    Raises
    ------
    ArgumentError
        The part reaches outside the axis.

    Examples
    --------
    >>> import vkml
    >>> vkml.narrow(vkml.arange(5), 0, 1, 3)
    tensor([1, 2, 3])
    """
    axis = axis_of(dim, x.ndim)
    if not x.shape:
        raise ArgumentError("narrow: a rank-0 tensor has no axis to narrow.")
    size = x.shape[axis]
    start, length = as_shape((start, length))
    first = start + size if start < 0 else start
    if not 0 <= first <= first + length <= size:
        message = f"narrow: {start} to {start + length} reaches outside axis {dim} of size {size}."
        raise ArgumentError(message)
    starts = tuple(first if each == axis else 0 for each in range(x.ndim))
    sizes = tuple(length if each == axis else n for each, n in enumerate(x.shape))
    return apply(SLICE, (x,), (starts, (1,) * x.ndim, sizes))


# select ----------------------------------------------------------------------------------


def _select_gradient(
    k: Ops, upstream: Value, _output: Value, x_spec: Spec, axis: int, index: int
) -> tuple[Value]:
    shape = x_spec.shape
    part = k.reshape(upstream, (*shape[:axis], 1, *shape[axis + 1 :]))
    starts = tuple(index if each == axis else 0 for each in range(len(shape)))
    return (k.slice_backward(part, shape, starts, (1,) * len(shape)),)


def _without_axis(sizes: Shape, axis: int) -> Shape:
    return (*sizes[:axis], *sizes[axis + 1 :])


@rules.checked_elsewhere
def _selected(x: Spec, axis: int, _index: int) -> Spec:
    return Spec(_without_axis(x.shape, axis), x.dtype)


SELECT = define(
    Operation(
        name="select", gradient=_select_gradient,
        result=_selected,
        cpu=lambda x, axis, index: x[(slice(None),) * axis + (index, ...)],
        view=lambda shape, strides, offset, axis, index: ViewLayout(
            _without_axis(shape, axis), _without_axis(strides, axis), offset + index * strides[axis]
        ),
        samples=lambda generator: [
            Sample((array(generator, 3, 4),), (1, 2)),
            Sample((array(generator, 3),), (0, 0)),
        ],
    )
)  # fmt: skip


def select(x: Tensor, dim: int, index: int) -> Tensor:
    """Return a view of `x` at `index` along axis `dim`, which goes away.

    Raises
    ------
    IndexOutOfRangeError
        The index lies outside the axis.

    Examples
    --------
    >>> import vkml
    >>> vkml.select(vkml.tensor([[1, 2], [3, 4]]), 1, 0)
    tensor([1, 3])
    """
    axis = axis_of(dim, x.ndim)
    shape = x.shape
    if not shape:
        raise IndexOutOfRangeError("select: a rank-0 tensor has no axis to select from.")
    size = shape[axis]
    if index.__class__ is not int:
        (index,) = as_shape((index,))
    if not -size <= index < size:
        message = f"select: index {index} lies outside axis {dim} of size {size}."
        raise IndexOutOfRangeError(message)
    return apply(SELECT, (x,), (axis, index % size))
