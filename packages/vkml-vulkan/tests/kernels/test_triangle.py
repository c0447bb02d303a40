"""Triangles of matrices on the device."""

from __future__ import annotations

import numpy as np
import pytest

import vkml


@pytest.mark.parametrize("name", ["tril", "triu"])
@pytest.mark.parametrize("dtype", ["bool", "float16", "int32", "float64", "complex64"])
@pytest.mark.parametrize("diagonal", [-(2**40), -301, -3, 0, 2, 298, 2**40])
def test_a_triangle_stays_and_the_rest_is_zero(
    gpu: vkml.Device, name: str, dtype: str, diagonal: int
) -> None:
    x = np.random.default_rng(0).integers(0, 3, (3, 301, 299)).astype(dtype)

    found = getattr(vkml, name)(vkml.tensor(x).to(gpu), diagonal)

    np.testing.assert_array_equal(found.cpu().numpy(), getattr(np, name)(x, diagonal))


@pytest.mark.parametrize("name", ["tril", "triu"])
def test_matrices_of_any_strides_have_triangles(gpu: vkml.Device, name: str) -> None:
    x = np.arange(60, dtype=np.float32).reshape(5, 4, 3)
    tensor = vkml.tensor(x).to(gpu)

    found = getattr(vkml, name)(tensor.permute(2, 0, 1)[:, ::-1], 1)

    expected = getattr(np, name)(x.transpose(2, 0, 1)[:, ::-1], 1)
    np.testing.assert_array_equal(found.cpu().numpy(), expected)


def test_what_is_not_a_number_does_not_reach_the_zeros(gpu: vkml.Device) -> None:
    x = vkml.full((2, 2), float("nan"), device=gpu)

    np.testing.assert_array_equal(
        vkml.tril(x).cpu().numpy(), np.array([[np.nan, 0], [np.nan, np.nan]], np.float32)
    )
