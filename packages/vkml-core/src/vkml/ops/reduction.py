"""Reductions: sums, means, extremes over axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from vkml.dtypes import DTypeLike
from vkml.ops import rules
from vkml.ops.apply import apply
from vkml.ops.definition import Operation, Ops, Sample, Spec, Value, array, define, no_samples
from vkml.shapes import Shape, axes_of, reduced
from vkml.tensor import Tensor

__all__ = ["mean", "sum"]

Dims: TypeAlias = int | Sequence[int] | None


def reductions(generator: np.random.Generator) -> list[Sample]:
    """Return samples of reductions over one, several, all and no axes."""
    x = array(generator, 2, 3, 4)
    return [
        Sample((x,), ((0, 1, 2), False)),
        Sample((x,), ((1,), True)),
        Sample((x,), ((0, 2), False)),
        Sample((x[0, 0, 0],), ((), False)),
    ]


def _restored(k: Ops, upstream: Value, shape: Shape, axes: tuple[int, ...]) -> Value:
    """Return `upstream`, which was reduced over `axes`, broadcast back to `shape`."""
    return k.expand(k.reshape(upstream, reduced(shape, axes, True)), shape)


# sum ---------------------------------------------------------------------------------


def _sum_gradient(
    k: Ops, upstream: Value, _output: Value, x_spec: Spec, axes: tuple[int, ...], _keepdim: bool
) -> tuple[Value]:
    return (_restored(k, upstream, x_spec.shape, axes),)


SUM = define(
    Operation(
        name="sum", result=rules.reduction, gradient=_sum_gradient, samples=reductions,
        cpu=lambda x, axes, keepdim: np.sum(x, axis=axes, keepdims=keepdim, dtype=x.dtype),
    )
)  # fmt: skip


def sum(
    x: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DTypeLike | None = None
) -> Tensor:
    """Return the sum of the elements over the axes `dim`.

    Parameters
    ----------
    x : Tensor
        Any shape. Integers and truth values are summed as int64.
    dim : int or sequence of int, optional
        The axes to sum over; all of them by default.
    keepdim : bool
        Keep the summed axes with size 1.
    dtype : DType or str, optional
        Convert to this dtype first.

    Examples
    --------
    >>> import vkml
    >>> vkml.sum(vkml.tensor([[1.0, 2.0], [3.0, 4.0]]), 0)
    tensor([4., 6.])
    """
    if dtype is not None:
        x = x.to(dtype=dtype)
    elif not x.dtype.is_floating_point and not x.dtype.is_complex:
        x = x.to(dtype="int64")
    return apply(SUM, (x,), (axes_of(dim, x.ndim), keepdim))


# sum_to_size -------------------------------------------------------------------------------


def _sum_to_size_gradient(
    k: Ops, upstream: Value, _output: Value, x_spec: Spec, _shape: Shape
) -> tuple[Value]:
    return (k.expand(upstream, x_spec.shape),)


def _summed_to_size(k: Ops, x: Value, shape: Shape) -> Value:
    """Undo a broadcast: sum over the axes that `shape` lacks or has with size 1."""
    added = len(x.shape) - len(shape)
    axes = tuple(range(added)) + tuple(
        axis + added for axis, size in enumerate(shape) if size == 1 and x.shape[axis + added] != 1
    )
    total = k.sum(x, axes, False) if axes else x
    return k.reshape(total, shape) if total.shape != shape else total


SUM_TO_SIZE = define(
    Operation(
        name="sum_to_size", result=lambda x, shape: Spec(shape, x.dtype),
        gradient=_sum_to_size_gradient, decomposition=_summed_to_size, samples=no_samples,
    )
)  # fmt: skip


# mean --------------------------------------------------------------------------------


def _mean_gradient(
    k: Ops, upstream: Value, _output: Value, x_spec: Spec, axes: tuple[int, ...], _keepdim: bool
) -> tuple[Value]:
    count = math.prod(x_spec.shape[axis] for axis in axes)
    scaled = k.mul(upstream, 1 / count if count else math.nan)
    return (_restored(k, scaled, x_spec.shape, axes),)


def _mean(k: Ops, x: Value, axes: tuple[int, ...], keepdim: bool) -> Value:
    count = math.prod(x.shape[axis] for axis in axes)
    return k.mul(k.sum(x, axes, keepdim), 1 / count if count else math.nan)


def _mean_rule(x: Spec, axes: tuple[int, ...], keepdim: bool) -> Spec:
    rules.require_floating(x)
    return rules.reduction(x, axes, keepdim)


MEAN = define(
    Operation(
        name="mean", result=_mean_rule, gradient=_mean_gradient, decomposition=_mean,
        samples=reductions,
    )
)  # fmt: skip


def mean(
    x: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DTypeLike | None = None
) -> Tensor:
    """Return the mean of the elements over the axes `dim`; NaN over no elements.

    Parameters
    ----------
    x : Tensor
        Floating-point numbers of any shape.
    dim, keepdim, dtype
        As for `sum`.

    Raises
    ------
    DTypeError
        The elements are integers; pass ``dtype=vkml.float32``.

    Examples
    --------
    >>> import vkml
    >>> vkml.mean(vkml.tensor([1.0, 2.0, 6.0]))
    tensor(3.)
    """
    if dtype is not None:
        x = x.to(dtype=dtype)
    return apply(MEAN, (x,), (axes_of(dim, x.ndim), keepdim))
