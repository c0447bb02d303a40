"""Dropout."""

from __future__ import annotations

from vkml import ArgumentError, Tensor
from vkml_nn import functional
from vkml_nn.module import Module


class Dropout(Module):
    """In training, each element becomes 0 with probability `p`, and the others grow by 1/(1 - p).

    Parameters
    ----------
    p : float
        Between 0 and 1.
    inplace : bool
        Whether the input's memory gets the result.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.Dropout(0.5).eval()(vkml.ones(3))
    tensor([1., 1., 1.])
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            message = f"{type(self).__name__}: p is {p}; give a probability between 0 and 1."
            raise ArgumentError(message)
        self.p = p
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the input, thinned out in training."""
        return functional.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        """Return the options."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout1d(Dropout):
    """In training, each channel of (batch, channels, length) becomes 0 with probability `p`.

    The others grow by 1/(1 - p). Parameters as for `Dropout`.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the input, thinned out in training."""
        return functional.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(Dropout):
    """In training, each channel of (batch, channels, height, width) becomes 0 with chance `p`.

    The others grow by 1/(1 - p). Parameters as for `Dropout`.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the input, thinned out in training."""
        return functional.dropout2d(input, self.p, self.training, self.inplace)
