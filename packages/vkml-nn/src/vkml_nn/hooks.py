"""Functions that run before or after a module's forward pass, or with its gradients."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Final

from vkml import ArgumentError, Tensor, autograd
from vkml.autograd import RemovableHandle

_next_key: Final = itertools.count().__next__


def add_hook(hooks: dict[int, Any], hook: Any, *, prepend: bool = False) -> RemovableHandle:
    """Put `hook` last (or first) among `hooks`, and return what takes it away."""
    key = _next_key()
    others = dict(hooks) if prepend else {}
    if prepend:
        hooks.clear()
    hooks[key] = hook
    hooks.update(others)
    return RemovableHandle(hooks, key)


class Hooks:
    """The hooks of one module, made when the first one is registered."""

    def __init__(self) -> None:
        self.before: dict[int, tuple[Callable[..., Any], bool]] = {}
        self.after: dict[int, tuple[Callable[..., Any], bool]] = {}
        self.gradient: dict[int, Callable[..., Any]] = {}

    def call(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what ``module.forward`` gives, with all hooks run around it."""
        for hook, with_kwargs in list(self.before.values()):
            if with_kwargs:
                changed = hook(module, args, kwargs)
                if changed is not None:
                    args, kwargs = changed
            else:
                changed = hook(module, args)
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)
        watch = _GradientWatch(module, list(self.gradient.values())) if self.gradient else None
        if watch is not None:
            args = watch.inputs(args)
        result = module.forward(*args, **kwargs)
        for hook, with_kwargs in list(self.after.values()):
            extra = (kwargs,) if with_kwargs else ()
            changed = hook(module, args, *extra, result)
            if changed is not None:
                result = changed
        return result if watch is None else watch.output(result)


class _Passage(autograd.Function):
    """The tensor unchanged, as a place in the graph where a gradient can be seen."""

    @staticmethod
    def forward(context: autograd.Context, x: Tensor) -> Tensor:  # noqa: ARG004 - the interface
        return x

    @staticmethod
    def backward(context: autograd.Context, upstream: Tensor) -> Tensor:  # noqa: ARG004
        return upstream


class _GradientWatch:
    """One pass through a module, whose gradient hooks wait for both ends of the gradient."""

    def __init__(self, module: Any, hooks: list[Callable[..., Any]]) -> None:
        self._module = module
        self._hooks = hooks
        self._outgoing: tuple[Tensor | None, ...] = (None,)
        self._position: int | None = None
        self._count = 0

    def inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments, with the one that needs a gradient watched."""
        wanting = [
            index
            for index, each in enumerate(args)
            if isinstance(each, Tensor) and each.requires_grad
        ]
        if len(wanting) > 1:
            message = (
                f"{type(self._module).__name__}: a full backward hook takes one input that "
                f"requires a gradient, and the arguments hold {len(wanting)}; register hooks on "
                "the tensors themselves: x.register_hook(...)."
            )
            raise ArgumentError(message)
        self._count = len(args)
        if not wanting or not autograd.is_grad_enabled():
            return args
        (self._position,) = wanting
        watched = _Passage.apply(args[self._position])
        watched.register_hook(self._arrived)
        return (*args[: self._position], watched, *args[self._position + 1 :])

    def output(self, result: Any) -> Any:
        """Return the result, watched."""
        if not isinstance(result, Tensor) or not result.requires_grad:
            return result
        watched = _Passage.apply(result)
        watched.register_hook(self._left)
        return watched

    def _left(self, gradient: Tensor) -> None:
        self._outgoing = (gradient,)
        if self._position is None:
            for hook in self._hooks:
                hook(self._module, (None,) * self._count, self._outgoing)

    def _arrived(self, gradient: Tensor) -> Tensor:
        position = self._position
        incoming: tuple[Any, ...] = tuple(
            gradient if index == position else None for index in range(self._count)
        )
        for hook in self._hooks:
            changed = hook(self._module, incoming, self._outgoing)
            if changed is not None:
                incoming = changed if isinstance(changed, tuple) else (changed,)
        found: Tensor = incoming[position if position is not None else 0]
        return found
