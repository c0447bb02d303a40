"""The public functions by name, so that tensor methods reach them without importing them."""

from collections.abc import Callable
from typing import Any, Final

FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {}
"""Filled by `vkml.ops.catalog`."""
