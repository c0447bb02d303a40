"""Doors open when the package behind them is installed, and say what to install when it is not."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("vkml_nn", "vkml_vulkan"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name.split(".")[0])

sys.meta_path.insert(0, Missing())
import vkml
"""


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.parametrize("door", ["nn", "optim", "data"])
def test_an_attribute_behind_a_closed_door_says_what_to_install(door: str) -> None:
    text = run(
        f"""
        try:
            vkml.{door}
        except AttributeError as error:
            print(error)
        """
    )

    assert text == (f"vkml.{door} needs the package vkml-nn. Install it with: pip install vkml-nn")


@pytest.mark.parametrize(
    "door", ["nn", "nn.functional", "nn.init", "nn.utils", "optim", "optim.lr_scheduler", "data"]
)
def test_importing_a_closed_door_says_what_to_install(door: str) -> None:
    text = run(
        f"""
        try:
            import vkml.{door}
        except ModuleNotFoundError as error:
            print(error)
        """
    )

    assert "Install it with: pip install vkml-nn" in text


def test_an_unknown_name_is_an_ordinary_attribute_error() -> None:
    text = run(
        """
        try:
            vkml.nonsense
        except AttributeError as error:
            print(error)
        """
    )

    assert text == "module 'vkml' has no attribute 'nonsense'"


def test_the_door_to_checkpoints_is_always_open() -> None:
    assert run("print(vkml.io.save is vkml.save)") == "True"


def test_importing_vkml_loads_neither_vulkan_nor_modules_nor_a_backend() -> None:
    program = """
        loaded = ("vulkan", "vkml_vulkan", "vkml_nn", "vkml.backends.cpu", "ml_dtypes", "torch")
        print([name for name in loaded if name in sys.modules])
        """

    assert run(program) == "[]"


def test_importing_vkml_starts_no_thread_and_opens_no_device() -> None:
    program = """
        import threading
        from vkml.device import _devices
        print(threading.active_count(), len(_devices))
        """

    assert run(program) == "1 0"
