"""The doors: packages that stand above or beside core and are reached as ``vkml.nn`` and so on.

A door opens when it is first used. Where the package is not installed, the error says which one to
install: an AttributeError for ``vkml.nn``, a ModuleNotFoundError for ``import vkml.nn``.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Final

DOORS: Final = {
    "nn": "vkml-nn",
    "optim": "vkml-nn",
    "data": "vkml-nn",
    "io": "vkml-io",
}
"""Each door, and the distribution behind it."""


def open_door(name: str) -> ModuleType:
    """Return the module behind ``vkml.<name>``, for the package's ``__getattr__``."""
    if name not in DOORS:
        raise AttributeError(f"module 'vkml' has no attribute {name!r}")
    try:
        return importlib.import_module(f"vkml.{name}")
    except ModuleNotFoundError as error:
        raise AttributeError(str(error)) from error


def missing(name: str, error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return the error to raise where the package behind a door is not installed."""
    package = DOORS[name]
    if error.name not in ("vkml_nn", "vkml_io"):
        return error
    message = f"vkml.{name} needs the package {package}. Install it with: pip install {package}"
    return ModuleNotFoundError(message, name=error.name)
