"""2-D pooling over the last two axes, one axis after the other.

A window costs kh + kw operations on whole planes instead of kh * kw. Positions of maxima are
found only when they are asked for: the gradient can find them again from the result.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from vkml.backends.cpu_kernels.convolution_columns import Geometry, Pair
from vkml.backends.cpu_kernels.half import through_float32

if TYPE_CHECKING:
    from numpy.typing import NDArray


def pooled_size(
    size: Pair, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair, ceil_mode: bool
) -> Pair:
    """Return the number of windows, vertically and horizontally."""
    high, wide = (
        _windows(size[a], kernel[a], stride[a], padding[a], dilation[a], ceil_mode) for a in (0, 1)
    )
    return high, wide


def _windows(
    size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool
) -> int:
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    if not ceil_mode:
        return room // stride + 1
    windows = -(-room // stride) + 1
    # A window must not begin in the right padding.
    return windows - 1 if (windows - 1) * stride >= size + padding else windows


def _geometry(
    shape: tuple[int, ...],
    kernel: Pair,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    ceil_mode: bool,
) -> Geometry:
    size = shape[-2], shape[-1]
    output = pooled_size(size, kernel, stride, padding, dilation, ceil_mode)
    return Geometry(size, kernel, stride, padding, dilation, output)


def _is_pairwise(geometry: Geometry) -> bool:
    """Return whether windows are separate 2×2 squares, the most common pooling."""
    return (
        geometry.kernel == (2, 2)
        and geometry.stride == (2, 2)
        and geometry.padding == (0, 0)
        and geometry.dilation == (1, 1)
        and all(2 * geometry.output[axis] <= geometry.size[axis] for axis in (0, 1))
    )


@through_float32()
def max_pool2d(
    x: NDArray[Any],
    kernel: Pair,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    ceil_mode: bool,
    return_indices: bool = False,
) -> tuple[NDArray[Any], NDArray[np.int64] | None]:
    """Return the largest value of each window, and its position h * W + w if asked for.

    The first of equal values counts. NaN is larger than any number. A window that holds nothing
    but padding gives -inf, and its position means nothing.
    """
    geometry = _geometry(x.shape, kernel, stride, padding, dilation, ceil_mode)
    if _is_pairwise(geometry):
        high, wide = 2 * geometry.output[0], 2 * geometry.output[1]
        across = np.maximum(x[..., 0:high:2, :wide], x[..., 1:high:2, :wide])
        y = np.maximum(across[..., 0::2], across[..., 1::2], order="C")
    else:
        y = _window_maximum(x, geometry)
    return y, _positions(x, y, geometry) if return_indices else None


def _window_maximum(x: NDArray[Any], geometry: Geometry) -> NDArray[Any]:
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    across = np.full((*x.shape[:-1], geometry.output[1]), lowest, x.dtype)
    for j in range(geometry.kernel[1]):
        places, input_places = geometry.tap(1, j)
        part = across[..., places]
        np.maximum(part, x[..., input_places], out=part)
    y = np.full((*x.shape[:-2], *geometry.output), lowest, x.dtype)
    for i in range(geometry.kernel[0]):
        rows, input_rows = geometry.tap(0, i)
        part = y[..., rows, :]
        np.maximum(part, across[..., input_rows, :], out=part)
    return y


def _positions(x: NDArray[Any], y: NDArray[Any], geometry: Geometry) -> NDArray[np.int64]:
    """Return where in its plane each maximum y lies."""
    taps = [(i, j) for i in range(geometry.kernel[0]) for j in range(geometry.kernel[1])]
    # How many taps come before the first that equals y, from the last one backwards: small
    # integers and no branches, several times faster than writing positions under a mask.
    passed = np.zeros(y.shape, np.int8 if len(taps) < 128 else np.int32)
    for i, j in reversed(taps):
        passed += passed.dtype.type(1)
        part, outputs, inputs = (_tap_part(a, geometry, i, j, a is x) for a in (passed, y, x))
        part *= np.not_equal(inputs, outputs).view(np.int8)
    width = geometry.size[1]
    steps = [i * geometry.dilation[0] * width + j * geometry.dilation[1] for i, j in taps]
    # The last entry serves windows in which nothing equals y: their maximum is NaN.
    positions: NDArray[np.int64] = np.take(np.array([*steps, 0], np.int64), passed)
    rows, places = (
        np.arange(geometry.output[axis]) * geometry.stride[axis] - geometry.padding[axis]
        for axis in (0, 1)
    )
    positions += rows[:, None] * width + places
    if y.dtype.kind == "f" and np.isnan(y).any():
        _point_at_nan(positions, x, geometry, taps)
    return positions


def _tap_part(a: NDArray[Any], geometry: Geometry, i: int, j: int, inputs: bool) -> NDArray[Any]:
    """Return the inputs of one tap, or the outputs that it belongs to."""
    part: NDArray[Any] = a[..., geometry.tap(0, i)[inputs], geometry.tap(1, j)[inputs]]
    return part


def _point_at_nan(
    positions: NDArray[np.int64], x: NDArray[Any], geometry: Geometry, taps: list[Pair]
) -> None:
    """Write the position of the last NaN of each window that has one."""
    plane = np.arange(geometry.size[0] * geometry.size[1]).reshape(geometry.size)
    for i, j in taps:
        here = _tap_part(plane, geometry, i, j, True)
        nan = np.isnan(_tap_part(x, geometry, i, j, True))
        np.copyto(_tap_part(positions, geometry, i, j, False), here, where=nan)


def _filled_windows(geometry: Geometry, axis: int) -> NDArray[np.bool_]:
    """Return which windows have a tap inside the input: a dilated one may step over all of it."""
    filled = np.zeros(geometry.output[axis], np.bool_)
    for index in range(geometry.kernel[axis]):
        filled[geometry.tap(axis, index)[0]] = True
    return filled


@through_float32()
def max_pool2d_backward(
    g: NDArray[Any],
    x: NDArray[Any],
    y: NDArray[Any],
    indices: NDArray[np.int64] | None,
    kernel: Pair,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    ceil_mode: bool,
) -> NDArray[Any]:
    """Return the gradient of `max_pool2d` for its input; the indices may be None."""
    dx = np.zeros(x.shape, g.dtype)
    if y.size == 0:
        return dx
    geometry = _geometry(x.shape, kernel, stride, padding, dilation, ceil_mode)
    if indices is None:
        indices = _positions(x, y, geometry)
    filled = [_filled_windows(geometry, axis) for axis in (0, 1)]
    if not (filled[0].all() and filled[1].all()):
        indices, g = (a[..., filled[0], :][..., filled[1]] for a in (indices, g))
    plane_size = x.shape[-1] * x.shape[-2]
    planes = indices.reshape(prod(x.shape[:-2]), indices.shape[-1] * indices.shape[-2])
    flat = planes + np.arange(0, dx.size, plane_size)[:, None]
    # On one axis `add.at` is as fast as an assignment, and windows may overlap.
    np.add.at(dx.reshape(-1), flat.reshape(-1), g.reshape(-1))
    return dx


def _divisors(geometry: Geometry, count_include_pad: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the number of values that count in each window row, and in each window column."""
    counts = []
    for axis in (0, 1):
        start = np.arange(geometry.output[axis]) * geometry.stride[axis] - geometry.padding[axis]
        end = np.minimum(
            start + geometry.kernel[axis], geometry.size[axis] + geometry.padding[axis]
        )
        if not count_include_pad:
            start, end = np.maximum(start, 0), np.minimum(end, geometry.size[axis])
        counts.append(end - start)
    return counts[0], counts[1]


def _factors(geometry: Geometry, count_include_pad: bool, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return 1 / the number of values in each window; one value where all are equal."""
    high, wide = _divisors(geometry, count_include_pad)
    factors: NDArray[Any] = (1.0 / np.multiply.outer(high, wide)).astype(dtype)
    if (high == high[0]).all() and (wide == wide[0]).all():
        return factors[:1, :1]
    return factors


@through_float32()
def avg_pool2d(
    x: NDArray[Any],
    kernel: Pair,
    stride: Pair,
    padding: Pair,
    ceil_mode: bool,
    count_include_pad: bool,
) -> NDArray[Any]:
    """Return the average of each window; the padding counts as zeros or not at all."""
    geometry = _geometry(x.shape, kernel, stride, padding, (1, 1), ceil_mode)
    across = np.zeros((*x.shape[:-1], geometry.output[1]), x.dtype)
    for j in range(kernel[1]):
        places, input_places = geometry.tap(1, j)
        across[..., places] += x[..., input_places]
    y = np.zeros((*x.shape[:-2], *geometry.output), x.dtype)
    for i in range(kernel[0]):
        rows, input_rows = geometry.tap(0, i)
        y[..., rows, :] += across[..., input_rows, :]
    y *= _factors(geometry, count_include_pad, x.dtype)
    return y


@through_float32()
def avg_pool2d_backward(
    g: NDArray[Any],
    input_shape: tuple[int, ...],
    kernel: Pair,
    stride: Pair,
    padding: Pair,
    ceil_mode: bool,
    count_include_pad: bool,
) -> NDArray[Any]:
    """Return the gradient of `avg_pool2d` for its input, of shape `input_shape`."""
    geometry = _geometry(input_shape, kernel, stride, padding, (1, 1), ceil_mode)
    share = np.multiply(g, _factors(geometry, count_include_pad, g.dtype))
    across = np.zeros((*input_shape[:-1], geometry.output[1]), g.dtype)
    for i in range(kernel[0]):
        rows, input_rows = geometry.tap(0, i)
        across[..., input_rows, :] += share[..., rows, :]
    dx = np.zeros(input_shape, g.dtype)
    for j in range(kernel[1]):
        places, input_places = geometry.tap(1, j)
        dx[..., input_places] += across[..., places]
    return dx
