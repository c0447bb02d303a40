"""Activations: the nonlinear functions between the layers of a network."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from vkml.backends.cpu_kernels import activation as kernels
from vkml.errors import ArgumentError
from vkml.ops import rules
from vkml.ops.apply import apply
from vkml.ops.definition import (
    THROUGH_DECOMPOSITION,
    Operation,
    Ops,
    Promotion,
    Sample,
    Samples,
    Spec,
    Value,
    array,
    define,
    no_samples,
)
from vkml.ops.samples import unary

if TYPE_CHECKING:
    import numpy as np

    from vkml.tensor import Tensor

__all__ = ["elu", "gelu", "leaky_relu", "relu", "sigmoid", "silu", "softplus"]


def _with_options(*options: Any) -> Samples:
    """Return samples of one operand for each of several tuples of options."""

    def samples(generator: np.random.Generator) -> list[Sample]:
        shapes: tuple[tuple[int, ...], ...] = ((3, 5), (), (2, 0))
        return [
            Sample((array(generator, *shape, low=-4, high=4),), each)
            for each in options
            for shape in shapes
        ]

    return samples


def _backward(name: str, kernel: Any, decomposition: Any) -> Operation:
    """Define the backward half of an activation, a function of `upstream` and one tensor."""
    return define(
        Operation(
            name=name, operands=2, result=lambda _upstream, x, *_options: x, cpu=kernel,
            decomposition=decomposition, gradient=THROUGH_DECOMPOSITION, samples=no_samples,
        )
    )  # fmt: skip


# relu ----------------------------------------------------------------------------------


def _relu_gradient(k: Ops, upstream: Value, output: Value, _x: Value) -> tuple[Value]:
    return (k.relu_backward(upstream, output),)


RELU = define(
    Operation(
        name="relu", result=rules.no_bool, cpu=kernels.relu,
        decomposition=lambda k, x: k.maximum(x, 0), gradient=_relu_gradient, samples=unary(),
    )
)  # fmt: skip

RELU_BACKWARD = _backward(
    "relu_backward",
    kernels.relu_backward,
    lambda k, upstream, output: k.where(k.le(output, 0), 0, upstream),
)


def relu(input: Tensor) -> Tensor:
    """Return `input` where it is positive, else 0; NaN stays NaN.

    Parameters
    ----------
    input : Tensor
        Numbers of any shape.

    Examples
    --------
    >>> import vkml
    >>> vkml.relu(vkml.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return apply(RELU, (input,))


# leaky_relu ------------------------------------------------------------------------------


def _leaky_relu_gradient(
    k: Ops, upstream: Value, _output: Value, x: Value, slope: float
) -> tuple[Value]:
    return (k.leaky_relu_backward(upstream, x, slope),)


LEAKY_RELU = define(
    Operation(
        name="leaky_relu", result=rules.floating, cpu=kernels.leaky_relu,
        decomposition=lambda k, x, slope: k.where(k.gt(x, 0.0), x, k.mul(x, slope)),
        gradient=_leaky_relu_gradient, samples=_with_options((0.01,), (-0.5,)),
    )
)  # fmt: skip

LEAKY_RELU_BACKWARD = _backward(
    "leaky_relu_backward",
    kernels.leaky_relu_backward,
    lambda k, upstream, x, slope: k.where(k.gt(x, 0.0), upstream, k.mul(upstream, slope)),
)


def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Return `input` where it is positive, else ``negative_slope * input``.

    Parameters
    ----------
    input : Tensor
        Floating-point numbers of any shape.
    negative_slope : float
        The slope below 0.

    Examples
    --------
    >>> import vkml
    >>> vkml.leaky_relu(vkml.tensor([-1.0, 2.0]), 0.5)
    tensor([-0.5000,  2.0000])
    """
    return apply(LEAKY_RELU, (input,), (float(negative_slope),))


# elu -----------------------------------------------------------------------------------


def _elu_gradient(k: Ops, upstream: Value, _output: Value, x: Value, alpha: float) -> tuple[Value]:
    return (k.elu_backward(upstream, x, alpha),)


def _elu(k: Ops, x: Value, alpha: float) -> Value:
    return k.where(k.gt(x, 0.0), x, k.mul(k.expm1(k.clamp(x, None, 0.0)), alpha))


def _elu_backward(k: Ops, upstream: Value, x: Value, alpha: float) -> Value:
    # Where x is large, exp(x) is not chosen, but infinite it would make the derivative NaN.
    slope = k.mul(k.exp(k.clamp(x, None, 0.0)), alpha)
    return k.where(k.gt(x, 0.0), upstream, k.mul(upstream, slope))


ELU = define(
    Operation(
        name="elu", result=rules.floating, cpu=kernels.elu, decomposition=_elu,
        gradient=_elu_gradient, samples=_with_options((1.0,), (0.5,)),
    )
)  # fmt: skip

ELU_BACKWARD = _backward("elu_backward", kernels.elu_backward, _elu_backward)


def elu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Return `input` where it is positive, else ``alpha * (exp(input) - 1)``.

    Parameters
    ----------
    input : Tensor
        Floating-point numbers of any shape.
    alpha : float
        Minus the limit far below 0.

    Examples
    --------
    >>> import vkml
    >>> vkml.elu(vkml.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return apply(ELU, (input,), (float(alpha),))


# sigmoid -------------------------------------------------------------------------------


def _sigmoid_gradient(k: Ops, upstream: Value, output: Value, _x: Value) -> tuple[Value]:
    return (k.mul(upstream, k.mul(output, k.sub(1.0, output))),)


SIGMOID = define(
    Operation(
        name="sigmoid", result=rules.floating, cpu=kernels.sigmoid, gradient=_sigmoid_gradient,
        promotion=Promotion.FLOATING, samples=unary(-5, 5),
    )
)  # fmt: skip


def sigmoid(input: Tensor) -> Tensor:
    """Return ``1 / (1 + exp(-input))``, between 0 and 1.

    Parameters
    ----------
    input : Tensor
        Any shape; integers become floats.

    Examples
    --------
    >>> import vkml
    >>> vkml.sigmoid(vkml.tensor([0.0, 2.0]))
    tensor([0.5000, 0.8808])
    """
    return apply(SIGMOID, (input,))


# silu ----------------------------------------------------------------------------------


def _silu_gradient(k: Ops, upstream: Value, _output: Value, x: Value) -> tuple[Value]:
    return (k.silu_backward(upstream, x),)


def _silu_backward(k: Ops, upstream: Value, x: Value) -> Value:
    gate = k.sigmoid(x)
    slope = k.mul(gate, k.add(k.mul(x, k.sub(1.0, gate)), 1.0))
    return k.mul(upstream, slope)


SILU = define(
    Operation(
        name="silu", result=rules.floating, cpu=kernels.silu,
        decomposition=lambda k, x: k.mul(x, k.sigmoid(x)), gradient=_silu_gradient,
        samples=unary(-5, 5),
    )
)  # fmt: skip

SILU_BACKWARD = _backward("silu_backward", kernels.silu_backward, _silu_backward)


def silu(input: Tensor) -> Tensor:
    """Return ``input * sigmoid(input)``, also called swish.

    Parameters
    ----------
    input : Tensor
        Floating-point numbers of any shape.

    Examples
    --------
    >>> import vkml
    >>> vkml.silu(vkml.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """
    return apply(SILU, (input,))


# gelu ----------------------------------------------------------------------------------

_FORMS: Final = ("none", "tanh")


def _gelu_gradient(
    k: Ops, upstream: Value, _output: Value, x: Value, approximate: str
) -> tuple[Value]:
    return (k.gelu_backward(upstream, x, approximate),)


def _gelu_tanh(k: Ops, x: Value) -> Value:
    cubic = k.mul(k.mul(x, k.mul(x, x)), kernels.GELU_CUBIC)
    return k.tanh(k.mul(k.add(x, cubic), kernels.GELU_SCALE))


def _normal_cdf(k: Ops, x: Value) -> Value:
    return k.mul(k.add(k.erf(k.mul(x, math.sqrt(0.5))), 1.0), 0.5)


def _gelu(k: Ops, x: Value, approximate: str) -> Value:
    if approximate == "tanh":
        return k.mul(x, k.mul(k.add(_gelu_tanh(k, x), 1.0), 0.5))
    return k.mul(x, _normal_cdf(k, x))


def _gelu_backward(k: Ops, upstream: Value, x: Value, approximate: str) -> Value:
    square = k.mul(x, x)
    if approximate == "tanh":
        tanh = _gelu_tanh(k, x)
        inner_slope = k.mul(k.add(k.mul(square, 3 * kernels.GELU_CUBIC), 1.0), kernels.GELU_SCALE)
        tanh_slope = k.mul(k.sub(1.0, k.mul(tanh, tanh)), inner_slope)
        slope = k.mul(k.add(k.add(tanh, 1.0), k.mul(x, tanh_slope)), 0.5)
    else:
        density = k.mul(k.exp(k.mul(square, -0.5)), 1 / math.sqrt(2 * math.pi))
        slope = k.add(_normal_cdf(k, x), k.mul(x, density))
    return k.mul(upstream, slope)


def _gelu_rule(x: Spec, approximate: str) -> Spec:
    if approximate not in _FORMS:
        raise ArgumentError(f"gelu: approximate={approximate!r} is unknown; give 'none' or 'tanh'.")
    return rules.floating(x)


GELU = define(
    Operation(
        name="gelu", result=_gelu_rule, cpu=kernels.gelu, decomposition=_gelu,
        gradient=_gelu_gradient, samples=_with_options(("none",), ("tanh",)),
    )
)  # fmt: skip

GELU_BACKWARD = _backward("gelu_backward", kernels.gelu_backward, _gelu_backward)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Return `input` times the normal distribution function of it.

    Parameters
    ----------
    input : Tensor
        Floating-point numbers of any shape.
    approximate : {"none", "tanh"}
        "tanh" approximates the distribution function by a tanh (arXiv:1606.08415).

    Raises
    ------
    ArgumentError
        `approximate` is something else.

    Examples
    --------
    >>> import vkml
    >>> vkml.gelu(vkml.tensor([-1.0, 2.0]))
    tensor([-0.1587,  1.9545])
    """
    return apply(GELU, (input,), (approximate,))


# softplus ------------------------------------------------------------------------------


def _softplus_gradient(
    k: Ops, upstream: Value, _output: Value, x: Value, beta: float, threshold: float
) -> tuple[Value]:
    return (k.softplus_backward(upstream, x, beta, threshold),)


def _softplus(k: Ops, x: Value, beta: float, threshold: float) -> Value:
    scaled = k.mul(x, beta)
    smooth = k.add(k.maximum(scaled, 0.0), k.log1p(k.exp(k.neg(k.abs(scaled)))))
    return k.where(k.gt(scaled, threshold), x, k.mul(smooth, 1 / beta))


def _softplus_backward(k: Ops, upstream: Value, x: Value, beta: float, threshold: float) -> Value:
    scaled = k.mul(x, beta)
    return k.where(k.gt(scaled, threshold), upstream, k.mul(upstream, k.sigmoid(scaled)))


SOFTPLUS = define(
    Operation(
        name="softplus", result=rules.floating, cpu=kernels.softplus, decomposition=_softplus,
        gradient=_softplus_gradient, samples=_with_options((1.0, 20.0), (2.0, 3.0)),
    )
)  # fmt: skip

SOFTPLUS_BACKWARD = _backward("softplus_backward", kernels.softplus_backward, _softplus_backward)


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """Return ``log(1 + exp(beta * input)) / beta``, and `input` where it is almost that.

    Parameters
    ----------
    input : Tensor
        Floating-point numbers of any shape.
    beta : float
        How sharp the bend at 0 is.
    threshold : float
        Where ``beta * input`` exceeds this, the result is `input`.

    Examples
    --------
    >>> import vkml
    >>> vkml.softplus(vkml.tensor([0.0, 30.0]))
    tensor([ 0.6931, 30.0000])
    """
    return apply(SOFTPLUS, (input,), (float(beta), float(threshold)))
