"""Arithmetic: sums, products, quotients, powers."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from vkml import dtypes
from vkml.errors import ArgumentError, DTypeError
from vkml.ops import rules
from vkml.ops.apply import apply, run_into
from vkml.ops.definition import (
    Operation,
    Ops,
    Promotion,
    Spec,
    Value,
    define,
)
from vkml.ops.functions import FUNCTIONS
from vkml.ops.samples import pairs, unary
from vkml.tensor import Tensor

__all__ = [
    "add", "div", "floor_divide", "lerp", "mul", "neg", "pow", "reciprocal", "remainder",
    "scaled_add", "square", "sub",
]  # fmt: skip

Operand: TypeAlias = Tensor | dtypes.Number


def _into(operation: Operation, operands: tuple[Any, ...], out: Tensor | None) -> Tensor:
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
    return _into(ADD, (x, y if alpha == 1 else mul(y, alpha)), out)


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
    return _into(SUB, (x, y if alpha == 1 else mul(y, alpha)), out)


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
    return _into(MUL, (x, y), out)


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
    if rounding_mode == "floor":
        return floor_divide(x, y)
    if rounding_mode == "trunc":
        return FUNCTIONS["trunc"](apply(DIV, (x, y)))  # type: ignore[no-any-return]
    if rounding_mode is not None:
        message = f"div: rounding_mode is {rounding_mode!r}; give None, 'floor' or 'trunc'."
        raise ArgumentError(message)
    return _into(DIV, (x, y), out)


# floor_divide --------------------------------------------------------------------------

FLOOR_DIVIDE = define(
    Operation(
        name="floor_divide", operands=2, result=_difference, cpu=np.floor_divide, gradient=None,
        samples=pairs(0.5, 2), promotion=Promotion.COMMON, broadcasts=True, writes_out=True,
    )
)  # fmt: skip


def floor_divide(x: Operand, y: Operand) -> Tensor:
    """Return the quotient rounded down, elementwise with broadcasting. Not differentiable.

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
        name="remainder", operands=2, result=_difference, cpu=np.remainder,
        gradient=_remainder_gradient, samples=pairs(0.5, 2), promotion=Promotion.COMMON,
        broadcasts=True, writes_out=True,
    )
)  # fmt: skip


def remainder(x: Operand, y: Operand) -> Tensor:
    """Return what is left of ``x`` after ``y`` went into it whole times; it has the sign of `y`.

    Examples
    --------
    >>> import vkml
    >>> vkml.remainder(vkml.tensor([7, -7]), 3)
    tensor([1, 2])
    """
    return apply(REMAINDER, (x, y))


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
            by_x = k.mul(upstream, k.where(k.eq(y, 0.0), k.mul(y, 0.0), slope))
    if needs[1]:
        # At x = 0 the logarithm is -inf; the derivative by y is 0 there for y >= 0.
        if isinstance(x, (int, float)):
            by_y = k.mul(upstream, k.mul(output, float(np.log(np.float64(x))) if x else 0.0))
        else:
            growth = k.mul(output, k.log(x))
            vanishes = k.logical_and(k.eq(x, 0.0), k.ge(y, 0.0))
            by_y = k.mul(upstream, k.where(vanishes, k.mul(output, 0.0), growth))
    return by_x, by_y


def _power(x: Any, y: Any) -> Any:
    if isinstance(y, (int, float)) and y == 2:
        return np.multiply(x, x)  # 20 times np.power's speed
    return np.power(x, y)


POW = define(
    Operation(
        name="pow", operands=2, result=rules.broadcast, cpu=_power, gradient=_pow_gradient,
        samples=pairs(0.5, 2), promotion=Promotion.COMMON, broadcasts=True, tolerance=1e-4,
    )
)  # fmt: skip


def pow(x: Operand, exponent: Operand, *, out: Tensor | None = None) -> Tensor:  # noqa: A001
    """Return ``x ** exponent``, elementwise with broadcasting.

    Parameters
    ----------
    x, exponent : Tensor or number
        Shapes that broadcast. A negative integer exponent of integers is an error, as in NumPy.
    out : Tensor, optional
        Where to write the result.

    Examples
    --------
    >>> import vkml
    >>> vkml.pow(vkml.tensor([2.0, 3.0]), 2)
    tensor([4., 9.])
    """
    if isinstance(exponent, int) and exponent < 0 and isinstance(x, Tensor):
        if not x.dtype.is_floating_point and not x.dtype.is_complex:
            message = f"pow: integers have no power {exponent}; convert with x.to(vkml.float32)."
            raise ArgumentError(message)
    return _into(POW, (x, exponent), out)


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
        name="square", result=rules.same, cpu=np.square, gradient=_square_gradient,
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


# lerp, scaled_add ----------------------------------------------------------------------------


def lerp(start: Tensor, end: Tensor, weight: Operand) -> Tensor:
    """Return ``start + weight * (end - start)``.

    Examples
    --------
    >>> import vkml
    >>> vkml.lerp(vkml.tensor([0.0]), vkml.tensor([10.0]), 0.25)
    tensor([2.5000])
    """
    return add(start, mul(sub(end, start), weight))


def scaled_add(x: Tensor, y: Tensor, alpha: float, beta: float) -> Tensor:
    """Return ``alpha * x + beta * y``.

    Examples
    --------
    >>> import vkml
    >>> vkml.scaled_add(vkml.tensor([1.0]), vkml.tensor([2.0]), 3.0, 0.5)
    tensor([4.])
    """
    return add(mul(x, alpha), mul(y, beta))
