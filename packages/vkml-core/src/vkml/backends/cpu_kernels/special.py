"""The error function, which NumPy does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vkml.backends.cpu_kernels.blocks import BLOCK_SIZE, constants_like
from vkml.backends.cpu_kernels.half import through_float32
from vkml.backends.cpu_kernels.masks import choose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# erf(x) = x * P(x²) / Q(x²) for |x| <= 3.9, beyond which float32 rounds erf to 1: least-squares
# fit of the relative error, at most 6 units in the last place. Lowest power first.
SINGLE_P = (1.1283791, 0.18966612, 0.052667987, 0.0037383144, 2.8506122e-4, 2.0664754e-6)
SINGLE_Q = (1.0, 0.50142002, 0.11381866, 0.014914215, 0.001157368, 3.826999e-5)
SINGLE_LIMIT = 3.9

# W. J. Cody, "Rational Chebyshev approximations for the error function", Mathematics of
# Computation 23 (1969), in the form of his program CALERF. Highest power first.
NEAR_ZERO = 0.46875
NEAR_P = (
    1.85777706184603153e-1,
    3.16112374387056560e00,
    1.13864154151050156e02,
    3.77485237685302021e02,
    3.20937758913846947e03,
)
NEAR_Q = (
    1.0,
    2.36012909523441209e01,
    2.44024637934444173e02,
    1.28261652607737228e03,
    2.84423683343917062e03,
)
MIDDLE_P = (
    2.15311535474403846e-8,
    5.64188496988670089e-1,
    8.88314979438837594e00,
    6.61191906371416295e01,
    2.98635138197400131e02,
    8.81952221241769090e02,
    1.71204761263407058e03,
    2.05107837782607147e03,
    1.23033935479799725e03,
)
MIDDLE_Q = (
    1.0,
    1.57449261107098347e01,
    1.17693950891312499e02,
    5.37181101862009858e02,
    1.62138957456669019e03,
    3.29079923573345963e03,
    4.36261909014324716e03,
    3.43936767414372164e03,
    1.23033935480374942e03,
)
# The middle form is Cody's up to 4. From there to 6, where the complement is lost in float64, it is
# below 2e-8, and the form's relative error vanishes against 1.
DOUBLE_LIMIT = 6.0


def _polynomial(coefficients: Sequence[float], x: NDArray[Any], out: NDArray[Any]) -> NDArray[Any]:
    """Return the polynomial, highest power first, by Horner's rule in `out`."""
    kind = x.dtype.type
    np.multiply(x, kind(coefficients[0]), out=out)
    for coefficient in coefficients[1:-1]:
        out += kind(coefficient)
        out *= x
    out += kind(coefficients[-1])
    return out


def erf_single(x: NDArray[Any], out: NDArray[Any]) -> None:
    """Write the error function of a float32 block to `out`, which must not be `x`."""
    clipped = np.minimum(x, constants_like(SINGLE_LIMIT, x))
    np.maximum(clipped, constants_like(-SINGLE_LIMIT, x), out=clipped)
    square = np.multiply(clipped, clipped)
    _polynomial(SINGLE_P[::-1], square, out)
    out *= clipped
    out /= _polynomial(SINGLE_Q[::-1], square, clipped)


def erf_double(x: NDArray[Any], out: NDArray[Any]) -> None:
    """Write the error function of a float64 block to `out`, which must not be `x`."""
    size = np.abs(x)
    near = size <= NEAR_ZERO
    np.minimum(size, constants_like(DOUBLE_LIMIT, size), out=size)
    square = np.multiply(size, size)
    ratio = _polynomial(NEAR_P, square, np.empty_like(square))
    scratch = _polynomial(NEAR_Q, square, np.empty_like(square))
    ratio /= scratch
    ratio *= x
    # Both forms for every element: gathering those of one form costs ten times more.
    _polynomial(MIDDLE_P, size, out)
    out /= _polynomial(MIDDLE_Q, size, scratch)
    np.negative(square, out=square)
    out *= np.exp(square, out=square)
    np.subtract(1.0, out, out=out)
    np.copysign(out, x, out=out)
    choose(near, ratio, out)


@through_float32()
def erf(x: NDArray[Any]) -> NDArray[Any]:
    """Return the error function of each element."""
    flat = np.ascontiguousarray(x).reshape(-1)
    y = np.empty_like(flat)
    block_erf = erf_single if flat.dtype == np.float32 else erf_double
    for start in range(0, flat.size, BLOCK_SIZE):
        block = slice(start, start + BLOCK_SIZE)
        block_erf(flat[block], y[block])
    return y.reshape(x.shape)
