"""Schedules: step sizes that change while a model is trained.

A schedule sets ``group["lr"]`` of an optimiser's groups when it is made, and again with each
`step`, which is called after the optimiser's own: once an epoch or once a batch, as its numbers
mean.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, SupportsFloat, TypeAlias

from vkml import ArgumentError, DTypeError
from vkml_nn.optimizers.optimizer import Group, Optimizer

__all__ = [
    "CosineAnnealingLR", "ExponentialLR", "LRScheduler", "LambdaLR", "MultiStepLR", "OneCycleLR",
    "ReduceLROnPlateau", "StepLR",
]  # fmt: skip

Factor: TypeAlias = Callable[[int], float]

_NOT_SAVED: Final = ("optimizer", "lr_lambdas")


class LRScheduler:
    """The base of schedules: a subclass says what the step sizes are at a time.

    Parameters
    ----------
    optimizer : Optimizer
        Whose step sizes are set.
    last_epoch : int
        The time to go on from; -1 begins with the optimiser's own step sizes.

    Attributes
    ----------
    base_lrs : list of float
        The first step size of each group.
    last_epoch : int
        The time, from 0.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = optimizer
        for group in _groups(self, optimizer):
            if last_epoch == -1:
                group["initial_lr"] = group["lr"]
            elif "initial_lr" not in group:
                message = (
                    f"{type(self).__name__}: last_epoch is {last_epoch}, and the groups hold no "
                    "'initial_lr' to go on from; load the optimiser's state first."
                )
                raise ArgumentError(message)
        self.base_lrs: list[float] = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._last_lr: list[float] = []
        self.step()

    def get_lr(self) -> list[float]:
        """Return the step size of each group at `last_epoch`; to be written by the subclass."""
        raise NotImplementedError

    def step(self) -> None:
        """Go on by one, and set the step sizes."""
        self.last_epoch += 1
        self._last_lr = self.get_lr()
        for group, lr in zip(self.optimizer.param_groups, self._last_lr, strict=True):
            group["lr"] = lr

    def get_last_lr(self) -> list[float]:
        """Return the step size of each group as it is now."""
        return self._last_lr

    def state_dict(self) -> dict[str, Any]:
        """Return all but the optimiser and functions."""
        return {name: value for name, value in vars(self).items() if name not in _NOT_SAVED}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from a state that `state_dict` returned."""
        vars(self).update(state_dict)


def _groups(schedule: LRScheduler, optimizer: Optimizer) -> list[Group]:
    """Return the groups of what must be an optimiser."""
    if not isinstance(optimizer, Optimizer):
        raise DTypeError(_no_optimizer(schedule, optimizer))
    return optimizer.param_groups


def _no_optimizer(schedule: LRScheduler, value: object) -> str:
    return (
        f"{type(schedule).__name__}: expected an optimiser, such as vkml.optim.SGD(...), got a "
        f"{type(value).__name__}."
    )


class LambdaLR(LRScheduler):
    """The first step size times a function of the time.

    Parameters
    ----------
    optimizer : Optimizer
        Whose step sizes are set.
    lr_lambda : callable, or one for each group
        Takes the time, from 0, and returns the factor.
    last_epoch : int
        See `LRScheduler`.

    Examples
    --------
    >>> import vkml
    >>> optimizer = vkml.optim.SGD([vkml.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = vkml.optim.lr_scheduler.LambdaLR(optimizer, lambda time: 0.5**time)
    >>> optimizer.step()
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Factor | Sequence[Factor], last_epoch: int = -1
    ) -> None:
        count = len(_groups(self, optimizer))
        self.lr_lambdas = [lr_lambda] * count if callable(lr_lambda) else list(lr_lambda)
        if len(self.lr_lambdas) != count:
            message = (
                f"LambdaLR: {len(self.lr_lambdas)} functions for {count} groups; give as many."
            )
            raise ArgumentError(message)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the step sizes now."""
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [base * factor(self.last_epoch) for base, factor in pairs]


class StepLR(LRScheduler):
    """Times `gamma` after every `step_size` steps."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the step sizes now."""
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Times `gamma` at each of the times in `milestones`."""

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = sorted(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the step sizes now."""
        passed = bisect.bisect_right(self.milestones, self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Times `gamma` at each step."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the step sizes now."""
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """From the first step size to `eta_min` along half a cosine of `T_max` steps, and back."""

    def __init__(
        self,
        optimizer: Optimizer,
        T_max: int,  # noqa: N803 - PyTorch's name
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the step sizes now."""
        height = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]


class OneCycleLR(LRScheduler):
    """Up to `max_lr` and down to almost nothing in one cycle (Smith and Topin, 2018).

    The momentum of the optimiser is left alone.

    Parameters
    ----------
    optimizer : Optimizer
        Whose step sizes are set.
    max_lr : float, or one for each group
        The largest step size.
    total_steps : int, optional
        The length of the cycle.
    epochs, steps_per_epoch : int, optional
        Their product stands for `total_steps`.
    pct_start : float
        The part of the cycle that goes up.
    anneal_strategy : {"cos", "linear"}
        Along which curve.
    div_factor : float
        The cycle begins at `max_lr` over this ...
    final_div_factor : float
        ... and ends at its beginning over this.
    last_epoch : int
        See `LRScheduler`.

    Raises
    ------
    ArgumentError
        The length is not given, or another argument makes no sense.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | Sequence[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        last_epoch: int = -1,
    ) -> None:
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                message = "OneCycleLR: give total_steps, or epochs and steps_per_epoch."
                raise ArgumentError(message)
            total_steps = epochs * steps_per_epoch
        if total_steps < 1 or not 0 <= pct_start <= 1:
            message = (
                f"OneCycleLR: {total_steps} steps, of which the part {pct_start} goes up; give a "
                "number above 0, and a part between 0 and 1."
            )
            raise ArgumentError(message)
        if anneal_strategy not in ("cos", "linear"):
            message = (
                f"OneCycleLR: anneal_strategy is {anneal_strategy!r}; choose 'cos' or 'linear'."
            )
            raise ArgumentError(message)
        count = len(_groups(self, optimizer))
        self.total_steps = total_steps
        self.max_lrs = list(max_lr) if isinstance(max_lr, Sequence) else [max_lr] * count
        self.pct_start = pct_start
        self.anneal_strategy = anneal_strategy
        self.div_factor = div_factor
        self.final_div_factor = final_div_factor
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the step sizes now."""
        time, last = self.last_epoch, self.total_steps - 1
        if time > last:
            message = f"OneCycleLR: step {time + 1} of a cycle of {self.total_steps}."
            raise ArgumentError(message)
        top = self.pct_start * self.total_steps - 1
        rising = time <= top
        part = (time / top if top else 1.0) if rising else (time - top) / (last - top)
        if self.anneal_strategy == "cos":
            part = (1 - math.cos(math.pi * part)) / 2
        result = []
        for highest in self.max_lrs:
            first = highest / self.div_factor
            start, end = (first, highest) if rising else (highest, first / self.final_div_factor)
            result.append(start + (end - start) * part)
        return result


class ReduceLROnPlateau(LRScheduler):
    """Times `factor` when a number, such as the loss of a validation, has stopped improving.

    Its `step` takes that number, and is called after the validation.

    Parameters
    ----------
    optimizer : Optimizer
        Whose step sizes are set.
    mode : {"min", "max"}
        Whether smaller or larger is better.
    factor : float
        Below 1.
    patience : int
        How many steps without improvement are let pass.
    threshold : float
        What counts as an improvement ...
    threshold_mode : {"rel", "abs"}
        ... as a part of the best number so far, or by itself.
    cooldown : int
        How many steps after a reduction are not looked at.
    min_lr : float, or one for each group
        No step size becomes smaller than this.
    eps : float
        Smaller reductions are left out.

    Examples
    --------
    >>> import vkml
    >>> optimizer = vkml.optim.SGD([vkml.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = vkml.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    >>> for loss in (3.0, 2.0, 2.0, 2.0):
    ...     schedule.step(loss)
    >>> schedule.get_last_lr()
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | Sequence[float] = 0,
        eps: float = 1e-8,
    ) -> None:
        count = len(_groups(self, optimizer))
        self.min_lrs = list(min_lr) if isinstance(min_lr, Sequence) else [min_lr] * count
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs") or factor >= 1:
            message = (
                f"ReduceLROnPlateau: mode {mode!r}, threshold_mode {threshold_mode!r} and factor "
                f"{factor}; choose 'min' or 'max', 'rel' or 'abs', and a factor below 1."
            )
            raise ArgumentError(message)
        if len(self.min_lrs) != count:
            message = (
                f"ReduceLROnPlateau: {len(self.min_lrs)} min_lr for {count} groups; give as many."
            )
            raise ArgumentError(message)
        self.optimizer = optimizer
        self.mode = mode
        self.factor = factor
        self.patience = patience
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.cooldown = cooldown
        self.eps = eps
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = self.cooldown_counter = self.last_epoch = 0
        self._last_lr = self.get_lr()

    def get_lr(self) -> list[float]:
        """Return the step sizes now."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def step(self, metrics: SupportsFloat) -> None:  # type: ignore[override]  # as in PyTorch
        """Go on by one with a new number, and reduce the step sizes if it is time to."""
        self.last_epoch += 1
        number = float(metrics)
        if self._is_better(number):
            self.best = number
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
                reduced = max(group["lr"] * self.factor, least)
                if group["lr"] - reduced > self.eps:
                    group["lr"] = reduced
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = self.get_lr()

    def _is_better(self, number: float) -> bool:
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "rel":
            return sign * number > sign * self.best * (1 + sign * self.threshold)
        return sign * number > sign * self.best + self.threshold
