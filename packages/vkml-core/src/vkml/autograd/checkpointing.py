"""Checkpoints: forget what a part of the graph saved, compute it again in the backward pass."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ParamSpec, TypeVar

from vkml.autograd.graph import Extras, Node, next_sequence, version_of
from vkml.autograd.modes import enable_grad, mode
from vkml.errors import AutogradError
from vkml.random import default_generator
from vkml.tensor import Tensor

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def checkpoint(
    function: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Result:
    """Return ``function(*args)``, whose intermediate values are computed again when needed.

    The values that the gradients inside `function` need are forgotten when it returns, and come
    back by one more call in the backward pass: memory for time. Gradients, also higher ones, also
    of tensors that `function` closes over, are those of a plain call.

    Parameters
    ----------
    function : callable
        Must compute the same again. Numbers from the default random generator are drawn again
        equal.
    *args, **kwargs
        Passed on; they are kept until the backward pass.

    Raises
    ------
    AutogradError
        In the backward pass: an argument was changed in place since, or the second call recorded
        other operations.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.tensor([1.0, 2.0], requires_grad=True)
    >>> y = vkml.autograd.checkpoint(lambda x: (x * x).exp(), x)
    >>> y.sum().backward()
    >>> x.grad
    tensor([  5.4366, 218.3926])
    """
    if not mode.enabled:
        return function(*args, **kwargs)
    segment = _Segment(function, args, kwargs)
    start = next_sequence()
    result = function(*args, **kwargs)
    segment.forget(_recorded_since(start, result))
    return result


class _Segment:
    """What is needed to compute a part of the graph again."""

    def __init__(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.versions = [
            (version_of(each), version_of(each)[0]) for each in _tensors((args, kwargs))
        ]
        self.random_state = default_generator.get_state()
        self.key = next_sequence()
        self.nodes: list[Node] = []

    def forget(self, nodes: list[Node]) -> None:
        """Drop what `nodes` saved; a hook on each brings it back before its rule runs."""
        self.nodes = nodes
        for node in nodes:
            node.saved = None
            if node.results is not None:
                node.results = None
            if _is_function(node):
                node.options = ()
            node.extras = node.extras or Extras()
            node.extras.hooks[self.key] = self._restore

    def _restore(self, _gradient: Tensor) -> None:
        for version, number in self.versions:
            if version[0] != number:
                message = (
                    "checkpoint: an argument was changed in place after the call, so the values "
                    "cannot be computed again; pass a clone."
                )
                raise AutogradError(message)
        start = next_sequence()
        with enable_grad(), _random_numbers_from(self.random_state):
            result = self.function(*self.args, **self.kwargs)
        again = _recorded_since(start, result)
        first = [node.operation for node in self.nodes]
        if [node.operation for node in again] != first:
            message = (
                f"checkpoint: the function recorded {len(first)} operations when it was first "
                f"called and {len(again)}, or others, when it was called again; it must do the "
                "same each time."
            )
            raise AutogradError(message)
        for node, source in zip(self.nodes, again, strict=True):
            node.saved, node.versions = source.saved, source.versions
            node.version_sum = source.version_sum
            if source.results is not None:
                node.results = source.results
            if _is_function(node):
                node.options = source.options
            if node.extras is not None:
                node.extras.hooks.pop(self.key)
        self.nodes = []


@contextlib.contextmanager
def _random_numbers_from(state: Tensor) -> Iterator[None]:
    """Let the default generator continue from `state` inside, and go on as before after."""
    now = default_generator.get_state()
    default_generator.set_state(state)
    try:
        yield
    finally:
        default_generator.set_state(now)


def _is_function(node: Node) -> bool:
    """Return whether `node` is a user's function, which keeps its values in its options."""
    return node.operation.name == "function"


def _recorded_since(start: int, result: Any) -> list[Node]:
    """Return the nodes under `result` that are newer than `start`, oldest first.

    Nodes that a checkpoint within has stripped already are its own business.
    """
    found = [
        each._node
        for each in _tensors(result)
        if isinstance(each._node, Node) and each._node.sequence > start
    ]
    found = list(dict.fromkeys(found))
    seen = set(found)
    for node in found:  # grows as it is walked
        for edge in node.edges:
            if isinstance(edge, Node) and edge.sequence > start and edge not in seen:
                seen.add(edge)
                found.append(edge)
    found.sort(key=lambda node: node.sequence)
    return [node for node in found if node.saved is not None]


def _tensors(values: Any) -> Iterator[Tensor]:
    """Yield the tensors in nested tuples, lists and dicts."""
    if isinstance(values, Tensor):
        yield values
    elif isinstance(values, (tuple, list)):
        for each in values:
            yield from _tensors(each)
    elif isinstance(values, dict):
        yield from _tensors(list(values.values()))
