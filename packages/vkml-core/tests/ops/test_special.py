import math
from typing import Any

import numpy as np
import pytest

import vkml

torch = pytest.importorskip("torch")

EDGES = [0.0, -0.0, 0.46875, 4.0, -4.0, 6.0, 30.0, np.inf, -np.inf, np.nan]
NAMES = ["erf", "erfc"]


def grid(dtype: Any) -> Any:
    return np.linspace(-6, 9, 301).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NAMES)
def test_error_function_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, name: str, dtype: Any
) -> None:
    agrees_with_torch(getattr(vkml, name), getattr(torch, name), grid(dtype))


@pytest.mark.parametrize("shape", [(), (0, 3), (2, 1, 3)])
@pytest.mark.parametrize("name", NAMES)
def test_error_function_takes_every_shape(agrees_with_torch: Any, name: str, shape: Any) -> None:
    x = np.asarray(np.random.default_rng(7).standard_normal(shape), np.float32)

    agrees_with_torch(getattr(vkml, name), getattr(torch, name), x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NAMES)
def test_error_function_at_the_edges_equals_torch(name: str, dtype: Any) -> None:
    x = np.array(EDGES, dtype)

    result = getattr(vkml, name)(vkml.tensor(x)).numpy()

    expected = getattr(torch, name)(torch.tensor(x)).numpy()
    np.testing.assert_allclose(result, expected, rtol=1e-6 if dtype == np.float32 else 1e-15)


def test_erfc_keeps_its_small_digits() -> None:
    points = np.concatenate([np.linspace(-6, 9, 500), np.linspace(9, 26, 100)])

    result = vkml.erfc(vkml.tensor(points)).numpy()

    np.testing.assert_allclose(result, [math.erfc(each) for each in points], rtol=2e-15)


def test_erfc_of_float32_keeps_its_small_digits() -> None:
    points = np.linspace(-6, 9, 500).astype(np.float32)

    result = vkml.erfc(vkml.tensor(points)).numpy()

    np.testing.assert_allclose(result, [math.erfc(each) for each in points], rtol=2e-6)


@pytest.mark.parametrize("name", NAMES)
def test_error_function_of_integers_is_floating(name: str) -> None:
    result = getattr(vkml, name)(vkml.tensor([0, 1]))

    assert result.dtype is vkml.float32
    assert result[1].item() == pytest.approx(getattr(math, name)(1))


@pytest.mark.parametrize("name", NAMES)
def test_error_function_of_a_transposed_view_equals_torch(
    agrees_with_torch: Any, name: str
) -> None:
    x = np.random.default_rng(7).standard_normal((4, 3)).T

    agrees_with_torch(getattr(vkml, name), getattr(torch, name), x)


def test_erfc_of_half_precision_stays_in_it() -> None:
    pytest.importorskip("ml_dtypes")

    assert vkml.erfc(vkml.ones(2, dtype="bfloat16")).dtype is vkml.bfloat16
    assert vkml.erfc(vkml.ones(2, dtype="float16")).dtype is vkml.float16
