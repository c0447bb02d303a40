"""The product over axes, with a gradient that is right where elements are zero."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from vkml.backends.cpu_kernels import reduction as kernels
from vkml.ops import rules
from vkml.ops.apply import apply
from vkml.ops.definition import (
    THROUGH_DECOMPOSITION,
    Operation,
    Ops,
    Sample,
    Spec,
    Value,
    array,
    define,
    no_samples,
)
from vkml.ops.reduction import Dims, summable
from vkml.shapes import axes_of, reduced

if TYPE_CHECKING:
    from vkml.dtypes import DTypeLike
    from vkml.tensor import Tensor

__all__ = ["prod"]

Axes: TypeAlias = tuple[int, ...]


# prod ------------------------------------------------------------------------------------


def _prod_gradient(
    k: Ops, upstream: Value, _output: Value, x: Value, axes: Axes, _keepdim: bool
) -> tuple[Value]:
    return (k.prod_backward(upstream, x, axes),)


def _prod(k: Ops, x: Value, axes: Axes, keepdim: bool) -> Value:
    shape = reduced(x.shape, axes, keepdim)
    rows = _rows(k, x, axes)
    if rows.shape[1] == 0:
        return k.full(shape, 1, x.dtype)
    return k.reshape(_halvings(k, rows)[-1], shape)


def _rows(k: Ops, x: Value, axes: Axes) -> Value:
    """Return a matrix whose rows hold the elements to multiply."""
    kept = [axis for axis in range(len(x.shape)) if axis not in axes]
    shape = tuple(math.prod(x.shape[axis] for axis in some) for some in (kept, axes))
    return k.reshape(k.permute(x, (*kept, *axes)), shape)


def _halvings(k: Ops, rows: Value) -> list[Value]:
    """Return `rows`, then the products of its left and right halves, and so on to one column."""
    steps = [rows]
    while rows.shape[1] > 1:
        left, right, rest = _parts(k, rows)
        rows = _joined(k, k.mul(left, right), rest)
        steps.append(rows)
    return steps


def _parts(k: Ops, rows: Value) -> tuple[Value, Value, Value | None]:
    """Return two halves of the columns, and the last column where their number is odd."""
    size = rows.shape[1]
    half = size // 2
    rest = _columns(k, rows, size - 1, size) if size % 2 else None
    return _columns(k, rows, 0, half), _columns(k, rows, half, 2 * half), rest


def _columns(k: Ops, rows: Value, start: int, stop: int) -> Value:
    return k.slice(rows, (0, start), (1, 1), (rows.shape[0], stop - start))


def _joined(k: Ops, *columns: Value | None) -> Value:
    present = tuple(each for each in columns if each is not None)
    return present[0] if len(present) == 1 else k.cat(present, 1)


def _samples(generator: np.random.Generator) -> list[Sample]:
    x = array(generator, 2, 3, 5)
    zeros = np.where(generator.random((4, 3)) < 0.4, 0, array(generator, 4, 3))
    return [
        Sample((x,), ((0, 1, 2), False)),
        Sample((x.T,), ((1,), True)),
        Sample((zeros.astype(np.float32),), ((1,), False)),
        Sample((x[0, 0, 0],), ((), False)),
        Sample((x[:, :0],), ((1,), False)),
    ]


PROD = define(
    Operation(
        name="prod", result=rules.accumulated, gradient=_prod_gradient, decomposition=_prod,
        cpu=kernels.prod, samples=_samples,
    )
)  # fmt: skip


def _prod_backward(k: Ops, upstream: Value, x: Value, axes: Axes) -> Value:
    """Walk back through the halvings: no division, so zeros need no special care."""
    rows = _rows(k, x, axes)
    if math.prod(rows.shape) == 0:
        return k.mul(x, 0.0)
    gradient = k.reshape(upstream, (rows.shape[0], 1))
    for step in reversed(_halvings(k, rows)[:-1]):
        left, right, rest = _parts(k, step)
        half = left.shape[1]
        shared = _columns(k, gradient, 0, half)
        last = None if rest is None else _columns(k, gradient, half, half + 1)
        gradient = _joined(k, k.mul(shared, right), k.mul(shared, left), last)
    kept = [axis for axis in range(len(x.shape)) if axis not in axes]
    order = (*kept, *axes)
    inverse = tuple(sorted(range(len(order)), key=order.__getitem__))
    return k.permute(k.reshape(gradient, tuple(x.shape[axis] for axis in order)), inverse)


PROD_BACKWARD = define(
    Operation(
        name="prod_backward", operands=2, decomposition=_prod_backward,
        result=lambda _upstream, x, _axes: Spec(x.shape, x.dtype),
        gradient=THROUGH_DECOMPOSITION, samples=no_samples,
    )
)  # fmt: skip


def prod(
    x: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DTypeLike | None = None
) -> Tensor:
    """Return the product of the elements over the axes `dim`; 1 over no elements.

    Parameters
    ----------
    x : Tensor
        Any shape. Integers and truth values are multiplied as int64.
    dim, keepdim, dtype
        As for `sum`.

    Examples
    --------
    >>> import vkml
    >>> vkml.prod(vkml.tensor([[1.0, 2.0], [3.0, 4.0]]), 1)
    tensor([ 2., 12.])
    """
    product = apply(PROD, (summable(x, dtype),), (axes_of(dim, x.ndim), keepdim))
    return product if dtype is None else product.to(dtype=dtype)
