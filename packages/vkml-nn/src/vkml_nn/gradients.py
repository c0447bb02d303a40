"""Gradients of many parameters together: their size, and how it is limited."""

from __future__ import annotations

import math
from collections.abc import Iterable

import vkml
from vkml import AutogradError, Tensor


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    given = [parameters] if isinstance(parameters, Tensor) else parameters
    return [each.grad.detach() for each in given if each.grad is not None]


def get_total_norm(tensors: Iterable[Tensor], norm_type: float = 2.0) -> Tensor:
    """Return the norm of all elements of `tensors` together, a rank-0 tensor.

    Parameters
    ----------
    tensors : iterable of Tensor
        Any shapes, on one device.
    norm_type : float
        The order; ``math.inf`` is the largest magnitude.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.utils.get_total_norm([vkml.tensor([3.0]), vkml.tensor([[4.0]])])
    tensor(5.)
    """
    each = [_power_sum(tensor, float(norm_type)) for tensor in tensors]
    if not each:
        return vkml.tensor(0.0)
    together = vkml.stack(each)
    if norm_type == math.inf:
        return together.amax()
    total = together.sum()
    return total.sqrt() if norm_type == 2 else total ** (1.0 / norm_type)


def _power_sum(tensor: Tensor, order: float) -> Tensor:
    if order == math.inf:
        return tensor.abs().amax() if tensor.numel() else vkml.zeros_like(tensor.sum())
    if order == 2:
        return (tensor * tensor).sum()
    return (tensor.abs() ** order).sum()


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """Shrink the gradients, in place, so that their norm together is at most `max_norm`.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
        Those without gradient do not count.
    max_norm : float
        The limit.
    norm_type : float
        The order of the norm; ``math.inf`` is the largest magnitude.
    error_if_nonfinite : bool
        Raise where the norm is infinite or NaN, instead of spreading it.

    Returns
    -------
    Tensor
        The norm before.

    Raises
    ------
    AutogradError
        The norm is not finite, and `error_if_nonfinite` is set.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.tensor([3.0, 4.0], requires_grad=True)
    >>> (x * x / 2).sum().backward()
    >>> vkml.nn.utils.clip_grad_norm_(x, 1.0)
    tensor(5.)
    >>> x.grad
    tensor([0.6000, 0.8000])
    """
    gradients = _gradients(parameters)
    with vkml.no_grad():
        total = get_total_norm(gradients, norm_type)
        if error_if_nonfinite and not bool(vkml.isfinite(total)):
            message = (
                f"clip_grad_norm_: the norm of the gradients is {total.item()}; look for the "
                "operation that made it, or pass error_if_nonfinite=False."
            )
            raise AutogradError(message)
        # 1e-6 keeps the quotient finite, as in PyTorch.
        factor = vkml.clamp(max_norm / (total + 1e-6), max=1.0)
        for gradient in gradients:
            gradient.mul_(factor.to(dtype=gradient.dtype))
    return total


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Clip each element of the gradients, in place, to ±`clip_value`.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.tensor([3.0, -4.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> vkml.nn.utils.clip_grad_value_(x, 7.0)
    >>> x.grad
    tensor([ 6., -7.])
    """
    with vkml.no_grad():
        for gradient in _gradients(parameters):
            gradient.clamp_(-clip_value, clip_value)
