"""Binary cross entropy of probabilities."""

from __future__ import annotations

from typing import Any, Final

import vkml
from vkml import ArgumentError, DTypeError, ShapeError, Tensor
from vkml.autograd import Function

_LEAST_LOGARITHM: Final = -100.0
"""Stands for the logarithm of 0, as in PyTorch: a loss without end would teach nothing."""

_LEAST_DIVISOR: Final = 1e-12
"""Bounds the gradient where a probability is 0 or 1."""


class _BinaryCrossEntropy(Function):
    """The loss of each element, with a gradient that stays finite at 0 and 1."""

    @staticmethod
    def forward(context: Any, input: Tensor, target: Tensor) -> Tensor:  # Any: the context
        context.save_for_backward(input, target)
        yes = vkml.clamp(vkml.log(input), _LEAST_LOGARITHM)
        no = vkml.clamp(vkml.log1p(-input), _LEAST_LOGARITHM)
        return (target - 1) * no - target * yes

    @staticmethod
    def backward(context: Any, upstream: Tensor) -> tuple[Tensor, Tensor | None]:
        input, target = context.saved_tensors
        divisor = vkml.clamp(input * (1 - input), _LEAST_DIVISOR)
        to_target = None
        if context.needs_input_grad[1]:
            to_target = upstream * (vkml.log1p(-input) - vkml.log(input))
        return upstream * (input - target) / divisor, to_target


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: str = "mean"
) -> Tensor:
    """Return the cross entropy of yes-or-no probabilities.

    `vkml.binary_cross_entropy_with_logits` takes scores in their place, and loses no digits near 0
    and 1.

    Parameters
    ----------
    input : Tensor
        Probabilities, such as `vkml.sigmoid` returns; the loss of other numbers is NaN.
    target : Tensor
        The wanted probabilities, of the same shape.
    weight : Tensor, optional
        A factor for each loss.
    reduction : {"mean", "sum", "none"}
        How the losses are summed up.

    Raises
    ------
    ShapeError
        The shapes differ.
    DTypeError
        The input holds no floating-point numbers.

    Examples
    --------
    >>> import vkml
    >>> half = vkml.tensor([0.5, 0.5])
    >>> vkml.nn.functional.binary_cross_entropy(half, vkml.tensor([1.0, 0.0]))
    tensor(0.6931)
    """
    if reduction not in ("mean", "sum", "none"):
        message = f"binary_cross_entropy: reduction is {reduction!r}; choose from mean, sum, none."
        raise ArgumentError(message)
    if not input.dtype.is_floating_point:
        message = (
            f"binary_cross_entropy: the input is {input.dtype}; give probabilities, "
            "floating-point numbers between 0 and 1."
        )
        raise DTypeError(message)
    if input.shape != target.shape:
        message = (
            f"binary_cross_entropy: the input has shape {input.shape}, the target {target.shape}; "
            "give equal ones."
        )
        raise ShapeError(message)
    losses: Tensor = _BinaryCrossEntropy.apply(input, target)
    if weight is not None:
        losses = losses * weight
    if reduction == "none":
        return losses
    return losses.sum() if reduction == "sum" else losses.mean()
