"""Fixtures of the kernel tests: silent floating-point warnings, arrays of awkward layouts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

Array = NDArray[Any]
Close = Callable[..., None]
Layout = Callable[[Array], Array]


@pytest.fixture(autouse=True)
def silent_errors() -> Iterator[None]:
    """Silence what the caller of a kernel silences."""
    with np.errstate(all="ignore"):
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture(params=[np.float32, np.float64], ids=["float32", "float64"])
def dtype(request: pytest.FixtureRequest) -> Any:
    return request.param


def _strided(x: Array) -> Array:
    """Return the values of x in every second place of a larger array, axes reversed."""
    wide = np.zeros(tuple(2 * n for n in x.shape[::-1]), x.dtype).T
    everywhere: Any = (
        ...,
        *(slice(None, None, 2) for _ in x.shape),
    )  # an index NumPy's stubs know not
    view: Array = wide[everywhere]
    view[...] = x
    return view


@pytest.fixture(params=["contiguous", "strided"])
def layout(request: pytest.FixtureRequest) -> Layout:
    """Return a function that lays an array out in memory."""
    return np.ascontiguousarray if request.param == "contiguous" else _strided


@pytest.fixture
def close() -> Close:
    """Return an assertion: same shape, dtype, NaN places, and values within the dtype's reach."""

    def check(actual: Any, expected: Any, tolerance: float = 1.0) -> None:
        expected = np.asarray(expected.detach() if hasattr(expected, "detach") else expected)
        actual = np.asarray(actual)
        assert actual.shape == expected.shape
        assert actual.dtype == expected.dtype
        limit = (1e-5 if actual.dtype == np.float32 else 1e-12) * tolerance
        np.testing.assert_allclose(actual, expected, rtol=limit, atol=limit)

    return check
