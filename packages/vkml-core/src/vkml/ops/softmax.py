"""Softmax and its relatives: exponentials over axes, kept from overflow by the largest value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

from vkml.backends.cpu_kernels import softmax as kernels
from vkml.ops import rules
from vkml.ops.apply import apply
from vkml.ops.definition import (
    THROUGH_DECOMPOSITION,
    Operation,
    Ops,
    Promotion,
    Sample,
    Value,
    array,
    define,
    no_samples,
)
from vkml.ops.reduction import reductions
from vkml.shapes import axes_of, axis_of, reduced

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from vkml.dtypes import DTypeLike
    from vkml.tensor import Tensor

    Axes: TypeAlias = tuple[int, ...]

__all__ = ["log_softmax", "logsumexp", "softmax"]


def _samples(generator: np.random.Generator) -> list[Sample]:
    return [
        Sample((array(generator, 3, 5, low=-9, high=9),), (1,)),
        Sample((array(generator, 2, 7, 3),), (1,)),
        Sample((array(generator, 4, 3, 17).T,), (0,)),
        Sample((array(generator),), (0,)),
        Sample((array(generator, 0, 3),), (1,)),
        Sample((array(generator, 3, 0),), (1,)),
    ]


def _axes(x: Value, dim: int) -> Axes:
    """Return `dim` as axes; a number (rank 0) has none."""
    return (dim,) if x.shape else ()


def _shifted(k: Ops, x: Value, dim: int) -> Value:
    """Return `x` less its largest value along `dim`."""
    return x if 0 in x.shape else k.sub(x, k.amax(x, _axes(x, dim), True))


def _backward(name: str, kernel: Any, decomposition: Any) -> Operation:
    """Define the backward half, a function of `upstream` and the output."""
    return define(
        Operation(
            name=name, operands=2, result=lambda _upstream, output, _dim: output, cpu=kernel,
            decomposition=decomposition, gradient=THROUGH_DECOMPOSITION, samples=no_samples,
        )
    )  # fmt: skip


# softmax -------------------------------------------------------------------------------


def _softmax_gradient(k: Ops, upstream: Value, output: Value, _x: Value, dim: int) -> tuple[Value]:
    return (k.softmax_backward(upstream, output, dim),)


def _softmax(k: Ops, x: Value, dim: int) -> Value:
    exponentials = k.exp(_shifted(k, x, dim))
    return k.div(exponentials, k.sum(exponentials, _axes(x, dim), True))


def _softmax_backward(k: Ops, upstream: Value, output: Value, dim: int) -> Value:
    inner = k.sum(k.mul(upstream, output), _axes(output, dim), True)
    return k.mul(k.sub(upstream, inner), output)


SOFTMAX = define(
    Operation(
        name="softmax", result=rules.floating, cpu=kernels.softmax, decomposition=_softmax,
        gradient=_softmax_gradient, samples=_samples,
    )
)  # fmt: skip

SOFTMAX_BACKWARD = _backward("softmax_backward", kernels.softmax_backward, _softmax_backward)


def softmax(input: Tensor, dim: int, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return ``exp(input)`` divided by its sum along `dim`: probabilities that add up to 1.

    Parameters
    ----------
    input : Tensor
        Floating-point numbers of any shape. Where all along `dim` are -inf, the result is NaN.
    dim : int
        The axis of the classes.
    dtype : DType or str, optional
        Convert to this dtype first.

    Raises
    ------
    DTypeError
        The elements are integers; pass ``dtype=vkml.float32``.

    Examples
    --------
    >>> import vkml
    >>> vkml.softmax(vkml.tensor([0.0, 1.0]), 0)
    tensor([0.2689, 0.7311])
    """
    if dtype is not None:
        input = input.to(dtype=dtype)
    return apply(SOFTMAX, (input,), (axis_of(dim, input.ndim),))


# log_softmax ---------------------------------------------------------------------------


def _log_softmax_gradient(
    k: Ops, upstream: Value, output: Value, _x: Value, dim: int
) -> tuple[Value]:
    return (k.log_softmax_backward(upstream, output, dim),)


def _log_softmax(k: Ops, x: Value, dim: int) -> Value:
    shifted = _shifted(k, x, dim)
    return k.sub(shifted, k.log(k.sum(k.exp(shifted), _axes(x, dim), True)))


def _log_softmax_backward(k: Ops, upstream: Value, output: Value, dim: int) -> Value:
    total = k.sum(upstream, _axes(output, dim), True)
    return k.sub(upstream, k.mul(k.exp(output), total))


LOG_SOFTMAX = define(
    Operation(
        name="log_softmax", result=rules.floating, cpu=kernels.log_softmax,
        decomposition=_log_softmax, gradient=_log_softmax_gradient, samples=_samples,
    )
)  # fmt: skip

LOG_SOFTMAX_BACKWARD = _backward(
    "log_softmax_backward", kernels.log_softmax_backward, _log_softmax_backward
)


def log_softmax(input: Tensor, dim: int, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return the logarithm of `softmax`, exact also where the probability is close to 0.

    Parameters
    ----------
    input, dim, dtype
        As for `softmax`.

    Raises
    ------
    DTypeError
        The elements are integers; pass ``dtype=vkml.float32``.

    Examples
    --------
    >>> import vkml
    >>> vkml.log_softmax(vkml.tensor([0.0, 1.0]), 0)
    tensor([-1.3133, -0.3133])
    """
    if dtype is not None:
        input = input.to(dtype=dtype)
    return apply(LOG_SOFTMAX, (input,), (axis_of(dim, input.ndim),))


# logsumexp -----------------------------------------------------------------------------


def _logsumexp_gradient(
    k: Ops, upstream: Value, output: Value, x: Value, axes: Axes, _keepdim: bool
) -> tuple[Value]:
    shape = reduced(x.shape, axes, True)
    shares = k.exp(k.sub(x, k.reshape(output, shape)))
    return (k.mul(shares, k.reshape(upstream, shape)),)


def _logsumexp(k: Ops, x: Value, axes: Axes, keepdim: bool) -> Value:
    if 0 in x.shape:
        return k.full(reduced(x.shape, axes, keepdim), -math.inf, x.dtype)
    largest = k.amax(x, axes, True)
    # An infinite shift would turn inf - inf into NaN; without it exp and log give the answer.
    shift = k.where(k.isfinite(largest), largest, 0.0)
    total = k.log(k.sum(k.exp(k.sub(x, shift)), axes, True))
    return k.reshape(k.add(total, shift), reduced(x.shape, axes, keepdim))


LOGSUMEXP = define(
    Operation(
        name="logsumexp", result=rules.reduction, cpu=kernels.logsumexp, decomposition=_logsumexp,
        gradient=_logsumexp_gradient, samples=reductions, promotion=Promotion.FLOATING,
    )
)  # fmt: skip


def logsumexp(input: Tensor, dim: int | Sequence[int] | None, keepdim: bool = False) -> Tensor:
    """Return ``log(sum(exp(input)))`` over the axes `dim`, without overflow.

    Parameters
    ----------
    input : Tensor
        Any shape; integers become floats. Where all are -inf, so is the result.
    dim : int or sequence of int
        The axes to sum over; None for all of them.
    keepdim : bool
        Keep the summed axes with size 1.

    Examples
    --------
    >>> import vkml
    >>> vkml.logsumexp(vkml.tensor([100.0, 100.0]), 0)
    tensor(100.6931)
    """
    return apply(LOGSUMEXP, (input,), (axes_of(dim, input.ndim), keepdim))
