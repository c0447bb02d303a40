"""The public functions by name, so that tensor methods reach them without importing them."""

from collections.abc import Callable
from typing import Any, Final

FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {}
"""Filled by `vkml.ops.catalog`."""


def call(name: str, *arguments: Any, **options: Any) -> Any:
    """Return what the public function `name` returns."""
    return FUNCTIONS[name](*arguments, **options)
