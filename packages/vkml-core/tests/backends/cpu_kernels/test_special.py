from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from vkml.backends.cpu_kernels.special import erf


def _ulps(actual: Any, exact: Any) -> Any:
    return np.abs(actual.astype(np.longdouble) - exact) / np.spacing(
        np.abs(exact).astype(actual.dtype)
    )


@pytest.mark.parametrize(("kind", "limit"), [(np.float32, 6), (np.float64, 4)])
def test_erf_is_within_a_few_units_in_the_last_place(kind: Any, limit: int, rng: Any) -> None:
    x = np.concatenate(
        [
            np.linspace(-7, 7, 30001),
            rng.normal(size=20000),
            10.0 ** rng.uniform(-30, 0, 5000),
            np.nextafter(0.46875, [0, 1]),
        ]
    ).astype(kind)

    y = erf(x)

    exact = np.array([math.erf(value) for value in x.astype(float)])
    assert y.dtype == kind
    assert _ulps(y, exact).max() <= limit


def test_erf_of_infinity_and_nan(dtype: Any, close: Any) -> None:
    x = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0], dtype)

    y = erf(x)

    close(y, np.array([1, -1, np.nan, 0, 0], dtype))
    assert np.signbit(y[4])


@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (70000,)])
def test_erf_takes_any_layout(shape: Any, dtype: Any, layout: Any, close: Any, rng: Any) -> None:
    x = layout(np.asarray(rng.normal(size=shape), dtype))

    close(erf(x), np.vectorize(math.erf, otypes=[dtype])(x))
