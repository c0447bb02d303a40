"""Functions with a gradient of the user's own."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Final

from vkml.autograd.backward_pass import lent
from vkml.autograd.graph import Node, next_sequence, version_of
from vkml.autograd.modes import mode, no_grad
from vkml.autograd.views import refresh_view
from vkml.errors import AutogradError, ShapeError
from vkml.ops.definition import Operation, Spec, Value, no_samples
from vkml.tensor import Tensor, wrap


class Context:
    """What `Function.forward` keeps for `Function.backward`. Any attribute may be set."""

    needs_input_grad: tuple[bool, ...]
    """Which arguments of `forward` want a gradient."""

    def __init__(self) -> None:
        self._saved: tuple[tuple[Any, Any, int], ...] = ()
        self._specs: tuple[Spec | None, ...] = ()
        self._output: Tensor | None = None
        self._node: weakref.ref[Node] | None = None

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors; changing one in place before the backward pass is then an error."""
        self._saved = tuple(
            (None, None, 0) if each is None else (each, version_of(each), version_of(each)[0])
            for each in tensors
        )

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors that were kept."""
        for _, version, number in self._saved:
            if version is not None and version[0] != number:
                message = "backward: a tensor kept by save_for_backward was changed in place since."
                raise AutogradError(message)
        return tuple(self._with_history(tensor) for tensor, _, _ in self._saved)

    def _with_history(self, tensor: Any) -> Any:
        """Return a saved tensor; the output, saved before it had a node, gets its node here."""
        node = self._node() if self._node is not None else None
        if not isinstance(tensor, Tensor) or node is None or tensor is not self._output:
            return tensor
        return wrap(tensor._operand, tensor._device, node, tensor._version)

    if TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None: ...

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the context holds no {name!r}; forward did not set it.")


class Function:
    """A function with a gradient of the user's own: subclass it, then call ``apply``.

    `forward` gets a context and the arguments, and returns one tensor; `backward` gets the context
    and the gradient of that tensor, and returns one gradient (or None) for each argument. The
    backward pass of `backward` is itself recorded under ``create_graph=True``.

    Examples
    --------
    >>> import vkml
    >>> class Double(vkml.autograd.Function):
    ...     @staticmethod
    ...     def forward(context, x):
    ...         return x * 2
    ...
    ...     @staticmethod
    ...     def backward(context, upstream):
    ...         return upstream * 2
    >>> x = vkml.ones(2, requires_grad=True)
    >>> Double.apply(x).sum().backward()
    >>> x.grad
    tensor([2., 2.])
    """

    @staticmethod
    def forward(context: Context, *arguments: Any) -> Tensor:
        """Return the result; to be written by the subclass."""
        raise NotImplementedError

    @staticmethod
    def backward(context: Context, upstream: Tensor) -> Any:
        """Return one gradient per argument of `forward`; to be written by the subclass."""
        raise NotImplementedError

    @classmethod
    def apply(cls, *arguments: Any) -> Any:
        """Return ``forward(context, *arguments)``, recorded with ``backward`` as its gradient."""
        context = Context()
        for each in arguments:
            if isinstance(each, Tensor):
                refresh_view(each)
        nodes = tuple(each._node if isinstance(each, Tensor) else None for each in arguments)
        context._specs = tuple(
            Spec(each._operand.shape, each._operand.dtype) if isinstance(each, Tensor) else None
            for each in arguments
        )
        context.needs_input_grad = tuple(node is not None for node in nodes)
        recording = mode.enabled and any(context.needs_input_grad)
        with no_grad():
            result: Any = cls.forward(context, *arguments)  # Any: users' code may err
        if not isinstance(result, Tensor):
            message = f"{cls.__name__}.forward: expected one tensor, got {type(result).__name__}."
            raise TypeError(message)
        if any(result is each for each in arguments):
            result = result.detach()
        if not recording:
            return result
        node: Node = object.__new__(Node)
        node.operation = _FUNCTION
        node.device = result._device
        node.edges = nodes
        node.saved = ()
        node.results = None
        node.options = (cls, context)
        node.versions = ()
        node.version_sum = 0
        node.shapes = None
        node.extras = None
        node.sequence = next_sequence()
        context._output = result
        context._node = weakref.ref(node)  # weak: the node holds the context
        return wrap(result._operand, result._device, node, result._version)


def _function_gradient(
    k: Any, upstream: Value, _output: Value, function: type[Function], context: Context
) -> tuple[Value, ...]:
    on_tensors = isinstance(upstream, Tensor)
    incoming = upstream if on_tensors else wrap(upstream, k.device)
    found = function.backward(context, incoming)
    gradients = found if isinstance(found, tuple) else (found,)
    if len(gradients) != len(context.needs_input_grad):
        message = (
            f"{function.__name__}.backward: returned {len(gradients)} gradients for "
            f"{len(context.needs_input_grad)} arguments of forward; give None where there is none."
        )
        raise AutogradError(message)
    for position, (gradient, spec) in enumerate(zip(gradients, context._specs, strict=True)):
        if gradient is not None and spec is not None:
            _check_gradient(f"{function.__name__}.backward: gradient {position}", gradient, spec)
    if on_tensors:
        return gradients
    return tuple(None if each is None else lent(each) for each in gradients)


def _check_gradient(which: str, gradient: Any, spec: Spec) -> None:
    if not isinstance(gradient, Tensor):
        message = (
            f"{which} is {type(gradient).__name__}; return tensors, or None where there is none."
        )
        raise AutogradError(message)
    if gradient.shape != spec.shape:
        message = f"{which} has shape {gradient.shape}, the argument of forward {spec.shape}."
        raise ShapeError(message)


_FUNCTION: Final = Operation(
    name="function", operands=0, result=lambda: (), gradient=_function_gradient,
    decomposition=lambda _k: None, samples=no_samples,
)  # fmt: skip
"""The record behind every user's function: options hold the class and the context."""
