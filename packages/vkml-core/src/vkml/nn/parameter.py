"""Where PyTorch's users look for `Parameter`."""

from vkml.tensor import Parameter

__all__ = ["Parameter"]
