"""Initial values: functions that fill a tensor in place, and return it.

The random ones draw from `generator`, or from vkML's own, which `vkml.manual_seed` sets. The sizes
*fan in* and *fan out* of a weight of shape (out, in, *kernel) are the numbers of terms that add up
to one element of the output, and of elements of the output that one element of the input enters.
"""

from __future__ import annotations

import math
from typing import Any, Final, Literal, TypeAlias

import vkml
from vkml import ArgumentError, ShapeError, Tensor

__all__ = [
    "calculate_gain", "constant_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_",
    "ones_", "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
]  # fmt: skip

Generator: TypeAlias = "vkml.Generator | None"
Mode: TypeAlias = Literal["fan_in", "fan_out"]

_LINEAR: Final = {"linear", "sigmoid", "identity"} | {
    f"conv{transposed}{n}d" for transposed in ("", "_transpose") for n in (1, 2, 3)
}
_GAINS: Final = {"tanh": 5 / 3, "relu": math.sqrt(2.0), "selu": 3 / 4}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return by what a weight before `nonlinearity` is scaled to keep the size of the values.

    Parameters
    ----------
    nonlinearity : str
        Its name in `vkml.nn.functional`.
    param : float, optional
        The negative slope of ``"leaky_relu"``; 0.01 by default.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.init.calculate_gain("leaky_relu", 1.0)
    1.0
    """
    if nonlinearity in _LINEAR:
        return 1.0
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity in _GAINS:
        return _GAINS[nonlinearity]
    known = ", ".join(sorted([*_LINEAR, *_GAINS, "leaky_relu"]))
    raise ArgumentError(f"calculate_gain: {nonlinearity!r} is not known; choose from {known}.")


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator = None) -> Tensor:
    """Fill `tensor` with numbers drawn evenly from [a, b).

    Examples
    --------
    >>> import vkml
    >>> bool((vkml.nn.init.uniform_(vkml.empty(100), 2, 3) >= 2).all())
    True
    """
    with vkml.no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator = None
) -> Tensor:
    """Fill `tensor` from the normal distribution with that mean and standard deviation.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.init.normal_(vkml.empty(2), mean=5.0, std=0.0)
    tensor([5., 5.])
    """
    with vkml.no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator = None,
) -> Tensor:
    """Fill `tensor` from the normal distribution without what lies outside [a, b].

    Numbers outside are drawn again, so the interval must hold a fair part of the distribution.

    Raises
    ------
    ArgumentError
        The interval is empty, or lies more than four standard deviations off the mean.

    Examples
    --------
    >>> import vkml
    >>> bool((vkml.nn.init.trunc_normal_(vkml.empty(100)).abs() <= 2).all())
    True
    """
    if not a < b or a > mean + 4 * std or b < mean - 4 * std:
        message = (
            f"trunc_normal_: [{a}, {b}] holds almost nothing of the normal distribution with mean "
            f"{mean} and standard deviation {std}; give an interval around the mean."
        )
        raise ArgumentError(message)
    with vkml.no_grad():
        normal_(tensor, mean, std, generator)
        while True:
            outside = (tensor < a) | (tensor > b)
            if not bool(outside.any()):
                return tensor
            redrawn = normal_(vkml.empty_like(tensor), mean, std, generator)
            tensor.copy_(vkml.where(outside, redrawn, tensor))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill `tensor` with one number.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.init.constant_(vkml.empty(2), 0.5)
    tensor([0.5000, 0.5000])
    """
    with vkml.no_grad():
        return tensor.fill_(val)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill `tensor` with 0."""
    return constant_(tensor, 0.0)


def ones_(tensor: Tensor) -> Tensor:
    """Fill `tensor` with 1."""
    return constant_(tensor, 1.0)


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.init.eye_(vkml.empty(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    if tensor.ndim != 2:
        raise ShapeError(f"eye_: expected a matrix, got shape {tensor.shape}.")
    with vkml.no_grad():
        return tensor.copy_(vkml.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator = None) -> Tensor:
    """Fill a weight evenly from ±gain √(6 / (fan in + fan out)) (Glorot and Bengio, 2010).

    Examples
    --------
    >>> import vkml
    >>> bool((vkml.nn.init.xavier_uniform_(vkml.empty(3, 3)).abs() <= 1).all())
    True
    """
    fan_in, fan_out = fans("xavier_uniform_", tensor)
    bound = gain * math.sqrt(6.0 / (fan_in + fan_out))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator = None) -> Tensor:
    """Fill a weight normally with deviation gain √(2 / (fan in + fan out))."""
    fan_in, fan_out = fans("xavier_normal_", tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / (fan_in + fan_out)), generator)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: Mode = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator = None,
) -> Tensor:
    """Fill a weight evenly from ±gain √(3 / fan) (He and others, 2015).

    Parameters
    ----------
    tensor : Tensor
        The weight.
    a : float
        The negative slope, for ``"leaky_relu"``.
    mode : {"fan_in", "fan_out"}
        Whether to keep the size of the values forward or of the gradients backward.
    nonlinearity : str
        What follows the layer; see `calculate_gain`.
    generator : Generator, optional
        Where the random numbers come from.

    Examples
    --------
    >>> import vkml
    >>> weight = vkml.nn.init.kaiming_uniform_(vkml.empty(4, 6), nonlinearity="relu")
    >>> bool((weight.abs() <= 1).all())
    True
    """
    bound = math.sqrt(3.0) * _kaiming_deviation("kaiming_uniform_", tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: Mode = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator = None,
) -> Tensor:
    """Fill a weight normally with deviation gain / √fan. Parameters as for `kaiming_uniform_`."""
    deviation = _kaiming_deviation("kaiming_normal_", tensor, a, mode, nonlinearity)
    return normal_(tensor, 0.0, deviation, generator)


def _kaiming_deviation(name: str, tensor: Tensor, a: float, mode: Mode, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ArgumentError(f"{name}: mode is {mode!r}; choose 'fan_in' or 'fan_out'.")
    if 0 in tensor.shape:
        return 0.0  # nothing to fill
    fan_in, fan_out = fans(name, tensor)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan_in if mode == "fan_in" else fan_out)


def fans(name: str, tensor: Any) -> tuple[int, int]:
    """Return fan in and fan out of a weight, for the initialiser `name`."""
    if tensor.ndim < 2:
        message = f"{name}: expected a weight of shape (out, in, *kernel), got {tensor.shape}."
        raise ShapeError(message)
    window = math.prod(tensor.shape[2:])
    return tensor.shape[1] * window, tensor.shape[0] * window
