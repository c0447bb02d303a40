"""One thing that a backend must do."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from vkml import dtypes
from vkml.device import Device
from vkml.tensor import Tensor


class Refused(unittest.SkipTest):
    """A device has no kernel for this, and says why. Test frameworks take it for a skipped test."""


class Case(NamedTuple):
    """One named claim about a device.

    Attributes
    ----------
    name : str
        For example ``"exp: transposed operands"``.
    run : callable
        ``run(device)`` raises AssertionError where the claim is wrong, `Refused` where the device
        has no kernel.
    """

    name: str
    run: Callable[[Device], None]

    def __str__(self) -> str:
        return self.name


def require(claim: bool, message: str) -> None:
    """Raise AssertionError with `message` unless the claim holds."""
    if not claim:
        raise AssertionError(message)


def require_equal(actual: Any, expected: Any, message: str) -> None:
    """Raise AssertionError unless both are equal."""
    require(actual == expected, f"{message}: got {actual!r}, expected {expected!r}.")


_COARSER_THAN_FLOAT32: Final = {
    "bfloat16": 2.0**16, "float16": 2.0**13, "float32": 1.0, "complex64": 1.0,
    "float64": 1e-4, "complex128": 1e-4,
}  # fmt: skip
"""Half precision by its epsilon; float64 less strictly, for constants kept in float32."""


def require_close(actual: Tensor, expected: Any, tolerance: float, message: str) -> None:
    """Raise AssertionError unless shape and dtype are equal and the values close.

    `tolerance` is meant for float32; for other floats it is scaled with their precision.
    """
    wanted = expected._download() if isinstance(expected, Tensor) else np.asarray(expected)
    require_equal(actual.shape, wanted.shape, f"{message}: shape")
    require_equal(actual.dtype, dtypes.of(wanted.dtype), f"{message}: dtype")
    found = actual._download()
    if dtypes.category(wanted.dtype) < 2:
        np.testing.assert_array_equal(found, wanted, err_msg=message)
        return
    allowed = tolerance * _COARSER_THAN_FLOAT32[wanted.dtype.name]
    if wanted.dtype.kind != "c":
        found, wanted = found.astype(np.float64), wanted.astype(np.float64)
    np.testing.assert_allclose(found, wanted, rtol=allowed, atol=allowed, err_msg=message)
