"""Normalization of each row: to mean 0 and deviation 1, or by its root mean square."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from vkml import dtypes
from vkml.backends.cpu_kernels import normalization as kernels
from vkml.errors import DTypeError, ShapeError
from vkml.ops import rules
from vkml.ops.apply import apply
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
from vkml.shapes import Shape
from vkml.tensor import Tensor

__all__ = ["layer_norm", "rms_norm"]

_BFLOAT16_EPSILON: Final = 2.0**-7
"""The machine epsilon of bfloat16 (8 significant bits), of which NumPy knows nothing."""


def _normalized_shape(name: str, x: Tensor, given: int | Sequence[int]) -> Shape:
    shape = (given,) if isinstance(given, int) else tuple(given)
    if not shape or x.shape[-len(shape) :] != shape:
        message = (
            f"{name}: normalized_shape is {shape}, which are not the last sizes of the input "
            f"{x.shape}."
        )
        raise ShapeError(message)
    return shape


def _require_parameters(x: Spec, normalized_ndim: int, **parameters: Spec | None) -> None:
    rules.require_floating(x)
    if x.dtype.kind == "c":
        raise DTypeError(f"expected real numbers, got {x.dtype}.")
    rules.require_same_dtype(input=x, **parameters)
    shape = _parameters(x, normalized_ndim).shape
    for name, each in parameters.items():
        if each is not None and each.shape != shape:
            raise ShapeError(f"expected a {name} of shape {shape}, got {each.shape}.")


def _statistics(x: Spec, normalized_ndim: int) -> Spec:
    shape = x.shape[: len(x.shape) - normalized_ndim] + (1,) * normalized_ndim
    return Spec(shape, statistics_dtype(x.dtype))


def _parameters(x: Spec, normalized_ndim: int) -> Spec:
    return Spec(x.shape[len(x.shape) - normalized_ndim :], x.dtype)


def _last_axes(x: Value, count: int) -> tuple[int, ...]:
    rank = len(x.shape)
    return tuple(range(rank - count, rank))


def _projected(k: Ops, g: Value, y: Value, rstd: Value, axes: tuple[int, ...]) -> Value:
    """Return rstd * (g - y * mean(g * y)): the gradient behind a division by the deviation."""
    return k.mul(k.sub(g, k.mul(y, k.mean(k.mul(g, y), axes, True))), rstd)


# layer_norm --------------------------------------------------------------------------


def _layer_norm_samples(generator: np.random.Generator) -> list[Sample]:
    x = array(generator, 3, 4, 5)
    return [
        Sample((x, array(generator, 5), array(generator, 5)), (1, 1e-5)),
        Sample((x, array(generator, 4, 5), None), (2, 1e-5)),
        Sample((x.T, None, None), (1, 1e-3)),
        Sample((x[:, :0], array(generator, 5), array(generator, 5)), (1, 1e-5)),
    ]


def _layer_norm_gradient(
    k: Ops,
    upstream: Value,
    auxiliary: tuple[Value | None, ...],
    x: Value,
    weight: Value | None,
    _bias: Value | None,
    normalized_ndim: int,
    eps: float,
    needs: tuple[bool, ...],
) -> tuple[Value | None, ...]:
    wanted = tuple(map(bool, needs))
    gradients: tuple[Value | None, ...] = k.layer_norm_backward(
        upstream, x, weight, *auxiliary, normalized_ndim, eps, wanted
    )
    return gradients


def _layer_norm_rule(
    x: Spec, weight: Spec | None, bias: Spec | None, normalized_ndim: int, _eps: float
) -> tuple[Spec, Spec, Spec]:
    _require_parameters(x, normalized_ndim, weight=weight, bias=bias)
    return Spec(x.shape, x.dtype), *(_statistics(x, normalized_ndim),) * 2


def _standardized(k: Ops, x: Value, axes: tuple[int, ...], eps: float) -> tuple[Value, Value]:
    """Return `x` with mean 0 and deviation 1 over `axes`, and one over its deviation."""
    centred = k.sub(x, k.mean(x, axes, True))
    rstd = k.rsqrt(k.add(k.mean(k.square(centred), axes, True), eps))
    return k.mul(centred, rstd), rstd


@through_float32(cast_back=1)
def _layer_norm(
    k: Ops, x: Value, weight: Value | None, bias: Value | None, normalized_ndim: int, eps: float
) -> Value:
    y, _ = _standardized(k, x, _last_axes(x, normalized_ndim), eps)
    if weight is not None:
        y = k.mul(y, weight)
    return y if bias is None else k.add(y, bias)


LAYER_NORM = define(
    Operation(
        name="layer_norm", operands=3, result=_layer_norm_rule, cpu=kernels.layer_norm,
        decomposition=_layer_norm, gradient=_layer_norm_gradient, samples=_layer_norm_samples,
        auxiliaries=2, tolerance=1e-4,
    )
)  # fmt: skip


def layer_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Return `input` with mean 0 and deviation 1 over its last axes, then scaled and shifted.

    Parameters
    ----------
    input : Tensor
        Floating-point numbers; its last sizes are `normalized_shape`.
    normalized_shape : int or sequence of int
        The sizes of the axes that are normalized together.
    weight, bias : Tensor, optional
        A factor and a summand of shape `normalized_shape`.
    eps : float
        Added to the variance.

    Raises
    ------
    ShapeError
        The shapes do not fit.

    Examples
    --------
    >>> import vkml
    >>> vkml.layer_norm(vkml.tensor([[1.0, 2.0, 3.0]]), 3)
    tensor([[-1.2247,  0.0000,  1.2247]])
    """
    shape = _normalized_shape("layer_norm", input, normalized_shape)
    return apply(LAYER_NORM, (input, weight, bias), (len(shape), eps))


# layer_norm_backward -----------------------------------------------------------------


@through_float32(cast_back=3)
def _layer_norm_backward(
    k: Ops,
    g: Value,
    x: Value,
    weight: Value | None,
    _mean: Value | None,
    _rstd: Value | None,
    normalized_ndim: int,
    eps: float,
    needs: tuple[bool, ...],
) -> tuple[Value | None, ...]:
    axes = _last_axes(x, normalized_ndim)
    y, rstd = _standardized(k, x, axes, eps)
    shape = x.shape[-normalized_ndim:]
    dx = dweight = None
    if needs[0]:
        scaled = g if weight is None else k.mul(g, weight)
        centred = k.sub(scaled, k.mean(scaled, axes, True))
        dx = _projected(k, centred, y, rstd, axes)
    if needs[1]:
        dweight = k.sum_to_size(k.mul(g, y), shape)
    return dx, dweight, k.sum_to_size(g, shape) if needs[2] else None


def _fused_layer_norm_backward(
    g: Any, x: Any, weight: Any, mean: Any, rstd: Any, ndim: int, _eps: float, needs: Any
) -> Any:
    if mean is None:
        return NotImplemented
    return kernels.layer_norm_backward(g, x, weight, mean, rstd, ndim, needs)


LAYER_NORM_BACKWARD = define(
    Operation(
        name="layer_norm_backward", operands=5, cpu=_fused_layer_norm_backward,
        result=lambda g, *rest: (Spec(g.shape, g.dtype), *(_parameters(g, rest[-3]),) * 2),
        auxiliaries=2,
        decomposition=_layer_norm_backward, gradient=THROUGH_DECOMPOSITION, samples=no_samples,
    )
)  # fmt: skip


# rms_norm ----------------------------------------------------------------------------


def _rms_norm_samples(generator: np.random.Generator) -> list[Sample]:
    x = array(generator, 3, 4, 5)
    return [
        Sample((x, array(generator, 5)), (1, 1e-6)),
        Sample((x, array(generator, 4, 5)), (2, 1e-6)),
        Sample((x.T, None), (1, 1e-3)),
        Sample((x[:, :0], array(generator, 5)), (1, 1e-6)),
    ]


def _rms_norm_gradient(
    k: Ops,
    upstream: Value,
    auxiliary: tuple[Value | None],
    x: Value,
    weight: Value | None,
    normalized_ndim: int,
    eps: float,
    needs: tuple[bool, ...],
) -> tuple[Value | None, ...]:
    wanted = tuple(map(bool, needs))
    gradients: tuple[Value | None, ...] = k.rms_norm_backward(
        upstream, x, weight, *auxiliary, normalized_ndim, eps, wanted
    )
    return gradients


def _rms_norm_rule(
    x: Spec, weight: Spec | None, normalized_ndim: int, _eps: float
) -> tuple[Spec, Spec]:
    _require_parameters(x, normalized_ndim, weight=weight)
    return Spec(x.shape, x.dtype), _statistics(x, normalized_ndim)


def _over_root_mean_square(
    k: Ops, x: Value, axes: tuple[int, ...], eps: float
) -> tuple[Value, Value]:
    rstd = k.rsqrt(k.add(k.mean(k.square(x), axes, True), eps))
    return k.mul(x, rstd), rstd


@through_float32(cast_back=1)
def _rms_norm(k: Ops, x: Value, weight: Value | None, normalized_ndim: int, eps: float) -> Value:
    y, _ = _over_root_mean_square(k, x, _last_axes(x, normalized_ndim), eps)
    return y if weight is None else k.mul(y, weight)


RMS_NORM = define(
    Operation(
        name="rms_norm", operands=2, result=_rms_norm_rule, cpu=kernels.rms_norm,
        decomposition=_rms_norm, gradient=_rms_norm_gradient, samples=_rms_norm_samples,
        auxiliaries=1, tolerance=1e-4,
    )
)  # fmt: skip


def rms_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Return `input` over the root of its mean square over the last axes, then scaled.

    Parameters
    ----------
    input : Tensor
        Floating-point numbers; its last sizes are `normalized_shape`.
    normalized_shape : int or sequence of int
        The sizes of the axes that are normalized together.
    weight : Tensor, optional
        A factor of shape `normalized_shape`.
    eps : float, optional
        Added to the mean square; by default the machine epsilon of the dtype.

    Raises
    ------
    ShapeError
        The shapes do not fit.

    Examples
    --------
    >>> import vkml
    >>> vkml.rms_norm(vkml.tensor([[3.0, 4.0]]), 2)
    tensor([[0.8485, 1.1314]])
    """
    shape = _normalized_shape("rms_norm", input, normalized_shape)
    if eps is None:
        eps = _machine_epsilon(input._operand.dtype)
    return apply(RMS_NORM, (input, weight), (len(shape), eps))


def _machine_epsilon(dtype: np.dtype[Any]) -> float:
    if not dtypes.is_floating(dtype):
        return 0.0  # the result rule refuses it
    return _BFLOAT16_EPSILON if dtype.kind == "V" else float(np.finfo(dtype).eps)


# rms_norm_backward -------------------------------------------------------------------


@through_float32(cast_back=2)
def _rms_norm_backward(
    k: Ops,
    g: Value,
    x: Value,
    weight: Value | None,
    _rstd: Value | None,
    normalized_ndim: int,
    eps: float,
    needs: tuple[bool, ...],
) -> tuple[Value | None, ...]:
    axes = _last_axes(x, normalized_ndim)
    y, rstd = _over_root_mean_square(k, x, axes, eps)
    dx = dweight = None
    if needs[0]:
        scaled = g if weight is None else k.mul(g, weight)
        dx = _projected(k, scaled, y, rstd, axes)
    if needs[1]:
        dweight = k.sum_to_size(k.mul(g, y), x.shape[-normalized_ndim:])
    return dx, dweight


def _fused_rms_norm_backward(
    g: Any, x: Any, weight: Any, rstd: Any, ndim: int, _eps: float, needs: Any
) -> Any:
    if rstd is None:
        return NotImplemented
    return kernels.rms_norm_backward(g, x, weight, rstd, ndim, needs)


RMS_NORM_BACKWARD = define(
    Operation(
        name="rms_norm_backward", operands=4, cpu=_fused_rms_norm_backward,
        result=lambda g, *rest: (Spec(g.shape, g.dtype), _parameters(g, rest[-3])), auxiliaries=1,
        decomposition=_rms_norm_backward, gradient=THROUGH_DECOMPOSITION, samples=no_samples,
    )
)  # fmt: skip
