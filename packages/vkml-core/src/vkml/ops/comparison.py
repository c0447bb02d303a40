"""Comparison and logic: what is equal, larger, finite; choosing by a condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from vkml import dtypes
from vkml.errors import DTypeError
from vkml.ops import rules
from vkml.ops.apply import apply
from vkml.ops.definition import Operation, Ops, Promotion, Sample, Spec, Value, array, define
from vkml.tensor import Tensor

__all__ = [
    "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "eq", "equal", "ge", "gt",
    "isfinite", "isinf", "isnan", "le", "logical_and", "logical_not", "logical_or", "logical_xor",
    "lt", "masked_fill", "ne", "where",
]  # fmt: skip

Operand: TypeAlias = Tensor | dtypes.Number


def _pairs(generator: np.random.Generator) -> list[Sample]:
    x = generator.integers(-2, 3, (3, 4)).astype(np.float32)
    y = generator.integers(-2, 3, (3, 4)).astype(np.float32)
    return [Sample((x, y)), Sample((x, y[:1])), Sample((x, 1.0)), Sample((x[:0], y[:0]))]


def _comparison(name: str, kernel: Callable[..., Any]) -> Operation:
    return define(
        Operation(
            name=name, operands=2, result=rules.broadcast_to_bool, cpu=kernel, gradient=None,
            samples=_pairs, promotion=Promotion.COMMON, broadcasts=True, writes_out=True,
        )
    )  # fmt: skip


EQ = _comparison("eq", np.equal)
NE = _comparison("ne", np.not_equal)
LT = _comparison("lt", np.less)
LE = _comparison("le", np.less_equal)
GT = _comparison("gt", np.greater)
GE = _comparison("ge", np.greater_equal)
LOGICAL_AND = _comparison("logical_and", np.logical_and)
LOGICAL_OR = _comparison("logical_or", np.logical_or)
LOGICAL_XOR = _comparison("logical_xor", np.logical_xor)


def _compared(operation: Operation, x: Operand, y: Any) -> Tensor:
    """Apply a comparison; a Python number that the tensor's integers cannot hold widens them."""
    if isinstance(x, Tensor) and isinstance(y, float) and dtypes.category(x._operand.dtype) < 2:
        x = x.to(dtype=dtypes.get_default_dtype())
    return apply(operation, (x, y))


def eq(x: Operand, y: Any) -> Tensor:
    """Return where `x` and `y` are equal; NaN equals nothing.

    Examples
    --------
    >>> import vkml
    >>> vkml.eq(vkml.tensor([1, 2]), 2)
    tensor([False,  True])
    """
    return _compared(EQ, x, y)


def ne(x: Operand, y: Any) -> Tensor:
    """Return where `x` and `y` differ.

    Examples
    --------
    >>> import vkml
    >>> vkml.ne(vkml.tensor([1, 2]), 2)
    tensor([ True, False])
    """
    return _compared(NE, x, y)


def lt(x: Operand, y: Operand) -> Tensor:
    """Return where `x` is less than `y`.

    Examples
    --------
    >>> import vkml
    >>> vkml.lt(vkml.tensor([1, 2]), 2)
    tensor([ True, False])
    """
    return _compared(LT, x, y)


def le(x: Operand, y: Operand) -> Tensor:
    """Return where `x` is at most `y`.

    Examples
    --------
    >>> import vkml
    >>> vkml.le(vkml.tensor([1, 3]), 2)
    tensor([ True, False])
    """
    return _compared(LE, x, y)


def gt(x: Operand, y: Operand) -> Tensor:
    """Return where `x` is greater than `y`.

    Examples
    --------
    >>> import vkml
    >>> vkml.gt(vkml.tensor([1, 3]), 2)
    tensor([False,  True])
    """
    return _compared(GT, x, y)


def ge(x: Operand, y: Operand) -> Tensor:
    """Return where `x` is at least `y`.

    Examples
    --------
    >>> import vkml
    >>> vkml.ge(vkml.tensor([1, 2]), 2)
    tensor([False,  True])
    """
    return _compared(GE, x, y)


def equal(x: Tensor, y: Tensor) -> bool:
    """Return whether two tensors have the same shape and the same elements.

    Examples
    --------
    >>> import vkml
    >>> vkml.equal(vkml.ones(2), vkml.ones(2))
    True
    """
    return x.shape == y.shape and bool(eq(x, y).all().item())


# logic -----------------------------------------------------------------------------------


def logical_and(x: Operand, y: Operand) -> Tensor:
    """Return where both are true (not zero).

    Examples
    --------
    >>> import vkml
    >>> vkml.logical_and(vkml.tensor([1, 0]), vkml.tensor([1, 1]))
    tensor([ True, False])
    """
    return apply(LOGICAL_AND, (x, y))


def logical_or(x: Operand, y: Operand) -> Tensor:
    """Return where at least one is true.

    Examples
    --------
    >>> import vkml
    >>> vkml.logical_or(vkml.tensor([1, 0]), vkml.tensor([0, 0]))
    tensor([ True, False])
    """
    return apply(LOGICAL_OR, (x, y))


def logical_xor(x: Operand, y: Operand) -> Tensor:
    """Return where exactly one is true.

    Examples
    --------
    >>> import vkml
    >>> vkml.logical_xor(vkml.tensor([1, 1]), vkml.tensor([1, 0]))
    tensor([False,  True])
    """
    return apply(LOGICAL_XOR, (x, y))


def _unary_samples(generator: np.random.Generator) -> list[Sample]:
    x = array(generator, 3, 4)
    x[0] = (np.nan, np.inf, -np.inf, 0)
    return [Sample((x,)), Sample((x[0, 0],)), Sample((x[:0],))]


def _test(name: str, kernel: Callable[..., Any]) -> Operation:
    return define(
        Operation(
            name=name, result=rules.same_as_bool, cpu=kernel, gradient=None,
            samples=_unary_samples, writes_out=True,
        )
    )  # fmt: skip


LOGICAL_NOT = _test("logical_not", np.logical_not)
ISNAN = _test("isnan", np.isnan)
ISINF = _test("isinf", np.isinf)
ISFINITE = _test("isfinite", np.isfinite)


def logical_not(x: Tensor) -> Tensor:
    """Return where `x` is false (zero).

    Examples
    --------
    >>> import vkml
    >>> vkml.logical_not(vkml.tensor([1, 0]))
    tensor([False,  True])
    """
    return apply(LOGICAL_NOT, (x,))


def isnan(x: Tensor) -> Tensor:
    """Return where `x` is not a number.

    Examples
    --------
    >>> import vkml
    >>> vkml.isnan(vkml.tensor([1.0, float("nan")]))
    tensor([False,  True])
    """
    return apply(ISNAN, (x,))


def isinf(x: Tensor) -> Tensor:
    """Return where `x` is infinite.

    Examples
    --------
    >>> import vkml
    >>> vkml.isinf(vkml.tensor([1.0, float("inf")]))
    tensor([False,  True])
    """
    return apply(ISINF, (x,))


def isfinite(x: Tensor) -> Tensor:
    """Return where `x` is neither infinite nor NaN.

    Examples
    --------
    >>> import vkml
    >>> vkml.isfinite(vkml.tensor([1.0, float("inf")]))
    tensor([ True, False])
    """
    return apply(ISFINITE, (x,))


# bitwise -----------------------------------------------------------------------------------


def _integer(*operands: Any) -> Spec:
    spec = rules.broadcast(*operands)
    if dtypes.category(spec.dtype) > 1:
        raise DTypeError(f"{spec.dtype} has no bits to combine; use integers or truth values.")
    return spec


def _integers(generator: np.random.Generator) -> list[Sample]:
    x, y = generator.integers(-9, 9, (2, 3, 4), dtype=np.int32)
    return [Sample((x, y)), Sample((x > 0, y[:1] > 0)), Sample((x, 3))]


def _bitwise(name: str, kernel: Callable[..., Any]) -> Operation:
    return define(
        Operation(
            name=name, operands=2, result=_integer, cpu=kernel, gradient=None, samples=_integers,
            promotion=Promotion.COMMON, broadcasts=True, writes_out=True,
        )
    )  # fmt: skip


BITWISE_AND = _bitwise("bitwise_and", np.bitwise_and)
BITWISE_OR = _bitwise("bitwise_or", np.bitwise_or)
BITWISE_XOR = _bitwise("bitwise_xor", np.bitwise_xor)
BITWISE_NOT = define(
    Operation(
        name="bitwise_not", result=_integer, cpu=np.invert, gradient=None, writes_out=True,
        samples=lambda generator: [Sample((each.operands[0],)) for each in _integers(generator)],
    )
)  # fmt: skip


def bitwise_and(x: Operand, y: Operand) -> Tensor:
    """Return the bits that both have; for truth values, `logical_and`. Also ``x & y``.

    Examples
    --------
    >>> import vkml
    >>> vkml.bitwise_and(vkml.tensor([6, 5]), 3)
    tensor([2, 1])
    """
    return apply(BITWISE_AND, (x, y))


def bitwise_or(x: Operand, y: Operand) -> Tensor:
    """Return the bits that either has; for truth values, `logical_or`. Also ``x | y``.

    Examples
    --------
    >>> import vkml
    >>> vkml.bitwise_or(vkml.tensor([6, 5]), 3)
    tensor([7, 7])
    """
    return apply(BITWISE_OR, (x, y))


def bitwise_xor(x: Operand, y: Operand) -> Tensor:
    """Return the bits in which they differ; for truth values, `logical_xor`. Also ``x ^ y``.

    Examples
    --------
    >>> import vkml
    >>> vkml.bitwise_xor(vkml.tensor([6, 5]), 3)
    tensor([5, 6])
    """
    return apply(BITWISE_XOR, (x, y))


def bitwise_not(x: Tensor) -> Tensor:
    """Return every bit turned over; for truth values, `logical_not`. Also ``~x``.

    Examples
    --------
    >>> import vkml
    >>> vkml.bitwise_not(vkml.tensor([True, False]))
    tensor([False,  True])
    """
    return apply(BITWISE_NOT, (x,))


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
    if isinstance(y, (bool, int, float, complex)):
        y = np.asarray(y, x.dtype)
    elif isinstance(x, (bool, int, float, complex)):
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
        from vkml.ops.creation import full

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
        value = value.to(dtype=x.dtype)
    return apply(WHERE, (mask, value, x))
