"""Comparison: what is equal, larger, finite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from vkml import dtypes
from vkml.ops import rules
from vkml.ops.apply import apply
from vkml.ops.definition import Operation, Promotion, Sample, array, define
from vkml.tensor import Tensor

__all__ = ["eq", "equal", "ge", "gt", "isfinite", "isinf", "isnan", "le", "lt", "ne"]

Operand: TypeAlias = Tensor | dtypes.Number


def comparable(generator: np.random.Generator) -> list[Sample]:
    """Return samples of pairs of small whole numbers, many of them equal."""
    x = generator.integers(-2, 3, (3, 4)).astype(np.float32)
    y = generator.integers(-2, 3, (3, 4)).astype(np.float32)
    return [Sample((x, y)), Sample((x, y[:1])), Sample((x, 1.0)), Sample((x[:0], y[:0]))]


def _comparison(name: str, kernel: Callable[..., Any]) -> Operation:
    return define(
        Operation(
            name=name, operands=2, result=rules.broadcast_to_bool, cpu=kernel, gradient=None,
            samples=comparable, promotion=Promotion.COMMON, broadcasts=True, writes_out=True,
        )
    )  # fmt: skip


EQ = _comparison("eq", np.equal)
NE = _comparison("ne", np.not_equal)
LT = _comparison("lt", np.less)
LE = _comparison("le", np.less_equal)
GT = _comparison("gt", np.greater)
GE = _comparison("ge", np.greater_equal)


def _compared(operation: Operation, x: Operand, y: Any) -> Tensor:
    """Apply a comparison; a Python number that the tensor's integers cannot hold widens them."""
    if isinstance(x, Tensor):
        dtype = x._operand.dtype
        if isinstance(y, float) and dtypes.category(dtype) < 2:
            x = x.to(dtype=dtypes.get_default_dtype())
        elif isinstance(y, int) and not dtypes.holds(dtype, y) and dtype.itemsize < 8:
            x = x.to(dtype="int64")
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


ISNAN = _test("isnan", np.isnan)
ISINF = _test("isinf", np.isinf)
ISFINITE = _test("isfinite", np.isfinite)


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
