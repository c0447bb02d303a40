"""The examples in the docstrings run and print what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import vkml

DOORS = ("vkml.nn", "vkml.optim", "vkml.data", "vkml.io")
"""They open other packages, which need not be installed."""
MODULES = sorted(
    name
    for _, name, _ in pkgutil.walk_packages(vkml.__path__, "vkml.")
    if not name.startswith(DOORS)
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # some write files

    found = doctest.testmod(importlib.import_module(name))

    assert found.failed == 0
