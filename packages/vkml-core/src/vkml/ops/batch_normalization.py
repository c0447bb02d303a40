"""Batch normalization: each channel by its statistics over the batch, or by running ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vkml.autograd.graph import version_of
from vkml.backends.cpu_kernels import batch_normalization as kernels
from vkml.errors import ArgumentError, DeviceError, DTypeError, ShapeError
from vkml.ops import rules
from vkml.ops.apply import apply, apply_all
from vkml.ops.definition import (
    THROUGH_DECOMPOSITION,
    Operation,
    Ops,
    Sample,
    Spec,
    Value,
    array,
    define,
    no_samples,
)
from vkml.ops.half import statistics_dtype, through_float32
from vkml.ops.quiet import quiet
from vkml.tensor import Tensor

__all__ = ["batch_norm"]


def _require_channels(x: Spec, **others: Spec | None) -> None:
    rules.require_floating(x)
    if x.dtype.kind == "c":
        raise DTypeError(f"expected real numbers, got {x.dtype}.")
    if len(x.shape) < 2:
        raise ShapeError(f"expected an input (N, C, *), got {x.shape}.")
    for name, each in others.items():
        if each is not None and each.shape != x.shape[1:2]:
            message = (
                f"expected one {name} for each of the {x.shape[1]} channels of {x.shape}, got "
                f"shape {each.shape}."
            )
            raise ShapeError(message)


def _per_channel(k: Ops, values: Value, x: Value) -> Value:
    """Return values (C,) in a shape that broadcasts against `x` (N, C, *)."""
    return k.reshape(values, (x.shape[1],) + (1,) * (len(x.shape) - 2))


def _all_but_channels(x: Value) -> tuple[int, ...]:
    return (0, *range(2, len(x.shape)))


# batch_norm_train --------------------------------------------------------------------


def _train_samples(generator: np.random.Generator) -> list[Sample]:
    weight, bias = array(generator, 3), array(generator, 3)
    return [
        Sample((array(generator, 5, 3), weight, bias), (1e-5,)),
        Sample((array(generator, 2, 3, 4, 5), weight, None), (1e-5,)),
        Sample((array(generator, 4, 3, 7), None, None), (1e-3,)),
    ]


def _train_gradient(
    k: Ops,
    upstream: Value,
    auxiliary: tuple[Value | None, ...],
    x: Value,
    weight: Value | None,
    _bias: Value | None,
    eps: float,
    needs: tuple[bool, ...],
) -> tuple[Value | None, ...]:
    mean, _, rstd = auxiliary
    wanted = tuple(map(bool, needs))
    gradients: tuple[Value | None, ...] = k.batch_norm_backward(
        upstream, x, weight, mean, rstd, eps, wanted
    )
    return gradients


def _train_rule(
    x: Spec, weight: Spec | None, bias: Spec | None, _eps: float
) -> tuple[Spec, Spec, Spec, Spec]:
    _require_channels(x, weight=weight, bias=bias)
    rules.require_same_dtype(input=x, weight=weight, bias=bias)
    return Spec(x.shape, x.dtype), *(Spec(x.shape[1:2], statistics_dtype(x.dtype)),) * 3


def _standardized(k: Ops, x: Value, eps: float) -> tuple[Value, Value, Value, Value]:
    """Return x with mean 0 and deviation 1 in each channel; mean, variance and 1 / deviation."""
    axes = _all_but_channels(x)
    mean = k.mean(x, axes, True)
    centred = k.sub(x, mean)
    variance = k.mean(k.square(centred), axes, True)
    rstd = k.rsqrt(k.add(variance, eps))
    return k.mul(centred, rstd), mean, variance, rstd


@through_float32(cast_back=1)
def _batch_norm_train(
    k: Ops, x: Value, weight: Value | None, bias: Value | None, eps: float
) -> tuple[Value, ...]:
    y, *statistics = _standardized(k, x, eps)
    if weight is not None:
        y = k.mul(y, _per_channel(k, weight, x))
    if bias is not None:
        y = k.add(y, _per_channel(k, bias, x))
    return y, *(k.reshape(each, (x.shape[1],)) for each in statistics)


BATCH_NORM_TRAIN = define(
    Operation(
        name="batch_norm_train", operands=3, result=_train_rule, cpu=kernels.batch_norm_train,
        decomposition=_batch_norm_train, gradient=_train_gradient, samples=_train_samples,
        auxiliaries=3, tolerance=1e-4,
    )
)  # fmt: skip


# batch_norm_backward -----------------------------------------------------------------


@through_float32(cast_back=3)
def _batch_norm_backward(
    k: Ops,
    g: Value,
    x: Value,
    weight: Value | None,
    _mean: Value | None,
    _rstd: Value | None,
    eps: float,
    needs: tuple[bool, ...],
) -> tuple[Value | None, ...]:
    y, _, _, rstd = _standardized(k, x, eps)
    axes = _all_but_channels(x)
    dx = None
    if needs[0]:
        slope = k.mul(y, k.mean(k.mul(g, y), axes, True))
        dx = k.mul(k.sub(k.sub(g, k.mean(g, axes, True)), slope), rstd)
        if weight is not None:
            dx = k.mul(dx, _per_channel(k, weight, x))
    dweight = k.sum(k.mul(g, y), axes, False) if needs[1] else None
    return dx, dweight, k.sum(g, axes, False) if needs[2] else None


def _fused_backward(
    g: Any, x: Any, weight: Any, mean: Any, rstd: Any, _eps: float, needs: Any
) -> Any:
    if mean is None:
        return NotImplemented
    return kernels.batch_norm_backward(g, x, weight, mean, rstd, needs)


BATCH_NORM_BACKWARD = define(
    Operation(
        name="batch_norm_backward", operands=5, cpu=_fused_backward,
        result=lambda g, *_rest: (Spec(g.shape, g.dtype), *(Spec(g.shape[1:2], g.dtype),) * 2),
        auxiliaries=2, decomposition=_batch_norm_backward, gradient=THROUGH_DECOMPOSITION,
        samples=no_samples,
    )
)  # fmt: skip


# batch_norm_eval ---------------------------------------------------------------------


def _eval_samples(generator: np.random.Generator) -> list[Sample]:
    mean, weight, bias = (array(generator, 3) for _ in range(3))
    var = array(generator, 3, low=0.5, high=2)
    return [
        Sample((array(generator, 5, 3), mean, var, weight, bias), (1e-5,)),
        Sample((array(generator, 2, 3, 4, 5), mean, var, weight, None), (1e-5,)),
        Sample((array(generator, 0, 3, 7), mean, var, None, None), (1e-3,)),
    ]


def _eval_rule(
    x: Spec, mean: Spec, var: Spec, weight: Spec | None, bias: Spec | None, _eps: float
) -> Spec:
    _require_channels(x, running_mean=mean, running_var=var, weight=weight, bias=bias)
    rules.require_same_dtype(input=x, weight=weight, bias=bias)
    for name, each in (("running_mean", mean), ("running_var", var)):
        if each.dtype not in (x.dtype, statistics_dtype(x.dtype)):
            raise DTypeError(f"expected a {name} of {x.dtype}, got {each.dtype}.")
    return Spec(x.shape, x.dtype)


@through_float32(cast_back=1)
def _batch_norm_eval(
    k: Ops,
    x: Value,
    mean: Value,
    var: Value,
    weight: Value | None,
    bias: Value | None,
    eps: float,
) -> Value:
    scale = k.rsqrt(k.add(var, eps))
    if weight is not None:
        scale = k.mul(scale, weight)
    shift = k.neg(k.mul(mean, scale))
    if bias is not None:
        shift = k.add(shift, bias)
    return k.add(k.mul(x, _per_channel(k, scale, x)), _per_channel(k, shift, x))


BATCH_NORM_EVAL = define(
    Operation(
        name="batch_norm_eval", operands=5, result=_eval_rule, cpu=kernels.batch_norm_eval,
        decomposition=_batch_norm_eval, gradient=THROUGH_DECOMPOSITION, samples=_eval_samples,
        tolerance=1e-4,
    )
)  # fmt: skip


# batch_norm --------------------------------------------------------------------------


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Return `input` with mean 0 and deviation 1 in each channel, then scaled and shifted.

    Parameters
    ----------
    input : Tensor
        Floating-point numbers (N, C, *).
    running_mean, running_var : Tensor or None
        Statistics of each channel, (C,). In training they are moved, in place, towards those of
        the batch (the unbiased variance); else they are what normalizes.
    weight, bias : Tensor, optional
        A factor and a summand for each channel, (C,).
    training : bool
        Whether to normalize by the statistics of this batch.
    momentum : float
        How far the running statistics move, from 0 to 1.
    eps : float
        Added to the variance.

    Raises
    ------
    ShapeError
        The shapes do not fit, or in training a channel has one value only.
    ArgumentError
        There are no running statistics to normalize by.

    Examples
    --------
    >>> import vkml
    >>> mean, var = vkml.zeros(1), vkml.ones(1)
    >>> x = vkml.tensor([[1.0], [3.0]])
    >>> vkml.batch_norm(x, mean, var, training=True)
    tensor([[-1.0000],
            [ 1.0000]])
    >>> mean, var
    (tensor([0.2000]), tensor([1.1000]))
    """
    if not training:
        if running_mean is None or running_var is None:
            message = "batch_norm: no running_mean or running_var; give both, or training=True."
            raise ArgumentError(message)
        return apply(BATCH_NORM_EVAL, (input, running_mean, running_var, weight, bias), (eps,))
    count = math.prod(input.shape[:1] + input.shape[2:])
    if count == 1:
        message = (
            f"batch_norm: each channel of an input {input.shape} has one value, which has no "
            "variance; use a larger batch, or training=False."
        )
        raise ShapeError(message)
    y, mean, variance, _ = apply_all(BATCH_NORM_TRAIN, (input, weight, bias), (eps,))
    _require_movable("running_mean", running_mean, mean)
    _require_movable("running_var", running_var, variance)
    if running_mean is not None and count:
        _move(running_mean, mean._operand, momentum, 1.0)
    if running_var is not None and count:
        _move(running_var, variance._operand, momentum, count / (count - 1))
    result: Tensor = y
    return result


def _require_movable(name: str, running: Tensor | None, towards: Tensor) -> None:
    if running is None:
        return
    if running.shape != towards.shape:
        message = f"batch_norm: expected a {name} of shape {towards.shape}, got {running.shape}."
        raise ShapeError(message)
    if not running.dtype.is_floating_point:
        message = f"batch_norm: expected a {name} of {towards.dtype}, got {running.dtype}."
        raise DTypeError(message)
    if running.device is not towards.device:
        message = f"batch_norm: the {name} lies on {running.device}, the input on {towards.device}."
        raise DeviceError(message)


def _move(running: Tensor, towards: Value, momentum: float, factor: float) -> None:
    """Write ``(1 - momentum) * running + momentum * factor * towards`` into `running`."""
    k = running._device.raw
    operand = running._placed()
    if towards.dtype != operand.dtype:
        towards = k.cast(towards, operand.dtype)
    quiet.run(k.mul, operand, 1 - momentum, out=operand)
    quiet.run(k.add, operand, quiet.run(k.mul, towards, momentum * factor), out=operand)
    version_of(running)[0] += 1
