"""The operators. Those of arithmetic are replaced by faster ones in `vkml.operators`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vkml.ops.functions import call

if TYPE_CHECKING:
    from vkml.methods.types import Operand
    from vkml.tensor import Tensor


_WITH_ELEMENTS: Final = (int, float, complex, np.generic, np.ndarray, list, tuple)


def _has_elements(value: object) -> bool:
    """Return whether elements can be equal to `value`; of None or "a", the whole tensor differs.

    Sequences and arrays belong here, so that comparing with one raises and is not just False.
    """
    return hasattr(value, "_operand") or isinstance(value, _WITH_ELEMENTS)


class OperatorMethods:
    """The operators. Those of arithmetic are replaced by faster ones in `vkml.operators`."""

    __slots__ = ()

    # operators ------------------------------------------------------------------------

    def __add__(self, other: Operand) -> Tensor:
        return call("add", self, other)

    def __radd__(self, other: Operand) -> Tensor:
        return call("add", other, self)

    def __sub__(self, other: Operand) -> Tensor:
        return call("sub", self, other)

    def __rsub__(self, other: Operand) -> Tensor:
        return call("sub", other, self)

    def __mul__(self, other: Operand) -> Tensor:
        return call("mul", self, other)

    def __rmul__(self, other: Operand) -> Tensor:
        return call("mul", other, self)

    def __truediv__(self, other: Operand) -> Tensor:
        return call("div", self, other)

    def __rtruediv__(self, other: Operand) -> Tensor:
        return call("div", other, self)

    def __floordiv__(self, other: Operand) -> Tensor:
        return call("floor_divide", self, other)

    def __rfloordiv__(self, other: Operand) -> Tensor:
        return call("floor_divide", other, self)

    def __mod__(self, other: Operand) -> Tensor:
        return call("remainder", self, other)

    def __rmod__(self, other: Operand) -> Tensor:
        return call("remainder", other, self)

    def __pow__(self, other: Operand) -> Tensor:
        return call("pow", self, other)

    def __rpow__(self, other: Operand) -> Tensor:
        return call("pow", other, self)

    def __matmul__(self, other: Operand) -> Tensor:
        return call("matmul", self, other)

    def __rmatmul__(self, other: Operand) -> Tensor:
        return call("matmul", other, self)

    def __and__(self, other: Operand) -> Tensor:
        return call("bitwise_and", self, other)

    def __or__(self, other: Operand) -> Tensor:
        return call("bitwise_or", self, other)

    def __xor__(self, other: Operand) -> Tensor:
        return call("bitwise_xor", self, other)

    def __rand__(self, other: Operand) -> Tensor:
        return call("bitwise_and", other, self)

    def __ror__(self, other: Operand) -> Tensor:
        return call("bitwise_or", other, self)

    def __rxor__(self, other: Operand) -> Tensor:
        return call("bitwise_xor", other, self)

    def __invert__(self) -> Tensor:
        return call("bitwise_not", self)

    def __lt__(self, other: Operand) -> Tensor:
        return call("lt", self, other)

    def __le__(self, other: Operand) -> Tensor:
        return call("le", self, other)

    def __gt__(self, other: Operand) -> Tensor:
        return call("gt", self, other)

    def __ge__(self, other: Operand) -> Tensor:
        return call("ge", self, other)

    def __eq__(self, other: object) -> Tensor:  # type: ignore[override]  # elementwise, as in NumPy
        return call("eq", self, other) if _has_elements(other) else NotImplemented

    def __ne__(self, other: object) -> Tensor:  # type: ignore[override]  # elementwise, as in NumPy
        return call("ne", self, other) if _has_elements(other) else NotImplemented

    def __neg__(self) -> Tensor:
        return call("neg", self)

    def __pos__(self) -> Tensor:
        return self  # type: ignore[return-value]  # every user of the mixin is a Tensor

    def __abs__(self) -> Tensor:
        return call("abs", self)

    def __iadd__(self, other: Operand) -> Tensor:
        return call("add_", self, other)

    def __isub__(self, other: Operand) -> Tensor:
        return call("sub_", self, other)

    def __imul__(self, other: Operand) -> Tensor:
        return call("mul_", self, other)

    def __itruediv__(self, other: Operand) -> Tensor:
        return call("div_", self, other)

    def __ipow__(self, other: Operand) -> Tensor:
        return call("pow_", self, other)

    def __getitem__(self, index: Any) -> Tensor:
        return call("getitem", self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        call("setitem", self, index, value)

    def __iter__(self) -> Iterator[Tensor]:
        return iter(call("unbind", self, 0))

    def __contains__(self, value: Operand) -> bool:
        return bool((self == value).any().item())
