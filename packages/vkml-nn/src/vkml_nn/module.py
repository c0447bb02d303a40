"""The module: a function with parameters, made of other modules."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Self

import vkml
from vkml import ArgumentError, Device, DType, Parameter, Tensor
from vkml.autograd import RemovableHandle
from vkml_nn.hooks import Hooks, add_hook
from vkml_nn.module_state import IncompatibleKeys, load_state, state_of
from vkml_nn.module_tree import ModuleTree

# Any in this module: forward takes and returns what its author likes.


def _no_forward(self: Module, *_: Any, **__: Any) -> Any:
    raise NotImplementedError(f"{type(self).__name__} defines no forward(); write one.")


class Module(ModuleTree):
    """The base of all layers and models: assign parameters and modules, write `forward`.

    Examples
    --------
    >>> import vkml
    >>> class Classifier(vkml.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.hidden = vkml.nn.Linear(4, 8)
    ...         self.output = vkml.nn.Linear(8, 3)
    ...
    ...     def forward(self, x):
    ...         return self.output(self.hidden(x).relu())
    >>> model = Classifier()
    >>> model(vkml.zeros(2, 4)).shape
    (2, 3)
    >>> [name for name, _ in model.named_parameters()]
    ['hidden.weight', 'hidden.bias', 'output.weight', 'output.bias']
    """

    training: bool
    """Whether dropout, batch normalisation and their like behave as in training."""
    _hooks: Hooks | None

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "training", True)
        object.__setattr__(self, "_hooks", None)

    forward: Callable[..., Any] = _no_forward

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what `forward` gives, with hooks run around it."""
        hooks = self._hooks
        if hooks is None:
            return self.forward(*args, **kwargs)
        return hooks.call(self, args, kwargs)

    # modes and gradients ------------------------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        """Switch this module and all below it to training (or evaluation), and return it."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Self:
        """Switch this module and all below it to evaluation, and return it."""
        return self.train(mode=False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Say whether the parameters are to be trained, and return the module."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set them to 0."""
        for parameter in self.parameters():
            if parameter.grad is not None:
                if set_to_none:
                    parameter.grad = None
                else:
                    parameter.grad = vkml.zeros_like(parameter.grad)

    def apply(self, fn: Callable[[Any], object]) -> Self:
        """Call `fn` with every module, children first, and return this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # moving -------------------------------------------------------------------------------

    def to(
        self,
        *target: Any,
        device: vkml.Device | str | None = None,
        dtype: DType | str | None = None,
    ) -> Self:
        """Move all parameters and buffers, and return the module.

        The parameters stay the same objects, so that an optimiser made earlier goes on working.

        Parameters
        ----------
        target : Device, DType or Tensor
            A device, a dtype, both in this order, or a tensor that has both.
        device : Device or str, optional
            Where they go.
        dtype : DType or str, optional
            What floating-point and complex ones become; integers and truth values stay.

        Raises
        ------
        ArgumentError
            The dtype holds no floating-point numbers.

        Examples
        --------
        >>> import vkml
        >>> vkml.nn.Linear(2, 1).to(vkml.float64).weight.dtype
        vkml.float64
        """
        for given in target:
            named = getattr(vkml, given, None) if isinstance(given, str) else None
            each = named if isinstance(named, DType) else given
            if isinstance(each, Tensor):
                device, dtype = each.device, each.dtype
            elif isinstance(each, DType):
                dtype = each
            elif isinstance(each, (Device, str)):
                device = each
            elif each is not None:
                message = f"to: expected a device, a dtype or a tensor, got {type(each).__name__}."
                raise ArgumentError(message)
        if dtype is not None:
            probe = vkml.empty(0, dtype=dtype).dtype
            if not (probe.is_floating_point or probe.is_complex):
                message = f"to: modules compute with floating-point numbers, not {probe}."
                raise ArgumentError(message)

        def moved(tensor: Tensor) -> Tensor:
            found = tensor.dtype
            fractional = found.is_floating_point or found.is_complex
            return tensor.to(device=device, dtype=dtype if fractional else None)

        return self._replaced(moved)

    def cpu(self) -> Self:
        """Move to the CPU."""
        return self.to(device="cpu")

    def float(self) -> Self:
        """Convert floating-point tensors to float32."""
        return self.to(dtype=vkml.float32)

    def double(self) -> Self:
        """Convert floating-point tensors to float64."""
        return self.to(dtype=vkml.float64)

    def half(self) -> Self:
        """Convert floating-point tensors to float16."""
        return self.to(dtype=vkml.float16)

    def bfloat16(self) -> Self:
        """Convert floating-point tensors to bfloat16."""
        return self.to(dtype=vkml.bfloat16)

    def type(self, dst_type: DType | str) -> Self:
        """Convert floating-point tensors to `dst_type`."""
        return self.to(dtype=dst_type)

    def _replaced(self, change: Callable[[Tensor], Tensor]) -> Self:
        """Put ``change(value)`` in the place of each parameter's and buffer's value."""
        members: list[Tensor] = [*self.parameters(), *self.buffers()]
        with vkml.no_grad():
            for tensor in members:
                value = tensor.detach()
                changed = change(value)
                if changed is value:
                    continue
                gradient = tensor.grad
                tensor.set_(changed)
                if gradient is not None:
                    tensor.grad = change(gradient)
        return self

    # state --------------------------------------------------------------------------------

    def state_dict(
        self,
        *,
        destination: OrderedDict[str, Tensor] | None = None,
        prefix: str = "",
        keep_vars: bool = False,
    ) -> OrderedDict[str, Tensor]:
        """Return parameters and persistent buffers by their dotted names.

        Parameters
        ----------
        destination : OrderedDict, optional
            Filled and returned, instead of a new one.
        prefix : str
            Put before each name.
        keep_vars : bool
            Return the parameters themselves rather than detached tensors on their memory.

        Examples
        --------
        >>> import vkml
        >>> list(vkml.nn.Linear(2, 1).state_dict())
        ['weight', 'bias']
        """
        state = state_of(self, prefix, keep_vars)
        if destination is None:
            return state
        destination.update(state)
        return destination

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True
    ) -> IncompatibleKeys:
        """Copy a state into the parameters and buffers.

        First everything is checked; only when all fits is the first value changed. The tensors stay
        the same objects and keep device, dtype and `requires_grad`.

        Parameters
        ----------
        state_dict : Mapping
            Tensors or arrays by name. Any mapping will do, also one that reads them on demand: it
            is asked for each of them twice.
        strict : bool
            Whether the names must be exactly those of `state_dict`. Shapes must always agree.

        Returns
        -------
        IncompatibleKeys
            The missing and the unexpected names, both empty where `strict`.

        Raises
        ------
        StateDictError
            Something does not fit; all problems are listed.

        Examples
        --------
        >>> import vkml
        >>> model = vkml.nn.Linear(2, 1)
        >>> model.load_state_dict({"weight": vkml.zeros(1, 2)}, strict=False)
        IncompatibleKeys(missing_keys=['bias'], unexpected_keys=[])
        """
        return load_state(self, state_dict, strict)

    # hooks --------------------------------------------------------------------------------

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before `forward`; what it returns replaces the arguments.

        `with_kwargs` adds the keyword arguments; the hook then returns both, or None.
        """
        return add_hook(self._made_hooks().before, (hook, with_kwargs), prepend=prepend)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args, result)`` after `forward`; what it returns is the new result.

        Examples
        --------
        >>> import vkml
        >>> layer = vkml.nn.Identity()
        >>> with layer.register_forward_hook(lambda module, args, result: result + 1):
        ...     layer(vkml.zeros(2))
        tensor([1., 1.])
        """
        return add_hook(self._made_hooks().after, (hook, with_kwargs), prepend=prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` when the input's gradient is known.

        Both gradients are tuples. What the hook returns replaces the input's gradient. One
        positional argument at most may require a gradient.
        """
        return add_hook(self._made_hooks().gradient, hook, prepend=prepend)

    def _made_hooks(self) -> Hooks:
        if self._hooks is None:
            self._hooks = Hooks()
        return self._hooks

    # printing -----------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """Return what stands between the brackets of the module's name; for subclasses."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        below = [f"({name}): {_indented(repr(module))}" for name, module in self._shown_modules()]
        name = type(self).__name__
        if not below and len(lines) <= 1:
            return f"{name}({extra})"
        return "\n  ".join([f"{name}(", *lines, *below]) + "\n)"

    def _shown_modules(self) -> list[tuple[str, Any]]:
        return list(self._modules.items())


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


__all__ = ["Module", "Parameter"]
