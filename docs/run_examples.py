"""Pytest plugin that runs the Python blocks of README.md and the documentation.

A block fenced as ``python`` runs, with or without ``>>>``; the blocks of one page share their
names, and each page works in a folder of its own. What cannot run stands in a block fenced as
``text`` or after the comment ``<!--- skip: next -->``.
"""

import os
import tempfile
from doctest import ELLIPSIS
from pathlib import Path
from typing import Any

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

ROOT = Path(__file__).resolve().parents[1]


def enter_folder(namespace: dict[str, Any]) -> None:
    """Work in a new folder, so that examples may write files."""
    namespace["_folder"] = tempfile.TemporaryDirectory()
    namespace["_came_from"] = Path.cwd()
    os.chdir(namespace["_folder"].name)


def leave_folder(namespace: dict[str, Any]) -> None:
    """Go back and remove what the page wrote."""
    os.chdir(namespace["_came_from"])
    namespace["_folder"].cleanup()


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(doctest_optionflags=ELLIPSIS), SkipParser()],
    path=str(ROOT),
    patterns=["README.md", "docs/**/*.md"],
    setup=enter_folder,
    teardown=leave_folder,
).pytest()
