"""Adam (Kingma and Ba, 2015) and AdamW (Loshchilov and Hutter, 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from vkml import ArgumentError, Tensor
from vkml.ops.optimizer_steps import adam_step
from vkml_nn.optimizers.flat import Bucket, Place
from vkml_nn.optimizers.optimizer import Group, Optimizer, Parameters, require_at_least_zero


class Adam(Optimizer):
    """Steps scaled by running averages of the gradients and of their squares.

    Parameters
    ----------
    params : iterable of Tensor or of dict
        What to optimise, see `Optimizer`.
    lr : float
        The step size.
    betas : pair of float
        How much of the averages of gradients, and of their squares, each step keeps.
    eps : float
        Added to the divisor.
    weight_decay : float
        How much of the parameter is added to its gradient.
    amsgrad : bool
        Divide by the largest average so far.
    maximize : bool
        Go up instead of down.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.tensor([4.0], requires_grad=True)
    >>> optimizer = vkml.optim.Adam([x], lr=0.5)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> x
    tensor([3.5000], requires_grad=True)
    """

    _decoupled: ClassVar[bool] = False
    """Whether weights decay by themselves, not through the gradient."""

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "amsgrad": amsgrad, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _check(self, group: Group) -> None:
        require_at_least_zero(self, group, "lr", "eps", "weight_decay")
        betas = group["betas"]
        if (
            not isinstance(betas, Sequence)
            or len(betas) != 2
            or not all(0 <= beta < 1 for beta in betas)
        ):
            message = (
                f"{type(self).__name__}: betas are {betas!r}; give two from [0, 1), such as "
                "(0.9, 0.999)."
            )
            raise ArgumentError(message)

    def _kept_names(self, group: Group) -> tuple[str, ...]:
        if group["amsgrad"]:
            return ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")
        return ("exp_avg", "exp_avg_sq")

    def _phase(self, bucket: Bucket, place: Place) -> int:
        """Return the number of this step, from 1."""
        state = place.state
        step: int = state.get("step", 0) + 1
        state["step"] = step
        if bucket.names[-1] not in state:
            for name in bucket.names:
                if name not in state:
                    state[name] = bucket.kept(place, name)
        return step

    def _update(self, group: Group, phase: int, tensors: tuple[Tensor, ...]) -> None:
        param, grad, exp_avg, exp_avg_sq, *largest = tensors
        beta1, beta2 = group["betas"]
        adam_step(
            param,
            grad,
            exp_avg,
            exp_avg_sq,
            largest[0] if largest else None,
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            decoupled=self._decoupled,
            step=phase,
            amsgrad=group["amsgrad"],
            maximize=group["maximize"],
        )


class AdamW(Adam):
    """Adam whose weights decay by themselves, by lr times `weight_decay` each step.

    Parameters as for `Adam`, with another default of `weight_decay`.
    """

    _decoupled = True

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)
