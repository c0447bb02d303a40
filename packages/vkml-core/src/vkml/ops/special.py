"""Special functions: the error function and its complement."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from vkml.backends.cpu_kernels import special as kernels
from vkml.ops import rules
from vkml.ops.apply import apply
from vkml.ops.definition import Operation, Ops, Promotion, Value, define
from vkml.ops.half import through_float32
from vkml.ops.samples import unary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vkml.tensor import Tensor

__all__ = ["erf", "erfc"]

_SLOPE_AT_ZERO: Final = 2 / math.sqrt(math.pi)


def _slope(k: Ops, upstream: Value, x: Value, at_zero: float) -> Value:
    """Return `upstream` times ``at_zero * exp(-x²)``."""
    return k.mul(upstream, k.mul(k.exp(k.neg(k.mul(x, x))), at_zero))


# erf -----------------------------------------------------------------------------------


def _erf_gradient(k: Ops, upstream: Value, _output: Value, x: Value) -> tuple[Value]:
    return (_slope(k, upstream, x, _SLOPE_AT_ZERO),)


ERF = define(
    Operation(
        name="erf", result=rules.floating, cpu=kernels.erf, gradient=_erf_gradient,
        promotion=Promotion.FLOATING, samples=unary(-3, 3),
    )
)  # fmt: skip


def erf(input: Tensor) -> Tensor:
    """Return the error function of each element, between -1 and 1.

    Parameters
    ----------
    input : Tensor
        Any shape; integers become floats.

    Examples
    --------
    >>> import vkml
    >>> vkml.erf(vkml.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8427])
    """
    return apply(ERF, (input,))


# erfc ----------------------------------------------------------------------------------

# W. J. Cody, "Rational Chebyshev approximations for the error function", Mathematics of
# Computation 23 (1969): the form above 4, in 1/x². Highest power first.
_FAR: Final = 4.0
_FAR_P: Final = (
    1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
    1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4,
)  # fmt: skip
_FAR_Q: Final = (
    1.0, 2.56852019228982242e0, 1.87295284992346047e0, 5.27905102951428412e-1,
    6.05183413124413191e-2, 2.33520497626869185e-3,
)  # fmt: skip
_ALL_ZERO: Final = 30.0
"""From here on the complement is 0, in float64 too."""


def _erfc_gradient(k: Ops, upstream: Value, _output: Value, x: Value) -> tuple[Value]:
    return (_slope(k, upstream, x, -_SLOPE_AT_ZERO),)


def _polynomial(k: Ops, coefficients: Sequence[float], x: Value) -> Value:
    result = k.mul(x, coefficients[0])
    for coefficient in coefficients[1:-1]:
        result = k.mul(k.add(result, coefficient), x)
    return k.add(result, coefficients[-1])


@through_float32(1)
def _erfc(k: Ops, x: Value) -> Value:
    """Return 1 - erf(x) up to about 1/2, and forms that keep the small digits beyond.

    Every form is computed for every element, with the argument held inside the form's range.
    """
    middle = k.clamp(x, kernels.NEAR_ZERO, _FAR)
    middle_factor = k.div(
        _polynomial(k, kernels.MIDDLE_P, middle), _polynomial(k, kernels.MIDDLE_Q, middle)
    )
    far = k.clamp(x, _FAR, _ALL_ZERO)
    inverse_square = k.reciprocal(k.mul(far, far))
    ratio = k.div(_polynomial(k, _FAR_P, inverse_square), _polynomial(k, _FAR_Q, inverse_square))
    far_factor = k.div(k.sub(1 / math.sqrt(math.pi), k.mul(inverse_square, ratio)), far)
    factor = k.where(k.gt(x, _FAR), far_factor, middle_factor)
    tail = k.mul(_exp_of_negative_square(k, k.clamp(x, 0.0, _ALL_ZERO)), factor)
    return k.where(k.lt(x, kernels.NEAR_ZERO), k.sub(1.0, k.erf(x)), tail)


def _exp_of_negative_square(k: Ops, x: Value) -> Value:
    """Return exp(-x²) without the rounding error of x², which exp would magnify (Cody)."""
    coarse = k.mul(k.trunc(k.mul(x, 16.0)), 1 / 16)
    rest = k.mul(k.sub(x, coarse), k.add(x, coarse))
    return k.mul(k.exp(k.neg(k.mul(coarse, coarse))), k.exp(k.neg(rest)))


ERFC = define(
    Operation(
        name="erfc", result=rules.floating, decomposition=_erfc, gradient=_erfc_gradient,
        promotion=Promotion.FLOATING, samples=unary(-3, 6),
    )
)  # fmt: skip


def erfc(input: Tensor) -> Tensor:
    """Return ``1 - erf(input)``, exact also where that is close to 0.

    Parameters
    ----------
    input : Tensor
        Any shape; integers become floats.

    Examples
    --------
    >>> import vkml
    >>> vkml.erfc(vkml.tensor([0.0, 1.0]))
    tensor([1.0000, 0.1573])
    """
    return apply(ERFC, (input,))
