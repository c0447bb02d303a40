"""Fixtures of core's tests: a second backend, found by a real entry point."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import vkml
from vkml.backends.registry import find_backend

HERE = Path(__file__).parent


def write_distribution(folder: Path, package: str, entry: str, version: str = "1.0") -> None:
    """Write what an installed distribution with one backend leaves on the path."""
    info = folder / f"{package.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
    (info / "METADATA").write_text(metadata)
    (info / "entry_points.txt").write_text(f"[vkml.backends]\n{entry}\n")


@pytest.fixture(scope="session")
def strided(tmp_path_factory: pytest.TempPathFactory) -> Iterator[vkml.Device]:
    """The device of `strided_backend`, installed on a path of its own."""
    folder = tmp_path_factory.mktemp("site")
    source = (HERE / "strided_backend.py").read_text()
    (folder / "vkml_strided_backend.py").write_text(source)
    write_distribution(folder, "vkml-strided", "strided = vkml_strided_backend:STRIDED_BACKEND")
    sys.path.insert(0, str(folder))
    find_backend.cache_clear()
    try:
        yield vkml.device("strided")
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop("vkml_strided_backend", None)
        find_backend.cache_clear()
