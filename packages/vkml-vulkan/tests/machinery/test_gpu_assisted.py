"""A buffer for each tensor and the validation layer's GPU-assisted mode see accesses astray."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Final

import pytest

from vkml_vulkan._api import vulkan
from vkml_vulkan.instance import VALIDATION_LAYER, layer_names

_PROGRAM: Final = """
    import logging
    import numpy as np
    from vkml_vulkan.backend import VULKAN_BACKEND
    from vkml_vulkan.formats import RAW
    from vkml_vulkan.instance import the_instance
    from vkml_vulkan.kernels.elementwise import plan
    from vkml_vulkan.operand import dense_form

    logging.disable()
    handle = VULKAN_BACKEND.open_device(0)
    source = handle.upload(np.zeros({source}, np.float32))
    target = handle.upload(np.zeros({target}, np.float32))
    form, raw = dense_form((64,), np.dtype(np.float32)), RAW[4]
    made = plan(
        handle, "copy", "unary_u32", 0, form, (form,), result_format=raw, operand_format=raw
    )
    chunks = (target.storage.chunk,), (source.storage.chunk,)
    handle.recorder.launch(made.launch, *chunks, target.address, source.address)
    handle.synchronize()
    print(*the_instance().messages, sep="\\n")
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def said(run_python: Run) -> Callable[[int, int], str]:
    """Run a copy of 64 floats between tensors of these sizes; return what the layer says."""
    if VALIDATION_LAYER not in layer_names(vulkan()):
        pytest.skip("VULKAN TESTS DID NOT RUN: there is no validation layer here")

    def run(source: int, target: int) -> str:
        ended = run_python(
            _PROGRAM.format(source=source, target=target),
            VKML_VULKAN_VALIDATION="gpu",
            VKML_VULKAN_DEBUG="separate",
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    return run


def _require_assistance(messages: str) -> None:
    if "Out of bounds" not in messages and "out of bounds" not in messages:
        pytest.skip(f"VULKAN TESTS DID NOT RUN: the layer's GPU-assisted mode is blind: {messages}")


def test_accesses_inside_the_tensors_are_right(said: Callable[[int, int], str]) -> None:
    assert "out of bounds" not in said(64, 64).lower()


def test_a_write_past_the_end_is_seen(said: Callable[[int, int], str]) -> None:
    messages = said(64, 50)

    _require_assistance(messages)
    assert "address" in messages.lower()


def test_a_read_past_the_end_is_seen(said: Callable[[int, int], str]) -> None:
    messages = said(50, 64)

    _require_assistance(messages)
    assert "address" in messages.lower()
