"""Grad modes: whether operations are recorded. Each thread has its own mode."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class _Mode(threading.local):
    enabled: bool = True
    inference: bool = False


mode = _Mode()
"""The mode of the current thread; read once per operation that could be recorded."""


def is_grad_enabled() -> bool:
    """Return whether operations on this thread are recorded for the backward pass.

    Examples
    --------
    >>> import vkml
    >>> vkml.is_grad_enabled()
    True
    """
    return mode.enabled


class _GradMode:
    """A context manager and decorator that sets the grad mode and restores it."""

    _enabled: bool
    _inference: bool = False

    def __init__(self) -> None:
        self._previous: list[tuple[bool, bool]] = []

    def __enter__(self) -> None:
        self._previous.append((mode.enabled, mode.inference))
        mode.inference = self._inference or mode.inference
        mode.enabled = self._enabled and not mode.inference

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        mode.enabled, mode.inference = self._previous.pop()

    def __call__(self, function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        @functools.wraps(function)
        def wrapped(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            with self._clone():
                return function(*args, **kwargs)

        return wrapped

    def _clone(self) -> _GradMode:
        return type(self)()


class no_grad(_GradMode):  # noqa: N801 - PyTorch's name
    """Record nothing inside: a context manager and a decorator.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.ones(2, requires_grad=True)
    >>> with vkml.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    _enabled = False


class enable_grad(_GradMode):  # noqa: N801 - PyTorch's name
    """Record inside, also within `no_grad`: a context manager and a decorator.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.ones(2, requires_grad=True)
    >>> with vkml.no_grad(), vkml.enable_grad():
    ...     y = x * 2
    >>> y.requires_grad
    True
    """

    _enabled = True


class inference_mode(_GradMode):  # noqa: N801 - PyTorch's name
    """Record nothing inside, and let nothing inside turn recording on again.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.ones(2, requires_grad=True)
    >>> with vkml.inference_mode():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    _enabled = False
    _inference = True


class set_grad_enabled(_GradMode):  # noqa: N801 - PyTorch's name
    """Set whether operations are recorded, at once or for a ``with`` block.

    Parameters
    ----------
    enabled : bool
        Whether to record.

    Examples
    --------
    >>> import vkml
    >>> with vkml.set_grad_enabled(False):
    ...     vkml.is_grad_enabled()
    False
    """

    def __init__(self, enabled: bool) -> None:
        super().__init__()
        self._enabled = enabled
        self._before: Any = (mode.enabled, mode.inference)
        mode.enabled = enabled and not mode.inference

    def __enter__(self) -> None:
        self._previous.append(self._before)
        mode.enabled = self._enabled and not mode.inference

    def __call__(self, function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        """Return `function` with the mode set during its calls, and not before."""
        mode.enabled, mode.inference = self._before
        return super().__call__(function)

    def _clone(self) -> set_grad_enabled:
        return set_grad_enabled(self._enabled)
