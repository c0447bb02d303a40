"""Writing into tensors: versions, views that share the memory, and the graph.

A write that is recorded counts as a new value of the tensor: its node is replaced. If the tensor is
a view, the memory's base gets a new node too (the old value with the written part replaced), and
other views derive theirs from it when they are next used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vkml import dtypes
from vkml.autograd.graph import Leaf, Node, current_sum, next_sequence, version_in, version_of
from vkml.autograd.modes import enable_grad, mode
from vkml.autograd.views import ViewOf, refresh_view
from vkml.errors import AutogradError, DTypeError, ShapeError
from vkml.ops.apply import apply
from vkml.ops.definition import OPERATIONS, Spec
from vkml.ops.quiet import quiet
from vkml.ops.strided import positions
from vkml.ops.writing import unwritable
from vkml.tensor import Tensor, wrap


def is_recorded(target: Tensor, *operands: Any) -> bool:
    """Return whether a write into `target` has to enter the graph."""
    if not mode.enabled:
        return False
    if any(isinstance(each, Tensor) and each.requires_grad for each in operands):
        return True
    base = target._view.base if target._view is not None else None
    return target._node is not None or (base is not None and base._node is not None)


def check_writable(name: str, target: Tensor) -> None:
    """Raise if a recorded write into `target` would lose a leaf's place in the graph."""
    base = target._view.base if target._view is not None else None
    for each in (target, base):
        if each is not None and isinstance(each._node, Leaf):
            message = (
                f"{name}: this tensor (or the one it is a view of) is a leaf that requires a "
                "gradient; write to it under vkml.no_grad(), or to a clone."
            )
            raise AutogradError(message)


def replace(name: str, target: Tensor, compute: Callable[[], Tensor]) -> Tensor:
    """Compute a new value of `target` as a recorded operation, write it in and return `target`."""
    check_writable(name, target)
    refresh_view(target)
    start = next_sequence()
    value = compute()
    _save_old_values(target, value, start)
    return assign(name, target, value)


def _save_old_values(target: Tensor, value: Tensor, start: int) -> None:
    """Give the nodes made since `start` copies of what they saved of the memory of `target`."""
    version = version_of(target)
    handle = target._device.handle
    storage = target._layout().storage
    nodes = [value._node]
    for node in nodes:  # grows as it is walked
        if not isinstance(node, Node) or node.sequence <= start:
            continue
        nodes += node.edges
        if all(version_in(each) is not version for each in node.versions):
            continue
        saved = []
        for each in node.saved or ():
            if hasattr(each, "dtype") and not isinstance(each, Spec):
                operand = handle.place(each)
                if handle.layout(operand).storage == storage:
                    each = handle.empty(operand.shape, operand.dtype)
                    handle.copy(operand, each)
            saved.append(each)
        node.saved = tuple(saved)
        node.versions = [each for each in node.versions if version_in(each) is not version]
        node.version_sum = current_sum(node.versions)


def assign(name: str, target: Tensor, value: Tensor) -> Tensor:
    """Write `value` into `target`; where writes are recorded, its node becomes the target's."""
    if value.shape != target.shape:
        message = f"{name}: a value of shape {value.shape} does not fit into {target.shape}."
        raise ShapeError(message)
    if dtypes.category(value._operand.dtype) > dtypes.category(target._operand.dtype):
        raise DTypeError(f"{name}: {value.dtype} does not fit into {target.dtype}; convert first.")
    if value._operand.dtype != target._operand.dtype:
        value = value.to(dtype=target.dtype)
    write(target, value._operand)
    if not is_recorded(target, value):
        return target
    known = target._view
    if known is None:
        target._node = value._node
        return target
    base = known.base
    layout = target._layout()
    geometry = (layout.strides, layout.offset, _strides(base), base.storage_offset())
    base._node = _scattered(base, value, geometry)
    target._node = value._node
    target._view = ViewOf(base, version_of(target)[0])
    return target


def write(target: Tensor, operand: Any) -> None:
    """Write the values of `operand` into the memory of `target`, and count it."""
    try:
        quiet.run(target._device.handle.copy, operand, target._placed())
    except ValueError as error:
        raise unwritable(error) from None
    version_of(target)[0] += 1


def rederive(view: Tensor, known: ViewOf) -> None:
    """Give `view` a node that derives it from its base as it is now."""
    base = known.base
    number = version_of(view)[0]
    view._view = ViewOf(base, number)
    if isinstance(view._node, Leaf):
        return
    if base._node is None:
        view._node = None
        return
    layout = view._layout()
    options = (view.shape, layout.strides, layout.offset, _strides(base), base.storage_offset())
    with enable_grad():  # also when first used where nothing is recorded
        view._node = apply(OPERATIONS["as_strided"], (base,), options)._node


def _strides(tensor: Tensor) -> tuple[int, ...]:
    strides: tuple[int, ...] = tensor.stride()
    return strides


def _scattered(base: Tensor, value: Tensor, geometry: tuple[Any, ...]) -> Any:
    """Return the node of: `base`, with the part that a view shows replaced by `value`."""
    shape = value.shape
    where = positions(base.shape, geometry[2], geometry[3], shape, geometry[0], geometry[1])
    covered = np.zeros(base.numel(), np.bool_)
    covered[where] = True
    device = base._device
    mask = wrap(device.handle.upload(covered.reshape(base.shape)), device)
    index = wrap(device.handle.upload(where), device)
    old = wrap(base._operand, device, base._node, base._version)
    kept = apply(OPERATIONS["where"], (mask, 0.0, old)) if base._node is not None else None
    placed = apply(
        OPERATIONS["index_add_zeros"], (value.reshape(-1), index), (base.numel(), 0)
    ).reshape(base.shape)
    if kept is None:
        return placed._node
    if placed._node is None:
        return kept._node
    return (kept + placed)._node
