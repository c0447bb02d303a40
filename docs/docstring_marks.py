"""Sphinx extension: what docstrings leave to the reader's good sense, marked up for docutils.

The star of a shape such as (N, C, *) is a star and no emphasis, and `.shape` between backticks
is an attribute of anything and no link. What Python itself writes on a field of a named tuple is no
description.
"""

import re
from collections.abc import Callable
from typing import Any, Protocol

STAR = re.compile(r"(``.*?``)|(?<![\w*])\*(?=[,)])|(?<=, )\*(?=\w+\))")
"""Code, which stays as it is; a lone star in a shape; a star before its last name."""

ATTRIBUTE = re.compile(r"(?<!`)`(\.\w+)`(?!`)")


class Application(Protocol):
    """What this extension uses of Sphinx, so that type checks need no Sphinx."""

    def connect(self, event: str, callback: Callable[..., None]) -> int:
        """Call `callback` at `event`."""


def setup(app: Application) -> dict[str, bool]:
    """Let Sphinx call `mark` for each docstring."""
    app.connect("autodoc-process-docstring", mark)
    return {"parallel_read_safe": True}


def mark(
    _app: Application, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]
) -> None:  # Any: Sphinx passes objects and options of all kinds
    """Write a backslash before each star of a shape, and attributes as code."""
    if lines and lines[0].startswith("Alias for field number"):
        lines.clear()
    lines[:] = [
        ATTRIBUTE.sub(r"``\1``", STAR.sub(lambda found: found[1] or r"\*", line)) for line in lines
    ]
