"""Layer, root-mean-square and batch normalization, in cache-sized blocks.

Sums over rows are products with a vector, and squares are summed by `vecdot`: BLAS does both
several times faster than a reduction along the last axis. The variance is that of the centred
values (two passes), so a large mean does not cancel it away.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from vkml.backends.cpu_kernels.blocks import ones, row_blocks
from vkml.backends.cpu_kernels.half import through_float32
from vkml.backends.cpu_kernels.row_broadcast import apply_to_rows, outer

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A float32 mean of 1000 is only known to 3e-5. Where the centred values show a mean above this
# part of their deviation, they are centred a second time.
RESIDUAL_LIMIT = 1e-6


def _as_rows(x: NDArray[Any], normalized_ndim: int) -> NDArray[Any]:
    """Return x as a matrix whose rows are what is normalized together."""
    split = x.ndim - normalized_ndim
    return x.reshape(prod(x.shape[:split]), prod(x.shape[split:]))


def _scratch(blocks: list[slice], rows: NDArray[Any]) -> NDArray[Any]:
    """Return a matrix with the size of the largest block, which is the first."""
    return np.empty(rows[blocks[0]].shape if blocks else (0, rows.shape[1]), rows.dtype)


def _statistics_shape(x: NDArray[Any], normalized_ndim: int) -> tuple[int, ...]:
    return x.shape[: x.ndim - normalized_ndim] + (1,) * normalized_ndim


@through_float32()
def layer_norm(
    x: NDArray[Any],
    weight: NDArray[Any] | None,
    bias: NDArray[Any] | None,
    normalized_ndim: int,
    eps: float,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the normalized x, and the mean and 1 / deviation of each row (kept as size 1)."""
    rows = _as_rows(x, normalized_ndim)
    count, size = rows.shape
    y = np.empty(rows.shape, rows.dtype)
    mean, rstd = np.empty(count, rows.dtype), np.empty(count, rows.dtype)
    averaging = ones(size, rows.dtype) * rows.dtype.type(1.0 / max(size, 1))
    scale = None if weight is None else weight.reshape(-1)
    shift = None if bias is None else bias.reshape(-1)
    blocks = list(row_blocks(count, size))
    scratch = _scratch(blocks, rows)
    for block in blocks:
        centred, block_mean, work = y[block], mean[block], scratch[: block.stop - block.start]
        np.matmul(rows[block], averaging, out=block_mean)
        apply_to_rows(np.subtract, rows[block], block_mean, centred, work)
        residual = np.matmul(centred, averaging)
        variance = np.vecdot(centred, centred)
        variance /= size
        variance -= residual * residual
        variance += rows.dtype.type(eps)
        np.sqrt(variance, out=variance)
        block_rstd = np.reciprocal(variance, out=rstd[block])
        if (np.abs(residual) > RESIDUAL_LIMIT * variance).any():
            centred -= residual[:, None]
            block_mean += residual
        if scale is None:
            apply_to_rows(np.multiply, centred, block_rstd, centred, work)
        else:
            centred *= outer(block_rstd, scale, work)
        if shift is not None:
            centred += shift
    statistics = _statistics_shape(x, normalized_ndim)
    return y.reshape(x.shape), mean.reshape(statistics), rstd.reshape(statistics)


@through_float32(cast_back=3)
def layer_norm_backward(
    g: NDArray[Any],
    x: NDArray[Any],
    weight: NDArray[Any] | None,
    mean: NDArray[Any],
    rstd: NDArray[Any],
    normalized_ndim: int,
    needs: tuple[bool, bool, bool],
) -> tuple[NDArray[Any] | None, NDArray[Any] | None, NDArray[Any] | None]:
    """Return the gradients of `layer_norm` for x, weight and bias; None where not needed."""
    upstream, rows = _as_rows(g, normalized_ndim), _as_rows(x, normalized_ndim)
    count, size = rows.shape
    parameter_shape = x.shape[x.ndim - normalized_ndim :]
    row_mean, row_rstd = mean.reshape(-1), rstd.reshape(-1)
    factors = ones(size, rows.dtype) if weight is None else weight.reshape(-1)
    averaging = factors * rows.dtype.type(1.0 / max(size, 1))
    dx = np.empty(rows.shape, rows.dtype) if needs[0] else None
    dweight = np.zeros(size, rows.dtype) if needs[1] else None
    dbias = np.zeros(size, rows.dtype) if needs[2] else None
    blocks = list(row_blocks(count, size))
    first_scratch, second_scratch = _scratch(blocks, rows), _scratch(blocks, rows)
    for block in blocks:
        block_g, block_rstd = upstream[block], row_rstd[block]
        centred, work = (a[: len(block_g)] for a in (first_scratch, second_scratch))
        if dbias is not None:
            dbias += np.matmul(ones(len(block_g), rows.dtype), block_g)
        if dx is None and dweight is None:
            continue
        apply_to_rows(np.subtract, rows[block], row_mean[block], centred, work)
        product = np.multiply(block_g, centred, out=work)
        if dweight is not None:
            dweight += np.matmul(block_rstd, product)
        if dx is not None:
            # Both averages are products with weight / size: no weighted copy is summed.
            slope = np.matmul(product, averaging) * block_rstd**3
            offset = np.matmul(block_g, averaging) * block_rstd
            block_dx = outer(block_rstd, factors, dx[block])
            block_dx *= block_g
            apply_to_rows(np.multiply, centred, slope, centred, work)
            block_dx -= centred
            apply_to_rows(np.subtract, block_dx, offset, block_dx, work)
    return (
        None if dx is None else dx.reshape(x.shape),
        None if dweight is None else dweight.reshape(parameter_shape),
        None if dbias is None else dbias.reshape(parameter_shape),
    )


@through_float32()
def rms_norm(
    x: NDArray[Any], weight: NDArray[Any] | None, normalized_ndim: int, eps: float
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return x over its root mean square, and 1 / that root for each row (kept as size 1)."""
    rows = _as_rows(x, normalized_ndim)
    count, size = rows.shape
    y = np.empty(rows.shape, rows.dtype)
    rstd = np.empty(count, rows.dtype)
    for block in row_blocks(count, size):
        block_rstd = rstd[block]
        np.vecdot(rows[block], rows[block], out=block_rstd)
        block_rstd /= size
        block_rstd += rows.dtype.type(eps)
        np.sqrt(block_rstd, out=block_rstd)
        np.reciprocal(block_rstd, out=block_rstd)
        np.multiply(rows[block], block_rstd[:, None], out=y[block])
        if weight is not None:
            y[block] *= weight.reshape(-1)
    return y.reshape(x.shape), rstd.reshape(_statistics_shape(x, normalized_ndim))


@through_float32(cast_back=2)
def rms_norm_backward(
    g: NDArray[Any],
    x: NDArray[Any],
    weight: NDArray[Any] | None,
    rstd: NDArray[Any],
    normalized_ndim: int,
    needs: tuple[bool, bool],
) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    """Return the gradients of `rms_norm` for x and weight; None where not needed."""
    upstream, rows = _as_rows(g, normalized_ndim), _as_rows(x, normalized_ndim)
    count, size = rows.shape
    row_rstd = rstd.reshape(-1, 1)
    averaging = ones(size, rows.dtype) if weight is None else weight.reshape(-1)
    averaging = averaging * rows.dtype.type(1.0 / max(size, 1))
    dx = np.empty(rows.shape, rows.dtype) if needs[0] else None
    dweight = np.zeros(size, rows.dtype) if needs[1] else None
    blocks = list(row_blocks(count, size))
    scratch = _scratch(blocks, rows)
    for block in blocks:
        block_g, block_x, block_rstd = upstream[block], rows[block], row_rstd[block]
        product = np.multiply(block_g, block_x, out=scratch[: block_g.shape[0]])
        if dweight is not None:
            dweight += np.matmul(block_rstd[:, 0], product)
        if dx is not None:
            slope = np.matmul(product, averaging)[:, None] * block_rstd**2
            weighted = block_g
            if weight is not None:
                weighted = np.multiply(block_g, weight.reshape(-1), out=product)
            block_dx = np.multiply(block_x, slope, out=dx[block])
            np.subtract(weighted, block_dx, out=block_dx)
            block_dx *= block_rstd
    return (
        None if dx is None else dx.reshape(x.shape),
        None if dweight is None else dweight.reshape(x.shape[x.ndim - normalized_ndim :]),
    )
