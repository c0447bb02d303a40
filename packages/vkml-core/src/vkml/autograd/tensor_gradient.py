"""What a tensor knows of its gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, cast

from vkml.autograd.graph import Extras, Hook, Leaf, Node, next_sequence, version_of
from vkml.autograd.hooks import RemovableHandle
from vkml.autograd.views import ViewOf, refresh_view
from vkml.errors import AutogradError, ShapeError
from vkml.ops.functions import call

if TYPE_CHECKING:
    from vkml.device import Device
    from vkml.dtypes import DType
    from vkml.tensor import Tensor


class GradientMethods:
    """The part of a tensor that has to do with gradients."""

    if not TYPE_CHECKING:
        __slots__ = ()
    else:  # what the tensor provides
        _node: Node | Leaf | None
        _device: Device
        _view: ViewOf | None

        @property
        def shape(self) -> tuple[int, ...]:
            """The sizes of the axes."""
            raise NotImplementedError

        @property
        def dtype(self) -> DType:
            """The data type."""
            raise NotImplementedError

        @property
        def device(self) -> Device:
            """The device."""
            raise NotImplementedError

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded for the backward pass."""
        return self._current_node() is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Mark this tensor as one whose gradient is wanted (or not), and return it.

        Raises
        ------
        AutogradError
            The tensor holds no floating-point numbers, or is the result of a recorded operation.
        """
        if requires_grad and self._node is None:
            dtype = self.dtype
            if not (dtype.is_floating_point or dtype.is_complex):
                message = (
                    f"requires_grad: {dtype} has no gradient; convert with x.to(vkml.float32)."
                )
                raise AutogradError(message)
            self._node = Leaf(self._device, dtype.dtype)
            version_of(cast("Tensor", self))  # what is saved now stays known after `set_`
        elif not requires_grad and self._node is not None:
            if isinstance(self._node, Node):
                message = "requires_grad: this is the result of an operation; call x.detach()."
                raise AutogradError(message)
            self._node = None
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made this tensor."""
        return not isinstance(self._current_node(), Node)

    @property
    def grad_fn(self) -> Node | None:
        """The recorded operation that made this tensor."""
        node = self._current_node()
        return node if isinstance(node, Node) else None

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward passes have summed up here."""
        node = self._node
        if node is None:
            return None
        if isinstance(node, Leaf):
            return node.grad
        return node.extras.grad if node.extras is not None else None

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            if value.shape != self.shape or value.device is not self.device:
                message = (
                    f"grad: got shape {value.shape} on {value.device}, the tensor has "
                    f"{self.shape} on {self.device}; both must agree."
                )
                raise ShapeError(message)
            if self._node is None:
                message = "grad: this tensor needs no gradient; call x.requires_grad_() first."
                raise AutogradError(message)
        node = self._node
        if isinstance(node, Leaf):
            node.grad = value
        elif node is not None:
            self._extras().grad = value

    def retain_grad(self) -> None:
        """Keep the gradient of this intermediate result in `grad`."""
        if isinstance(self._node, Node):
            self._extras().retains_grad = True
        elif self._node is None:
            raise AutogradError("retain_grad: this tensor requires no gradient.")

    @property
    def retains_grad(self) -> bool:
        """Whether the gradient of this intermediate result is kept."""
        node = self._node
        return isinstance(node, Node) and node.extras is not None and node.extras.retains_grad

    def register_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook` with each gradient of this tensor; what it returns replaces the gradient.

        Returns
        -------
        RemovableHandle
            Its method `remove` takes the hook away.

        Raises
        ------
        AutogradError
            The tensor requires no gradient.
        TypeError
            `hook` cannot be called.
        """
        given: object = hook  # whatever the user passed
        if not callable(given):
            raise TypeError(f"register_hook: expected a function, got {type(given).__name__}.")
        if self._node is None:
            raise AutogradError("register_hook: this tensor requires no gradient.")
        if isinstance(self._node, Leaf):
            hooks = self._node.hooks = self._node.hooks or {}
        else:
            hooks = self._extras().hooks
        key = next_sequence()  # not the hook's id: it may be registered twice
        hooks[key] = hook
        return RemovableHandle(hooks, key)

    def _current_node(self) -> Node | Leaf | None:
        """Return where the gradient goes, for a view after the writes to its memory."""
        if self._view is not None:
            refresh_view(cast("Tensor", self))
        return self._node

    def _extras(self) -> Extras:
        node = self._node
        assert isinstance(node, Node)  # noqa: S101 - callers have checked
        if node.extras is None:
            node.extras = Extras()
        return node.extras

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
    ) -> None:
        """Add the gradient of this tensor to the `grad` of every leaf it was computed from.

        Parameters
        ----------
        gradient : Tensor, optional
            The gradient of something with respect to this tensor. May be left out for one element.
        retain_graph : bool, optional
            Keep the graph for another backward pass; `create_graph` by default.
        create_graph : bool
            Record the backward pass, for higher derivatives.

        Raises
        ------
        AutogradError
            The tensor requires no gradient, has many elements and no `gradient`, the graph was
            freed, or a value that is needed was changed in place.
        """
        call("backward", self, gradient, retain_graph=retain_graph, create_graph=create_graph)
