"""The conformance suite of core passes on the Vulkan device."""

from __future__ import annotations

import os
from typing import Final

import numpy as np
import pytest

import vkml
from vkml.testing import backend_suite
from vkml.testing.backend_suite import Case, Refused

STEP: Final = int(os.environ.get("VKML_SUITE_STEP", "1"))
"""Every how many-th case is run: slow modes take a sample."""


@pytest.mark.parametrize("case", backend_suite.cases()[::STEP], ids=str)
def test_vulkan(case: Case, gpu: vkml.Device) -> None:
    """Nothing is refused but float64, by a device without it, which says so."""
    try:
        case.run(gpu)
    except Refused as refusal:
        if has_float64(gpu) or "the device has no float64 arithmetic" not in str(refusal):
            pytest.fail(f"refused: {refusal}")


def has_float64(device: vkml.Device) -> bool:
    return device.handle.why_not("exp", [np.dtype(np.float64)], ()) is None
