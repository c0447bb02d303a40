"""Arithmetic: sums, products, quotients."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from vkml import dtypes
from vkml.backends.cpu_kernels import arithmetic as kernels
from vkml.errors import ArgumentError, DTypeError
from vkml.ops import rules
from vkml.ops.apply import apply
from vkml.ops.definition import (
    Operation,
    Ops,
    Promotion,
    Spec,
    Value,
    define,
)
from vkml.ops.functions import FUNCTIONS
from vkml.ops.promotion import meeting_dtype
from vkml.ops.samples import pairs, unary
from vkml.ops.writing import run_into
from vkml.tensor import Tensor

__all__ = ["add", "div", "floor_divide", "lerp", "mul", "neg", "remainder", "scaled_add", "sub"]

Operand: TypeAlias = Tensor | dtypes.Number


def applied_into(operation: Operation, operands: tuple[Any, ...], out: Tensor | None) -> Tensor:
    """Return the result of `operation`, written into `out` if that is given."""
    if out is None:
        result: Tensor = apply(operation, operands)
        return result
    if out.requires_grad or any(getattr(each, "requires_grad", False) for each in operands):
        message = f"{operation.name}: out= records no gradient; leave it out, or use no_grad."
        raise ArgumentError(message)
    run_into(operation, operands, (), out)
    return out


# add ---------------------------------------------------------------------------------


def _add_gradient(
    _k: Ops, upstream: Value, _output: Value, _x: Value, _y: Value
) -> tuple[Value, Value]:
    return upstream, upstream


ADD = define(
    Operation(
        name="add", operands=2, result=rules.broadcast, cpu=np.add, gradient=_add_gradient,
        samples=pairs(), promotion=Promotion.COMMON, broadcasts=True, writes_out=True,
    )
)  # fmt: skip


def add(x: Operand, y: Operand, *, alpha: dtypes.Number = 1, out: Tensor | None = None) -> Tensor:
    """Return ``x + alpha * y``, elementwise with broadcasting.

    Parameters
    ----------
    x, y : Tensor or number
        Shapes that broadcast; dtypes are promoted.
    alpha : number
        A factor for `y`.
    out : Tensor, optional
        Where to write the result.

    Raises
    ------
    ShapeError
        The shapes do not broadcast.

    Examples
    --------
    >>> import vkml
    >>> vkml.add(vkml.tensor([1.0, 2.0]), 10)
    tensor([11., 12.])
    """
    return applied_into(ADD, (x, y if alpha == 1 else mul(y, alpha)), out)


# sub ---------------------------------------------------------------------------------


def _sub_gradient(
    k: Ops, upstream: Value, _output: Value, _x: Value, _y: Value, needs: tuple[bool, ...]
) -> tuple[Value, Value]:
    return upstream, k.neg(upstream) if needs[1] else None


def _difference(x: Any, y: Any) -> Spec:
    spec = rules.broadcast(x, y)
    if spec.dtype == rules.BOOL:
        raise DTypeError("truth values have no difference; use logical_xor, or convert them.")
    return spec


SUB = define(
    Operation(
        name="sub", operands=2, result=_difference, cpu=np.subtract, gradient=_sub_gradient,
        samples=pairs(), promotion=Promotion.COMMON, broadcasts=True, writes_out=True,
    )
)  # fmt: skip


def sub(x: Operand, y: Operand, *, alpha: dtypes.Number = 1, out: Tensor | None = None) -> Tensor:
    """Return ``x - alpha * y``, elementwise with broadcasting.

    Parameters
    ----------
    x, y : Tensor or number
        Shapes that broadcast; dtypes are promoted.
    alpha : number
        A factor for `y`.
    out : Tensor, optional
        Where to write the result.

    Examples
    --------
    >>> import vkml
    >>> vkml.sub(vkml.tensor([1.0, 2.0]), 1)
    tensor([0., 1.])
    """
    return applied_into(SUB, (x, y if alpha == 1 else mul(y, alpha)), out)


# mul ---------------------------------------------------------------------------------


def _mul_gradient(
    k: Ops, upstream: Value, _output: Value, x: Value, y: Value, needs: tuple[bool, ...]
) -> tuple[Value, Value]:
    return (
        k.mul(upstream, y) if needs[0] else None,
        k.mul(upstream, x) if needs[1] else None,
    )


MUL = define(
    Operation(
        name="mul", operands=2, result=rules.broadcast, cpu=np.multiply, gradient=_mul_gradient,
        samples=pairs(), promotion=Promotion.COMMON, broadcasts=True, writes_out=True,
        used_by=((1,), (0,)),
    )
)  # fmt: skip


def mul(x: Operand, y: Operand, *, out: Tensor | None = None) -> Tensor:
    """Return ``x * y``, elementwise with broadcasting.

    Parameters
    ----------
    x, y : Tensor or number
        Shapes that broadcast; dtypes are promoted.
    out : Tensor, optional
        Where to write the result.

    Examples
    --------
    >>> import vkml
    >>> vkml.mul(vkml.tensor([1.0, 2.0]), vkml.tensor([3.0, 4.0]))
    tensor([3., 8.])
    """
    return applied_into(MUL, (x, y), out)


# div ---------------------------------------------------------------------------------


def _div_gradient(
    k: Ops, upstream: Value, _output: Value, x: Value, y: Value, needs: tuple[bool, ...]
) -> tuple[Value, Value]:
    by_x = k.div(upstream, y)
    return by_x, k.neg(k.mul(by_x, k.div(x, y))) if needs[1] else None


DIV = define(
    Operation(
        name="div", operands=2, result=rules.broadcast, cpu=np.true_divide, gradient=_div_gradient,
        samples=pairs(0.5, 2), promotion=Promotion.FLOATING, broadcasts=True, writes_out=True,
        used_by=((1,), (0, 1)),
    )
)  # fmt: skip


def div(
    x: Operand, y: Operand, *, rounding_mode: str | None = None, out: Tensor | None = None
) -> Tensor:
    """Return ``x / y``, elementwise with broadcasting.

    Parameters
    ----------
    x, y : Tensor or number
        Shapes that broadcast; integers are divided as floats.
    rounding_mode : {None, "floor", "trunc"}
        How to round the quotient.
    out : Tensor, optional
        Where to write the result.

    Examples
    --------
    >>> import vkml
    >>> vkml.div(vkml.tensor([1.0, 3.0]), 2)
    tensor([0.5000, 1.5000])
    """
    if rounding_mode is None:
        return applied_into(DIV, (x, y), out)
    if rounding_mode == "floor":
        return applied_into(FLOOR_DIVIDE, (x, y), out)
    if rounding_mode != "trunc":
        message = f"div: rounding_mode is {rounding_mode!r}; give None, 'floor' or 'trunc'."
        raise ArgumentError(message)
    if out is not None:
        message = "div: out= with rounding_mode='trunc' does not exist; use out.copy_(result)."
        raise ArgumentError(message)
    return _truncated_quotient(x, y)


def _truncated_quotient(x: Operand, y: Operand) -> Tensor:
    if meeting_dtype((x, y)).kind not in "iu":
        return FUNCTIONS["trunc"](apply(DIV, (x, y)))  # type: ignore[no-any-return]
    # Rounded down, a negative quotient that does not come out even lies one too low.
    down = floor_divide(x, y)
    rest = sub(x, mul(down, y))
    too_low = FUNCTIONS["logical_and"](FUNCTIONS["ne"](rest, 0), FUNCTIONS["lt"](down, 0))
    return add(down, too_low.to(dtype=down.dtype))


# floor_divide --------------------------------------------------------------------------

FLOOR_DIVIDE = define(
    Operation(
        name="floor_divide", operands=2, result=_difference, cpu=kernels.floor_divide,
        gradient=None, samples=pairs(0.5, 2), promotion=Promotion.COMMON, broadcasts=True,
        writes_out=True,
    )
)  # fmt: skip


def floor_divide(x: Operand, y: Operand) -> Tensor:
    """Return the quotient rounded down, elementwise with broadcasting. Not differentiable.

    Raises
    ------
    ArgumentError
        An integer is divided by 0. Only the CPU looks for that.

    Examples
    --------
    >>> import vkml
    >>> vkml.floor_divide(vkml.tensor([7, -7]), 2)
    tensor([ 3, -4])
    """
    return apply(FLOOR_DIVIDE, (x, y))


# remainder -----------------------------------------------------------------------------


def _remainder_gradient(
    k: Ops, upstream: Value, _output: Value, x: Value, y: Value, needs: tuple[bool, ...]
) -> tuple[Value, Value]:
    return upstream, k.neg(k.mul(upstream, k.floor_divide(x, y))) if needs[1] else None


REMAINDER = define(
    Operation(
        name="remainder", operands=2, result=_difference, cpu=kernels.remainder,
        gradient=_remainder_gradient, samples=pairs(0.5, 2), promotion=Promotion.COMMON,
        broadcasts=True, writes_out=True,
    )
)  # fmt: skip


def remainder(x: Operand, y: Operand) -> Tensor:
    """Return what is left of ``x`` after ``y`` went into it whole times; it has the sign of `y`.

    Raises
    ------
    ArgumentError
        An integer is divided by 0. Only the CPU looks for that.

    Examples
    --------
    >>> import vkml
    >>> vkml.remainder(vkml.tensor([7, -7]), 3)
    tensor([1, 2])
    """
    return apply(REMAINDER, (x, y))


# neg ---------------------------------------------------------------------------------


def _neg_gradient(k: Ops, upstream: Value, _output: Value, _x: Value) -> tuple[Value]:
    return (k.neg(upstream),)


NEG = define(
    Operation(
        name="neg", result=rules.no_bool, cpu=np.negative, gradient=_neg_gradient,
        samples=unary(), writes_out=True,
    )
)  # fmt: skip


def neg(x: Tensor) -> Tensor:
    """Return ``-x``.

    Examples
    --------
    >>> import vkml
    >>> vkml.neg(vkml.tensor([1.0, -2.0]))
    tensor([-1.,  2.])
    """
    return apply(NEG, (x,))


# lerp, scaled_add ----------------------------------------------------------------------------


def lerp(start: Tensor, end: Tensor, weight: Operand) -> Tensor:
    """Return ``start + weight * (end - start)``.

    Examples
    --------
    >>> import vkml
    >>> vkml.lerp(vkml.tensor([0.0]), vkml.tensor([10.0]), 0.25)
    tensor([2.5000])
    """
    difference = sub(end, start)
    if not isinstance(weight, Tensor):
        return _nearer_sum(start, end, difference, weight)
    near_start = add(start, mul(difference, weight))
    near_end = sub(end, mul(difference, sub(1, weight)))
    return FUNCTIONS["where"](FUNCTIONS["lt"](weight, 0.5), near_start, near_end)  # type: ignore[no-any-return]


def _nearer_sum(start: Tensor, end: Tensor, difference: Tensor, weight: dtypes.Number) -> Tensor:
    """Return the sum that begins at the nearer end: with weight 1 it is exactly `end`."""
    if weight < 0.5:  # type: ignore[operator]  # complex numbers raise
        return add(start, mul(difference, weight))
    return sub(end, mul(difference, 1 - weight))


def scaled_add(x: Tensor, y: Tensor, alpha: float, beta: float) -> Tensor:
    """Return ``alpha * x + beta * y``.

    Examples
    --------
    >>> import vkml
    >>> vkml.scaled_add(vkml.tensor([1.0]), vkml.tensor([2.0]), 3.0, 0.5)
    tensor([4.])
    """
    return add(mul(x, alpha), mul(y, beta))
