from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vkml.backends.cpu_kernels.linear import linear, matmul

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5), (0, 5), (2, 0, 5), (2, 3, 4, 5)])
@pytest.mark.parametrize("biased", [True, False])
def test_linear_equals_torch(
    shape: tuple[int, ...], biased: bool, dtype: Any, layout: Any, close: Any, rng: Any
) -> None:
    x, w = (
        layout(rng.normal(size=shape).astype(dtype)),
        layout(rng.normal(size=(4, 5)).astype(dtype)),
    )
    b = rng.normal(size=4).astype(dtype) if biased else None

    y = linear(x, w, b)

    expected = torch.nn.functional.linear(
        torch.tensor(x), torch.tensor(w), None if b is None else torch.tensor(b)
    )
    close(y, expected)


def test_linear_without_input_features_is_the_bias() -> None:
    y = linear(np.zeros((2, 3, 0), "f4"), np.zeros((4, 0), "f4"), np.arange(4, dtype="f4"))

    assert (y == np.arange(4)).all()
    assert y.shape == (2, 3, 4)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((5,), (5,)),
        ((3, 5), (5,)),
        ((5,), (5, 2)),
        ((3, 5), (5, 2)),
        ((7, 3, 5), (5, 2)),
        ((7, 3, 5), (5,)),
        ((3, 5), (7, 5, 2)),
        ((4, 1, 3, 5), (7, 5, 2)),
        ((0, 5), (5, 2)),
        ((3, 0), (0, 2)),
        ((0, 3, 5), (5, 2)),
        ((7, 3, 0), (0, 2)),
    ],
)
def test_matmul_follows_the_rank_rules_of_torch(
    left: Any, right: Any, dtype: Any, layout: Any, close: Any, rng: Any
) -> None:
    a, b = layout(rng.normal(size=left).astype(dtype)), layout(rng.normal(size=right).astype(dtype))

    close(matmul(a, b), torch.matmul(torch.tensor(a), torch.tensor(b)))


def test_matmul_of_integers_is_exact(rng: Any) -> None:
    a, b = rng.integers(-9, 9, (3, 4)), rng.integers(-9, 9, (4, 2))

    assert (matmul(a, b) == torch.tensor(a) @ torch.tensor(b)).all()
    assert matmul(a, b).dtype == np.int64


def test_matmul_of_float16_accumulates_in_float32() -> None:
    ones = np.ones((1, 4096), np.float16)

    y = matmul(ones, ones.T)

    assert y.dtype == np.float16
    assert y[0, 0] == 4096


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.int64])
def test_matmul_of_vectors_is_an_array_of_rank_0(kind: Any) -> None:
    y = matmul(np.ones(3, kind), np.ones(3, kind))

    assert isinstance(y, np.ndarray)
    assert y.dtype == kind
    assert y == 3
