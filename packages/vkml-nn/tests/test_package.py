from __future__ import annotations

import subprocess
import sys
from importlib import metadata

import pytest

import vkml
import vkml_nn
import vkml_nn.data
import vkml_nn.functional
import vkml_nn.optimizers


@pytest.mark.parametrize(
    ("door", "module"),
    [
        (vkml.nn, vkml_nn),
        (vkml.nn.functional, vkml_nn.functional),
        (vkml.optim, vkml_nn.optimizers),
        (vkml.data, vkml_nn.data),
    ],
)
def test_door_of_core_shows_every_public_name(door: object, module: object) -> None:
    names: list[str] = module.__all__  # type: ignore[attr-defined]  # a module with __all__

    assert names
    assert all(getattr(door, name) is getattr(module, name) for name in names)


def test_version_is_that_of_the_distribution() -> None:
    assert vkml_nn.__version__ == metadata.version("vkml-nn")


def test_package_imports_neither_a_backend_nor_starts_processes() -> None:
    script = (
        "import sys, vkml_nn, vkml_nn.optimizers, vkml_nn.data; "
        "import multiprocessing; "
        "assert 'vkml_vulkan' not in sys.modules and 'torch' not in sys.modules; "
        "assert not multiprocessing.active_children()"
    )

    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True)
