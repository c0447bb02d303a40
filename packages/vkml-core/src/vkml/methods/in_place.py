"""Methods that write into the tensor and return it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vkml.ops.functions import call

if TYPE_CHECKING:
    from vkml.dtypes import Number
    from vkml.methods.types import Operand
    from vkml.tensor import Tensor


class InPlaceMethods:
    """Methods that write into the tensor and return it."""

    __slots__ = ()

    # in place -------------------------------------------------------------------------

    def add_(self, other: Operand, *, alpha: Number = 1) -> Tensor:
        """Write `vkml.add` of this tensor into it and return it."""
        return call("add_", self, other, alpha=alpha)

    def sub_(self, other: Operand, *, alpha: Number = 1) -> Tensor:
        """Write `vkml.sub` of this tensor into it and return it."""
        return call("sub_", self, other, alpha=alpha)

    def mul_(self, other: Operand) -> Tensor:
        """Write `vkml.mul` of this tensor into it and return it."""
        return call("mul_", self, other)

    def div_(self, other: Operand) -> Tensor:
        """Write `vkml.div` of this tensor into it and return it."""
        return call("div_", self, other)

    def pow_(self, exponent: Operand) -> Tensor:
        """Write `vkml.pow` of this tensor into it and return it."""
        return call("pow_", self, exponent)

    def clamp_(self, min: Operand | None = None, max: Operand | None = None) -> Tensor:
        """Write `vkml.clamp` of this tensor into it and return it."""
        return call("clamp_", self, min, max)

    def copy_(self, source: Any) -> Tensor:
        """Write `source` (a tensor, array or number), broadcast, into this tensor and return it."""
        return call("copy_", self, source)

    def fill_(self, value: Operand) -> Tensor:
        """Write one number into every element and return the tensor."""
        return call("fill_", self, value)

    def masked_fill_(self, mask: Tensor, value: Operand) -> Tensor:
        """Write `vkml.masked_fill` of this tensor into it and return it."""
        return call("masked_fill_", self, mask, value)

    def index_add_(self, dim: int, index: Tensor, source: Tensor) -> Tensor:
        """Write `vkml.index_add` of this tensor into it and return it."""
        return call("index_add_", self, dim, index, source)

    def lerp_(self, end: Tensor, weight: Operand) -> Tensor:
        """Write `vkml.lerp` of this tensor into it and return it."""
        return call("lerp_", self, end, weight)

    def zero_(self) -> Tensor:
        """Write the result into this tensor and return it."""
        return call("zero_", self)

    def neg_(self) -> Tensor:
        """Write the result into this tensor and return it."""
        return call("neg_", self)

    def abs_(self) -> Tensor:
        """Write the result into this tensor and return it."""
        return call("abs_", self)

    def exp_(self) -> Tensor:
        """Write the result into this tensor and return it."""
        return call("exp_", self)

    def sqrt_(self) -> Tensor:
        """Write the result into this tensor and return it."""
        return call("sqrt_", self)

    def relu_(self) -> Tensor:
        """Write the result into this tensor and return it."""
        return call("relu_", self)

    def sigmoid_(self) -> Tensor:
        """Write the result into this tensor and return it."""
        return call("sigmoid_", self)

    def tanh_(self) -> Tensor:
        """Write the result into this tensor and return it."""
        return call("tanh_", self)

    def reciprocal_(self) -> Tensor:
        """Write the result into this tensor and return it."""
        return call("reciprocal_", self)

    def square_(self) -> Tensor:
        """Write the result into this tensor and return it."""
        return call("square_", self)

    def uniform_(self, low: float = 0.0, high: float = 1.0, *, generator: Any = None) -> Tensor:
        """Fill this tensor with random numbers and return it."""
        return call("uniform_", self, low, high, generator=generator)

    def bernoulli_(self, p: float = 0.5, *, generator: Any = None) -> Tensor:
        """Fill this tensor with ones (with probability `p`) and zeros, and return it."""
        return call("bernoulli_", self, p, generator=generator)

    def normal_(self, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
        """Fill this tensor with random numbers and return it."""
        return call("normal_", self, mean, std, generator=generator)
