"""The conformance suite of core passes on the Vulkan device."""

from __future__ import annotations

import os
from typing import Final

import numpy as np
import pytest

import vkml
from vkml.testing import backend_suite
from vkml.testing.backend_suite import Case, Refused

REFUSED_WITH_FLOAT64: Final[frozenset[str]] = frozenset()
"""The cases that even a device with float64 arithmetic may refuse, by name."""


STEP: Final = int(os.environ.get("VKML_SUITE_STEP", "1"))
"""Every how many-th case is run: slow modes take a sample."""


@pytest.mark.parametrize("case", backend_suite.cases()[::STEP], ids=str)
def test_vulkan(case: Case, gpu: vkml.Device) -> None:
    try:
        case.run(gpu)
    except Refused as refusal:
        if has_float64(gpu) and case.name not in REFUSED_WITH_FLOAT64:
            pytest.fail(f"refused, though the device has float64: {refusal}")
        raise  # a skipped test


def test_what_may_be_refused_are_names_of_cases() -> None:
    assert set(map(str, backend_suite.cases())) >= REFUSED_WITH_FLOAT64


def has_float64(device: vkml.Device) -> bool:
    return device.handle.why_not("exp", [np.dtype(np.float64)], ()) is None
