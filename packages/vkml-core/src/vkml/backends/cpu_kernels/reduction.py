"""Reductions over a tuple of axes, and along one axis.

`dims` is a tuple of different axes, counted from 0; the empty tuple reduces nothing.
"""

from __future__ import annotations

from math import prod as product
from typing import TYPE_CHECKING, Any

import numpy as np

from vkml.backends.cpu_kernels.blocks import ones
from vkml.backends.cpu_kernels.half import through_float32

if TYPE_CHECKING:
    from numpy.typing import NDArray

# BLAS adds up a row with few partial sums, so the rounding error grows with the length. Longer
# rows are cut into pieces of this length, and NumPy adds the pieces pairwise.
PIECE = 1024
LONGEST_ROW = 4096

# The same of columns: measured, pieces of 256 rows lose no time and few digits.
COLUMN_PIECE = 256

# Below this many elements one NumPy reduction is faster than the way to BLAS.
SMALL = 1024

# What running sums are made in.
WIDER: dict[np.dtype[Any], np.dtype[Any]] = {
    np.dtype(np.float32): np.dtype(np.float64),
    np.dtype(np.complex64): np.dtype(np.complex128),
}


def _kept_shape(shape: tuple[int, ...], dims: tuple[int, ...], keepdim: bool) -> tuple[int, ...]:
    if keepdim:
        return tuple(1 if axis in dims else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in dims)


@through_float32()
def sum(x: NDArray[Any], dims: tuple[int, ...], keepdim: bool) -> NDArray[Any]:
    """Return the sum over `dims`; booleans and integers sum to int64."""
    if x.dtype.kind in "bui":
        return np.asarray(np.sum(x, axis=dims, dtype=np.int64, keepdims=keepdim))
    if x.dtype.kind != "f" or x.size < SMALL or not x.flags.c_contiguous:
        return np.asarray(np.sum(x, axis=dims, keepdims=keepdim))
    total = _contiguous_sum(x, dims)
    return total.reshape(_kept_shape(x.shape, dims, keepdim))


def _contiguous_sum(x: NDArray[Any], dims: tuple[int, ...]) -> NDArray[Any]:
    """Return the sum over `dims` as a flat array: the last axes first, then the first ones."""
    shape, remaining = x.shape, set(dims)
    trailing = len(shape)
    while trailing and trailing - 1 in remaining:
        trailing -= 1
        remaining.remove(trailing)
    if trailing < len(shape):
        rows = x.reshape(product(shape[:trailing]), product(shape[trailing:]))
        x, shape = _row_sums(rows), shape[:trailing]
    leading = 0
    while leading in remaining:
        remaining.remove(leading)
        leading += 1
    if leading:
        rows = x.reshape(product(shape[:leading]), product(shape[leading:]))
        x, shape = _column_sums(rows), shape[leading:]
    if remaining:
        middle = tuple(axis - leading for axis in remaining)
        return np.asarray(x.reshape(shape).sum(axis=middle)).reshape(-1)
    # Nothing was summed for the empty tuple: the result must not be the input.
    return x if dims else x.copy()


def _row_sums(rows: NDArray[Any]) -> NDArray[Any]:
    """Return the sum of each row: a product with ones is 2-4 times a reduction's speed."""
    count, size = rows.shape
    if size <= LONGEST_ROW:
        sums: NDArray[Any] = np.matmul(rows, ones(size, rows.dtype))
        return sums
    whole = size - size % PIECE
    pieces = np.matmul(rows[:, :whole].reshape(-1, PIECE), ones(PIECE, rows.dtype))
    total: NDArray[Any] = pieces.reshape(count, -1).sum(axis=1)
    if whole < size:
        total += rows[:, whole:].sum(axis=1)
    return total


def _column_sums(rows: NDArray[Any]) -> NDArray[Any]:
    """Return the sum of each column: of pieces of `COLUMN_PIECE` rows, then of their sums."""
    count, size = rows.shape
    if count <= COLUMN_PIECE:
        sums: NDArray[Any] = np.matmul(ones(count, rows.dtype), rows)
        return sums
    whole = count - count % COLUMN_PIECE
    pieces = rows[:whole].reshape(-1, COLUMN_PIECE, size)
    total = _column_sums(np.matmul(ones(COLUMN_PIECE, rows.dtype), pieces))
    if whole < count:
        total += np.matmul(ones(count - whole, rows.dtype), rows[whole:])
    return total


def _count(shape: tuple[int, ...], dims: tuple[int, ...]) -> int:
    return product(shape[axis] for axis in dims)


@through_float32()
def mean(x: NDArray[Any], dims: tuple[int, ...], keepdim: bool) -> NDArray[Any]:
    """Return the average over `dims`; NaN for an average of nothing."""
    total = sum(x, dims, keepdim)
    return np.asarray(np.divide(total, total.dtype.type(_count(x.shape, dims))))


@through_float32()
def var(x: NDArray[Any], dims: tuple[int, ...], correction: float, keepdim: bool) -> NDArray[Any]:
    """Return the variance over `dims`, with a divisor of count - correction.

    Two passes: the squares are those of the centred values, so a large mean does not cancel. What
    the mean was rounded by is found again as the mean of the centred values.
    """
    centred = np.asarray(np.subtract(x, mean(x, dims, True), order="C"))
    count = _count(x.shape, dims)
    drift = sum(centred, dims, keepdim)
    if dims == (x.ndim - 1,):
        squares = np.vecdot(centred, centred).reshape(_kept_shape(x.shape, dims, keepdim))
    else:
        squares = sum(np.asarray(np.square(centred, out=centred)), dims, keepdim)
    squares = np.maximum(squares - drift * (drift / drift.dtype.type(count)), 0)
    divisor = max(0.0, count - correction)
    return np.asarray(np.divide(squares, squares.dtype.type(divisor)))


@through_float32()
def prod(x: NDArray[Any], dims: tuple[int, ...], keepdim: bool) -> NDArray[Any]:
    """Return the product over `dims`; booleans and integers multiply to int64."""
    dtype = np.int64 if x.dtype.kind in "bui" else None
    return np.asarray(np.prod(x, axis=dims, dtype=dtype, keepdims=keepdim))


@through_float32()
def amax(x: NDArray[Any], dims: tuple[int, ...], keepdim: bool) -> NDArray[Any]:
    """Return the largest value over `dims`; NaN wins."""
    return np.asarray(np.max(x, axis=dims, keepdims=keepdim))


@through_float32()
def amin(x: NDArray[Any], dims: tuple[int, ...], keepdim: bool) -> NDArray[Any]:
    """Return the smallest value over `dims`; NaN wins."""
    return np.asarray(np.min(x, axis=dims, keepdims=keepdim))


@through_float32(cast_back=0)
def argmax(x: NDArray[Any], dim: int | None, keepdim: bool) -> NDArray[np.int64]:
    """Return the position of the first largest value along `dim`, or in the flat array."""
    return np.asarray(np.argmax(x, axis=_axis(x, dim), keepdims=keepdim), np.int64)


@through_float32(cast_back=0)
def argmin(x: NDArray[Any], dim: int | None, keepdim: bool) -> NDArray[np.int64]:
    """Return the position of the first smallest value along `dim`, or in the flat array."""
    return np.asarray(np.argmin(x, axis=_axis(x, dim), keepdims=keepdim), np.int64)


def _axis(x: NDArray[Any], dim: int | None) -> int | None:
    return None if np.ndim(x) == 0 else dim


@through_float32()
def max_dim(x: NDArray[Any], dim: int, keepdim: bool) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the largest values along `dim`, and the positions of the first of them."""
    return _taken(x, argmax(x, dim, True), dim, keepdim)


@through_float32()
def min_dim(x: NDArray[Any], dim: int, keepdim: bool) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the smallest values along `dim`, and the positions of the first of them."""
    return _taken(x, argmin(x, dim, True), dim, keepdim)


def _taken(
    x: NDArray[Any], positions: NDArray[np.int64], dim: int, keepdim: bool
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    if np.ndim(x) == 0:
        return np.array(x), positions
    values = np.take_along_axis(x, positions, dim)
    if keepdim:
        return values, positions
    return values.squeeze(dim), positions.squeeze(dim)


def any(x: NDArray[Any], dims: tuple[int, ...], keepdim: bool) -> NDArray[np.bool_]:
    """Return whether any value over `dims` is not zero; NaN is not zero."""
    return np.asarray(np.any(x, axis=dims, keepdims=keepdim))


def all(x: NDArray[Any], dims: tuple[int, ...], keepdim: bool) -> NDArray[np.bool_]:
    """Return whether all values over `dims` are not zero; NaN is not zero."""
    return np.asarray(np.all(x, axis=dims, keepdims=keepdim))


@through_float32()
def cumsum(x: NDArray[Any], dim: int) -> NDArray[Any]:
    """Return the running sum along `dim`; booleans and integers sum to int64.

    One element after the other is added, without pairs: in float64, or digits would be lost.
    """
    dtype: np.dtype[Any] = np.dtype(np.int64) if x.dtype.kind in "bui" else x.dtype
    if np.ndim(x) == 0:
        return np.array(x, dtype)
    return np.cumsum(x, axis=dim, dtype=WIDER.get(dtype, dtype), out=np.empty(x.shape, dtype))
