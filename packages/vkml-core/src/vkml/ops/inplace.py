"""In-place operations: their names end with an underscore, and they return the tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from vkml import shapes
from vkml.autograd.inplace import assign, check_writable, is_recorded, replace, write
from vkml.errors import DTypeError, ShapeError
from vkml.ops.creation import full
from vkml.ops.definition import OPERATIONS
from vkml.ops.from_data import as_tensor
from vkml.ops.functions import FUNCTIONS
from vkml.ops.writing import run_into
from vkml.tensor import Tensor

__all__: list[str] = []

METHODS: Final[dict[str, Callable[..., Tensor]]] = {}
"""The in-place methods by name."""


def _elementwise(name: str) -> Callable[..., Tensor]:
    """Return the in-place form of an operation that writes into ``out``."""

    def method(x: Tensor, *operands: Any) -> Tensor:
        if any(each is None for each in operands):
            raise DTypeError(f"{name}_: expected a tensor or a number, got None.")
        if is_recorded(x, *operands):
            return replace(f"{name}_", x, lambda: FUNCTIONS[name](x, *operands))
        run_into(OPERATIONS[name], (x, *operands), (), x)
        return x

    return method


def _composed(name: str) -> Callable[..., Tensor]:
    """Return the in-place form of a function that has no kernel of its own to write in place."""

    def method(x: Tensor, *arguments: Any, **options: Any) -> Tensor:
        if is_recorded(x, *arguments):
            return replace(f"{name}_", x, lambda: FUNCTIONS[name](x, *arguments, **options))
        return assign(f"{name}_", x, FUNCTIONS[name](x.detach(), *arguments, **options))

    return method


def _scaled(name: str) -> Callable[..., Tensor]:
    plain = _elementwise(name)

    def method(x: Tensor, y: Any, *, alpha: Any = 1) -> Tensor:
        return plain(x, y if alpha == 1 else y * alpha)

    return method


def copy_(x: Tensor, source: Any) -> Tensor:
    """Write `source` (a tensor, array or number) into `x`, converted and broadcast."""
    # Numbers become the target's dtype at once: by way of float32 they would lose digits.
    values = source if isinstance(source, Tensor) else as_tensor(source, dtype=x.dtype)
    if not shapes.broadcasts_to(values.shape, x.shape):
        message = f"copy_: a value of shape {values.shape} does not broadcast to {x.shape}."
        raise ShapeError(message)
    values = values.to(device=x.device)
    if is_recorded(x, values):
        check_writable("copy_", x)
        return assign("copy_", x, values.to(dtype=x.dtype).expand(x.shape))
    write(x, values._operand)
    return x


def fill_(x: Tensor, value: Any) -> Tensor:
    """Write one number into every element of `x`."""
    return copy_(x, full((), value, dtype=x.dtype) if not isinstance(value, Tensor) else value)


def zero_(x: Tensor) -> Tensor:
    """Write 0 into every element of `x`."""
    return fill_(x, 0)


for _name in ("add", "sub"):
    METHODS[f"{_name}_"] = _scaled(_name)
for _name in ("mul", "div", "pow", "neg", "abs", "exp", "sqrt", "tanh", "reciprocal", "square"):
    METHODS[f"{_name}_"] = _elementwise(_name)
for _name in ("clamp", "lerp", "masked_fill", "index_add", "relu", "sigmoid"):
    METHODS[f"{_name}_"] = _composed(_name)
METHODS.update(copy_=copy_, fill_=fill_, zero_=zero_)
