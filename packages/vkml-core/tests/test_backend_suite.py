"""The conformance suite passes on the CPU and on a backend that is unlike it, and finds faults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vkml
from vkml.errors import UnsupportedOperationError
from vkml.ops.definition import OPERATIONS
from vkml.testing import backend_suite
from vkml.testing.backend_suite import Case

CASES = backend_suite.cases()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu(case: Case) -> None:
    case.run(vkml.device("cpu"))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_backend_without_ndarrays_and_fused_kernels(case: Case, strided: vkml.Device) -> None:
    case.run(strided)


def only(name: str) -> list[Case]:
    found = [case for case in CASES if case.name.startswith(name)]
    assert found
    return found


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch, strided: vkml.Device) -> Callable[[str, Any], None]:
    """Replace the kernel of one operation, or a method of the device."""

    def replace(name: str, kernel: Any) -> None:
        monkeypatch.setitem(strided.kernels, name, kernel)

    return replace


def test_a_wrong_value_is_found(strided: vkml.Device, broken: Callable[[str, Any], None]) -> None:
    right = strided.kernels["exp"]
    broken("exp", lambda x: strided.kernels["mul"](right(x), 1.01))

    report = backend_suite.run(strided, only("exp: contiguous"))

    assert list(report.failed) == ["exp: contiguous operands"]
    assert "FAILED" in str(report)


def test_a_wrong_dtype_is_found(strided: vkml.Device, broken: Callable[[str, Any], None]) -> None:
    right = strided.kernels["exp"]
    broken("exp", lambda x: strided.kernels["cast"](right(x), np.dtype(np.float64)))

    report = backend_suite.run(strided, only("exp: contiguous"))

    assert "dtype" in str(report.failed["exp: contiguous operands"])


def test_a_refused_primitive_is_listed_with_its_reason(
    strided: vkml.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel, why_not = strided.handle.kernel, strided.handle.why_not
    monkeypatch.setattr(
        type(strided.handle), "kernel", lambda _, name: None if name == "tan" else kernel(name)
    )
    monkeypatch.setattr(
        type(strided.handle),
        "why_not",
        lambda _, name, *rest: "tan needs an angle." if name == "tan" else why_not(name, *rest),
    )
    monkeypatch.delitem(strided.kernels, "tan", raising=False)

    report = backend_suite.run(strided, only("tan: "))
    strided.kernels.pop("tan", None)

    assert not report.failed
    assert "tan needs an angle." in report.refused["tan: contiguous operands"]
    assert "tan: contiguous operands" not in report.passed


def test_a_refusal_without_a_sentence_is_found(
    strided: vkml.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = strided.handle.kernel
    monkeypatch.setattr(
        type(strided.handle), "kernel", lambda _, name: None if name == "tan" else kernel(name)
    )
    monkeypatch.setattr(type(strided.handle), "why_not", lambda *_: None)

    report = backend_suite.run(strided, only("tan: why_not"))

    assert "give a sentence" in str(report.failed["tan: why_not agrees with kernel"])


def test_composites_run_their_decompositions_where_no_fused_kernel_is(strided: vkml.Device) -> None:
    composites = [each.name for each in OPERATIONS.values() if each.decomposition is not None]

    assert composites
    assert [strided.handle.kernel(name) for name in composites] == [None] * len(composites)


def test_an_error_of_a_refusing_kernel_names_the_remedy(
    strided: vkml.Device, broken: Callable[[str, Any], None]
) -> None:
    def refuse(*_: Any) -> Any:
        raise UnsupportedOperationError("exp: not on this device.")

    broken("exp", refuse)

    report = backend_suite.run(strided, only("exp: gradient"))

    assert set(report.refused.values()) == {"exp: not on this device."}
