from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vkml.backends.cpu_kernels.attention import (
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
)

torch = pytest.importorskip("torch")

# shapes of q, k, v
SHAPES = [
    ((3, 5), (4, 5), (4, 6)),
    ((2, 3, 5), (2, 4, 5), (2, 4, 6)),
    ((2, 3, 4, 5), (2, 3, 4, 5), (2, 3, 4, 5)),
    ((2, 3, 7, 5), (1, 3, 4, 5), (3, 4, 2)),
    ((9, 2, 100, 8), (9, 2, 100, 8), (9, 2, 100, 8)),
    ((0, 2, 3, 5), (0, 2, 4, 5), (0, 2, 4, 6)),
    ((2, 0, 5), (2, 4, 5), (2, 4, 6)),
]


@pytest.mark.parametrize(("q_shape", "k_shape", "v_shape"), SHAPES)
@pytest.mark.parametrize("masking", ["none", "causal", "bool", "float", "batched"])
def test_attention_and_its_gradients_equal_torch(
    q_shape: Any,
    k_shape: Any,
    v_shape: Any,
    masking: str,
    dtype: Any,
    layout: Any,
    close: Any,
    rng: Any,
) -> None:
    shapes = (q_shape, k_shape, v_shape)
    q, k, v = (layout(rng.normal(size=s).astype(dtype)) for s in shapes)
    size = (q_shape[-2], k_shape[-2])
    mask = None
    if masking == "bool":
        mask = rng.random(size) < 0.7
        mask[..., 0] = True
    elif masking == "float":
        mask = rng.normal(size=size).astype(dtype)
    elif masking == "batched":
        mask = rng.normal(size=(*q_shape[:-2], *size)).astype(dtype)

    y, p = scaled_dot_product_attention(q, k, v, mask, masking == "causal", 0.4)
    g = layout(rng.normal(size=y.shape).astype(dtype))
    gradients = scaled_dot_product_attention_backward(g, q, k, v, p, 0.4, (True, True, True))

    leaves = [torch.tensor(a, requires_grad=True) for a in (q, k, v)]
    scores = leaves[0] @ leaves[1].transpose(-1, -2) * 0.4
    if mask is not None:
        tm = torch.tensor(mask)
        scores = scores.masked_fill(~tm, -torch.inf) if masking == "bool" else scores + tm
    if masking == "causal":
        scores = scores.masked_fill(torch.ones(size).triu(1).bool(), -torch.inf)
    tp = torch.softmax(scores, -1)
    ty = tp @ leaves[2]
    ty.backward(torch.tensor(g))
    close(y, ty)
    close(p, torch.broadcast_to(tp, p.shape))
    for actual, leaf in zip(gradients, leaves, strict=True):
        close(actual, leaf.grad, 5)


def test_attention_equals_the_function_of_torch(close: Any, rng: Any) -> None:
    q, k, v = (rng.normal(size=(2, 3, 6, 8)).astype("f4") for _ in range(3))
    mask = rng.random((6, 6)) < 0.5
    mask[2] = False

    masked, p = scaled_dot_product_attention(q, k, v, mask, False, 8**-0.5)
    causal, _ = scaled_dot_product_attention(q, k, v, None, True, 8**-0.5)

    leaves = [torch.tensor(a) for a in (q, k, v)]
    function = torch.nn.functional.scaled_dot_product_attention
    close(masked, function(*leaves, torch.tensor(mask)))
    close(causal, function(*leaves, is_causal=True))
    assert (p[:, :, 2] == 0).all()


@pytest.mark.parametrize(
    "needs", [(True, False, False), (False, True, False), (False, False, True)]
)
def test_attention_backward_gives_none_where_not_needed(needs: Any, rng: Any) -> None:
    q = rng.normal(size=(2, 3, 4))
    y, p = scaled_dot_product_attention(q, q, q, None, False, 1.0)

    gradients = scaled_dot_product_attention_backward(y, q, q, q, p, 1.0, needs)

    assert tuple(gradient is not None for gradient in gradients) == needs


def test_attention_does_not_change_its_inputs(rng: Any) -> None:
    q, mask = rng.normal(size=(3, 4)), rng.normal(size=(3, 3))
    before = q.copy(), mask.copy()

    _, p = scaled_dot_product_attention(q, q, q, mask, True, 0.5)
    kept = p.copy()
    scaled_dot_product_attention_backward(q, q, q, q, p, 0.5, (True, True, True))

    assert np.array_equal(q, before[0])
    assert np.array_equal(mask, before[1])
    assert np.array_equal(p, kept)
