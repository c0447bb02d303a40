"""Stochastic gradient descent."""

from __future__ import annotations

from vkml import ArgumentError, Tensor
from vkml.ops.optimizer_steps import sgd_step
from vkml_nn.optimizers.flat import Bucket, Place
from vkml_nn.optimizers.optimizer import Group, Optimizer, Parameters, require_at_least_zero


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum if wanted.

    Parameters
    ----------
    params : iterable of Tensor or of dict
        What to optimise, see `Optimizer`.
    lr : float
        The step size.
    momentum : float
        The part of the last step that goes on.
    dampening : float
        The part of the gradient that momentum leaves out.
    weight_decay : float
        How much of the parameter is added to its gradient.
    nesterov : bool
        Look ahead along the momentum; needs momentum, and no dampening.
    maximize : bool
        Go up instead of down.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.tensor([4.0], requires_grad=True)
    >>> optimizer = vkml.optim.SGD([x], lr=0.25)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> x
    tensor([2.], requires_grad=True)
    """

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _check(self, group: Group) -> None:
        require_at_least_zero(self, group, "lr", "momentum", "weight_decay")
        if group["nesterov"] and (group["momentum"] <= 0 or group["dampening"] != 0):
            message = (
                f"SGD: nesterov needs momentum above 0 and no dampening, got "
                f"{group['momentum']} and {group['dampening']}."
            )
            raise ArgumentError(message)

    def _kept_names(self, group: Group) -> tuple[str, ...]:
        return ("momentum_buffer",) if group["momentum"] else ()

    def _phase(self, bucket: Bucket, place: Place) -> int:
        """Return 1 for a parameter whose momentum begins with this step, else 0."""
        if bucket.has_kept and place.state.get("momentum_buffer") is None:
            place.state["momentum_buffer"] = bucket.kept(place, "momentum_buffer")
            return 1
        return 0

    def _update(self, group: Group, phase: int, tensors: tuple[Tensor, ...]) -> None:
        param, grad, *kept = tensors
        sgd_step(
            param,
            grad,
            kept[0] if kept else None,
            lr=group["lr"],
            momentum=group["momentum"],
            dampening=group["dampening"],
            weight_decay=group["weight_decay"],
            nesterov=group["nesterov"],
            first=phase == 1,
            maximize=group["maximize"],
        )
