"""Exponentials, logarithms and roots."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from vkml.ops.apply import apply
from vkml.ops.definition import Ops, Value
from vkml.ops.unary import floating_function
from vkml.tensor import Tensor

__all__ = ["exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "rsqrt", "sqrt"]

_LN2: Final = math.log(2)
_LN10: Final = math.log(10)


# exp ---------------------------------------------------------------------------------


def _exp_gradient(k: Ops, upstream: Value, output: Value, _x: Value) -> tuple[Value]:
    return (k.mul(upstream, output),)


EXP = floating_function("exp", np.exp, _exp_gradient, -5, 5)


def exp(x: Tensor) -> Tensor:
    """Return e raised to each element of `x`.

    Parameters
    ----------
    x : Tensor
        Any shape; integers become floats.

    Examples
    --------
    >>> import vkml
    >>> vkml.exp(vkml.tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
    """
    return apply(EXP, (x,))


# exp2 --------------------------------------------------------------------------------


def _exp2_gradient(k: Ops, upstream: Value, output: Value, _x: Value) -> tuple[Value]:
    return (k.mul(upstream, k.mul(output, _LN2)),)


EXP2 = floating_function("exp2", np.exp2, _exp2_gradient, -5, 5)


def exp2(x: Tensor) -> Tensor:
    """Return 2 raised to each element of `x`.

    Examples
    --------
    >>> import vkml
    >>> vkml.exp2(vkml.tensor([0.0, 3.0]))
    tensor([1., 8.])
    """
    return apply(EXP2, (x,))


# expm1 -------------------------------------------------------------------------------


def _expm1_gradient(k: Ops, upstream: Value, output: Value, _x: Value) -> tuple[Value]:
    return (k.mul(upstream, k.add(output, 1.0)),)


EXPM1 = floating_function("expm1", np.expm1, _expm1_gradient, -3, 3)


def expm1(x: Tensor) -> Tensor:
    """Return ``exp(x) - 1``, exact also near 0.

    Examples
    --------
    >>> import vkml
    >>> vkml.expm1(vkml.tensor([0.0, 1.0]))
    tensor([0.0000, 1.7183])
    """
    return apply(EXPM1, (x,))


# log ---------------------------------------------------------------------------------


def _log_gradient(k: Ops, upstream: Value, _output: Value, x: Value) -> tuple[Value]:
    return (k.div(upstream, x),)


LOG = floating_function("log", np.log, _log_gradient, 0.1, 5)


def log(x: Tensor) -> Tensor:
    """Return the natural logarithm; -inf at 0, NaN below.

    Examples
    --------
    >>> import vkml
    >>> vkml.log(vkml.tensor([1.0, 2.0]))
    tensor([0.0000, 0.6931])
    """
    return apply(LOG, (x,))


# log1p -------------------------------------------------------------------------------


def _log1p_gradient(k: Ops, upstream: Value, _output: Value, x: Value) -> tuple[Value]:
    return (k.div(upstream, k.add(x, 1.0)),)


LOG1P = floating_function("log1p", np.log1p, _log1p_gradient, -0.5, 5)


def log1p(x: Tensor) -> Tensor:
    """Return ``log(1 + x)``, exact also near 0.

    Examples
    --------
    >>> import vkml
    >>> vkml.log1p(vkml.tensor([0.0, 1.0]))
    tensor([0.0000, 0.6931])
    """
    return apply(LOG1P, (x,))


# log2, log10 -------------------------------------------------------------------------


def _log2_gradient(k: Ops, upstream: Value, _output: Value, x: Value) -> tuple[Value]:
    return (k.div(upstream, k.mul(x, _LN2)),)


LOG2 = floating_function("log2", np.log2, _log2_gradient, 0.1, 5)


def log2(x: Tensor) -> Tensor:
    """Return the logarithm to base 2.

    Examples
    --------
    >>> import vkml
    >>> vkml.log2(vkml.tensor([1.0, 8.0]))
    tensor([0., 3.])
    """
    return apply(LOG2, (x,))


def _log10_gradient(k: Ops, upstream: Value, _output: Value, x: Value) -> tuple[Value]:
    return (k.div(upstream, k.mul(x, _LN10)),)


LOG10 = floating_function("log10", np.log10, _log10_gradient, 0.1, 5)


def log10(x: Tensor) -> Tensor:
    """Return the logarithm to base 10.

    Examples
    --------
    >>> import vkml
    >>> vkml.log10(vkml.tensor([1.0, 50.0]))
    tensor([0.0000, 1.6990])
    """
    return apply(LOG10, (x,))


# sqrt --------------------------------------------------------------------------------


def _sqrt_gradient(k: Ops, upstream: Value, output: Value, _x: Value) -> tuple[Value]:
    return (k.div(upstream, k.mul(output, 2.0)),)


SQRT = floating_function("sqrt", np.sqrt, _sqrt_gradient, 0.1, 5)


def sqrt(x: Tensor) -> Tensor:
    """Return the square root; NaN below 0.

    Examples
    --------
    >>> import vkml
    >>> vkml.sqrt(vkml.tensor([4.0, 9.0]))
    tensor([2., 3.])
    """
    return apply(SQRT, (x,))


# rsqrt -------------------------------------------------------------------------------


def _rsqrt_gradient(k: Ops, upstream: Value, output: Value, _x: Value) -> tuple[Value]:
    cubed = k.mul(output, k.mul(output, output))
    return (k.mul(upstream, k.mul(cubed, -0.5)),)


def _rsqrt(x: Any, out: Any = None) -> Any:
    root = np.sqrt(x, out=out)
    return np.reciprocal(root, out=out)


RSQRT = floating_function("rsqrt", _rsqrt, _rsqrt_gradient, 0.1, 5)


def rsqrt(x: Tensor) -> Tensor:
    """Return one over the square root.

    Examples
    --------
    >>> import vkml
    >>> vkml.rsqrt(vkml.tensor([4.0, 16.0]))
    tensor([0.5000, 0.2500])
    """
    return apply(RSQRT, (x,))
