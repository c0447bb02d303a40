"""The errors of vkml-nn.

Each is a `vkml.VkmlError` and also the built-in error that fits::

    VkmlError
    ├── StateDictError (KeyError)             a state that does not fit the module
    └── WorkerError (RuntimeError)            a worker process of a data loader that died
"""

from __future__ import annotations

from vkml import VkmlError

__all__ = ["StateDictError", "WorkerError"]


class StateDictError(VkmlError, KeyError):
    """A state does not fit the module or the optimiser; nothing was changed."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would show the quoted form of the text


class WorkerError(VkmlError, RuntimeError):
    """A worker process of a data loader ended without a result."""
