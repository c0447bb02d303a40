"""The losses of classification: cross entropy and negative log-likelihood."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vkml import dtypes
from vkml.backends.cpu_kernels import loss as kernels
from vkml.errors import ArgumentError, DTypeError, IndexOutOfRangeError, ShapeError
from vkml.ops import rules
from vkml.ops.apply import apply
from vkml.ops.arithmetic import add, mul, neg
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
from vkml.ops.loss import require_reduction
from vkml.ops.movement import reshape
from vkml.ops.reduction import mean, sum
from vkml.ops.softmax import log_softmax

if TYPE_CHECKING:
    from vkml.shapes import Shape
    from vkml.tensor import Tensor

__all__ = ["cross_entropy", "nll_loss"]


def _class_axis(shape: Shape) -> int:
    return 1 if len(shape) > 1 else 0


def _positions(shape: Shape) -> Shape:
    """Return the shape of the targets for scores of shape (N, C, ...) or (C,)."""
    return (*shape[:1], *shape[2:]) if len(shape) > 1 else ()


def _class_column(shape: Shape) -> Shape:
    """Return the shape in which one number per class broadcasts to scores of `shape`."""
    axis = _class_axis(shape)
    return (shape[axis], *(1,) * (len(shape) - axis - 1))


def _require_classes(scores: Spec, target: Spec, weight: Spec | None) -> None:
    rules.require_floating(scores)
    rules.require_same_dtype(input=scores, weight=weight)
    if not scores.shape:
        raise ShapeError("expected an input of shape (N, C, ...) or (C,), got a number.")
    if dtypes.category(target.dtype) != 1:
        message = (
            f"expected class numbers as target, got {target.dtype} of shape {target.shape} for an "
            f"input of shape {scores.shape}; use target.long()."
        )
        raise DTypeError(message)
    expected = _positions(scores.shape)
    if target.shape != expected:
        message = (
            f"an input of shape {scores.shape} needs class numbers of shape {expected}, got "
            f"{target.shape}. The axis of the classes is {_class_axis(scores.shape)}."
        )
        raise ShapeError(message)
    classes = scores.shape[_class_axis(scores.shape)]
    if weight is not None and weight.shape != (classes,):
        message = f"expected a weight for each of {classes} classes, got shape {weight.shape}."
        raise ShapeError(message)


class _Targets(NamedTuple):
    """What the decompositions need of the targets."""

    index: Value
    """The class of each position, 0 where it is ignored; with an axis of size 1 for the classes."""
    valid: Value
    """Which are not ignored."""
    weights: Value
    """The weight of each position's class, 0 where it is ignored."""


def _targets(
    k: Ops, scores: Value, target: Value, weight: Value | None, ignore_index: int
) -> _Targets:
    target = k.cast(target, rules.INT64)
    valid = k.ne(target, ignore_index)
    safe = k.where(valid, target, 0)
    shape, axis = target.shape, _class_axis(scores.shape)
    if weight is None:
        weights = k.cast(valid, scores.dtype)
    else:
        found = k.index_select(weight, k.reshape(safe, (math.prod(shape),)), 0)
        weights = k.where(valid, k.reshape(found, shape), 0.0)
    return _Targets(k.reshape(safe, (*shape[:axis], 1, *shape[axis:])), valid, weights)


def _total(k: Ops, values: Value) -> Value:
    return k.sum(values, tuple(range(len(values.shape))), False)


def _finished(k: Ops, losses: Value, targets: _Targets, reduction: str) -> Value:
    """Return the losses, without ignored ones and reduced."""
    losses = k.where(targets.valid, losses, 0.0)
    if reduction == "none":
        return losses
    total = _total(k, losses)
    return k.div(total, _total(k, targets.weights)) if reduction == "mean" else total


def _chosen_losses(k: Ops, log_probabilities: Value, targets: _Targets) -> Value:
    axis = _class_axis(log_probabilities.shape)
    chosen = k.gather(log_probabilities, targets.index, axis)
    return k.neg(k.mul(k.reshape(chosen, targets.valid.shape), targets.weights))


# nll_loss ------------------------------------------------------------------------------


def _nll_loss(
    k: Ops,
    log_probabilities: Value,
    target: Value,
    weight: Value | None,
    reduction: str,
    ignore_index: int,
) -> Value:
    targets = _targets(k, log_probabilities, target, weight, ignore_index)
    return _finished(k, _chosen_losses(k, log_probabilities, targets), targets, reduction)


def _nll_loss_rule(
    scores: Spec, target: Spec, weight: Spec | None, reduction: str, _ignore_index: int
) -> Spec:
    require_reduction("nll_loss", reduction)
    _require_classes(scores, target, weight)
    return Spec(target.shape if reduction == "none" else (), scores.dtype)


def _class_samples(generator: np.random.Generator) -> list[Sample]:
    def sample(*shape: int, weighted: bool = False, reduction: str = "mean") -> Sample:
        classes = shape[_class_axis(shape)]
        target = generator.integers(0, classes, _positions(shape))
        weight = array(generator, classes, low=0.5) if weighted else None
        return Sample((array(generator, *shape), np.asarray(target), weight), (reduction, 1))

    return [
        sample(5, 3),
        sample(5, 3, weighted=True),
        sample(2, 3, 4, weighted=True, reduction="none"),
        sample(2, 3, 1, 2, reduction="sum"),
        sample(7, weighted=True, reduction="sum"),
        sample(0, 3, reduction="sum"),
    ]


NLL_LOSS = define(
    Operation(
        name="nll_loss", operands=3, result=_nll_loss_rule, decomposition=_nll_loss,
        gradient=THROUGH_DECOMPOSITION, samples=_class_samples,
    )
)  # fmt: skip


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """Return minus the logarithm of the probability of the target class.

    Parameters
    ----------
    input : Tensor
        Logarithms of probabilities, as `log_softmax` gives; shape ``(N, C, ...)`` or ``(C,)``.
    target, weight, ignore_index, reduction
        As for `cross_entropy`, with class numbers as targets.

    Raises
    ------
    IndexOutOfRangeError
        A target is no class and not `ignore_index`.

    Examples
    --------
    >>> import vkml
    >>> vkml.nll_loss(vkml.tensor([[-1.0, -2.0], [-3.0, -4.0]]), vkml.tensor([1, 0]))
    tensor(2.5000)
    """
    return apply(NLL_LOSS, (input, target, weight), (reduction, ignore_index))


# cross_entropy -------------------------------------------------------------------------


def _cross_entropy_gradient(
    k: Ops,
    upstream: Value,
    auxiliary: tuple[Value | None, Value | None],
    logits: Value,
    target: Value,
    weight: Value | None,
    reduction: str,
    ignore_index: int,
    label_smoothing: float,
) -> tuple[Value, None, None]:
    options = (reduction, ignore_index, label_smoothing)
    to_logits = k.cross_entropy_backward(upstream, logits, target, weight, *auxiliary, *options)
    return to_logits, None, None


def _cross_entropy(
    k: Ops,
    logits: Value,
    target: Value,
    weight: Value | None,
    reduction: str,
    ignore_index: int,
    label_smoothing: float,
) -> Value:
    axis = _class_axis(logits.shape)
    log_probabilities = k.log_softmax(logits, axis)
    targets = _targets(k, logits, target, weight, ignore_index)
    losses = _chosen_losses(k, log_probabilities, targets)
    if label_smoothing:
        spread = log_probabilities
        if weight is not None:
            spread = k.mul(spread, k.reshape(weight, _class_column(logits.shape)))
        smooth = k.mul(k.sum(spread, (axis,), False), -label_smoothing / logits.shape[axis])
        losses = k.add(k.mul(losses, 1 - label_smoothing), smooth)
    return _finished(k, losses, targets, reduction)


def _cross_entropy_backward(
    k: Ops,
    upstream: Value,
    logits: Value,
    target: Value,
    weight: Value | None,
    _exponentials: Value | None,
    _sums: Value | None,
    reduction: str,
    ignore_index: int,
    label_smoothing: float,
) -> Value:
    shape, axis = logits.shape, _class_axis(logits.shape)
    targets = _targets(k, logits, target, weight, ignore_index)
    kept = targets.index.shape
    if reduction == "mean":
        upstream = k.div(upstream, _total(k, targets.weights))
    # Where nothing counts, the mean is NaN.
    at_target = at_all = k.where(targets.valid, k.mul(targets.weights, upstream), 0.0)
    spread = None
    if label_smoothing:
        share = k.mul(upstream, label_smoothing / shape[axis])
        spread = k.where(targets.valid, share, 0.0)
        at_target = k.mul(at_target, 1 - label_smoothing)
        total_weight = shape[axis] if weight is None else k.sum(weight, (0,), False)
        at_all = k.add(at_target, k.mul(spread, total_weight))
        spread = k.reshape(spread, kept)
        if weight is not None:
            spread = k.mul(spread, k.reshape(weight, _class_column(shape)))
    pushed_up = k.scatter_add_zeros(k.reshape(at_target, kept), targets.index, shape, axis)
    to_logits = k.sub(k.mul(k.softmax(logits, axis), k.reshape(at_all, kept)), pushed_up)
    return to_logits if spread is None else k.sub(to_logits, spread)


def _cross_entropy_rule(
    logits: Spec,
    target: Spec,
    weight: Spec | None,
    reduction: str,
    _ignore_index: int,
    label_smoothing: float,
) -> tuple[Spec, Spec, Spec]:
    _require_smoothing_and_reduction(reduction, label_smoothing)
    _require_classes(logits, target, weight)
    samples, classes = logits.shape[:2] if len(logits.shape) > 1 else (1, logits.shape[0])
    positions = math.prod(logits.shape[2:])
    wide = np.dtype(np.float32) if logits.dtype.itemsize == 2 else logits.dtype
    return (
        Spec(target.shape if reduction == "none" else (), logits.dtype),
        Spec((samples, classes, positions), wide),
        Spec((samples, positions), wide),
    )


def _require_smoothing_and_reduction(reduction: str, label_smoothing: float) -> None:
    require_reduction("cross_entropy", reduction)
    if not 0 <= label_smoothing <= 1:
        message = f"cross_entropy: label_smoothing is {label_smoothing}; give a number from 0 to 1."
        raise ArgumentError(message)


def _fused(*arguments: Any) -> Any:
    try:
        return kernels.cross_entropy(*arguments)
    except IndexError as error:
        raise IndexOutOfRangeError(str(error)) from None


CROSS_ENTROPY = define(
    Operation(
        name="cross_entropy", operands=3, result=_cross_entropy_rule, cpu=_fused, auxiliaries=2,
        decomposition=_cross_entropy, gradient=_cross_entropy_gradient,
        samples=lambda generator: [
            Sample(operands, (*options, smoothing))
            for operands, options in _class_samples(generator)
            for smoothing in (0.0, 0.1)
        ],
    )
)  # fmt: skip

CROSS_ENTROPY_BACKWARD = define(
    Operation(
        name="cross_entropy_backward", operands=6, cpu=kernels.cross_entropy_backward,
        result=lambda _upstream, logits, *_others: logits, decomposition=_cross_entropy_backward,
        gradient=THROUGH_DECOMPOSITION, samples=no_samples,
    )
)  # fmt: skip


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return the cross entropy of the target classes under ``softmax(input)``.

    Parameters
    ----------
    input : Tensor
        Logits of shape ``(N, C, ...)`` or ``(C,)``, C being the number of classes.
    target : Tensor
        Class numbers: integers of shape ``(N, ...)`` or ``()``. Or probabilities: floating-point
        numbers in the shape of `input`.
    weight : Tensor, optional
        A factor for each class; shape ``(C,)``.
    ignore_index : int
        Targets with this number count for nothing. Only with class numbers.
    reduction : {"mean", "sum", "none"}
        "mean" weighs by the weights of the targets; "none" returns each loss.
    label_smoothing : float
        How much of each target to spread evenly over all classes.

    Raises
    ------
    IndexOutOfRangeError
        A target is no class and not `ignore_index`.
    ShapeError, DTypeError, ArgumentError
        Shapes or dtypes do not fit; an option has a wrong value.

    Examples
    --------
    >>> import vkml
    >>> vkml.cross_entropy(vkml.tensor([[0.0, 1.0], [2.0, 0.0]]), vkml.tensor([1, 0]))
    tensor(0.2201)
    """
    if target.dtype.is_floating_point and target.shape == input.shape and input.shape:
        return _with_probabilities(input, target, weight, reduction, label_smoothing)
    options = (reduction, ignore_index, float(label_smoothing))
    return apply(CROSS_ENTROPY, (input, target, weight), options)


def _with_probabilities(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: str,
    label_smoothing: float,
) -> Tensor:
    """Return the cross entropy with probabilities as targets."""
    _require_smoothing_and_reduction(reduction, label_smoothing)
    axis = _class_axis(input.shape)
    if label_smoothing:
        uniform = label_smoothing / input.shape[axis]
        target = add(mul(target, 1 - label_smoothing), uniform)
    weighted = mul(log_softmax(input, axis), target)
    if weight is not None:
        weighted = mul(weighted, reshape(weight, _class_column(input.shape)))
    losses = neg(sum(weighted, axis))
    if reduction == "none":
        return losses
    return sum(losses) if reduction == "sum" else mean(losses)
