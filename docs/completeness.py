"""Sphinx extension: every public name of the packages is documented, or the build fails."""

import importlib
import logging
from collections.abc import Callable
from typing import Any, Protocol

MODULES = [
    "vkml", "vkml.autograd", "vkml.nn", "vkml.nn.functional",
    "vkml.nn.init", "vkml.nn.utils", "vkml.optim", "vkml.optim.lr_scheduler", "vkml.data",
    "vkml_io", "vkml_vulkan.errors",
]  # fmt: skip
"""By the names that users import them under."""

NOT_A_TARGET = {"vkml.bool"}
"""Named in a table only: as a target it would take the links meant for Python's own."""


class Application(Protocol):
    """What this extension uses of Sphinx, so that type checks need no Sphinx."""

    def connect(self, event: str, callback: Callable[["Application", Any], None]) -> int:
        """Call `callback` at `event`."""


def setup(app: Application) -> dict[str, bool]:
    """Let Sphinx call `check` when it has read all pages."""
    app.connect("env-check-consistency", check)
    return {"parallel_read_safe": True}


def check(_app: Application, environment: Any) -> None:  # Any: Sphinx's own, see Application
    """Warn of public names that no page describes; under ``-W`` that fails the build."""
    documented = set(environment.domains["py"].objects)
    anywhere = {id(_object(name)) for name in documented}
    for path in MODULES:
        module = _object(path)
        for name in module.__all__:
            value = getattr(module, name)
            is_module_with_page = any(value is _object(other) for other in MODULES)
            is_described = id(value) in anywhere or f"{path}.{name}" in NOT_A_TARGET
            if not is_described and not is_module_with_page:
                logging.getLogger("sphinx.completeness").warning(
                    "%s.%s is public and described on no page of docs/reference", path, name
                )


def _object(path: str) -> Any:
    """Return what a dotted name means, or None."""
    value: Any = importlib.import_module(path.partition(".")[0])
    for name in path.split(".")[1:]:
        value = getattr(value, name, None)  # doors open when they are asked for
    return value
