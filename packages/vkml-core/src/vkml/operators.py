"""Fast versions of the operators ``+ - * /`` for the common case.

Small models spend their time between kernels. Where both operands are tensors of one dtype on one
device (or the other is a Python float and the tensor is floating point), nothing needs to be
promoted or moved, and the kernel checks the shapes itself; every other case, and every error, goes
through the public function. The result is the same either way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from vkml.autograd.graph import OperatorNode, current_sum, next_sequence
from vkml.autograd.modes import mode
from vkml.autograd.views import refresh_view
from vkml.ops.definition import OPERATIONS, Keep, Promotion
from vkml.ops.functions import FUNCTIONS
from vkml.ops.quiet import run_on_main_path
from vkml.tensor import Tensor

_new: Final = object.__new__
_run: Final = run_on_main_path
_NUMBERS: Final = (float, int)
_NOTHING: Final = (None, None)
_FLOATING: Final = frozenset("fc")
_FRACTIONS: Final = frozenset("fcV")
"""What needs no promotion before a division; "V" is bfloat16."""


def _binary_operator(name: str) -> Callable[[Tensor, Any], Tensor]:
    operation = OPERATIONS[name]
    keeps = Keep.VALUE in operation.keeps
    makes_fractions = operation.promotion is Promotion.FLOATING
    y_for_y = operation.used_by is not None and 1 in operation.used_by[1]

    def operator(x: Tensor, y: Any) -> Tensor:
        try:
            a = x._operand
            b = y._operand
            device = x._device
            y_node = y._node
            y_view = y._view
            if device is not y._device or a.dtype is not b.dtype:
                return FUNCTIONS[name](x, y)  # type: ignore[no-any-return]
            if makes_fractions and a.dtype.kind not in _FRACTIONS:
                return FUNCTIONS[name](x, y)  # type: ignore[no-any-return]
        except AttributeError:
            device = x._device
            if y.__class__ not in _NUMBERS or a.dtype.kind not in _FLOATING:
                return FUNCTIONS[name](x, y)  # type: ignore[no-any-return]
            b = y = float(y)
            y_node = y_view = None
        try:
            operand = _run(device.kernels[name], a, b)
        except (ValueError, TypeError, RuntimeError):
            # Wrong shapes; truth values; no kernel, or another thread inside.
            return FUNCTIONS[name](x, y)  # type: ignore[no-any-return]
        result: Tensor = _new(Tensor)
        result._operand = operand
        result._device = device
        result._version = None
        result._view = None
        x_node = x._node
        viewed = x._view is not None or y_view is not None
        if (x_node is None and y_node is None and not viewed) or not mode.enabled:
            result._node = None
            return result
        if viewed:
            refresh_view(x)
            x_node = x._node
            if b is not y:
                refresh_view(y)
                y_node = y._node
        if x_node is None and y_node is None:
            result._node = None
            return result
        # What `vkml.autograd.graph.record` does, spelled out for two operands.
        node: OperatorNode = _new(OperatorNode)
        node.operation = operation
        node.device = device
        node.edges = (x_node, y_node)
        node.extras = None
        node.sequence = next_sequence()
        if b is y:  # a number
            node.shapes = None
            node.saved = (None, b)
            node.versions = ()
            node.version_sum = 0
            result._node = node
            return result
        x_shape = a.shape
        y_shape = b.shape
        node.shapes = None if x_shape == y_shape else (x_shape, y_shape)
        if not keeps:
            node.saved = _NOTHING
            node.versions = ()
            node.version_sum = 0
        else:
            x_version = x._version
            y_version = y._version
            if x_node is not None and y_node is not None:
                node.saved = (a, b)
                if x_version is None:  # a result, as a rule
                    node.versions = (x, y_version or y)
                    node.version_sum = y_version[0] if y_version is not None else 0
                    result._node = node
                    return result
                versions: tuple[Any, ...] = (x_version, y_version or y)
            # Of a product, the value of the operand that wants no gradient is all that is needed.
            elif y_node is None:
                node.saved = (None, b)
                versions = (y_version or y,)
            elif y_for_y:
                node.saved = (a, b)
                versions = (x_version or x, y_version or y)
            else:
                node.saved = (a, None)
                versions = (x_version or x,)
            node.versions = versions
            node.version_sum = current_sum(versions)
        result._node = node
        return result

    return operator


def install() -> None:
    """Give `Tensor` the fast operators. Called once, when vkml is imported."""
    for symbol, name in (("add", "add"), ("sub", "sub"), ("mul", "mul"), ("truediv", "div")):
        setattr(Tensor, f"__{symbol}__", _binary_operator(name))
    for symbol in ("add", "mul"):  # commutative: a number on the left is one on the right
        setattr(Tensor, f"__r{symbol}__", _binary_operator(symbol))
