"""Gradients across devices: moving a tensor is differentiable, its gradient moves back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vkml.autograd.function import Function
from vkml.autograd.modes import mode

if TYPE_CHECKING:
    from vkml.autograd.function import Context
    from vkml.tensor import Tensor


class _Transfer(Function):
    @staticmethod
    def forward(context: Context, x: Tensor, moved: Tensor) -> Tensor:
        context.origin = x.device
        return moved

    @staticmethod
    def backward(context: Context, upstream: Tensor) -> tuple[Any, ...]:
        return upstream.to(device=context.origin), None


def transferred(x: Tensor, moved: Tensor) -> Tensor:
    """Return `moved`, a copy of `x` on another device, connected to `x` if gradients flow."""
    if x._node is None or not mode.enabled:
        return moved
    return _Transfer.apply(x, moved)  # type: ignore[no-any-return]
