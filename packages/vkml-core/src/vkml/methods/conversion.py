"""Methods that convert, and shorthands for common arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vkml.ops.functions import call

if TYPE_CHECKING:
    from vkml.device import DeviceLike
    from vkml.dtypes import DTypeLike
    from vkml.methods.types import Operand
    from vkml.tensor import Tensor


class ConversionMethods:
    """Methods that convert, and shorthands for common arguments."""

    __slots__ = ()

    # conversion -----------------------------------------------------------------------

    def to(
        self,
        *target: Any,
        dtype: DTypeLike | None = None,
        device: DeviceLike | None = None,
        copy: bool = False,
    ) -> Tensor:
        """See `vkml.to`."""
        return call("to", self, *target, dtype=dtype, device=device, copy=copy)

    # shorthands -----------------------------------------------------------------------

    def float(self) -> Tensor:
        """Return this tensor as float32."""
        return call("to", self, dtype="float32")

    def double(self) -> Tensor:
        """Return this tensor as float64."""
        return call("to", self, dtype="float64")

    def half(self) -> Tensor:
        """Return this tensor as float16."""
        return call("to", self, dtype="float16")

    def bfloat16(self) -> Tensor:
        """Return this tensor as bfloat16."""
        return call("to", self, dtype="bfloat16")

    def int(self) -> Tensor:
        """Return this tensor as int32."""
        return call("to", self, dtype="int32")

    def long(self) -> Tensor:
        """Return this tensor as int64."""
        return call("to", self, dtype="int64")

    def bool(self) -> Tensor:
        """Return this tensor as bool."""
        return call("to", self, dtype="bool")

    @property
    def T(self) -> Tensor:  # noqa: N802 - the field's name
        """The tensor with its axes in reverse order; for matrices, the transpose."""
        return call("permute", self, tuple(range(self.ndim))[::-1])  # type: ignore[attr-defined]  # Tensor has ndim

    @property
    def mT(self) -> Tensor:  # noqa: N802 - the field's name
        """The tensor with its last two axes swapped."""
        return call("transpose", self, -2, -1)

    def t(self) -> Tensor:
        """See `vkml.t`."""
        return call("t", self)

    def reshape_as(self, other: Tensor) -> Tensor:
        """Return this tensor in the shape of `other`."""
        return call("reshape", self, other.shape)

    def expand_as(self, other: Tensor) -> Tensor:
        """Return this tensor broadcast to the shape of `other`."""
        return call("expand", self, other.shape)

    def type_as(self, other: Tensor) -> Tensor:
        """Return this tensor with the dtype of `other`."""
        return self.to(dtype=other.dtype)

    def clamp_min(self, min: Operand) -> Tensor:
        """Return this tensor with values under `min` raised to it."""
        return call("clamp", self, min, None)

    def clamp_max(self, max: Operand) -> Tensor:
        """Return this tensor with values over `max` lowered to it."""
        return call("clamp", self, None, max)
