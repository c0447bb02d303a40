"""Pytest plugin that runs the Python blocks of README.md and the documentation.

A block fenced as ``python`` or ``pycon`` runs, the latter with ``>>>``; the blocks of one page
share their names, and each page works in a folder of its own. What cannot run stands in a block
fenced as ``text`` or after the comment ``<!--- skip: next -->``.
"""

import os
import tempfile
from collections.abc import Iterable
from doctest import ELLIPSIS
from pathlib import Path
from typing import Any

from sybil import Document, Region, Sybil
from sybil.evaluators.doctest import DocTestEvaluator
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.abstract.doctest import DocTestStringParser
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser

ROOT = Path(__file__).resolve().parents[1]


_find_consoles = CodeBlockParser("pycon", PythonEvaluator())
_find_examples = DocTestStringParser(DocTestEvaluator(ELLIPSIS))


def parse_consoles(document: Document) -> Iterable[Region]:
    """Yield the examples in blocks fenced as ``pycon``."""
    for block in _find_consoles(document):
        for example in _find_examples(block.parsed, document.path):
            example.adjust(block, block.parsed)
            yield example


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
    parsers=[PythonCodeBlockParser(doctest_optionflags=ELLIPSIS), parse_consoles, SkipParser()],
    path=str(ROOT),
    patterns=["README.md", "docs/*.md", "docs/*/*.md"],
    setup=enter_folder,
    teardown=leave_folder,
).pytest()
