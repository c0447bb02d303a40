"""Reductions: sums, means and tests over axes; running sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from vkml.backends.cpu_kernels import reduction as kernels
from vkml.ops import rules
from vkml.ops.apply import apply
from vkml.ops.comparison import ne
from vkml.ops.definition import Operation, Ops, Sample, Spec, Value, array, define, no_samples
from vkml.shapes import Shape, axes_of, axis_of, reduced

if TYPE_CHECKING:
    from vkml.dtypes import DTypeLike
    from vkml.tensor import Tensor

__all__ = ["all", "any", "count_nonzero", "cumsum", "mean", "sum"]

Dims: TypeAlias = int | Sequence[int] | None


def reductions(generator: np.random.Generator) -> list[Sample]:
    """Return samples of reductions over one, several, all and no axes."""
    x = array(generator, 2, 3, 5)
    return [
        Sample((x,), ((0, 1, 2), False)),
        Sample((x,), ((1,), True)),
        Sample((x.T,), ((0, 2), False)),
        Sample((x[0, 0, 0],), ((), False)),
        Sample((x[:0],), ((1,), False)),
        Sample((array(generator, 40, 50),), ((1,), False)),
    ]


def restored(k: Ops, upstream: Value, shape: Shape, axes: tuple[int, ...]) -> Value:
    """Return `upstream`, which was reduced over `axes`, broadcast back to `shape`."""
    return k.expand(k.reshape(upstream, reduced(shape, axes, True)), shape)


# sum ---------------------------------------------------------------------------------


def _sum_gradient(
    k: Ops, upstream: Value, _output: Value, x_spec: Spec, axes: tuple[int, ...], _keepdim: bool
) -> tuple[Value]:
    return (restored(k, upstream, x_spec.shape, axes),)


SUM = define(
    Operation(
        name="sum", result=rules.accumulated, gradient=_sum_gradient, samples=reductions,
        cpu=kernels.sum,
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
    total = apply(SUM, (summable(x, dtype),), (axes_of(dim, x.ndim), keepdim))
    return total if dtype is None else total.to(dtype=dtype)


def summable(x: Tensor, dtype: DTypeLike | None) -> Tensor:
    """Return `x` in the dtype asked for, integers and truth values always as int64."""
    if dtype is not None:
        x = x.to(dtype=dtype)
    if not x.dtype.is_floating_point and not x.dtype.is_complex:
        return x.to(dtype="int64")
    return x


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
    return (restored(k, scaled, x_spec.shape, axes),)


def _mean(k: Ops, x: Value, axes: tuple[int, ...], keepdim: bool) -> Value:
    count = math.prod(x.shape[axis] for axis in axes)
    return k.mul(k.sum(x, axes, keepdim), 1 / count if count else math.nan)


def _mean_rule(x: Spec, axes: tuple[int, ...], keepdim: bool) -> Spec:
    rules.require_floating(x)
    return rules.reduction(x, axes, keepdim)


MEAN = define(
    Operation(
        name="mean", result=_mean_rule, gradient=_mean_gradient, decomposition=_mean,
        cpu=kernels.mean, samples=reductions,
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


# any, all --------------------------------------------------------------------------------


def _tested(x: Spec, axes: tuple[int, ...], keepdim: bool) -> Spec:
    return Spec(reduced(x.shape, axes, keepdim), rules.BOOL)


def _any(k: Ops, x: Value, axes: tuple[int, ...], keepdim: bool) -> Value:
    ones = k.cast(k.ne(x, 0), np.dtype(np.int32))
    return k.gt(k.sum(ones, axes, keepdim), 0)


def _all(k: Ops, x: Value, axes: tuple[int, ...], keepdim: bool) -> Value:
    return k.logical_not(k.any(k.eq(x, 0), axes, keepdim))


ANY = define(
    Operation(
        name="any", result=_tested, gradient=None, decomposition=_any, cpu=kernels.any,
        samples=reductions,
    )
)  # fmt: skip


def any(x: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return whether any element over the axes `dim` is true (not zero); NaN is not zero.

    Parameters
    ----------
    x : Tensor
        Any shape and dtype; over no elements the result is False.
    dim, keepdim
        As for `sum`.

    Examples
    --------
    >>> import vkml
    >>> vkml.any(vkml.tensor([[0, 0], [0, 1]]), 1)
    tensor([False,  True])
    """
    return apply(ANY, (x,), (axes_of(dim, x.ndim), keepdim))


ALL = define(
    Operation(
        name="all", result=_tested, gradient=None, decomposition=_all, cpu=kernels.all,
        samples=reductions,
    )
)  # fmt: skip


def all(x: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return whether all elements over the axes `dim` are true (not zero); NaN is not zero.

    Parameters
    ----------
    x : Tensor
        Any shape and dtype; over no elements the result is True.
    dim, keepdim
        As for `sum`.

    Examples
    --------
    >>> import vkml
    >>> vkml.all(vkml.tensor([[1, 1], [0, 1]]), 1)
    tensor([ True, False])
    """
    return apply(ALL, (x,), (axes_of(dim, x.ndim), keepdim))


# count_nonzero ---------------------------------------------------------------------------


def count_nonzero(x: Tensor, dim: Dims = None) -> Tensor:
    """Return how many elements over the axes `dim` are not zero, as int64; NaN is not zero.

    Examples
    --------
    >>> import vkml
    >>> vkml.count_nonzero(vkml.tensor([0.0, 2.0, 3.0]))
    tensor(2)
    """
    return sum(ne(x, 0), dim)


# cumsum ----------------------------------------------------------------------------------


def _cumsum_gradient(k: Ops, upstream: Value, _output: Value, _x: Value, axis: int) -> tuple[Value]:
    if not upstream.shape:
        return (upstream,)
    return (k.flip(k.cumsum(k.flip(upstream, (axis,)), axis), (axis,)),)


def _cumulated(x: Spec, _axis: int) -> Spec:
    rules.require_wide(x)
    return Spec(x.shape, x.dtype)


CUMSUM = define(
    Operation(
        name="cumsum", result=_cumulated, gradient=_cumsum_gradient, cpu=kernels.cumsum,
        samples=lambda generator: [
            Sample((array(generator, 3, 5),), (1,)),
            Sample((array(generator, 3, 5).T,), (0,)),
            Sample((array(generator),), (0,)),
            Sample((array(generator, 3, 0),), (1,)),
        ],
    )
)  # fmt: skip


def cumsum(x: Tensor, dim: int, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return the running sum along axis `dim`.

    Parameters
    ----------
    x : Tensor
        Any shape. Integers and truth values are summed as int64.
    dim : int
        The axis to sum along.
    dtype : DType or str, optional
        Convert to this dtype first.

    Examples
    --------
    >>> import vkml
    >>> vkml.cumsum(vkml.tensor([1, 2, 3]), 0)
    tensor([1, 3, 6])
    """
    total = apply(CUMSUM, (summable(x, dtype),), (axis_of(dim, x.ndim),))
    return total if dtype is None else total.to(dtype=dtype)
