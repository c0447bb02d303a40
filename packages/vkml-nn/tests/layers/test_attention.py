"""Attention and the encoder layer give torch's results and gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vkml
from vkml import nn

torch = pytest.importorskip("torch")

CAUSAL = vkml.tensor(np.triu(np.ones((5, 5), bool), 1))
ADDED = vkml.tensor(np.random.default_rng(2).standard_normal((5, 5)).astype(np.float32))
PER_HEAD = vkml.tensor(np.random.default_rng(2).random((6, 5, 5)) > 0.8)
PADDING = vkml.tensor(np.array([[False] * 4 + [True], [False] * 5, [False] * 3 + [True] * 2]))


class SelfAttention(nn.Module):
    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Any, **options: Any) -> Any:
        return self.inner(x, x, x, **options)


class TorchSelfAttention(torch.nn.Module):  # type: ignore[name-defined,misc]  # found at run time
    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Any, **options: Any) -> Any:
        return self.inner(x, x, x, **options)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize(
    "masks",
    [
        {},
        {"attn_mask": CAUSAL},
        {"attn_mask": ADDED},
        {"attn_mask": PER_HEAD},
        {"key_padding_mask": PADDING},
        {"attn_mask": CAUSAL, "key_padding_mask": PADDING},
        {"attn_mask": CAUSAL, "is_causal": True},
        {"attn_mask": CAUSAL, "is_causal": True, "key_padding_mask": PADDING},
    ],
)
@pytest.mark.parametrize("batch_first", [True, False])
def test_self_attention_equals_torch(
    compare: Any, masks: Any, need_weights: bool, batch_first: bool
) -> None:
    ours = SelfAttention(nn.MultiheadAttention(8, 2, batch_first=batch_first))
    theirs = TorchSelfAttention(torch.nn.MultiheadAttention(8, 2, batch_first=batch_first))
    shape = (3, 5, 8) if batch_first else (5, 3, 8)

    compare(ours, theirs, shape, need_weights=need_weights, **masks)


@pytest.mark.parametrize("options", [{}, {"kdim": 6, "vdim": 7}, {"bias": False}])
def test_attention_between_two_sequences_equals_torch(compare: Any, options: Any) -> None:
    ours = nn.MultiheadAttention(8, 4, batch_first=True, **options)
    theirs = torch.nn.MultiheadAttention(8, 4, batch_first=True, **options)
    keys, values = options.get("kdim", 8), options.get("vdim", 8)

    compare(ours, theirs, (3, 5, 8), (3, 6, keys), (3, 6, values))


def test_attention_without_a_batch_equals_torch(compare: Any) -> None:
    compare(nn.MultiheadAttention(8, 2), torch.nn.MultiheadAttention(8, 2), (5, 8), (4, 8), (4, 8))


@pytest.mark.parametrize("average", [True, False])
def test_attention_weights_equal_torch(average: bool) -> None:
    theirs = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    ours = nn.MultiheadAttention(8, 2, batch_first=True)
    ours.load_state_dict(theirs.state_dict())
    x = np.random.default_rng(0).standard_normal((3, 5, 8)).astype(np.float32)

    _, weights = ours(*[vkml.tensor(x)] * 3, average_attn_weights=average)
    _, expected = theirs(*[torch.tensor(x)] * 3, average_attn_weights=average)

    np.testing.assert_allclose(weights.detach().numpy(), expected.detach().numpy(), 1e-5, 1e-6)


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize(
    ("shapes", "part"),
    [
        (((2, 3, 4), (2, 5, 4), (2, 6, 4)), "key has length 5 and the value 6"),
        (((2, 3, 4), (2, 5, 4), (1, 5, 4)), "batches of 2, 2 and 1"),
        (((2, 3, 4), (2, 5, 8), (2, 5, 4)), "last size of the key is 8; the module was made for 4"),
    ],
)
def test_inputs_that_do_not_fit_are_named(shapes: Any, part: str, batch_first: bool) -> None:
    attention = nn.MultiheadAttention(4, 2, batch_first=batch_first)
    inputs = [vkml.zeros(shape) for shape in shapes]
    if not batch_first:
        inputs = [each.transpose(0, 1) for each in inputs]

    with pytest.raises(vkml.ShapeError, match=part):
        attention(*inputs)


def test_masks_of_wrong_shapes_are_named() -> None:
    attention = nn.MultiheadAttention(8, 2, batch_first=True)
    x = vkml.zeros(3, 5, 8)

    with pytest.raises(vkml.ShapeError, match=r"attn_mask has shape \(4, 5\)"):
        attention(x, x, x, attn_mask=vkml.zeros(4, 5))
    with pytest.raises(vkml.ShapeError, match=r"key_padding_mask has shape \(3, 4\)"):
        attention(x, x, x, key_padding_mask=vkml.zeros(3, 4))


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_encoder_layer_equals_torch(compare: Any, norm_first: bool, activation: str) -> None:
    options: Any = {
        "dim_feedforward": 12, "dropout": 0.0, "norm_first": norm_first, "activation": activation,
        "batch_first": True,
    }  # fmt: skip

    compare(
        nn.TransformerEncoderLayer(8, 2, **options),
        torch.nn.TransformerEncoderLayer(8, 2, **options),
        (3, 5, 8),
        src_mask=CAUSAL,
        src_key_padding_mask=PADDING,
    )


def test_encoder_equals_torch(compare: Any) -> None:
    options: Any = {"dim_feedforward": 12, "dropout": 0.0}
    ours = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, **options), 2, nn.LayerNorm(8))
    theirs = torch.nn.TransformerEncoder(
        torch.nn.TransformerEncoderLayer(8, 2, **options), 2, torch.nn.LayerNorm(8),
        enable_nested_tensor=False,
    )  # fmt: skip

    compare(ours, theirs, (5, 3, 8), tolerance=1e-4)
