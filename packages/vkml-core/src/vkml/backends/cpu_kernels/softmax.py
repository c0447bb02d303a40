"""Softmax and its relatives: shifted by the largest value, computed in place."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from vkml.backends.cpu_kernels.blocks import ones
from vkml.backends.cpu_kernels.half import through_float32

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Below this row length the reduction of NumPy costs more for starting each row than for the
# row itself, and halving all rows at once is faster (4 times for rows of 10, 1.5 for 128).
SHORT_ROW = 128

# With fewer rows the calls for each halving cost more than they save.
MANY_ROWS = 64

# Below this many elements behind the axis, the inner loops of a reduction along the axis are
# too short, and a copy with the axis last is faster.
SHORT_INNER = 16


def row_maximum(rows: NDArray[Any]) -> NDArray[Any]:
    """Return the largest value of each row of a matrix; NaN wins."""
    width = rows.shape[1]
    if width > SHORT_ROW or rows.shape[0] < MANY_ROWS:
        largest: NDArray[Any] = rows.max(axis=1)
        return largest
    folded = rows
    while width > 8:
        half = width // 2
        upper = np.maximum(folded[:, :half], folded[:, half : 2 * half])
        if width % 2:
            np.maximum(upper[:, 0], folded[:, width - 1], out=upper[:, 0])
        folded, width = upper, half
    columns: NDArray[Any] = np.ascontiguousarray(folded.T).max(axis=0)
    return columns


def row_sum(rows: NDArray[Any]) -> NDArray[Any]:
    """Return the sum of each row of a matrix, by a product with ones.

    BLAS sums a row several times faster than a reduction along the last axis.
    """
    if rows.shape[1] >= 4096:
        # Long rows: pairwise summation keeps the rounding error from growing with the length.
        total: NDArray[Any] = rows.sum(axis=1)
        return total
    product: NDArray[Any] = np.matmul(rows, ones(rows.shape[1], rows.dtype))
    return product


def shifted_exponentials(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return exp(rows - maximum), the maximum and the sum of the exponentials, for each row."""
    largest = row_maximum(rows)
    exponentials = np.subtract(rows, largest[:, None])
    np.exp(exponentials, out=exponentials)
    return exponentials, largest, row_sum(exponentials)


def _layout(x: NDArray[Any], dim: int) -> tuple[int, int, int]:
    """Return the sizes before, along and after `dim`."""
    if x.ndim == 0:
        return 1, 1, 1
    dim %= x.ndim
    return prod(x.shape[:dim]), x.shape[dim], prod(x.shape[dim + 1 :])


def _needs_moving(x: NDArray[Any], dim: int) -> bool:
    return 1 < _layout(x, dim)[2] < SHORT_INNER


def _moved(kernel_result: NDArray[Any], dim: int) -> NDArray[Any]:
    return np.ascontiguousarray(np.moveaxis(kernel_result, -1, dim))


@through_float32()
def softmax(x: NDArray[Any], dim: int) -> NDArray[Any]:
    """Return exp(x) divided by its sum along `dim`."""
    if x.size == 0:
        return np.empty(x.shape, x.dtype)
    if _needs_moving(x, dim):
        return _moved(softmax(np.moveaxis(x, dim, -1), -1), dim)
    before, along, after = _layout(x, dim)
    if after == 1:
        exponentials, _, total = shifted_exponentials(x.reshape(before, along))
        exponentials *= np.reciprocal(total, out=total)[:, None]
        return exponentials.reshape(x.shape)
    blocks = x.reshape(before, along, after)
    y: NDArray[Any] = np.subtract(blocks, blocks.max(axis=1, keepdims=True), order="C")
    np.exp(y, out=y)
    y /= y.sum(axis=1, keepdims=True)
    return y.reshape(x.shape)


@through_float32()
def softmax_backward(g: NDArray[Any], y: NDArray[Any], dim: int) -> NDArray[Any]:
    """Return the gradient of `softmax` for its input, from its output `y`."""
    if y.size == 0:
        return np.empty(y.shape, y.dtype)
    if _needs_moving(y, dim):
        moved = softmax_backward(np.moveaxis(g, dim, -1), np.moveaxis(y, dim, -1), -1)
        return _moved(moved, dim)
    before, along, after = _layout(y, dim)
    upstream, output = g.reshape(before, along, after), y.reshape(before, along, after)
    if after == 1:
        inner = np.vecdot(upstream[..., 0], output[..., 0])[:, None, None]
    else:
        inner = (upstream * output).sum(axis=1, keepdims=True)
    dx: NDArray[Any] = np.subtract(upstream, inner, order="C")
    dx *= output
    return dx.reshape(y.shape)


@through_float32()
def log_softmax(x: NDArray[Any], dim: int) -> NDArray[Any]:
    """Return the logarithm of `softmax`, without forming small probabilities."""
    if x.size == 0:
        return np.empty(x.shape, x.dtype)
    if _needs_moving(x, dim):
        return _moved(log_softmax(np.moveaxis(x, dim, -1), -1), dim)
    before, along, after = _layout(x, dim)
    y: NDArray[Any]
    if after == 1:
        rows = x.reshape(before, along)
        y = np.subtract(rows, row_maximum(rows)[:, None], order="C")
        y -= np.log(row_sum(np.exp(y)))[:, None]
        return y.reshape(x.shape)
    blocks = x.reshape(before, along, after)
    y = np.subtract(blocks, blocks.max(axis=1, keepdims=True), order="C")
    y -= np.log(np.exp(y).sum(axis=1, keepdims=True))
    return y.reshape(x.shape)


@through_float32()
def log_softmax_backward(g: NDArray[Any], y: NDArray[Any], dim: int) -> NDArray[Any]:
    """Return the gradient of `log_softmax` for its input, from its output `y`."""
    if y.size == 0:
        return np.empty(y.shape, y.dtype)
    if _needs_moving(y, dim):
        moved = log_softmax_backward(np.moveaxis(g, dim, -1), np.moveaxis(y, dim, -1), -1)
        return _moved(moved, dim)
    before, along, after = _layout(y, dim)
    upstream, output = g.reshape(before, along, after), y.reshape(before, along, after)
    if after == 1:
        total = row_sum(upstream[..., 0])[:, None, None]
    else:
        total = upstream.sum(axis=1, keepdims=True)
    dx: NDArray[Any] = np.exp(output, order="C")
    dx *= total
    np.subtract(upstream, dx, out=dx)
    return dx.reshape(y.shape)


@through_float32()
def logsumexp(x: NDArray[Any], dims: tuple[int, ...], keepdim: bool) -> NDArray[Any]:
    """Return log(sum(exp(x))) over the axes `dims`, without overflow."""
    largest = np.max(x, axis=dims, keepdims=True, initial=-np.inf)
    # An infinite shift would turn inf - inf into NaN; without it exp and log give the answer.
    shift = np.where(np.isfinite(largest), largest, np.zeros((), x.dtype))
    shifted = np.asarray(np.subtract(x, shift))
    np.exp(shifted, out=shifted)
    total = np.asarray(shifted.sum(axis=dims, keepdims=True))
    np.log(total, out=total)
    total += shift
    return total if keepdim else np.asarray(total.squeeze(axis=dims))
