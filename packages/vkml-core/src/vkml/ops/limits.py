"""Limits: the larger, the smaller, clamping between bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from vkml import dtypes
from vkml.errors import ArgumentError, DTypeError
from vkml.ops import rules
from vkml.ops.apply import apply
from vkml.ops.definition import Operation, Ops, Promotion, Sample, Spec, Value, array, define
from vkml.ops.functions import FUNCTIONS
from vkml.ops.samples import pairs
from vkml.tensor import Tensor

__all__ = ["clamp", "clamp_max", "clamp_min", "maximum", "minimum"]

Operand: TypeAlias = Tensor | dtypes.Number


# maximum, minimum ----------------------------------------------------------------------


def _maximum_gradient(
    k: Ops, upstream: Value, _output: Value, x: Value, y: Value, needs: tuple[bool, ...]
) -> tuple[Value, Value]:
    return _shared(k, upstream, x, y, k.lt, needs)


def _minimum_gradient(
    k: Ops, upstream: Value, _output: Value, x: Value, y: Value, needs: tuple[bool, ...]
) -> tuple[Value, Value]:
    return _shared(k, upstream, x, y, k.gt, needs)


def _shared(
    k: Ops, upstream: Value, x: Value, y: Value, loses: Callable[..., Value], needs: Any
) -> tuple[Value, Value]:
    """Give the gradient to the operand that won, to both beside NaN; equal ones get halves."""
    share = k.where(k.eq(x, y), k.mul(upstream, 0.5), upstream)
    return (
        k.where(loses(x, y), 0.0, share) if needs[0] else None,
        k.where(loses(y, x), 0.0, share) if needs[1] else None,
    )


MAXIMUM = define(
    Operation(
        name="maximum", operands=2, result=rules.broadcast, cpu=np.maximum,
        gradient=_maximum_gradient, samples=pairs(), promotion=Promotion.COMMON,
        broadcasts=True, writes_out=True,
    )
)  # fmt: skip


def maximum(x: Operand, y: Operand) -> Tensor:
    """Return the larger of `x` and `y`, elementwise; NaN where either is NaN.

    Examples
    --------
    >>> import vkml
    >>> vkml.maximum(vkml.tensor([1.0, 4.0]), 2)
    tensor([2., 4.])
    """
    return apply(MAXIMUM, (x, y))


MINIMUM = define(
    Operation(
        name="minimum", operands=2, result=rules.broadcast, cpu=np.minimum,
        gradient=_minimum_gradient, samples=pairs(), promotion=Promotion.COMMON,
        broadcasts=True, writes_out=True,
    )
)  # fmt: skip


def minimum(x: Operand, y: Operand) -> Tensor:
    """Return the smaller of `x` and `y`, elementwise; NaN where either is NaN.

    Examples
    --------
    >>> import vkml
    >>> vkml.minimum(vkml.tensor([1.0, 4.0]), 2)
    tensor([1., 2.])
    """
    return apply(MINIMUM, (x, y))


# clamp ---------------------------------------------------------------------------------


def _clamp_gradient(
    k: Ops, upstream: Value, _output: Value, x: Value, low: float | None, high: float | None
) -> tuple[Value]:
    inside = None
    if low is not None:
        inside = k.ge(x, low)
    if high is not None:
        below = k.le(x, high)
        inside = below if inside is None else k.logical_and(inside, below)
    return (k.where(inside, upstream, 0.0),)


def _clamp(x: Any, low: Any, high: Any, out: Any = None) -> Any:
    if x.dtype.kind != "V":
        return np.clip(x, low, high, out=out)
    # NumPy would widen bfloat16 beside a Python number.
    if low is not None:
        x = np.maximum(x, x.dtype.type(low), out=out)
    return x if high is None else np.minimum(x, x.dtype.type(high), out=out)


def _clamped(x: Spec, low: float | None, high: float | None) -> Spec:
    if dtypes.category(x.dtype) < 2 and (isinstance(low, float) or isinstance(high, float)):
        raise DTypeError(f"limits {low} and {high} do not fit {x.dtype}; use x.to(vkml.float32).")
    if x.dtype == rules.BOOL:
        raise DTypeError("truth values have no limits; convert them with x.to(vkml.int64).")
    if dtypes.category(x.dtype) == 3:
        raise DTypeError("complex numbers have no order, and so no limits.")
    return Spec(x.shape, x.dtype)


CLAMP = define(
    Operation(
        name="clamp", result=_clamped, cpu=_clamp, gradient=_clamp_gradient, writes_out=True,
        samples=lambda generator: [
            Sample((array(generator, 3, 4),), (-1.0, 1.0)),
            Sample((array(generator, 5),), (None, 0.5)),
            Sample((array(generator, 2, 0),), (0.0, None)),
        ],
    )
)  # fmt: skip


def clamp(x: Tensor, min: Operand | None = None, max: Operand | None = None) -> Tensor:
    """Return `x` with values under `min` raised to it and values over `max` lowered to it.

    Parameters
    ----------
    x : Tensor
        Any shape. NaN stays NaN.
    min, max : number or Tensor, optional
        The limits; at least one. Where `min` exceeds `max`, the result is `max`.

    Examples
    --------
    >>> import vkml
    >>> vkml.clamp(vkml.tensor([-2.0, 0.5, 3.0]), 0, 1)
    tensor([0.0000, 0.5000, 1.0000])
    """
    if min is None and max is None:
        raise ArgumentError("clamp: give min, max or both.")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        x = x if min is None else _kept_where(FUNCTIONS["ge"], x, min)
        return x if max is None else _kept_where(FUNCTIONS["le"], x, max)
    limits = [limit for limit in (min, max) if limit is not None]
    if any(isinstance(limit, float) for limit in limits) and dtypes.category(x._operand.dtype) < 2:
        x = x.to(dtype=dtypes.get_default_dtype())
    return apply(CLAMP, (x,), (min, max))


def _kept_where(compare: Callable[..., Tensor], x: Tensor, limit: Operand) -> Tensor:
    """Return `x` where it keeps the limit or is NaN, else the limit.

    Not by `maximum`: an element equal to its limit keeps its gradient, as beside a number.
    """
    kept = FUNCTIONS["logical_or"](compare(x, limit), FUNCTIONS["isnan"](x))
    return FUNCTIONS["where"](kept, x, limit)  # type: ignore[no-any-return]


def clamp_min(x: Tensor, min: Operand) -> Tensor:
    """Return `x` with values under `min` raised to it.

    Examples
    --------
    >>> import vkml
    >>> vkml.clamp_min(vkml.tensor([-2.0, 3.0]), 0)
    tensor([0., 3.])
    """
    return clamp(x, min, None)


def clamp_max(x: Tensor, max: Operand) -> Tensor:
    """Return `x` with values over `max` lowered to it.

    Examples
    --------
    >>> import vkml
    >>> vkml.clamp_max(vkml.tensor([-2.0, 3.0]), 0)
    tensor([-2.,  0.])
    """
    return clamp(x, None, max)
