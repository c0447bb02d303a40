"""Layers that change the shape alone."""

from __future__ import annotations

from collections.abc import Sequence

from vkml import Tensor
from vkml_nn.module import Module


class Flatten(Module):
    """Axes `start_dim` to `end_dim` as one.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.Flatten()(vkml.zeros(2, 3, 4)).shape
    (2, 12)
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Return the input under its new shape."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """Return the axes."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """One axis as several.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.Unflatten(1, (3, 4))(vkml.zeros(2, 12)).shape
    (2, 3, 4)
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        self.dim = dim
        self.unflattened_size = tuple(unflattened_size)

    def forward(self, input: Tensor) -> Tensor:
        """Return the input under its new shape."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """Return the axis and its sizes."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
