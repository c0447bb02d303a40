"""Batch normalization over (N, C, *): statistics of each channel, image by image in cache."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from vkml.backends.cpu_kernels.blocks import ones, row_blocks
from vkml.backends.cpu_kernels.half import through_float32

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Below this many positions for each channel the inner loop of a broadcast operation is too
# short, and it is faster to repeat the channel's value over its positions.
SHORT_PLANE = 128


def _as_planes(x: NDArray[Any]) -> NDArray[Any]:
    """Return x as (N, C, positions), contiguous."""
    return np.ascontiguousarray(x).reshape(x.shape[0], x.shape[1], prod(x.shape[2:]))


def _per_channel(values: NDArray[Any], positions: int) -> NDArray[Any]:
    """Return channel values in a shape that meets an (N, C, positions) or (N, C * positions)."""
    if positions < SHORT_PLANE:
        return np.repeat(values, positions)
    return values[:, None]


def _images(planes: NDArray[Any]) -> NDArray[Any]:
    """Return the planes as operands of `_per_channel` values."""
    samples, channels, positions = planes.shape
    if positions < SHORT_PLANE:
        return planes.reshape(samples, channels * positions)
    return planes


def _sample_sums(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return the sums of the columns of a matrix, as float64."""
    total: NDArray[Any] = np.matmul(ones(len(rows), rows.dtype), rows)
    return total.astype(np.float64)


def _channel_sums(planes: NDArray[Any]) -> NDArray[np.float64]:
    """Return the sum of each channel, as float64: over positions, then over samples, by BLAS."""
    samples, channels, positions = planes.shape
    if positions == 1:
        return _sample_sums(planes.reshape(samples, channels))
    rows = planes.reshape(samples * channels, positions)
    sums = np.matmul(rows, ones(positions, rows.dtype))
    return _sample_sums(sums.reshape(samples, channels))


def _channel_products(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.float64]:
    """Return the sum of a * b over samples and positions, for each channel."""
    if a.shape[2] == 1:
        return _sample_sums(a[..., 0] * b[..., 0])
    return _sample_sums(np.vecdot(a, b))


@through_float32()
def batch_norm_train(
    x: NDArray[Any], weight: NDArray[Any] | None, bias: NDArray[Any] | None, eps: float
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return x normalized by its own statistics, the mean, biased variance and 1 / deviation."""
    planes = _as_planes(x)
    samples, channels, positions = planes.shape
    count = max(samples * positions, 1)
    mean = _channel_sums(planes) / count
    y = np.empty(planes.shape, planes.dtype)
    squares, residual = np.zeros(channels), np.zeros(channels)
    source, target = _images(planes), _images(y)
    centre = _per_channel(mean.astype(x.dtype), positions)
    blocks = list(row_blocks(samples, channels * positions))
    for block in blocks:
        np.subtract(source[block], centre, out=target[block])
        squares += _channel_products(y[block], y[block])
        residual += _channel_sums(y[block])
    # What rounding of the mean left in the centred values belongs to the mean.
    residual /= count
    variance = squares / count - residual * residual
    rstd = 1.0 / np.sqrt(variance + eps)
    scale = rstd if weight is None else rstd * weight
    shift = -residual * scale if bias is None else bias - residual * scale
    factor = _per_channel(scale.astype(x.dtype), positions)
    offset = _per_channel(shift.astype(x.dtype), positions)
    for block in blocks:
        np.multiply(target[block], factor, out=target[block])
        np.add(target[block], offset, out=target[block])
    mean = mean.astype(x.dtype) + residual
    return (
        y.reshape(x.shape),
        mean.astype(x.dtype),
        variance.astype(x.dtype),
        rstd.astype(x.dtype),
    )


@through_float32()
def batch_norm_eval(
    x: NDArray[Any],
    mean: NDArray[Any],
    var: NDArray[Any],
    weight: NDArray[Any] | None,
    bias: NDArray[Any] | None,
    eps: float,
) -> NDArray[Any]:
    """Return x normalized by the given statistics of each channel."""
    planes = _as_planes(x)
    samples, channels, positions = planes.shape
    scale = 1.0 / np.sqrt(np.asarray(var, np.float64) + eps)
    if weight is not None:
        scale = scale * weight
    shift = -mean * scale if bias is None else bias - mean * scale
    y = np.empty(planes.shape, planes.dtype)
    source, target = _images(planes), _images(y)
    factor = _per_channel(scale.astype(x.dtype), positions)
    offset = _per_channel(shift.astype(x.dtype), positions)
    for block in row_blocks(samples, channels * positions):
        part = np.multiply(source[block], factor, out=target[block])
        part += offset
    return y.reshape(x.shape)


@through_float32(cast_back=3)
def batch_norm_backward(
    g: NDArray[Any],
    x: NDArray[Any],
    weight: NDArray[Any] | None,
    mean: NDArray[Any],
    rstd: NDArray[Any],
    needs: tuple[bool, bool, bool],
) -> tuple[NDArray[Any] | None, NDArray[Any] | None, NDArray[Any] | None]:
    """Return the gradients of `batch_norm_train` for x, weight and bias; None where not needed."""
    upstream, planes = _as_planes(g), _as_planes(x)
    samples, channels, positions = planes.shape
    count = max(samples * positions, 1)
    total = _channel_sums(upstream)
    if not (needs[0] or needs[1]):
        return None, None, total.astype(x.dtype) if needs[2] else None
    dx = np.empty(planes.shape, planes.dtype)
    source, target, images = _images(planes), _images(dx), _images(upstream)
    centre = _per_channel(mean, positions)
    product = np.zeros(channels)
    blocks = list(row_blocks(samples, channels * positions))
    for block in blocks:
        np.subtract(source[block], centre, out=target[block])
        product += _channel_products(upstream[block], dx[block])
    dweight = product * rstd
    if needs[0]:
        # dx = scale * (g - mean(g) - centred * mean(g * centred) * rstd²), centred in dx.
        scale = np.asarray(rstd, np.float64) if weight is None else np.float64(1) * rstd * weight
        slope = product / count * rstd * rstd
        factor = _per_channel(slope.astype(x.dtype), positions)
        offset = _per_channel((total / count).astype(x.dtype), positions)
        gain = _per_channel(scale.astype(x.dtype), positions)
        for block in blocks:
            part = target[block]
            part *= factor
            part += offset
            np.subtract(images[block], part, out=part)
            part *= gain
    return (
        dx.reshape(x.shape) if needs[0] else None,
        dweight.astype(x.dtype) if needs[1] else None,
        total.astype(x.dtype) if needs[2] else None,
    )
