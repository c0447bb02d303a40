"""The conformance suite of core passes on the Vulkan device."""

from __future__ import annotations

import pytest

import vkml
from vkml.testing import backend_suite
from vkml.testing.backend_suite import Case


@pytest.mark.parametrize("case", backend_suite.cases(), ids=str)
def test_vulkan(case: Case, gpu: vkml.Device) -> None:
    case.run(gpu)
