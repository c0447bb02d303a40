"""RMSprop (Hinton, 2012)."""

from __future__ import annotations

from vkml import Tensor
from vkml_nn.optimizers.flat import Bucket, Place
from vkml_nn.optimizers.optimizer import Group, Optimizer, Parameters, require_at_least_zero


class RMSprop(Optimizer):
    """Steps along the gradient, divided by a running average of its size.

    Parameters
    ----------
    params : iterable of Tensor or of dict
        What to optimise, see `Optimizer`.
    lr : float
        The step size.
    alpha : float
        How much of the averages each step keeps.
    eps : float
        Added to the divisor.
    weight_decay : float
        How much of the parameter is added to its gradient.
    momentum : float
        The part of the last step that goes on.
    centered : bool
        Divide by the standard deviation: the average of the gradients is taken off.
    maximize : bool
        Go up instead of down.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.tensor([4.0], requires_grad=True)
    >>> optimizer = vkml.optim.RMSprop([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> x
    tensor([3.], requires_grad=True)
    """

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay,
            "momentum": momentum, "centered": centered, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _check(self, group: Group) -> None:
        require_at_least_zero(self, group, "lr", "alpha", "eps", "weight_decay", "momentum")

    def _kept_names(self, group: Group) -> tuple[str, ...]:
        names = ["square_avg"]
        if group["centered"]:
            names.append("grad_avg")
        if group["momentum"]:
            names.append("momentum_buffer")
        return tuple(names)

    def _phase(self, bucket: Bucket, place: Place) -> int:
        """Count the step, as PyTorch's state does; all steps are alike."""
        place.state["step"] = place.state.get("step", 0) + 1
        for name in bucket.names:
            if name not in place.state:
                place.state[name] = bucket.kept(place, name)
        return 0

    def _update(
        self,
        group: Group,
        phase: int,  # noqa: ARG002 - all steps are alike
        tensors: tuple[Tensor, ...],
    ) -> None:
        param, grad, *others = tensors
        kept = dict(zip(self._kept_names(group), others, strict=True))
        alpha = group["alpha"]
        if group["maximize"]:
            grad = -grad
        if group["weight_decay"]:
            grad = grad + param * group["weight_decay"]
        size = kept["square_avg"].mul_(alpha).add_(grad * grad * (1 - alpha))
        if group["centered"]:
            average = kept["grad_avg"].mul_(alpha).add_(grad * (1 - alpha))
            size = size - average * average
        step = grad / (size.sqrt() + group["eps"])
        if group["momentum"]:
            step = kept["momentum_buffer"].mul_(group["momentum"]).add_(step)
        param.sub_(step * group["lr"])
