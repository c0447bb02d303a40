"""The backward pass: gradient rules run from the results to the leaves, newest node first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from vkml.autograd.graph import Leaf, Node, version_of
from vkml.autograd.modes import mode
from vkml.autograd.views import refresh_view
from vkml.errors import AutogradError, ShapeError
from vkml.ops.apply import tensor_operations
from vkml.ops.definition import THROUGH_DECOMPOSITION, KeepResult, Ops, Spec
from vkml.tensor import Tensor, wrap

if TYPE_CHECKING:
    from vkml.device import Device

Target: TypeAlias = Leaf | Node


def backward(
    tensors: Tensor | Sequence[Tensor],
    gradients: Tensor | Sequence[Tensor | None] | None = None,
    *,
    retain_graph: bool | None = None,
    create_graph: bool = False,
) -> None:
    """Add the gradients of `tensors` to the `grad` of every leaf they were computed from.

    Parameters
    ----------
    tensors : Tensor or sequence of Tensor
        What to differentiate.
    gradients : Tensor or sequence, optional
        One gradient per tensor; may be left out where a tensor holds one element.
    retain_graph : bool, optional
        Keep the graph for another backward pass; `create_graph` by default.
    create_graph : bool
        Record the backward pass, for higher derivatives.

    Raises
    ------
    AutogradError
        A tensor requires no gradient, the graph was freed, or a value was changed in place.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.tensor([3.0], requires_grad=True)
    >>> vkml.autograd.backward(x * x)
    >>> x.grad
    tensor([6.])
    """
    roots = _roots(tensors, gradients, create_graph)
    arrived = _run(roots, None, _retain(retain_graph, create_graph), create_graph)
    taken = {id(gradient) for _, gradient in roots}
    for leaf, gradient in arrived.items():
        if isinstance(leaf, Leaf):
            _accumulate(leaf, gradient, taken)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    *,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Tensor | None, ...]:
    """Return the gradients of `outputs` with respect to `inputs`, leaving every `grad` alone.

    Parameters
    ----------
    outputs, inputs : Tensor or sequence of Tensor
        What to differentiate, and by what.
    grad_outputs : Tensor or sequence, optional
        One gradient per output.
    retain_graph, create_graph : bool
        As for `backward`.
    allow_unused : bool
        Return None for inputs that the outputs do not depend on, instead of raising.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.tensor(2.0, requires_grad=True)
    >>> (first,) = vkml.autograd.grad(x**3, x, create_graph=True)
    >>> (second,) = vkml.autograd.grad(first, x)
    >>> first.item(), second.item()
    (12.0, 12.0)
    """
    sources = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    for position, source in enumerate(sources):
        refresh_view(source)
        if source._node is None:
            raise AutogradError(f"grad: input {position} requires no gradient.")
    targets = [source._node for source in sources if source._node is not None]
    roots = _roots(outputs, grad_outputs, create_graph)
    arrived = _run(roots, set(targets), _retain(retain_graph, create_graph), create_graph)
    result: list[Tensor | None] = []
    for position, (source, target) in enumerate(zip(sources, targets, strict=True)):
        found = arrived.get(target)
        if found is None:
            if not allow_unused:
                message = (
                    f"grad: the outputs do not depend on input {position}; "
                    "pass allow_unused=True to get None for it."
                )
                raise AutogradError(message)
            result.append(None)
        else:
            if not create_graph:
                found = wrap(_in_dtype(found, source._operand.dtype, source._device), target.device)
            result.append(found)
    return tuple(result)


def _retain(retain_graph: bool | None, create_graph: bool) -> bool:
    return create_graph if retain_graph is None else retain_graph


_Root: TypeAlias = tuple[Target, Any]


def _roots(tensors: Any, gradients: Any, create_graph: bool) -> list[_Root]:
    outputs = (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)
    if gradients is None or isinstance(gradients, Tensor):
        gradients = (gradients,) * len(outputs)
    roots: list[_Root] = []
    for output, gradient in zip(outputs, gradients, strict=True):
        refresh_view(output)
        if output._node is None:
            message = (
                "backward: this tensor requires no gradient, and no operation on one that does "
                "made it. Set requires_grad=True on the leaves, outside no_grad."
            )
            raise AutogradError(message)
        if gradient is None:
            if output.numel() != 1:
                message = (
                    f"backward: a tensor of shape {output.shape} needs a gradient to start from; "
                    "pass one of the same shape, or reduce it first: x.sum().backward()."
                )
                raise AutogradError(message)
            start = _ones_like(output)
            gradient = wrap(start, output._device)
        elif gradient.shape != output.shape:
            message = (
                f"backward: the gradient has shape {gradient.shape}, the tensor {output.shape}."
            )
            raise ShapeError(message)
        value = gradient if create_graph else gradient._operand
        roots.append((output._node, value))
    return roots


def _ones_like(tensor: Tensor) -> Any:
    return tensor._device.kernels["full"](tensor.shape, 1, tensor._operand.dtype)


def _collect(roots: Iterable[Target]) -> list[Node]:
    """Return all nodes under `roots`, newest first. No recursion: chains may be long."""
    nodes: list[Node] = [root for root in roots if isinstance(root, Node)]
    seen = set(nodes)
    for node in nodes:  # grows as it is walked
        for edge in node.edges:
            if edge is not None and edge.__class__ is not Leaf and edge not in seen:
                seen.add(edge)  # type: ignore[arg-type]  # a Node, then
                nodes.append(edge)  # type: ignore[arg-type]
    nodes.sort(key=attrgetter("sequence"), reverse=True)
    return nodes


def _leading_to(targets: set[Target], nodes: Sequence[Node]) -> set[Target]:
    """Return the targets and all nodes from which a target can be reached."""
    leading = set(targets)
    for node in reversed(nodes):
        if any(edge in leading for edge in node.edges):
            leading.add(node)
    return leading


def _run(
    roots: Sequence[_Root], targets: set[Target] | None, retain: bool, create_graph: bool
) -> dict[Target, Any]:
    previous = mode.enabled
    mode.enabled = create_graph
    try:
        with np.errstate(all="ignore"):
            return _walk(roots, targets, retain, create_graph)
    finally:
        mode.enabled = previous


def _walk(
    roots: Sequence[_Root], targets: set[Target] | None, retain: bool, create_graph: bool
) -> dict[Target, Any]:
    pending: dict[Target, Any] = {}
    k: Ops
    for target, gradient in roots:
        _add(pending, target, gradient, create_graph)
    nodes = _collect(pending)
    leading = _leading_to(targets, nodes) if targets is not None else None
    finished: dict[Target, Any] = {}
    for node in nodes:
        upstream = pending.pop(node, None)
        if upstream is None or (leading is not None and node not in leading):
            continue
        if node.extras is not None:
            upstream = _visit_extras(node, upstream, create_graph)
        if targets is not None and node in targets:
            finished[node] = upstream
        saved = node.saved
        if saved is None:
            _refuse_freed(node)
        version_sum = 0
        for versioned in node.versions:
            version = versioned if versioned.__class__ is list else versioned._version  # type: ignore[union-attr]  # a Tensor, then
            if version is not None:
                version_sum += version[0]
        if version_sum != node.version_sum:
            _refuse_changed(node)
        edges = node.edges
        if leading is not None:
            edges = tuple([edge if edge in leading else None for edge in edges])
        if create_graph:
            k = tensor_operations(node.device)
            gradients = _apply_rule_to_tensors(node, upstream, edges, k)
        else:
            k = node.device.raw
            operation = node.operation
            options = node.options
            if options or not operation.is_plain_binary:
                gradients = _apply_rule(node, upstream, saved, edges, k)
            elif operation.wants_needs:  # the operators of small models: worth a plain call
                gradients = operation.gradient(k, upstream, node.results, saved[0], saved[1], edges)  # type: ignore[operator, misc, index]  # a rule
            else:
                gradients = operation.gradient(k, upstream, node.results, saved[0], saved[1])  # type: ignore[operator, misc, index]
        if node.shapes is not None:
            gradients = _summed(k, gradients, node.shapes)
        # Not strict: that costs as much as the loop, and the tests of the records check the rules.
        for edge, gradient in zip(edges, gradients):  # noqa: B905
            if edge is not None and gradient is not None:
                earlier = pending.get(edge)
                pending[edge] = gradient if earlier is None else k.add(earlier, gradient)
        if not retain:
            node.saved = None
            node.versions = ()
            if node.results is not None:
                node.results = None
    for leaf, gradient in pending.items():
        if isinstance(leaf, Leaf):
            if not create_graph:
                gradient = _in_dtype(gradient, leaf.dtype, leaf.device)
            finished[leaf] = _run_hooks(leaf.hooks, gradient, leaf.device, create_graph)
    return finished


def _in_dtype(gradient: Any, dtype: np.dtype[Any], device: Device) -> Any:
    """Return `gradient` in `dtype`: NumPy widens bfloat16 beside a Python number."""
    return gradient if gradient.dtype == dtype else device.raw.cast(gradient, dtype)


def _add(pending: dict[Target, Any], target: Target, gradient: Any, create_graph: bool) -> None:
    if target not in pending:
        pending[target] = gradient
    elif create_graph:
        pending[target] = pending[target] + gradient
    else:
        pending[target] = target.device.raw.add(pending[target], gradient)


def _apply_rule(node: Node, upstream: Any, saved: Any, edges: tuple[Any, ...], k: Ops) -> Any:
    operation = node.operation
    rule: Any = operation.gradient
    arguments = (saved,) if operation.takes_sequence else saved
    if operation.wants_needs:
        return rule(k, upstream, node.results, *arguments, *node.options, edges)
    return rule(k, upstream, node.results, *arguments, *node.options)


def _summed(k: Ops, gradients: Any, shapes: tuple[Any, ...]) -> list[Any]:
    """Return the gradients of broadcast operands, summed back to the operands' shapes."""
    return [
        gradient
        if gradient is None or shape is None or gradient.shape == shape
        else k.sum_to_size(gradient, shape)
        for gradient, shape in zip(gradients, shapes, strict=True)
    ]


def _refuse_freed(node: Node) -> None:
    message = (
        f"backward: the graph of {node.name} was freed by an earlier backward pass; "
        "pass retain_graph=True to that one."
    )
    raise AutogradError(message)


def _refuse_changed(node: Node) -> None:
    message = (
        f"backward: a value that the gradient of {node.name} needs was changed in place after "
        f"{node.name} ran. Use the out-of-place operation, or clone the tensor first."
    )
    raise AutogradError(message)


def _visit_extras(node: Node, upstream: Any, create_graph: bool) -> Any:
    assert node.extras is not None  # noqa: S101 - the caller has checked
    upstream = _run_hooks(node.extras.hooks, upstream, node.device, create_graph)
    if node.extras.retains_grad:
        gradient = upstream if create_graph else wrap(upstream, node.device)
        earlier = node.extras.grad
        node.extras.grad = gradient.clone() if earlier is None else earlier + gradient
    return upstream


def _run_hooks(hooks: Any, gradient: Any, device: Device, create_graph: bool) -> Any:
    if not hooks:
        return gradient
    tensor = gradient if create_graph else wrap(gradient, device)
    for hook in list(hooks.values()):
        replaced = hook(tensor)
        if replaced is not None:
            tensor = replaced
    return tensor if create_graph else lent(tensor)


def lent(tensor: Tensor) -> Any:
    """Return an operand on the memory of `tensor`, which the user may keep.

    A view does not own its memory, so no leaf will take it for its gradient without a copy.
    """
    operand = tensor._placed()
    handle = tensor._device.handle
    layout = handle.layout(operand)
    return handle.view(operand, operand.shape, layout.strides, layout.offset)


def _apply_rule_to_tensors(node: Node, upstream: Tensor, edges: tuple[Any, ...], k: Ops) -> Any:
    """Run a gradient rule on Tensors, so that the backward pass is itself recorded."""
    operation = node.operation
    device = node.device
    values = [
        wrap(value, device, edge) if keep_is_value(value) else value
        # Not strict: the node of a `Function` saves nothing.
        for value, edge in zip(node.saved or (), node.edges, strict=False)
    ]
    results = node.results
    if results is not None:
        if operation.keeps_result is KeepResult.RESULT:
            results = wrap(results, device, node)
        elif operation.keeps_result is KeepResult.ALL:
            results = (wrap(results[0], device, node), *_wrap_all(results[1:], device))
        else:
            results = _wrap_all(results, device)
    arguments = (values,) if operation.takes_sequence else values
    rule: Any = operation.gradient
    if rule is THROUGH_DECOMPOSITION:
        raise AutogradError(f"{operation.name} is recorded through its decomposition only.")
    if operation.wants_needs:
        return rule(k, upstream, results, *arguments, *node.options, edges)
    return rule(k, upstream, results, *arguments, *node.options)


def keep_is_value(value: Any) -> bool:
    """Return whether a saved value is an operand (not a number, a Spec or None)."""
    return hasattr(value, "dtype") and not isinstance(value, Spec)


def _wrap_all(values: Iterable[Any], device: Device) -> tuple[Any, ...]:
    return tuple(None if value is None else wrap(value, device) for value in values)


def _accumulate(leaf: Leaf, gradient: Any, taken: set[int]) -> None:
    """Add `gradient` to the leaf's; the first one is taken as it is if nobody else has it."""
    if isinstance(gradient, Tensor):  # create_graph: stay out of place
        leaf.grad = gradient.clone() if leaf.grad is None else leaf.grad + gradient
        return
    device = leaf.device
    if leaf.grad is not None:
        total = leaf.grad
        device.raw.add(total._placed(), gradient, out=total._operand)
        version_of(total)[0] += 1
        return
    handle = device.handle
    if id(gradient) in taken or not handle.owns(gradient):
        placed = handle.place(gradient)
        copied = handle.empty(placed.shape, placed.dtype)
        handle.copy(placed, copied)
        gradient = copied
    taken.add(id(gradient))
    leaf.grad = wrap(gradient, device)
