"""The recorded graph: one node per differentiable operation, and leaves where gradients arrive.

Edges point to nodes and leaves, never to tensors, so a value that no gradient rule needs is freed
as soon as the user lets go of it. What a rule does need is saved with its version; the backward
pass refuses values that were changed in place since.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vkml.ops.definition import Keep, KeepResult, Operation, Spec

if TYPE_CHECKING:
    from vkml.device import Device
    from vkml.tensor import Tensor

Hook: TypeAlias = "Callable[[Tensor], Tensor | None]"
Version: TypeAlias = list[int]
"""One number in a list, shared by all tensors on one memory; raised by each write."""


def version_of(tensor: Tensor) -> Version:
    """Return the version of the tensor's memory, which few tensors need and get on demand."""
    version = tensor._version
    if version is None:
        version = tensor._version = [0]
    return version


next_sequence: Final = itertools.count().__next__


Versioned: TypeAlias = "Tensor | Version"
"""What tells the version of a saved value's memory: the version, or the tensor until it has one.

The version itself where there is one: the tensor may be made to show other memory (`set_`).
"""


def version_in(each: Versioned) -> Version | None:
    """Return the version; None for memory that nobody asked about, which was never written."""
    return each if each.__class__ is list else each._version  # type: ignore[union-attr]  # a Tensor, then


def current_sum(versions: Iterable[Versioned]) -> int:
    """Return the sum of versions as they are now."""
    found = [version_in(each) for each in versions]
    return sum([version[0] for version in found if version is not None])


class Leaf:
    """Where a gradient ends: a tensor that the user marked with ``requires_grad``."""

    __slots__ = ("device", "dtype", "grad", "hooks")

    def __init__(self, device: Device, dtype: np.dtype[Any]) -> None:
        self.device = device
        self.dtype = dtype
        self.grad: Tensor | None = None
        self.hooks: dict[int, Hook] | None = None

    name = "leaf"
    next_functions: tuple[Edge, ...] = ()


class Extras:
    """What few nodes have: hooks, and a gradient to keep."""

    __slots__ = ("grad", "hooks", "retains_grad")

    def __init__(self) -> None:
        self.hooks: dict[int, Hook] = {}
        self.retains_grad = False
        self.grad: Tensor | None = None


class Node:
    """One recorded operation."""

    __slots__ = (
        "__weakref__",
        "device",
        "edges",
        "extras",
        "operation",
        "options",
        "results",
        "saved",
        "sequence",
        "shapes",
        "version_sum",
        "versions",
    )

    operation: Operation
    device: Device
    edges: tuple[Edge, ...]
    """One per operand: where its gradient goes, or None."""
    saved: tuple[Any, ...] | None
    """One per operand: value, Spec or None, as the rule's parameters ask. None: freed."""
    results: Any
    """The result, the auxiliary results or both, as the rule asks."""
    options: tuple[Any, ...]
    versions: Sequence[Versioned]
    """What tells the version of the memory of each saved value ..."""
    version_sum: int
    """... and their sum when the operation ran. They only grow: an equal sum means no change."""
    shapes: tuple[tuple[int, ...] | None, ...] | None
    """The operands' shapes where they were broadcast, else None."""
    sequence: int
    extras: Extras | None

    @property
    def name(self) -> str:
        """The operation's name."""
        return self.operation.name

    @property
    def next_functions(self) -> tuple[Edge, ...]:
        """The nodes and leaves that the operands came from."""
        return self.edges

    def __repr__(self) -> str:
        return f"<{self.operation.name} gradient>"


class OperatorNode(Node):
    """A node of ``+ - * /``: no options, no result that the rules need, so less to fill in."""

    __slots__ = ()

    options = ()
    results = None


Edge: TypeAlias = Leaf | Node | None


def record(
    operation: Operation,
    device: Device,
    tensors: Sequence[Tensor | Any],
    options: tuple[Any, ...],
    results: Any,
    result: Tensor,
) -> Node:
    """Return a node for `operation`, which was applied to `tensors` and gave `results`.

    `results` is the raw result, or the tuple of result and auxiliary results; `result` is the
    tensor made of it.
    """
    saved: list[Any] = []
    versions: list[Versioned] = []
    edges: list[Edge] = []
    shapes: list[tuple[int, ...] | None] = []
    keeps = operation.keeps * len(tensors) if operation.takes_sequence else operation.keeps
    if operation.used_by is not None:
        keeps = _needed(operation.used_by, keeps, tensors)
    for tensor, keep in zip(tensors, keeps, strict=True):
        try:
            operand = tensor._operand
        except AttributeError:  # a number or None stands there
            edges.append(None)
            shapes.append(None)
            saved.append(tensor)
            continue
        edges.append(tensor._node)
        shapes.append(operand.shape)
        if keep is Keep.VALUE:
            saved.append(operand)
            versions.append(tensor if tensor._version is None else tensor._version)
        else:
            saved.append(Spec(operand.shape, operand.dtype) if keep is Keep.SPEC else None)
    node: Node = object.__new__(Node)
    node.operation = operation
    node.device = device
    node.edges = tuple(edges)
    node.saved = tuple(saved)
    node.options = options
    node.shapes = None
    if operation.broadcasts and any(shape != shapes[0] for shape in shapes):
        node.shapes = tuple(shapes)
    keep_result = operation.keeps_result
    if keep_result is KeepResult.NOTHING:
        node.results = None
    elif keep_result is KeepResult.RESULT:
        node.results = results[0] if operation.auxiliaries else results
        versions.append(version_of(result))
    elif keep_result is KeepResult.ALL:
        node.results = results
        versions.append(version_of(result))
    else:
        node.results = results[1:]
    node.versions = versions
    node.version_sum = current_sum(versions)
    node.extras = None
    node.sequence = next_sequence()
    return node


def _needed(
    used_by: tuple[tuple[int, ...], ...], keeps: tuple[Keep, ...], tensors: Sequence[Tensor | Any]
) -> tuple[Keep, ...]:
    """Return what to keep, without the values that only gradients nobody wants would use."""
    wants = [getattr(each, "_node", None) is not None for each in tensors]
    return tuple(
        keep if any(wants[user] for user in users) else Keep.NOTHING
        for keep, users in zip(keeps, used_by, strict=True)
    )
