"""Reverse-mode differentiation: recording, grad modes, the backward pass, and what users build on.

The backward pass stands above tensors, which stand above the graph; so that importing the graph
does not import the whole tower, the names from above are bound last, by `complete`.
"""

import importlib
from typing import TYPE_CHECKING, Final

from vkml.autograd.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)

if TYPE_CHECKING:
    from vkml.autograd.backward_pass import backward, grad
    from vkml.autograd.check import gradcheck, gradgradcheck
    from vkml.autograd.checkpointing import checkpoint
    from vkml.autograd.function import Context, Function
    from vkml.autograd.hooks import RemovableHandle

__all__ = [
    "Context",
    "Function",
    "RemovableHandle",
    "backward",
    "checkpoint",
    "enable_grad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
]

_ABOVE: Final = {
    "backward": "backward_pass",
    "grad": "backward_pass",
    "gradcheck": "check",
    "gradgradcheck": "check",
    "checkpoint": "checkpointing",
    "Context": "function",
    "Function": "function",
    "RemovableHandle": "hooks",
}


def complete() -> None:
    """Bind the names from above. Called once, when all of vkml is imported."""
    for name, module in _ABOVE.items():
        globals()[name] = getattr(importlib.import_module(f"vkml.autograd.{module}"), name)
