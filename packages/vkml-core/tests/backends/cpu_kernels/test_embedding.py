from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vkml.backends.cpu_kernels.embedding import embedding, embedding_backward

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 4)])
@pytest.mark.parametrize(("entries", "size"), [(10, 3), (10, 130), (300, 5), (300, 130), (5, 0)])
@pytest.mark.parametrize("padding", [None, 2])
def test_embedding_and_its_gradient_equal_torch(
    shape: Any,
    entries: int,
    size: int,
    padding: int | None,
    dtype: Any,
    layout: Any,
    close: Any,
    rng: Any,
) -> None:
    w = layout(rng.normal(size=(entries, size)).astype(dtype))
    ids = layout(np.asarray(rng.integers(0, entries, shape)))

    y = embedding(w, ids)
    g = layout(rng.normal(size=y.shape).astype(dtype))
    dw = embedding_backward(g, ids, entries, padding)

    tw = torch.tensor(w, requires_grad=True)
    ty = torch.nn.functional.embedding(torch.tensor(ids), tw, padding)
    ty.backward(torch.tensor(g))
    close(y, ty)
    close(dw, tw.grad)


@pytest.mark.parametrize(("entries", "size"), [(200, 130), (200, 16), (20, 130)])
def test_embedding_backward_adds_frequent_indices(
    entries: int, size: int, dtype: Any, close: Any, rng: Any
) -> None:
    ids = rng.integers(0, entries, 1000)
    ids[::2] = 7
    g = rng.normal(size=(1000, size)).astype(dtype)

    dw = embedding_backward(g, ids, entries, None)

    close(
        dw,
        torch.zeros(entries, size, dtype=torch.tensor(g).dtype).index_add(
            0, torch.tensor(ids), torch.tensor(g)
        ),
        10,
    )


@pytest.mark.parametrize("value", [5, -1])
def test_embedding_names_an_index_out_of_range(value: int) -> None:
    with pytest.raises(IndexError, match=rf"index {value} .* 5 embeddings"):
        embedding(np.zeros((5, 2)), np.array([0, value]))


def test_embedding_of_float16_is_float16() -> None:
    w, ids = np.ones((5, 2), np.float16), np.array([1, 1])

    assert embedding(w, ids).dtype == np.float16
    assert embedding_backward(w[:2], ids, 5, None).dtype == np.float16
