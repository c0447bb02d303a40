"""The examples in docstrings and in the guide run and give what they show."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import vkml_io

MODULES = [f"vkml_io.{module.name}" for module in pkgutil.iter_modules(vkml_io.__path__)]
GUIDE = Path(__file__).parents[3] / "docs" / "checkpoints.md"


@pytest.mark.parametrize("name", ["vkml_io", *(n for n in MODULES if n != "vkml_io.__main__")])
def test_the_examples_of_a_module_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.skipif(not GUIDE.exists(), reason="the guide is in the repository, not in the sdist")
def test_the_examples_of_the_guide_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ml_dtypes")  # one section is about its dtypes
    monkeypatch.chdir(tmp_path)

    result = doctest.testfile(str(GUIDE), module_relative=False)

    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize(
    "function",
    [
        "save",
        "load",
        "open",
        "inspect",
        "load_module",
        "save_module",
        "load_tree",
        "save_tree",
        "validate",
    ],
)
def test_public_functions_have_an_example(function: str) -> None:
    assert ">>>" in getattr(vkml_io, function).__doc__
