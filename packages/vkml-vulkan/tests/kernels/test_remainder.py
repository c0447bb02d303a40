"""Remainders and floored quotients of floats are NumPy's, however large the quotient is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import vkml

FUNCTIONS = {"remainder": np.remainder, "floor_divide": np.floor_divide}
LARGEST_EXPONENT = {"float32": 30, "float64": 290}
EDGES = [
    (1e10, 3), (5e5, 0.7), (1e5 + 0.3, 0.1), (-1, np.inf), (1, -np.inf), (1, np.inf), (np.inf, 2),
    (1, 0), (-1, 0), (0, 3), (-0.0, 3), (np.nan, 1), (1, np.nan), (-7, 7), (7, -7),
]  # fmt: skip


def pairs(dtype: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return numbers of all sizes and signs, and the edges."""
    generator, size = np.random.default_rng(0), 20_000
    exponents = generator.uniform(-LARGEST_EXPONENT[dtype], LARGEST_EXPONENT[dtype], (2, size))
    random = generator.standard_normal((2, size)) * 10.0**exponents
    x, y = np.concatenate([random, np.array(EDGES).T], axis=1).astype(dtype)
    return x, y


def check(name: str, dtype: str, device: vkml.Device) -> None:
    x, y = pairs(dtype)

    function: Callable[..., vkml.Tensor] = getattr(vkml, name)
    found = function(vkml.from_numpy(x).to(device), vkml.from_numpy(y).to(device)).cpu().numpy()

    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(found, FUNCTIONS[name](x, y))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float32_is_numpys_to_the_last_bit(name: str, gpu: vkml.Device) -> None:
    check(name, "float32", gpu)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float64_is_numpys_to_the_last_bit(name: str, gpu_with_float64: vkml.Device) -> None:
    check(name, "float64", gpu_with_float64)
