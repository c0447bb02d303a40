"""Movement: the same elements under another shape, order or size; most of them views."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from vkml import shapes
from vkml.errors import ShapeError
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
from vkml.shapes import Shape, as_shape, axes_of, axis_of
from vkml.tensor import Tensor

__all__ = [
    "broadcast_to", "clone", "contiguous", "expand", "flatten", "permute", "reshape", "squeeze",
    "t", "transpose", "unflatten", "unsqueeze", "view",
]  # fmt: skip


# contiguous, clone -----------------------------------------------------------------------


def _unchanged_gradient(_k: Ops, upstream: Value, _output: Value, _x: Value) -> tuple[Value]:
    return (upstream,)


CONTIGUOUS = define(
    Operation(
        name="contiguous", result=rules.same, gradient=_unchanged_gradient,
        cpu=lambda x: np.array(x, order="C"),
        samples=lambda generator: [
            Sample((array(generator, 3, 4).T,)),
            Sample((array(generator),)),
        ],
    )
)  # fmt: skip


def contiguous(x: Tensor) -> Tensor:
    """Return `x` itself if its elements lie in C order without gaps, else a copy that does.

    Examples
    --------
    >>> import vkml
    >>> vkml.contiguous(vkml.zeros(2, 3).T).is_contiguous()
    True
    """
    return x if x.is_contiguous() else clone(x)


def clone(x: Tensor) -> Tensor:
    """Return a copy of `x` with memory of its own; gradients pass through.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.ones(2)
    >>> y = x.clone().zero_()
    >>> x
    tensor([1., 1.])
    """
    return apply(CONTIGUOUS, (x,))


# reshape ---------------------------------------------------------------------------------


def _reshape_gradient(
    k: Ops, upstream: Value, _output: Value, x_spec: Spec, _shape: Shape
) -> tuple[Value]:
    return (k.reshape(upstream, x_spec.shape),)


@rules.checked_elsewhere
def _reshaped(x: Spec, shape: Shape) -> Spec:
    return Spec(shapes.complete(shape, math.prod(x.shape)), x.dtype)


def _reshape_view(shape: Shape, strides: Shape, offset: int, new_shape: Shape) -> ViewLayout:
    found = shapes.view_strides(shape, strides, new_shape)
    if found is None:
        message = (
            f"a tensor of shape {shape} and strides {strides} cannot show {new_shape} without a "
            "copy; use x.reshape, or x.contiguous() first."
        )
        raise ShapeError(message)
    return ViewLayout(new_shape, found, offset)


def _numpy_view(x: Any, new_shape: Shape) -> Any:
    if not x.flags.c_contiguous:  # NumPy would copy in silence where no strides show the new shape
        _reshape_view(x.shape, x.strides, 0, new_shape)
    return x.reshape(new_shape)


VIEW = define(
    Operation(
        name="view", result=_reshaped, gradient=_reshape_gradient, view=_reshape_view,
        cpu=_numpy_view,
        samples=lambda generator: [
            Sample((array(generator, 3, 4),), ((2, 6),)),
            Sample((array(generator),), ((1, 1),)),
            Sample((array(generator, 0, 3),), ((3, 0),)),
        ],
    )
)  # fmt: skip


def _reshape_composed(k: Ops, x: Value, shape: Shape) -> Value:
    """Show the elements under the new shape; copy them first where no strides can do that."""
    try:
        return k.view(x, shape)
    except ShapeError:
        return k.view(k.contiguous(x), shape)


RESHAPE = define(
    Operation(
        name="reshape", result=_reshaped, gradient=_reshape_gradient,
        decomposition=_reshape_composed, samples=no_samples,
    )
)  # fmt: skip


def _complete(x: Tensor, shape: tuple[Any, ...]) -> Shape:
    return shapes.complete(as_shape(shape), x.numel())


def reshape(x: Tensor, *shape: Any) -> Tensor:
    """Return the elements of `x` under another shape: a view where possible, else a copy.

    Parameters
    ----------
    x : Tensor
        Any shape.
    shape : int ... or sequence of int
        The new sizes; one of them may be -1, which is worked out.

    Raises
    ------
    ShapeError
        The new shape holds another number of elements.

    Examples
    --------
    >>> import vkml
    >>> vkml.reshape(vkml.arange(6), 2, -1)
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    sizes = _complete(x, shape)
    try:
        return apply(VIEW, (x,), (sizes,))
    except ShapeError:  # no strides can show that
        return apply(VIEW, (clone(x),), (sizes,))


def view(x: Tensor, *shape: Any) -> Tensor:
    """Return a view of `x` under another shape, as `reshape` but never a copy.

    Raises
    ------
    ShapeError
        No strides can show the elements in that order.

    Examples
    --------
    >>> import vkml
    >>> vkml.view(vkml.arange(4), 2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    return apply(VIEW, (x,), (_complete(x, shape),))


def flatten(x: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Return `x` with the axes from `start_dim` to `end_dim` merged into one.

    Examples
    --------
    >>> import vkml
    >>> vkml.flatten(vkml.zeros(2, 3, 4), 1).shape
    (2, 12)
    """
    first, last = axis_of(start_dim, x.ndim), axis_of(end_dim, x.ndim)
    if first > last:
        raise ShapeError(f"flatten: start_dim {start_dim} lies after end_dim {end_dim}.")
    return reshape(
        x, (*x.shape[:first], math.prod(x.shape[first : last + 1]), *x.shape[last + 1 :])
    )


def unflatten(x: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Return `x` with axis `dim` cut into axes of the given sizes.

    Examples
    --------
    >>> import vkml
    >>> vkml.unflatten(vkml.zeros(2, 12), 1, (3, -1)).shape
    (2, 3, 4)
    """
    axis = axis_of(dim, x.ndim)
    parts = shapes.complete(tuple(sizes), x.shape[axis])
    return reshape(x, (*x.shape[:axis], *parts, *x.shape[axis + 1 :]))


def squeeze(x: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Return `x` without its axes of size 1, or without those among `dim` that have size 1.

    Examples
    --------
    >>> import vkml
    >>> vkml.squeeze(vkml.zeros(1, 3, 1)).shape
    (3,)
    """
    axes = () if dim == () else axes_of(dim, x.ndim)
    return reshape(x, tuple(n for axis, n in enumerate(x.shape) if n != 1 or axis not in axes))


def unsqueeze(x: Tensor, dim: int) -> Tensor:
    """Return `x` with a new axis of size 1 before axis `dim`.

    Examples
    --------
    >>> import vkml
    >>> vkml.unsqueeze(vkml.zeros(3), -1).shape
    (3, 1)
    """
    axis = axis_of(dim, x.ndim + 1)
    return reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]))


# permute ---------------------------------------------------------------------------------


def _permute_gradient(
    k: Ops, upstream: Value, _output: Value, _x: Value, axes: tuple[int, ...]
) -> tuple[Value]:
    inverse = tuple(sorted(range(len(axes)), key=axes.__getitem__))
    return (k.permute(upstream, inverse),)


@rules.checked_elsewhere
def _permuted(x: Spec, axes: tuple[int, ...]) -> Spec:
    return Spec(tuple(x.shape[axis] for axis in axes), x.dtype)


def _permute_view(shape: Shape, strides: Shape, offset: int, axes: tuple[int, ...]) -> ViewLayout:
    return ViewLayout(
        tuple([shape[axis] for axis in axes]), tuple([strides[axis] for axis in axes]), offset
    )


PERMUTE = define(
    Operation(
        name="permute", result=_permuted, gradient=_permute_gradient, view=_permute_view,
        cpu=np.transpose,
        samples=lambda generator: [
            Sample((array(generator, 2, 3, 4),), ((2, 0, 1),)),
            Sample((array(generator),), ((),)),
        ],
    )
)  # fmt: skip


def permute(x: Tensor, *dims: Any) -> Tensor:
    """Return a view of `x` with its axes in the order `dims`.

    Examples
    --------
    >>> import vkml
    >>> vkml.permute(vkml.zeros(2, 3, 4), 2, 0, 1).shape
    (4, 2, 3)
    """
    axes = tuple(axis_of(dim, x.ndim) for dim in as_shape(dims)) if x.ndim else ()
    if sorted(axes) != list(range(x.ndim)):
        raise ShapeError(f"permute: {dims} is no order of the {x.ndim} axes; name each one once.")
    return apply(PERMUTE, (x,), (axes,))


def transpose(x: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return a view of `x` with two axes swapped.

    Examples
    --------
    >>> import vkml
    >>> vkml.transpose(vkml.zeros(2, 3), 0, 1).shape
    (3, 2)
    """
    axes = list(range(x.ndim))
    first, second = axis_of(dim0, x.ndim), axis_of(dim1, x.ndim)
    if axes:
        axes[first], axes[second] = axes[second], axes[first]
    return apply(PERMUTE, (x,), (tuple(axes),))


def t(x: Tensor) -> Tensor:
    """Return a view of a matrix with its axes swapped; a vector or number comes back as it is.

    Raises
    ------
    ShapeError
        `x` has more than two axes.

    Examples
    --------
    >>> import vkml
    >>> vkml.t(vkml.tensor([[1, 2], [3, 4]]))
    tensor([[1, 3],
            [2, 4]])
    """
    if x.ndim > 2:
        message = f"t: expected a matrix, got shape {x.shape}; use x.mT or x.permute(...)."
        raise ShapeError(message)
    return transpose(x, 0, 1) if x.ndim == 2 else x


# expand ----------------------------------------------------------------------------------


def _expand_gradient(
    k: Ops, upstream: Value, _output: Value, x_spec: Spec, _shape: Shape
) -> tuple[Value]:
    return (k.sum_to_size(upstream, x_spec.shape),)


def _expanded(x: Spec, shape: Shape) -> Spec:
    if shapes.broadcast(x.shape, shape) != shape:
        raise ShapeError(f"shape {x.shape} does not expand to {shape}; only sizes of 1 do.")
    return Spec(shape, x.dtype)


def _expand_view(shape: Shape, strides: Shape, offset: int, new_shape: Shape) -> ViewLayout:
    added = len(new_shape) - len(shape)
    steps = [
        0 if size == 1 and new_shape[axis + added] != 1 else strides[axis]
        for axis, size in enumerate(shape)
    ]
    return ViewLayout(new_shape, (0,) * added + tuple(steps), offset)


EXPAND = define(
    Operation(
        name="expand", result=_expanded, gradient=_expand_gradient, view=_expand_view,
        samples=lambda generator: [
            Sample((array(generator, 3, 1),), ((2, 3, 4),)),
            Sample((array(generator),), ((2, 2),)),
        ],
    )
)  # fmt: skip


def expand(x: Tensor, *sizes: Any) -> Tensor:
    """Return a view of `x` in which axes of size 1 are repeated; -1 keeps a size.

    Examples
    --------
    >>> import vkml
    >>> vkml.expand(vkml.zeros(3, 1), 2, -1, 4).shape
    (2, 3, 4)
    """
    wanted = as_shape(sizes)
    added = len(wanted) - x.ndim
    if added < 0 or -1 in wanted[:added]:
        raise ShapeError(f"expand: shape {x.shape} does not expand to {wanted}.")
    shape = tuple(x.shape[axis - added] if size == -1 else size for axis, size in enumerate(wanted))
    return apply(EXPAND, (x,), (shape,))


def broadcast_to(x: Tensor, shape: Sequence[int]) -> Tensor:
    """Return a view of `x` broadcast to `shape`.

    Examples
    --------
    >>> import vkml
    >>> vkml.broadcast_to(vkml.zeros(3), (2, 3)).shape
    (2, 3)
    """
    return expand(x, tuple(shape))
