"""Trigonometric and hyperbolic functions. Angles are in radians."""

from __future__ import annotations

import numpy as np

from vkml.ops.apply import apply
from vkml.ops.definition import Ops, Value
from vkml.ops.unary import floating_function
from vkml.tensor import Tensor

__all__ = ["acos", "asin", "atan", "cos", "cosh", "sin", "sinh", "tan", "tanh"]


# sin ---------------------------------------------------------------------------------


def _sin_gradient(k: Ops, upstream: Value, _output: Value, x: Value) -> tuple[Value]:
    return (k.mul(upstream, k.cos(x)),)


SIN = floating_function("sin", np.sin, _sin_gradient, -10, 10)


def sin(x: Tensor) -> Tensor:
    """Return the sine.

    Examples
    --------
    >>> import vkml
    >>> vkml.sin(vkml.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8415])
    """
    return apply(SIN, (x,))


# cos ---------------------------------------------------------------------------------


def _cos_gradient(k: Ops, upstream: Value, _output: Value, x: Value) -> tuple[Value]:
    return (k.neg(k.mul(upstream, k.sin(x))),)


COS = floating_function("cos", np.cos, _cos_gradient, -10, 10)


def cos(x: Tensor) -> Tensor:
    """Return the cosine.

    Examples
    --------
    >>> import vkml
    >>> vkml.cos(vkml.tensor([0.0, 1.0]))
    tensor([1.0000, 0.5403])
    """
    return apply(COS, (x,))


# tan ---------------------------------------------------------------------------------


def _tan_gradient(k: Ops, upstream: Value, output: Value, _x: Value) -> tuple[Value]:
    return (k.mul(upstream, k.add(k.mul(output, output), 1.0)),)


TAN = floating_function("tan", np.tan, _tan_gradient, -1.4, 1.4)


def tan(x: Tensor) -> Tensor:
    """Return the tangent.

    Examples
    --------
    >>> import vkml
    >>> vkml.tan(vkml.tensor([0.0, 1.0]))
    tensor([0.0000, 1.5574])
    """
    return apply(TAN, (x,))


# asin, acos, atan ----------------------------------------------------------------------


def _asin_gradient(k: Ops, upstream: Value, _output: Value, x: Value) -> tuple[Value]:
    return (k.mul(upstream, k.rsqrt(k.add(k.neg(k.mul(x, x)), 1.0))),)


ASIN = floating_function("asin", np.arcsin, _asin_gradient, -0.9, 0.9)


def asin(x: Tensor) -> Tensor:
    """Return the angle in [-pi/2, pi/2] whose sine is `x`; NaN outside [-1, 1].

    Examples
    --------
    >>> import vkml
    >>> vkml.asin(vkml.tensor([0.0, 1.0]))
    tensor([0.0000, 1.5708])
    """
    return apply(ASIN, (x,))


def _acos_gradient(k: Ops, upstream: Value, _output: Value, x: Value) -> tuple[Value]:
    return (k.neg(k.mul(upstream, k.rsqrt(k.add(k.neg(k.mul(x, x)), 1.0)))),)


ACOS = floating_function("acos", np.arccos, _acos_gradient, -0.9, 0.9)


def acos(x: Tensor) -> Tensor:
    """Return the angle in [0, pi] whose cosine is `x`; NaN outside [-1, 1].

    Examples
    --------
    >>> import vkml
    >>> vkml.acos(vkml.tensor([1.0, 0.0]))
    tensor([0.0000, 1.5708])
    """
    return apply(ACOS, (x,))


def _atan_gradient(k: Ops, upstream: Value, _output: Value, x: Value) -> tuple[Value]:
    return (k.div(upstream, k.add(k.mul(x, x), 1.0)),)


ATAN = floating_function("atan", np.arctan, _atan_gradient, -5, 5)


def atan(x: Tensor) -> Tensor:
    """Return the angle in (-pi/2, pi/2) whose tangent is `x`.

    Examples
    --------
    >>> import vkml
    >>> vkml.atan(vkml.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7854])
    """
    return apply(ATAN, (x,))


# sinh, cosh ----------------------------------------------------------------------------


def _sinh_gradient(k: Ops, upstream: Value, _output: Value, x: Value) -> tuple[Value]:
    return (k.mul(upstream, k.cosh(x)),)


SINH = floating_function("sinh", np.sinh, _sinh_gradient, -3, 3)


def sinh(x: Tensor) -> Tensor:
    """Return the hyperbolic sine.

    Examples
    --------
    >>> import vkml
    >>> vkml.sinh(vkml.tensor([0.0, 1.0]))
    tensor([0.0000, 1.1752])
    """
    return apply(SINH, (x,))


def _cosh_gradient(k: Ops, upstream: Value, _output: Value, x: Value) -> tuple[Value]:
    return (k.mul(upstream, k.sinh(x)),)


COSH = floating_function("cosh", np.cosh, _cosh_gradient, -3, 3)


def cosh(x: Tensor) -> Tensor:
    """Return the hyperbolic cosine.

    Examples
    --------
    >>> import vkml
    >>> vkml.cosh(vkml.tensor([0.0, 1.0]))
    tensor([1.0000, 1.5431])
    """
    return apply(COSH, (x,))


# tanh --------------------------------------------------------------------------------


def _tanh_gradient(k: Ops, upstream: Value, output: Value, _x: Value) -> tuple[Value]:
    return (k.mul(upstream, k.add(k.neg(k.mul(output, output)), 1.0)),)


TANH = floating_function("tanh", np.tanh, _tanh_gradient, -5, 5)


def tanh(x: Tensor) -> Tensor:
    """Return the hyperbolic tangent.

    Examples
    --------
    >>> import vkml
    >>> vkml.tanh(vkml.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """
    return apply(TANH, (x,))
