"""Activations and their gradients, in cache-sized blocks of the flat array.

Gradients are functions of the upstream gradient `g` and the input `x` (for relu the output).
"""

from __future__ import annotations

from math import pi, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from vkml.backends.cpu_kernels.blocks import BLOCK_SIZE, constants_like
from vkml.backends.cpu_kernels.half import through_float32
from vkml.backends.cpu_kernels.masks import choose, clear
from vkml.backends.cpu_kernels.special import erf_double, erf_single

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

# The constants of the tanh form of gelu, as in the paper (arXiv:1606.08415).
GELU_SCALE = sqrt(2 / pi)
GELU_CUBIC = 0.044715


def _blocks(*operands: NDArray[Any]) -> tuple[NDArray[Any], Iterator[list[NDArray[Any]]]]:
    """Return a fresh result, and the blocks of operands and result (last) that make it."""
    shape = operands[-1].shape
    result = np.empty(shape, operands[-1].dtype)
    if result.size <= BLOCK_SIZE and all(
        operand.shape == shape and operand.__class__ is np.ndarray and operand.flags.c_contiguous
        for operand in operands
    ):  # one block: nothing to cut, and cutting would cost more than the work
        return result, iter([[each.reshape(-1) for each in (*operands, result)]])
    flat = [
        np.ascontiguousarray(np.broadcast_to(operand, shape)).reshape(-1) for operand in operands
    ]
    flat.append(result.reshape(-1))
    pieces = (
        [operand[start : start + BLOCK_SIZE] for operand in flat]
        for start in range(0, result.size, BLOCK_SIZE)
    )
    return result, pieces


@through_float32()
def sigmoid(x: NDArray[Any]) -> NDArray[Any]:
    """Return 1 / (1 + exp(-x))."""
    y, blocks = _blocks(x)
    for block_x, out in blocks:
        np.negative(block_x, out=out)
        np.exp(out, out=out)
        out += out.dtype.type(1)
        np.reciprocal(out, out=out)
    return y


@through_float32()
def relu(x: NDArray[Any]) -> NDArray[Any]:
    """Return x where it is positive or NaN, and 0 elsewhere."""
    y, blocks = _blocks(x)
    for block_x, out in blocks:
        np.maximum(block_x, constants_like(0, out), out=out)
    return y


@through_float32()
def relu_backward(g: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """Return the gradient of relu from its output: g except where y <= 0 (so NaN passes)."""
    dx, blocks = _blocks(g, y)
    for block_g, block_y, out in blocks:
        clear(block_y <= 0, block_g, out)
    return dx


@through_float32()
def silu(x: NDArray[Any]) -> NDArray[Any]:
    """Return x * sigmoid(x)."""
    y, blocks = _blocks(x)
    for block_x, out in blocks:
        np.negative(block_x, out=out)
        np.exp(out, out=out)
        out += out.dtype.type(1)
        np.divide(block_x, out, out=out)
    return y


@through_float32()
def silu_backward(g: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    """Return the gradient of `silu`: g * s * (1 + x * (1 - s)), with s = sigmoid(x)."""
    dx, blocks = _blocks(g, x)
    for block_g, block_x, out in blocks:
        one = out.dtype.type(1)
        gate = np.negative(block_x)
        np.exp(gate, out=gate)
        gate += one
        np.reciprocal(gate, out=gate)
        np.subtract(one, gate, out=out)
        out *= block_x
        out += one
        out *= gate
        out *= block_g
    return dx


def _normal_cdf(x: NDArray[Any], out: NDArray[Any]) -> NDArray[Any]:
    kind = x.dtype.type
    block_erf = erf_single if x.dtype == np.float32 else erf_double
    block_erf(x * kind(sqrt(0.5)), out)
    out += kind(1)
    out *= kind(0.5)
    return out


def _gelu_tanh(x: NDArray[Any], square: NDArray[Any], out: NDArray[Any]) -> None:
    """Write tanh(scale * (x + cubic * x³)) to `out`."""
    kind = x.dtype.type
    np.multiply(square, kind(GELU_SCALE * GELU_CUBIC), out=out)
    out += kind(GELU_SCALE)
    out *= x
    np.tanh(out, out=out)


@through_float32()
def gelu(x: NDArray[Any], approximate: str) -> NDArray[Any]:
    """Return x times the normal distribution function; `approximate` is "none" or "tanh"."""
    y, blocks = _blocks(x)
    for block_x, out in blocks:
        if approximate == "tanh":
            _gelu_tanh(block_x, block_x * block_x, out)
            out += out.dtype.type(1)
            out *= out.dtype.type(0.5)
        else:
            _normal_cdf(block_x, out)
        out *= block_x
    return y


@through_float32()
def gelu_backward(g: NDArray[Any], x: NDArray[Any], approximate: str) -> NDArray[Any]:
    """Return the gradient of `gelu`."""
    dx, blocks = _blocks(g, x)
    for block_g, block_x, out in blocks:
        square = block_x * block_x
        if approximate == "tanh":
            _gelu_tanh_slope(block_x, square, out)
        else:
            _gelu_slope(block_x, square, out)
        out *= block_g
    return dx


def _gelu_slope(x: NDArray[Any], square: NDArray[Any], out: NDArray[Any]) -> None:
    """Write cdf(x) + x * pdf(x) to `out`; `square` is used up."""
    kind = x.dtype.type
    _normal_cdf(x, out)
    square *= kind(-0.5)
    np.exp(square, out=square)
    square *= kind(1 / sqrt(2 * pi))
    square *= x
    out += square


def _gelu_tanh_slope(x: NDArray[Any], square: NDArray[Any], out: NDArray[Any]) -> None:
    """Write (1 + t + x * (1 - t²) * inner') / 2 to `out`; `square` is used up."""
    kind = x.dtype.type
    _gelu_tanh(x, square, out)
    square *= kind(3 * GELU_SCALE * GELU_CUBIC)
    square += kind(GELU_SCALE)
    square *= x
    square *= kind(1) - out * out
    out += kind(1)
    out += square
    out *= kind(0.5)


@through_float32()
def softplus(x: NDArray[Any], beta: float, threshold: float) -> NDArray[Any]:
    """Return log(1 + exp(beta * x)) / beta, and x itself where beta * x > threshold."""
    y, blocks = _blocks(x)
    for block_x, out in blocks:
        np.multiply(block_x, out.dtype.type(beta), out=out)
        linear = out > threshold
        np.exp(out, out=out)
        np.log1p(out, out=out)
        out /= out.dtype.type(beta)
        if linear.any():
            choose(linear, block_x, out)
    return y


@through_float32()
def softplus_backward(
    g: NDArray[Any], x: NDArray[Any], beta: float, threshold: float
) -> NDArray[Any]:
    """Return the gradient of `softplus`: g * sigmoid(beta * x), and g where it is linear."""
    dx, blocks = _blocks(g, x)
    for block_g, block_x, out in blocks:
        np.multiply(block_x, out.dtype.type(-beta), out=out)
        linear = out < -threshold
        np.exp(out, out=out)
        out += out.dtype.type(1)
        np.divide(block_g, out, out=out)
        if linear.any():
            choose(linear, block_g, out)
    return dx


@through_float32()
def leaky_relu(x: NDArray[Any], slope: float) -> NDArray[Any]:
    """Return x where it is positive, and slope * x elsewhere."""
    y, blocks = _blocks(x)
    for block_x, out in blocks:
        np.multiply(block_x, out.dtype.type(slope), out=out)
        if 0 < slope <= 1:
            np.maximum(block_x, out, out=out)
        else:
            choose(block_x > 0, block_x, out)
    return y


@through_float32()
def leaky_relu_backward(g: NDArray[Any], x: NDArray[Any], slope: float) -> NDArray[Any]:
    """Return the gradient of `leaky_relu`."""
    dx, blocks = _blocks(g, x)
    for block_g, block_x, out in blocks:
        np.multiply(block_g, out.dtype.type(slope), out=out)
        choose(block_x > 0, block_g, out)
    return dx


@through_float32()
def elu(x: NDArray[Any], alpha: float) -> NDArray[Any]:
    """Return x where it is positive, and alpha * (exp(x) - 1) elsewhere."""
    y, blocks = _blocks(x)
    for block_x, out in blocks:
        zeros = constants_like(0, out)
        np.minimum(block_x, zeros, out=out)
        np.expm1(out, out=out)
        out *= out.dtype.type(alpha)
        # One of the two parts is zero.
        out += np.maximum(block_x, zeros)
    return y


@through_float32()
def elu_backward(g: NDArray[Any], x: NDArray[Any], alpha: float) -> NDArray[Any]:
    """Return the gradient of `elu`: g where x is positive, g * alpha * exp(x) elsewhere."""
    dx, blocks = _blocks(g, x)
    for block_g, block_x, out in blocks:
        np.exp(block_x, out=out)
        out *= out.dtype.type(alpha)
        out *= block_g
        choose(block_x > 0, block_g, out)
    return dx
