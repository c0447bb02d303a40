"""Losses with hand-written gradients: cross entropy and mean squared error."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from vkml.backends.cpu_kernels.half import through_float32
from vkml.backends.cpu_kernels.softmax import row_maximum, row_sum

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _class_layout(logits: NDArray[Any]) -> tuple[int, int, int]:
    """Return (samples, classes, positions) of logits (N, C, *) or (C,)."""
    if logits.ndim == 1:
        return 1, logits.shape[0], 1
    return logits.shape[0], logits.shape[1], prod(logits.shape[2:])


def _valid_targets(
    target: NDArray[Any], samples: int, classes: int, positions: int, ignore_index: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
    """Return targets as (samples, positions) with ignored ones at 0, and which are valid.

    The second value is None when none is ignored.
    """
    targets = np.asarray(target, np.int64).reshape(samples, positions)
    if targets.size == 0:
        return targets, None
    if not 0 <= ignore_index < classes and targets.min() >= 0 and targets.max() < classes:
        return targets, None
    valid = targets != ignore_index
    wrong = ((targets < 0) | (targets >= classes)) & valid
    if wrong.any():
        raise IndexError(
            f"cross_entropy: target {int(targets[wrong][0])} is out of range for {classes} "
            f"classes: every target must be from 0 to {classes - 1}, or ignore_index "
            f"({ignore_index})."
        )
    return np.where(valid, targets, 0), valid


def _target_weights(
    targets: NDArray[np.int64],
    valid: NDArray[np.bool_] | None,
    weight: NDArray[Any] | None,
    dtype: np.dtype[Any],
) -> NDArray[Any]:
    """Return the weight of each target, 0 where it is ignored."""
    weights = np.ones(targets.shape, dtype) if weight is None else np.take(weight, targets)
    if valid is not None:
        weights = np.where(valid, weights, np.zeros((), dtype))
    return weights


def _flat_positions(targets: NDArray[np.int64], classes: int, positions: int) -> NDArray[np.int64]:
    """Return where the value of each target lies in the flat logits."""
    first = np.arange(0, targets.shape[0] * classes * positions, classes * positions or 1)
    if positions == 1:
        return first[: targets.shape[0], None] + targets
    return first[: targets.shape[0], None] + targets * positions + np.arange(positions)


@through_float32()
def cross_entropy(
    logits: NDArray[Any],
    target: NDArray[Any],
    weight: NDArray[Any] | None,
    reduction: str,
    ignore_index: int,
    label_smoothing: float,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the loss, the unnormalised probabilities (N, C, D) and their sums (N, D).

    logits (N, C, *) and target (N, *), or logits (C,) and a single target.
    """
    samples, classes, positions = _class_layout(logits)
    targets, valid = _valid_targets(target, samples, classes, positions, ignore_index)
    weights = _target_weights(targets, valid, weight, logits.dtype)
    rows = logits.reshape(samples, classes, positions)
    if rows.size == 0:
        exponentials, sums = np.empty(rows.shape, rows.dtype), np.ones_like(weights)
        losses = np.zeros_like(weights)
    else:
        largest = row_maximum(rows[:, :, 0])[:, None] if positions == 1 else rows.max(axis=1)
        exponentials = np.subtract(rows, largest[:, None], order="C")
        chosen = exponentials.reshape(-1)[_flat_positions(targets, classes, positions)]
        smooth = _weighted_class_sum(exponentials, weight) if label_smoothing else None
        np.exp(exponentials, out=exponentials)
        sums = _class_sum(exponentials)
        logs = np.log(sums)
        losses = (logs - chosen) * weights
        if smooth is not None:
            total_weight = classes if weight is None else weight.sum()
            smooth = logs * total_weight - smooth
            smooth *= label_smoothing / classes
            losses = losses * (1.0 - label_smoothing) + smooth
        if valid is not None:
            # Also an infinite or NaN loss of an ignored target is none.
            losses = np.where(valid, losses, np.zeros((), losses.dtype))
    return _reduced(losses, weights, target, reduction), exponentials, sums


def _class_sum(values: NDArray[Any]) -> NDArray[Any]:
    if values.shape[2] == 1:
        return row_sum(values[:, :, 0])[:, None]
    total: NDArray[Any] = values.sum(axis=1)
    return total


def _weighted_class_sum(values: NDArray[Any], weight: NDArray[Any] | None) -> NDArray[Any]:
    return _class_sum(values if weight is None else values * weight[:, None])


def _reduced(
    losses: NDArray[Any], weights: NDArray[Any], target: NDArray[Any], reduction: str
) -> NDArray[Any]:
    if reduction == "none":
        return losses.reshape(target.shape)
    total = losses.sum()
    if reduction == "mean":
        total = total / weights.sum()
    return np.asarray(total)


@through_float32()
def cross_entropy_backward(
    g: NDArray[Any],
    logits: NDArray[Any],
    target: NDArray[Any],
    weight: NDArray[Any] | None,
    exponentials: NDArray[Any],
    sums: NDArray[Any],
    reduction: str,
    ignore_index: int,
    label_smoothing: float,
) -> NDArray[Any]:
    """Return the gradient of `cross_entropy` for the logits, from what it returned."""
    samples, classes, positions = _class_layout(logits)
    targets, valid = _valid_targets(target, samples, classes, positions, ignore_index)
    weights = _target_weights(targets, valid, weight, exponentials.dtype)
    if exponentials.size == 0:
        return np.zeros(logits.shape, exponentials.dtype)
    upstream = g.reshape(targets.shape) if reduction == "none" else g
    if reduction == "mean":
        upstream = upstream / weights.sum()
    at_target = upstream * weights
    if valid is not None:  # where nothing counts, the mean is NaN
        at_target = np.where(valid, at_target, np.zeros((), at_target.dtype))
    at_all = at_target
    if label_smoothing:
        total_weight = classes if weight is None else weight.sum()
        spread = upstream * np.asarray(label_smoothing / classes, exponentials.dtype)
        if valid is not None:
            spread = np.where(valid, spread, np.zeros((), spread.dtype))
        at_target = at_target * np.asarray(1.0 - label_smoothing, exponentials.dtype)
        at_all = at_target + spread * total_weight
    dx: NDArray[Any] = np.multiply(exponentials, (at_all / sums)[:, None])
    dx.reshape(-1)[_flat_positions(targets, classes, positions)] -= at_target
    if label_smoothing:
        each = np.broadcast_to(spread, targets.shape)[:, None]
        dx -= each if weight is None else each * weight[:, None]
    return dx.reshape(logits.shape)


@through_float32()
def mse_loss(x: NDArray[Any], y: NDArray[Any], reduction: str) -> NDArray[Any]:
    """Return the squared difference: of each element ("none"), their "sum" or "mean"."""
    difference = np.asarray(np.subtract(x, y))
    if reduction == "none":
        return np.asarray(np.square(difference, out=difference))
    flat = difference.reshape(-1)
    total = np.asarray(np.dot(flat, flat))
    if reduction == "mean":
        return np.asarray(total / np.asarray(flat.size, total.dtype))
    return total


@through_float32()
def mse_loss_backward(
    g: NDArray[Any], x: NDArray[Any], y: NDArray[Any], reduction: str
) -> NDArray[Any]:
    """Return the gradient of `mse_loss` for x; that for y is its negative."""
    difference = np.asarray(np.subtract(x, y))
    scale = g * np.asarray(2.0, difference.dtype)
    if reduction == "mean":
        scale = scale / np.asarray(difference.size, difference.dtype)
    difference *= scale
    return difference
