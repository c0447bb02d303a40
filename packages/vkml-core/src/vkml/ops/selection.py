"""Selection: choosing between values by a condition."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from vkml import dtypes
from vkml.errors import DTypeError, ShapeError
from vkml.ops import rules
from vkml.ops.apply import apply
from vkml.ops.creation import full
from vkml.ops.definition import Operation, Ops, Promotion, Sample, Spec, Value, array, define
from vkml.tensor import Tensor

__all__ = ["masked_fill", "where"]

Operand: TypeAlias = Tensor | dtypes.Number


# where ---------------------------------------------------------------------------------


def _where_gradient(
    k: Ops,
    upstream: Value,
    _output: Value,
    condition: Value,
    _x: Value,
    _y: Value,
    needs: tuple[bool, ...],
) -> tuple[None, Value, Value]:
    return (
        None,
        k.where(condition, upstream, 0.0) if needs[1] else None,
        k.where(condition, 0.0, upstream) if needs[2] else None,
    )


def _chosen(condition: Spec, x: Any, y: Any) -> Spec:
    if condition.dtype != rules.BOOL:
        message = f"expected truth values as the condition, got {condition.dtype}; compare first."
        raise DTypeError(message)
    dtype = next(each.dtype for each in (x, y) if hasattr(each, "dtype"))
    return Spec(rules.broadcast(condition, x, y).shape, dtype)


def _where(condition: Any, x: Any, y: Any) -> Any:
    # NumPy takes Python numbers for float64 arrays here; as arrays of the other's dtype they stay.
    # (A rank-0 float64 result of NumPy is a Python float too, but has a dtype.)
    if not hasattr(y, "dtype"):
        y = np.asarray(y, x.dtype)
    elif not hasattr(x, "dtype"):
        x = np.asarray(x, y.dtype)
    return np.where(condition, x, y)


WHERE = define(
    Operation(
        name="where", operands=3, result=_chosen, cpu=_where, gradient=_where_gradient,
        promotion=Promotion.COMMON, promotes=(1, 2), broadcasts=True,
        samples=lambda generator: [
            Sample((generator.random((3, 4)) < 0.5, array(generator, 3, 4), array(generator, 4))),
            Sample((generator.random((2, 1)) < 0.5, array(generator, 3), 0.5)),
            Sample((generator.random(()) < 0.5, 1.0, array(generator, 3))),
        ],
    )
)  # fmt: skip


def where(condition: Tensor, x: Operand, y: Operand) -> Tensor:
    """Return `x` where `condition` is true, else `y`; all three broadcast.

    Parameters
    ----------
    condition : Tensor of bool
        What to choose by.
    x, y : Tensor or number
        What to choose from; dtypes are promoted.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.tensor([-1.0, 2.0])
    >>> vkml.where(x > 0, x, 0)
    tensor([0., 2.])
    """
    if not isinstance(x, Tensor) and not isinstance(y, Tensor):
        x = full((), x, device=condition.device)
    return apply(WHERE, (condition, x, y))


def masked_fill(x: Tensor, mask: Tensor, value: Operand) -> Tensor:
    """Return `x` with `value` wherever `mask` is true.

    Parameters
    ----------
    x : Tensor
        Any shape; the result has this dtype.
    mask : Tensor of bool
        Broadcasts to `x`.
    value : number or rank-0 Tensor
        What to write.

    Examples
    --------
    >>> import vkml
    >>> vkml.masked_fill(vkml.ones(2), vkml.tensor([True, False]), 7)
    tensor([7., 1.])
    """
    if isinstance(value, Tensor):
        if value.ndim:
            message = (
                f"masked_fill: the value has shape {value.shape}; give one number, or use where."
            )
            raise ShapeError(message)
        value = value.to(dtype=x.dtype)
    elif dtypes.category(dtypes.number_dtype(value)) > dtypes.category(x._operand.dtype):
        message = f"masked_fill: {value!r} does not fit into {x.dtype}; convert the tensor first."
        raise DTypeError(message)
    return apply(WHERE, (mask, value, x))
