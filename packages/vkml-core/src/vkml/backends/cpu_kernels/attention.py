"""Scaled dot-product attention and its gradient, in groups of the first axis that fit the cache."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from vkml.backends.cpu_kernels.blocks import row_blocks
from vkml.backends.cpu_kernels.half import through_float32
from vkml.backends.cpu_kernels.softmax import row_maximum, row_sum

if TYPE_CHECKING:
    from numpy.typing import NDArray


@lru_cache(maxsize=32)
def _causal_mask(queries: int, keys: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return 0 on and below the diagonal and -inf above it; read-only, kept between calls."""
    mask = np.triu(np.full((queries, keys), -np.inf, dtype), 1)
    mask.setflags(write=False)
    return mask


def _additive(mask: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a mask to add to the scores: a boolean one attends where it is True."""
    if mask.dtype.kind != "b":
        return mask.astype(dtype, copy=False)
    # A table of two values: `np.where` on a random mask is several times slower.
    table = np.array([-np.inf, 0], dtype)
    added: NDArray[Any] = np.take(table, np.ascontiguousarray(mask).view(np.int8))
    return added


def _leading_part(operand: NDArray[Any], ndim: int, group: slice) -> NDArray[Any]:
    """Return the part for a group of the first of `ndim` axes; a missing or 1-sized one repeats."""
    if operand.ndim < ndim or operand.shape[0] == 1:
        return operand
    return operand[group]


def _normalise_rows(scores: NDArray[Any]) -> None:
    """Replace scores by their softmax along the last axis; a row of -inf becomes 0, as in torch."""
    rows = scores.reshape(-1, scores.shape[-1])
    largest = row_maximum(rows)
    empty = np.isneginf(largest)
    has_empty = bool(empty.any())
    if has_empty:
        largest[empty] = 0
    rows -= largest[:, None]
    np.exp(rows, out=rows)
    total = row_sum(rows)
    if has_empty:
        total[empty] = 1
    np.reciprocal(total, out=total)
    rows *= total[:, None]


@through_float32()
def scaled_dot_product_attention(
    q: NDArray[Any],
    k: NDArray[Any],
    v: NDArray[Any],
    mask: NDArray[Any] | None,
    is_causal: bool,
    scale: float,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return softmax(q @ k.T * scale + mask) @ v (..., L, Ev), and the probabilities (..., L, S).

    mask is boolean (True attends) or is added to the scores.
    """
    queries, keys = q.shape[-2], k.shape[-2]
    masks = [_additive(mask, q.dtype)] if mask is not None else []
    if is_causal:
        masks.append(_causal_mask(queries, keys, q.dtype))
    leading = np.broadcast_shapes(
        q.shape[:-2], k.shape[:-2], v.shape[:-2], *(m.shape[:-2] for m in masks)
    )
    y = np.empty((*leading, queries, v.shape[-1]), q.dtype)
    probabilities = np.empty((*leading, queries, keys), q.dtype)
    if probabilities.size == 0:
        y[...] = 0
        return y, probabilities
    ndim = probabilities.ndim
    if ndim == 2:
        groups = [slice(None)]
    else:
        groups = list(row_blocks(leading[0], prod(probabilities.shape[1:])))
    for group in groups:
        scores = probabilities[group]
        part_q, part_k, part_v = (_leading_part(a, ndim, group) for a in (q, k, v))
        # Scaling the queries is cheaper than scaling the scores when there are many keys.
        scaled = np.multiply(part_q, q.dtype.type(scale))
        np.matmul(scaled, part_k.swapaxes(-1, -2), out=scores)
        for added in masks:
            scores += _leading_part(added, ndim, group)
        _normalise_rows(scores)
        np.matmul(scores, part_v, out=y[group])
    return y, probabilities


@through_float32(cast_back=3)
def scaled_dot_product_attention_backward(
    g: NDArray[Any],
    q: NDArray[Any],
    k: NDArray[Any],
    v: NDArray[Any],
    probabilities: NDArray[Any],
    scale: float,
    needs: tuple[bool, bool, bool],
) -> tuple[NDArray[Any] | None, NDArray[Any] | None, NDArray[Any] | None]:
    """Return the gradients for q, k and v; None where not needed."""
    leading, ndim = probabilities.shape[:-2], probabilities.ndim
    dq, dk, dv = (
        np.zeros((*leading, *a.shape[-2:]), g.dtype) if needed else None
        for a, needed in zip((q, k, v), needs, strict=True)
    )
    if probabilities.size == 0:
        groups = []
    elif ndim == 2:
        groups = [slice(None)]
    else:
        groups = list(row_blocks(leading[0], prod(probabilities.shape[1:])))
    for group in groups:
        part_g, part = g[group], probabilities[group]
        part_q, part_k, part_v = (_leading_part(a, ndim, group) for a in (q, k, v))
        if dv is not None:
            np.matmul(part.swapaxes(-1, -2), part_g, out=dv[group])
        if dq is None and dk is None:
            continue
        upstream = np.matmul(part_g, part_v.swapaxes(-1, -2))
        upstream -= np.vecdot(upstream, part)[..., None]
        upstream *= part
        if dq is not None:
            np.matmul(upstream, part_k, out=dq[group])
            dq[group] *= g.dtype.type(scale)
        if dk is not None:
            np.matmul(upstream.swapaxes(-1, -2), part_q, out=dk[group])
            dk[group] *= g.dtype.type(scale)
    return (
        None if dq is None else _sum_to(dq, q.shape),
        None if dk is None else _sum_to(dk, k.shape),
        None if dv is None else _sum_to(dv, v.shape),
    )


def _sum_to(gradient: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the sum over the axes along which an operand of `shape` was repeated."""
    if gradient.shape == shape:
        return gradient
    extra = gradient.ndim - len(shape)
    axes = tuple(
        axis
        for axis, size in enumerate(gradient.shape)
        if axis < extra or (shape[axis - extra] == 1 and size != 1)
    )
    total: NDArray[Any] = gradient.sum(axis=axes)
    return total.reshape(shape)
