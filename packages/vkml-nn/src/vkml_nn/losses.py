"""Losses as modules: how far a result is from what it should be."""

from __future__ import annotations

import vkml
from vkml import ArgumentError, Tensor
from vkml_nn.binary_cross_entropy import binary_cross_entropy
from vkml_nn.module import Module

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "HuberLoss", "KLDivLoss", "L1Loss",
    "MSELoss", "NLLLoss", "SmoothL1Loss",
]  # fmt: skip


class _Loss(Module):
    """What losses share: how the elements are summed up."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        choices = ("mean", "sum", "none", *(("batchmean",) if isinstance(self, KLDivLoss) else ()))
        if reduction not in choices:
            message = (
                f"{type(self).__name__}: reduction is {reduction!r}; "
                f"choose from {', '.join(choices)}."
            )
            raise ArgumentError(message)
        self.reduction = reduction


class MSELoss(_Loss):
    """The square of the difference; its mean, sum or each (``"none"``).

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.MSELoss()(vkml.tensor([1.0, 3.0]), vkml.tensor([1.0, 1.0]))
    tensor(2.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return vkml.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """The size of the difference; its mean, sum or each (``"none"``)."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return vkml.l1_loss(input, target, reduction=self.reduction)


class HuberLoss(_Loss):
    """Half the square of the difference up to `delta`, then straight on."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return vkml.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class SmoothL1Loss(_Loss):
    """`HuberLoss` over its `beta`: the size of the difference, rounded off below `beta`."""

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return vkml.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class CrossEntropyLoss(_Loss):
    """Cross entropy of classes, from scores that need not be probabilities.

    Parameters
    ----------
    weight : Tensor, optional
        How much each class counts.
    ignore_index : int
        A target that does not count.
    reduction : {"mean", "sum", "none"}
        How the losses are summed up.
    label_smoothing : float
        The part of each target that is spread over all classes.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.CrossEntropyLoss()(vkml.zeros(1, 4), vkml.tensor([2]))
    tensor(1.3863)
    """

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        *,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of scores (batch, classes, ...) and classes or probabilities."""
        return vkml.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class NLLLoss(_Loss):
    """Minus the log-probability of each target's class. Parameters as for `CrossEntropyLoss`."""

    weight: Tensor | None

    def __init__(
        self, weight: Tensor | None = None, *, ignore_index: int = -100, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of log-probabilities (batch, classes, ...) and classes."""
        return vkml.nll_loss(
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


class BCELoss(_Loss):
    """Binary cross entropy of probabilities.

    `BCEWithLogitsLoss` takes scores in their place, and loses no digits near 0 and 1.

    Parameters
    ----------
    weight : Tensor, optional
        How much each element counts.
    reduction : {"mean", "sum", "none"}
        How the losses are summed up.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.BCELoss()(vkml.tensor([0.5]), vkml.tensor([1.0]))
    tensor(0.6931)
    """

    weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, *, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of probabilities and targets between 0 and 1."""
        return binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """Binary cross entropy of scores, of which a sigmoid would make probabilities.

    Parameters
    ----------
    weight : Tensor, optional
        How much each element counts.
    reduction : {"mean", "sum", "none"}
        How the losses are summed up.
    pos_weight : Tensor, optional
        How much more targets of 1 count.
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        *,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of scores and targets between 0 and 1."""
        return vkml.binary_cross_entropy_with_logits(
            input, target, self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )


class KLDivLoss(_Loss):
    """The Kullback-Leibler divergence of log-probabilities from `target`.

    Parameters
    ----------
    reduction : {"mean", "batchmean", "sum", "none"}
        ``"batchmean"`` is the divergence; ``"mean"`` divides it by the number of classes too.
    log_target : bool
        Whether the targets are log-probabilities as well.
    """

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__(reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return vkml.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)
