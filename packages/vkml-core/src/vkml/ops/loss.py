"""Losses that compare a tensor with a target element by element."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from vkml.backends.cpu_kernels import loss as kernels
from vkml.errors import ArgumentError
from vkml.ops import rules
from vkml.ops.activation import softplus
from vkml.ops.apply import apply
from vkml.ops.arithmetic import add, div, mul, neg, sub
from vkml.ops.comparison import gt, lt
from vkml.ops.definition import (
    THROUGH_DECOMPOSITION,
    Operation,
    Ops,
    Promotion,
    Sample,
    Spec,
    Value,
    array,
    define,
    no_samples,
)
from vkml.ops.exponential import exp, log
from vkml.ops.powers import square
from vkml.ops.reduction import mean, sum
from vkml.ops.rounding import abs
from vkml.ops.selection import where

if TYPE_CHECKING:
    import numpy as np

    from vkml.tensor import Tensor

__all__ = [
    "binary_cross_entropy_with_logits", "huber_loss", "kl_div", "l1_loss", "mse_loss",
    "smooth_l1_loss",
]  # fmt: skip

_REDUCTIONS: Final = ("none", "mean", "sum")


def require_reduction(name: str, reduction: object) -> None:
    """Raise unless `reduction` is one that every loss has."""
    if not isinstance(reduction, str) or reduction not in _REDUCTIONS:
        message = f"{name}: reduction={reduction!r} is unknown; give 'none', 'mean' or 'sum'."
        raise ArgumentError(message)


def _reduced(name: str, losses: Tensor, reduction: str) -> Tensor:
    require_reduction(name, reduction)
    if reduction == "none":
        return losses
    return sum(losses) if reduction == "sum" else mean(losses)


# mse_loss ------------------------------------------------------------------------------


def _mse_loss_gradient(
    k: Ops,
    upstream: Value,
    _output: Value,
    x: Value,
    y: Value,
    reduction: str,
    needs: tuple[bool, ...],
) -> tuple[Value | None, Value | None]:
    to_x = k.mse_loss_backward(upstream, x, y, reduction)
    return to_x, k.neg(to_x) if needs[1] else None


def _mse_loss(k: Ops, x: Value, y: Value, reduction: str) -> Value:
    squares = k.square(k.sub(x, y))
    if reduction == "none":
        return squares
    axes = tuple(range(len(squares.shape)))
    return k.sum(squares, axes, False) if reduction == "sum" else k.mean(squares, axes, False)


def _mse_loss_backward(k: Ops, upstream: Value, x: Value, y: Value, reduction: str) -> Value:
    difference = k.sub(x, y)
    count = math.prod(difference.shape) if reduction == "mean" else 1
    return k.mul(difference, k.mul(upstream, 2 / count if count else math.nan))


def _mse_loss_rule(x: Spec, y: Spec, reduction: str) -> Spec:
    require_reduction("mse_loss", reduction)
    rules.require_floating(x, y)
    spec = rules.broadcast(x, y)
    return spec if reduction == "none" else Spec((), spec.dtype)


def _mse_loss_samples(generator: np.random.Generator) -> list[Sample]:
    def sample(x: Any, y: Any, reduction: str) -> Sample:
        return Sample((array(generator, *x), array(generator, *y)), (reduction,))

    return [
        sample((3, 5), (3, 5), "mean"),
        sample((3, 5), (3, 5), "sum"),
        sample((2, 3, 5), (3, 1), "none"),
        sample((2, 3, 5), (5,), "mean"),
        sample((), (), "mean"),
        sample((0, 2), (0, 2), "sum"),
    ]


MSE_LOSS = define(
    Operation(
        name="mse_loss", operands=2, result=_mse_loss_rule, cpu=kernels.mse_loss,
        decomposition=_mse_loss, gradient=_mse_loss_gradient, samples=_mse_loss_samples,
        promotion=Promotion.COMMON, broadcasts=True,
    )
)  # fmt: skip

MSE_LOSS_BACKWARD = define(
    Operation(
        name="mse_loss_backward", operands=3, cpu=kernels.mse_loss_backward,
        result=lambda _upstream, x, y, _reduction: rules.broadcast(x, y),
        decomposition=_mse_loss_backward, gradient=THROUGH_DECOMPOSITION, samples=no_samples,
    )
)  # fmt: skip


def mse_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """Return the squared difference of `input` and `target`.

    Parameters
    ----------
    input, target : Tensor
        Floating-point numbers; shapes that broadcast.
    reduction : {"mean", "sum", "none"}
        What to return: the mean over all elements, their sum, or each.

    Raises
    ------
    ShapeError
        The shapes do not broadcast.

    Examples
    --------
    >>> import vkml
    >>> vkml.mse_loss(vkml.tensor([1.0, 2.0]), vkml.tensor([1.0, 5.0]))
    tensor(4.5000)
    """
    return apply(MSE_LOSS, (input, target), (reduction,))


# l1_loss, huber_loss, smooth_l1_loss ---------------------------------------------------


def l1_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """Return the absolute difference of `input` and `target`. Parameters as for `mse_loss`.

    Examples
    --------
    >>> import vkml
    >>> vkml.l1_loss(vkml.tensor([1.0, 2.0]), vkml.tensor([1.0, 5.0]))
    tensor(1.5000)
    """
    return _reduced("l1_loss", abs(sub(input, target)), reduction)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0
) -> Tensor:
    """Return half the squared difference, and a line of slope `delta` where that is steeper.

    Parameters
    ----------
    input, target, reduction
        As for `mse_loss`.
    delta : float
        The absolute difference at which the parabola becomes a line.

    Examples
    --------
    >>> import vkml
    >>> vkml.huber_loss(vkml.tensor([1.0, 2.0]), vkml.tensor([0.0, 5.0]), "none")
    tensor([0.5000, 2.5000])
    """
    if not delta > 0:
        raise ArgumentError(f"huber_loss: delta is {delta}; give a positive number.")
    return _reduced("huber_loss", _huber(sub(input, target), delta), reduction)


def _huber(difference: Tensor, delta: float) -> Tensor:
    distance = abs(difference)
    line = mul(sub(distance, 0.5 * delta), delta)
    return where(lt(distance, delta), mul(square(difference), 0.5), line)


def smooth_l1_loss(
    input: Tensor, target: Tensor, *, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """Return the absolute difference less ``beta / 2``, and a parabola within `beta` of 0.

    Parameters
    ----------
    input, target, reduction
        As for `mse_loss`.
    beta : float
        The absolute difference at which the parabola becomes a line; 0 gives `l1_loss`.

    Examples
    --------
    >>> import vkml
    >>> vkml.smooth_l1_loss(vkml.tensor([1.0, 2.0]), vkml.tensor([0.0, 5.0]), reduction="none")
    tensor([0.5000, 2.5000])
    """
    if not beta >= 0:
        raise ArgumentError(f"smooth_l1_loss: beta is {beta}; give 0 or a positive number.")
    difference = sub(input, target)
    losses = div(_huber(difference, beta), beta) if beta else abs(difference)
    return _reduced("smooth_l1_loss", losses, reduction)


# binary_cross_entropy_with_logits, kl_div ----------------------------------------------

_LINEAR_FROM: Final = 40.0
"""From here on softplus is linear in float64 too."""


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Return the cross entropy of yes-or-no probabilities, given as logits.

    Parameters
    ----------
    input : Tensor
        Logits of any shape.
    target : Tensor
        The wanted probabilities; broadcasts to `input`, as the weights do.
    weight : Tensor, optional
        A factor for each loss.
    reduction : {"mean", "sum", "none"}
        As for `mse_loss`.
    pos_weight : Tensor, optional
        A factor for the losses of the answer yes.

    Examples
    --------
    >>> import vkml
    >>> vkml.binary_cross_entropy_with_logits(vkml.tensor([0.0]), vkml.tensor([1.0]))
    tensor(0.6931)
    """
    yes_weight = 1.0 if pos_weight is None else add(mul(sub(pos_weight, 1.0), target), 1.0)
    missed = mul(softplus(neg(input), 1.0, _LINEAR_FROM), yes_weight)
    losses = add(mul(sub(1.0, target), input), missed)
    if weight is not None:
        losses = mul(losses, weight)
    return _reduced("binary_cross_entropy_with_logits", losses, reduction)


def kl_div(
    input: Tensor, target: Tensor, *, reduction: str = "mean", log_target: bool = False
) -> Tensor:
    """Return the Kullback-Leibler divergence of `input` from `target`, element by element.

    Parameters
    ----------
    input : Tensor
        Logarithms of probabilities.
    target : Tensor
        Probabilities, or their logarithms.
    reduction : {"mean", "sum", "none", "batchmean"}
        "batchmean" divides the sum by the size of the first axis, which the definition asks for;
        the rest as for `mse_loss`.
    log_target : bool
        Whether `target` holds logarithms.

    Examples
    --------
    >>> import vkml
    >>> half = vkml.tensor([[0.5, 0.5]])
    >>> vkml.kl_div(vkml.log(vkml.tensor([[0.25, 0.75]])), half, reduction="batchmean")
    tensor(0.1438)
    """
    if log_target:
        losses = mul(exp(target), sub(target, input))
    else:
        # The limit of t log t at 0 is 0; the logarithm there is not, nor is its gradient.
        logarithm = log(where(gt(target, 0.0), target, 1.0))
        losses = sub(mul(target, logarithm), mul(target, input))
    if reduction == "batchmean":
        return div(sum(losses), input.shape[0] if input.shape else 1)
    return _reduced("kl_div", losses, reduction)
