"""Views by explicit strides, and which elements of a tensor such a view shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vkml import shapes
from vkml.errors import ShapeError
from vkml.ops.apply import apply
from vkml.ops.definition import Operation, Ops, Sample, Spec, Value, ViewLayout, array, define
from vkml.shapes import Shape, as_shape
from vkml.tensor import Tensor

__all__ = ["as_strided"]


def _offsets(shape: Shape, strides: Shape, offset: int) -> NDArray[np.int64]:
    """Return where each element lies in the storage, in the order of the elements."""
    result = np.full(shape, offset, np.int64)
    for axis, (size, stride) in enumerate(zip(shape, strides, strict=True)):
        steps = np.arange(size, dtype=np.int64) * stride
        result += steps.reshape((-1,) + (1,) * (len(shape) - axis - 1))
    return result.ravel()


def positions(
    base_shape: Shape,
    base_strides: Shape,
    base_offset: int,
    shape: Shape,
    strides: Shape,
    offset: int,
) -> NDArray[np.int64]:
    """Return, for each element of a view, the place of the base's element on the same memory.

    Raises
    ------
    ShapeError
        The view shows memory that the base does not.
    """
    of_base = _offsets(base_shape, base_strides, base_offset)
    of_view = _offsets(shape, strides, offset)
    if of_view.size == 0:
        return of_view
    limit = max(int(of_base.max(initial=0)), int(of_view.max())) + 1
    place = np.full(limit, -1, np.int64)
    place[of_base] = np.arange(of_base.size)
    found = place[of_view]
    if (found < 0).any():
        message = (
            "as_strided: the view shows memory that its base does not, so its gradient has no "
            "place to go; detach the base first."
        )
        raise ShapeError(message)
    return found


def _as_strided_gradient(
    k: Ops,
    upstream: Value,
    _output: Value,
    x_spec: Spec,
    shape: Shape,
    strides: Shape,
    offset: int,
    x_strides: Shape,
    x_offset: int,
) -> tuple[Value]:
    where = positions(x_spec.shape, x_strides, x_offset, shape, strides, offset)
    flat = k.reshape(upstream, (math.prod(shape),))
    count = math.prod(x_spec.shape)
    return (k.reshape(k.index_add_zeros(flat, k.upload(where), count, 0), x_spec.shape),)


def _strided(x: Spec, shape: Shape, strides: Shape, offset: int, *_base: Any) -> Spec:
    if len(shape) != len(strides):
        raise ShapeError(f"sizes {shape} and strides {strides} have different lengths.")
    if offset < 0 or any(size < 0 for size in shape):
        raise ShapeError(f"sizes {shape} and offset {offset} must not be negative.")
    return Spec(shape, x.dtype)


AS_STRIDED = define(
    Operation(
        name="as_strided", result=_strided, gradient=_as_strided_gradient,
        view=lambda _shape, _strides, _offset, shape, strides, offset, *_base: ViewLayout(
            shape, strides, offset
        ),
        samples=lambda generator: [
            Sample((array(generator, 12),), ((3, 2), (4, 1), 1, (1,), 0)),
            Sample((array(generator, 6),), ((2, 2), (1, 1), 0, (1,), 0)),
        ],
    )
)  # fmt: skip


def as_strided(
    x: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Return a view of the storage of `x` with explicit sizes and strides.

    Parameters
    ----------
    x : Tensor
        Whose storage to show.
    size, stride : sequence of int
        The new shape, and how many elements one step along each axis skips.
    storage_offset : int, optional
        Where in the storage the first element lies; that of `x` by default.

    Raises
    ------
    ShapeError
        The view would reach outside the storage.

    Examples
    --------
    >>> import vkml
    >>> vkml.as_strided(vkml.arange(6), (2, 2), (1, 1))
    tensor([[0, 1],
            [1, 2]])
    """
    layout = x._layout()
    shape, strides = as_shape((tuple(size),)), as_shape((tuple(stride),))
    (offset,) = as_shape((layout.offset if storage_offset is None else storage_offset,))
    if len(shape) != len(strides):
        message = f"as_strided: {len(shape)} sizes and {len(strides)} strides; give one of each."
        raise ShapeError(message)
    low, high = shapes.span(shape, strides)
    held = layout.storage_nbytes // x.dtype.itemsize
    if 0 in shape:
        offset = min(offset, held)  # no element needs a place
    elif not 0 <= offset + low <= offset + high < held:
        message = (
            f"as_strided: elements {offset + low} to {offset + high} lie outside the storage, "
            f"which holds {held}."
        )
        raise ShapeError(message)
    return apply(AS_STRIDED, (x,), (shape, strides, offset, layout.strides, layout.offset))
