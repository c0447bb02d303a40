"""Functions of each element, and softmax, as modules."""

from __future__ import annotations

import vkml
from vkml import Tensor
from vkml_nn import functional
from vkml_nn.module import Module


class ReLU(Module):
    """max(x, 0). With `inplace`, the input's memory gets the result."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the larger of each element and 0."""
        return functional.relu(input, self.inplace)

    def extra_repr(self) -> str:
        """Return whether it works in place."""
        return "inplace=True" if self.inplace else ""


class LeakyReLU(Module):
    """x where it is positive, else `negative_slope` times x."""

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the function of each element."""
        return functional.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        """Return the slope."""
        return f"negative_slope={self.negative_slope}" + ", inplace=True" * self.inplace


class ELU(Module):
    """x where it is positive, else `alpha` (eˣ - 1)."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the function of each element."""
        return functional.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """Return alpha."""
        return f"alpha={self.alpha}" + ", inplace=True" * self.inplace


class SiLU(Module):
    """x σ(x), also called swish."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the function of each element."""
        return functional.silu(input, self.inplace)

    extra_repr = ReLU.extra_repr


class GELU(Module):
    """x Φ(x), with Φ the distribution of normal numbers; or its approximation by ``"tanh"``."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Return the function of each element."""
        return vkml.gelu(input, self.approximate)

    def extra_repr(self) -> str:
        """Return the kind of approximation."""
        return f"approximate={self.approximate!r}"


class Sigmoid(Module):
    """1 / (1 + e⁻ˣ)."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the function of each element."""
        return vkml.sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the function of each element."""
        return vkml.tanh(input)


class Softplus(Module):
    """log(1 + exp(beta x)) / beta; x itself where beta x exceeds `threshold`."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        """Return the function of each element."""
        return vkml.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """Return the options."""
        return f"beta={self.beta}, threshold={self.threshold}"


class Softmax(Module):
    """eˣ over its sum along `dim`.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.Softmax(dim=-1)(vkml.zeros(2))
    tensor([0.5000, 0.5000])
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Return numbers between 0 and 1 that sum up to 1 along `dim`."""
        return vkml.softmax(input, self.dim)

    def extra_repr(self) -> str:
        """Return the axis."""
        return f"dim={self.dim}"


class LogSoftmax(Module):
    """The logarithm of softmax along `dim`, without loss where softmax is close to 0."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Return the logarithms."""
        return vkml.log_softmax(input, self.dim)

    extra_repr = Softmax.extra_repr
