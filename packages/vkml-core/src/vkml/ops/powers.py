"""Powers: squares, reciprocals, any exponent."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from vkml import dtypes
from vkml.backends.cpu_kernels import arithmetic as kernels
from vkml.errors import ArgumentError, DTypeError
from vkml.ops import rules
from vkml.ops.apply import apply
from vkml.ops.arithmetic import applied_into
from vkml.ops.definition import Operation, Ops, Promotion, Spec, Value, define
from vkml.ops.samples import pairs, unary
from vkml.tensor import Tensor

__all__ = ["pow", "reciprocal", "square"]

Operand: TypeAlias = Tensor | dtypes.Number


# pow ---------------------------------------------------------------------------------


def _pow_gradient(
    k: Ops, upstream: Value, output: Value, x: Value, y: Value, needs: tuple[bool, ...]
) -> tuple[Value, Value]:
    by_x = by_y = None
    if needs[0]:
        # For y = 0 the derivative is 0, also at x = 0 where x**(y - 1) is infinite.
        if isinstance(y, (int, float)):
            by_x = k.mul(upstream, k.mul(k.pow(x, y - 1), y)) if y else k.mul(upstream, 0.0)
        else:
            slope = k.mul(y, k.pow(x, k.sub(y, 1.0)))
            by_x = k.mul(upstream, k.where(k.eq(y, 0.0), 0.0, slope))
    if needs[1]:
        growth = k.mul(output, _logarithm(k, x))
        # At x = 0 the logarithm is -inf; the derivative by y is 0 there for y >= 0.
        if hasattr(x, "dtype"):
            growth = k.where(k.logical_and(k.eq(x, 0.0), k.ge(y, 0.0)), 0.0, growth)
        elif x == 0:
            growth = k.where(k.ge(y, 0.0), 0.0, growth)
        by_y = k.mul(upstream, growth)
    return by_x, by_y


def _logarithm(k: Ops, x: Value) -> Value:
    """Return the natural logarithm of an operand or a Python number; NumPy's would warn."""
    if hasattr(x, "dtype"):
        return k.log(x)
    if x > 0:
        return math.log(x)
    return -math.inf if x == 0 else math.nan


def _no_truth_values(*operands: Any) -> Spec:
    spec = rules.broadcast(*operands)
    if spec.dtype == rules.BOOL:
        raise DTypeError("truth values have no powers; convert them with x.to(vkml.int64).")
    return spec


POW = define(
    Operation(
        name="pow", operands=2, result=_no_truth_values, cpu=kernels.power, gradient=_pow_gradient,
        samples=pairs(0.5, 2), promotion=Promotion.COMMON, broadcasts=True, tolerance=1e-4,
    )
)  # fmt: skip


def pow(x: Operand, exponent: Operand, *, out: Tensor | None = None) -> Tensor:
    """Return ``x ** exponent``, elementwise with broadcasting.

    Parameters
    ----------
    x, exponent : Tensor or number
        Shapes that broadcast.
    out : Tensor, optional
        Where to write the result.

    Raises
    ------
    ArgumentError
        An integer is raised to a negative power. Of tensors of exponents, only the CPU looks
        for that.

    Examples
    --------
    >>> import vkml
    >>> vkml.pow(vkml.tensor([2.0, 3.0]), 2)
    tensor([4., 9.])
    """
    whole = isinstance(x, Tensor) and not (x.dtype.is_floating_point or x.dtype.is_complex)
    if whole and isinstance(exponent, int) and exponent < 0:
        message = f"pow: integers have no power {exponent}; convert with x.to(vkml.float32)."
        raise ArgumentError(message)
    return applied_into(POW, (x, exponent), out)


# reciprocal, square ------------------------------------------------------------------------


def _reciprocal_gradient(k: Ops, upstream: Value, output: Value, _x: Value) -> tuple[Value]:
    return (k.neg(k.mul(upstream, k.mul(output, output))),)


RECIPROCAL = define(
    Operation(
        name="reciprocal", result=rules.same, cpu=np.reciprocal, gradient=_reciprocal_gradient,
        samples=unary(0.5, 2), promotion=Promotion.FLOATING, writes_out=True,
    )
)  # fmt: skip


def reciprocal(x: Tensor) -> Tensor:
    """Return ``1 / x``.

    Examples
    --------
    >>> import vkml
    >>> vkml.reciprocal(vkml.tensor([2.0, 4.0]))
    tensor([0.5000, 0.2500])
    """
    return apply(RECIPROCAL, (x,))


def _square_gradient(k: Ops, upstream: Value, _output: Value, x: Value) -> tuple[Value]:
    return (k.mul(upstream, k.mul(x, 2)),)


SQUARE = define(
    Operation(
        name="square", result=_no_truth_values, cpu=np.square, gradient=_square_gradient,
        samples=unary(), writes_out=True,
    )
)  # fmt: skip


def square(x: Tensor) -> Tensor:
    """Return ``x * x``.

    Examples
    --------
    >>> import vkml
    >>> vkml.square(vkml.tensor([2.0, 3.0]))
    tensor([4., 9.])
    """
    return apply(SQUARE, (x,))
