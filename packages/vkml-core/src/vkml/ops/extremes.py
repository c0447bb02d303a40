"""Extremes: the largest and the smallest over axes, and where they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from vkml.backends.cpu_kernels import reduction as kernels
from vkml.errors import ShapeError
from vkml.ops import rules
from vkml.ops.apply import apply, apply_all
from vkml.ops.definition import Operation, Ops, Sample, Spec, Value, array, define
from vkml.ops.limits import maximum, minimum
from vkml.ops.reduction import Dims, restored
from vkml.shapes import axes_of, axis_of, reduced
from vkml.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from vkml.shapes import Shape

__all__ = ["amax", "amin", "argmax", "argmin", "max", "min"]


def _require_elements(shape: Shape, axes: tuple[int, ...]) -> None:
    for axis in axes:
        if shape and shape[axis] == 0:
            message = f"axis {axis} of shape {shape} is empty; no elements have no extreme."
            raise ShapeError(message)


# amax, amin ------------------------------------------------------------------------------


def _extreme_gradient(
    k: Ops, upstream: Value, output: Value, x: Value, axes: tuple[int, ...], _keepdim: bool
) -> tuple[Value]:
    """Share the gradient equally among the elements that have the extreme value."""
    reached = k.cast(k.eq(x, restored(k, output, x.shape, axes)), upstream.dtype)
    count = k.sum(reached, axes, True)
    return (k.mul(reached, k.div(k.reshape(upstream, count.shape), count)),)


def _extreme(x: Spec, axes: tuple[int, ...], keepdim: bool) -> Spec:
    _require_elements(x.shape, axes)
    return rules.reduction(x, axes, keepdim)


def _extreme_samples(generator: np.random.Generator) -> list[Sample]:
    x = array(generator, 2, 3, 5)
    return [
        Sample((x,), ((0, 1, 2), False)),
        Sample((x.T,), ((1,), True)),
        Sample((x,), ((0, 2), False)),
        Sample((x[0, 0, 0],), ((), False)),
        Sample((x[:0],), ((1,), False)),
    ]


def _extreme_over_axes(name: str, kernel: Callable[..., Any]) -> Operation:
    return define(
        Operation(
            name=name, result=_extreme, gradient=_extreme_gradient, cpu=kernel,
            samples=_extreme_samples,
        )
    )  # fmt: skip


AMAX = _extreme_over_axes("amax", kernels.amax)
AMIN = _extreme_over_axes("amin", kernels.amin)


def amax(x: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return the largest element over the axes `dim`; NaN if there is one.

    Elements that are equally large share the gradient.

    Parameters
    ----------
    x : Tensor
        Any shape.
    dim, keepdim
        As for `sum`.

    Raises
    ------
    ShapeError
        There are no elements to choose from.

    Examples
    --------
    >>> import vkml
    >>> vkml.amax(vkml.tensor([[1.0, 2.0], [4.0, 3.0]]), 1)
    tensor([2., 4.])
    """
    return apply(AMAX, (x,), (axes_of(dim, x.ndim), keepdim))


def amin(x: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return the smallest element over the axes `dim`, as `amax` the largest.

    Examples
    --------
    >>> import vkml
    >>> vkml.amin(vkml.tensor([[1.0, 2.0], [4.0, 3.0]]), 1)
    tensor([1., 3.])
    """
    return apply(AMIN, (x,), (axes_of(dim, x.ndim), keepdim))


# argmax, argmin --------------------------------------------------------------------------


def _place(x: Spec, axis: int | None, keepdim: bool) -> Spec:
    axes = axes_of(axis, len(x.shape))
    _require_elements(x.shape, axes)
    return Spec(reduced(x.shape, axes, keepdim), rules.INT64)


def _place_samples(generator: np.random.Generator) -> list[Sample]:
    x = array(generator, 2, 3, 5)
    return [
        Sample((x,), (None, False)),
        Sample((x,), (1, True)),
        Sample((x.T,), (0, False)),
        Sample((array(generator),), (0, False)),
        Sample((x[:0],), (1, False)),
    ]


ARGMAX = define(
    Operation(
        name="argmax", result=_place, gradient=None, cpu=kernels.argmax, samples=_place_samples
    )
)
ARGMIN = define(
    Operation(
        name="argmin", result=_place, gradient=None, cpu=kernels.argmin, samples=_place_samples
    )
)


def argmax(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return where the largest element lies along `dim`, as int64: the first one of equals.

    Parameters
    ----------
    x : Tensor
        Any shape. A NaN counts as the largest.
    dim : int, optional
        The axis to look along; by default the place among all elements in order.
    keepdim : bool
        Keep the axis with size 1.

    Raises
    ------
    ShapeError
        There are no elements to choose from.

    Examples
    --------
    >>> import vkml
    >>> vkml.argmax(vkml.tensor([[1.0, 2.0], [4.0, 3.0]]), 1)
    tensor([1, 0])
    """
    return apply(ARGMAX, (x,), (None if dim is None else axis_of(dim, x.ndim), keepdim))


def argmin(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return where the smallest element lies along `dim`, as `argmax` the largest.

    Examples
    --------
    >>> import vkml
    >>> vkml.argmin(vkml.tensor([[1.0, 2.0], [4.0, 3.0]]), 1)
    tensor([0, 1])
    """
    return apply(ARGMIN, (x,), (None if dim is None else axis_of(dim, x.ndim), keepdim))


# max, min --------------------------------------------------------------------------------


class Extreme(NamedTuple):
    """The extreme elements along an axis, and where they lie."""

    values: Tensor
    indices: Tensor


def _along_axis_gradient(
    k: Ops,
    upstream: Value,
    auxiliary: tuple[Value, ...],
    x_spec: Spec,
    axis: int,
    _keepdim: bool,
) -> tuple[Value]:
    kept = reduced(x_spec.shape, (axis,), True)
    places = k.reshape(auxiliary[0], kept)
    return (k.scatter_add_zeros(k.reshape(upstream, kept), places, x_spec.shape, axis),)


def _along_axis(x: Spec, axis: int, keepdim: bool) -> tuple[Spec, Spec]:
    place = _place(x, axis, keepdim)
    return Spec(place.shape, x.dtype), place


def _max_along_axis(k: Ops, x: Value, axis: int, keepdim: bool) -> tuple[Value, Value]:
    return _found(k, x, k.argmax(x, axis, True), axis, keepdim)


def _min_along_axis(k: Ops, x: Value, axis: int, keepdim: bool) -> tuple[Value, Value]:
    return _found(k, x, k.argmin(x, axis, True), axis, keepdim)


def _found(k: Ops, x: Value, places: Value, axis: int, keepdim: bool) -> tuple[Value, Value]:
    shape = reduced(x.shape, (axis,), keepdim)
    return k.reshape(k.gather(x, places, axis), shape), k.reshape(places, shape)


def _extreme_along_axis(
    name: str, kernel: Callable[..., Any], decomposition: Callable[..., Any]
) -> Operation:
    return define(
        Operation(
            name=name, result=_along_axis, gradient=_along_axis_gradient, cpu=kernel,
            decomposition=decomposition, auxiliaries=1,
            samples=lambda generator: _place_samples(generator)[1:],
        )
    )  # fmt: skip


MAX_DIM = _extreme_along_axis("max_dim", kernels.max_dim, _max_along_axis)
MIN_DIM = _extreme_along_axis("min_dim", kernels.min_dim, _min_along_axis)


def max(x: Tensor, dim: int | Tensor | None = None, keepdim: bool = False) -> Any:
    """Return the largest element: of all, along an axis, or of two tensors.

    Parameters
    ----------
    x : Tensor
        Any shape. NaN counts as the largest.
    dim : int or Tensor, optional
        The axis to look along. Another tensor gives `maximum` of the two.
    keepdim : bool
        Keep the axis with size 1.

    Returns
    -------
    Tensor or (values, indices)
        With an axis, a named tuple: the largest elements, and where the first of them lie. Only
        those receive a gradient; without an axis all equal ones share it.

    Raises
    ------
    ShapeError
        There are no elements to choose from.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.tensor([[1.0, 2.0], [4.0, 3.0]])
    >>> vkml.max(x)
    tensor(4.)
    >>> values, indices = vkml.max(x, 1)
    >>> values, indices
    (tensor([2., 4.]), tensor([1, 0]))
    """
    if dim is None:
        return amax(x)
    if isinstance(dim, Tensor):
        return maximum(x, dim)
    return Extreme(*apply_all(MAX_DIM, (x,), (axis_of(dim, x.ndim), keepdim)))


def min(x: Tensor, dim: int | Tensor | None = None, keepdim: bool = False) -> Any:
    """Return the smallest element: of all, along an axis, or of two tensors. See `max`.

    Examples
    --------
    >>> import vkml
    >>> vkml.min(vkml.tensor([[1.0, 2.0], [4.0, 3.0]]), 0).values
    tensor([1., 2.])
    """
    if dim is None:
        return amin(x)
    if isinstance(dim, Tensor):
        return minimum(x, dim)
    return Extreme(*apply_all(MIN_DIM, (x,), (axis_of(dim, x.ndim), keepdim)))
