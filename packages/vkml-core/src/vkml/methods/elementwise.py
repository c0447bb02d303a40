"""Methods that work element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vkml.ops.functions import call

if TYPE_CHECKING:
    from vkml.dtypes import Number
    from vkml.methods.types import Operand
    from vkml.tensor import Tensor


class ElementwiseMethods:
    """Methods that work element by element."""

    __slots__ = ()

    # arithmetic -----------------------------------------------------------------------

    def add(self, other: Operand, *, alpha: Number = 1) -> Tensor:
        """See `vkml.add`."""
        return call("add", self, other, alpha=alpha)

    def sub(self, other: Operand, *, alpha: Number = 1) -> Tensor:
        """See `vkml.sub`."""
        return call("sub", self, other, alpha=alpha)

    def mul(self, other: Operand) -> Tensor:
        """See `vkml.mul`."""
        return call("mul", self, other)

    def div(self, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
        """See `vkml.div`."""
        return call("div", self, other, rounding_mode=rounding_mode)

    def pow(self, exponent: Operand) -> Tensor:
        """See `vkml.pow`."""
        return call("pow", self, exponent)

    def maximum(self, other: Operand) -> Tensor:
        """See `vkml.maximum`."""
        return call("maximum", self, other)

    def minimum(self, other: Operand) -> Tensor:
        """See `vkml.minimum`."""
        return call("minimum", self, other)

    def floor_divide(self, other: Operand) -> Tensor:
        """See `vkml.floor_divide`."""
        return call("floor_divide", self, other)

    def remainder(self, other: Operand) -> Tensor:
        """See `vkml.remainder`."""
        return call("remainder", self, other)

    def clamp(self, min: Operand | None = None, max: Operand | None = None) -> Tensor:
        """See `vkml.clamp`."""
        return call("clamp", self, min, max)

    def lerp(self, end: Tensor, weight: Operand) -> Tensor:
        """See `vkml.lerp`."""
        return call("lerp", self, end, weight)

    def neg(self) -> Tensor:
        """See `vkml.neg`."""
        return call("neg", self)

    def abs(self) -> Tensor:
        """See `vkml.abs`."""
        return call("abs", self)

    def sign(self) -> Tensor:
        """See `vkml.sign`."""
        return call("sign", self)

    def reciprocal(self) -> Tensor:
        """See `vkml.reciprocal`."""
        return call("reciprocal", self)

    def square(self) -> Tensor:
        """See `vkml.square`."""
        return call("square", self)

    def floor(self) -> Tensor:
        """See `vkml.floor`."""
        return call("floor", self)

    def ceil(self) -> Tensor:
        """See `vkml.ceil`."""
        return call("ceil", self)

    def round(self) -> Tensor:
        """See `vkml.round`."""
        return call("round", self)

    def trunc(self) -> Tensor:
        """See `vkml.trunc`."""
        return call("trunc", self)

    # exponential, trigonometric, special ----------------------------------------------

    def exp(self) -> Tensor:
        """See `vkml.exp`."""
        return call("exp", self)

    def log(self) -> Tensor:
        """See `vkml.log`."""
        return call("log", self)

    def sqrt(self) -> Tensor:
        """See `vkml.sqrt`."""
        return call("sqrt", self)

    def rsqrt(self) -> Tensor:
        """See `vkml.rsqrt`."""
        return call("rsqrt", self)

    def expm1(self) -> Tensor:
        """See `vkml.expm1`."""
        return call("expm1", self)

    def log1p(self) -> Tensor:
        """See `vkml.log1p`."""
        return call("log1p", self)

    def exp2(self) -> Tensor:
        """See `vkml.exp2`."""
        return call("exp2", self)

    def log2(self) -> Tensor:
        """See `vkml.log2`."""
        return call("log2", self)

    def log10(self) -> Tensor:
        """See `vkml.log10`."""
        return call("log10", self)

    def sin(self) -> Tensor:
        """See `vkml.sin`."""
        return call("sin", self)

    def cos(self) -> Tensor:
        """See `vkml.cos`."""
        return call("cos", self)

    def tan(self) -> Tensor:
        """See `vkml.tan`."""
        return call("tan", self)

    def sinh(self) -> Tensor:
        """See `vkml.sinh`."""
        return call("sinh", self)

    def cosh(self) -> Tensor:
        """See `vkml.cosh`."""
        return call("cosh", self)

    def tanh(self) -> Tensor:
        """See `vkml.tanh`."""
        return call("tanh", self)

    def asin(self) -> Tensor:
        """See `vkml.asin`."""
        return call("asin", self)

    def acos(self) -> Tensor:
        """See `vkml.acos`."""
        return call("acos", self)

    def atan(self) -> Tensor:
        """See `vkml.atan`."""
        return call("atan", self)

    def erf(self) -> Tensor:
        """See `vkml.erf`."""
        return call("erf", self)

    def erfc(self) -> Tensor:
        """See `vkml.erfc`."""
        return call("erfc", self)

    # activations ----------------------------------------------------------------------

    def relu(self) -> Tensor:
        """See `vkml.relu`."""
        return call("relu", self)

    def sigmoid(self) -> Tensor:
        """See `vkml.sigmoid`."""
        return call("sigmoid", self)

    def softmax(self, dim: int) -> Tensor:
        """See `vkml.softmax`."""
        return call("softmax", self, dim)

    def log_softmax(self, dim: int) -> Tensor:
        """See `vkml.log_softmax`."""
        return call("log_softmax", self, dim)

    # comparison and logic -------------------------------------------------------------

    def eq(self, other: Operand) -> Tensor:
        """See `vkml.eq`."""
        return call("eq", self, other)

    def ne(self, other: Operand) -> Tensor:
        """See `vkml.ne`."""
        return call("ne", self, other)

    def lt(self, other: Operand) -> Tensor:
        """See `vkml.lt`."""
        return call("lt", self, other)

    def le(self, other: Operand) -> Tensor:
        """See `vkml.le`."""
        return call("le", self, other)

    def gt(self, other: Operand) -> Tensor:
        """See `vkml.gt`."""
        return call("gt", self, other)

    def ge(self, other: Operand) -> Tensor:
        """See `vkml.ge`."""
        return call("ge", self, other)

    def logical_and(self, other: Operand) -> Tensor:
        """See `vkml.logical_and`."""
        return call("logical_and", self, other)

    def logical_or(self, other: Operand) -> Tensor:
        """See `vkml.logical_or`."""
        return call("logical_or", self, other)

    def logical_xor(self, other: Operand) -> Tensor:
        """See `vkml.logical_xor`."""
        return call("logical_xor", self, other)

    def logical_not(self) -> Tensor:
        """See `vkml.logical_not`."""
        return call("logical_not", self)

    def isnan(self) -> Tensor:
        """See `vkml.isnan`."""
        return call("isnan", self)

    def isinf(self) -> Tensor:
        """See `vkml.isinf`."""
        return call("isinf", self)

    def isfinite(self) -> Tensor:
        """See `vkml.isfinite`."""
        return call("isfinite", self)

    def where(self, condition: Tensor, other: Operand) -> Tensor:
        """See `vkml.where`."""
        return call("where", condition, self, other)
