"""Multi-head attention."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import vkml
from vkml import ArgumentError, DType, Parameter, ShapeError, Tensor
from vkml.device import DeviceLike
from vkml_nn import functional, init
from vkml_nn.layers.linear import Linear
from vkml_nn.module import Module

Projected: TypeAlias = tuple[Tensor, Tensor, Tensor]


class MultiheadAttention(Module):
    """Attention with several heads (Vaswani and others, 2017).

    Parameters
    ----------
    embed_dim : int
        The size of queries and results, divided evenly among the heads.
    num_heads : int
        How many heads there are.
    dropout : float
        Which part of the attention weights training drops.
    bias : bool
        Whether the projections have biases.
    kdim, vdim : int, optional
        The sizes of keys and values; `embed_dim` by default.
    batch_first : bool
        Whether tensors are (batch, length, size) rather than (length, batch, size).
    device, dtype
        Of the parameters.

    Attributes
    ----------
    in_proj_weight : Parameter or None
        The projections of queries, keys and values below each other, (3 embed_dim, embed_dim).
    q_proj_weight, k_proj_weight, v_proj_weight : Parameter or None
        They stand in its place where the sizes differ.
    in_proj_bias : Parameter or None
        Shape (3 embed_dim,).
    out_proj : Linear
        The projection of the result.

    Raises
    ------
    ArgumentError
        `num_heads` does not divide `embed_dim`.

    Examples
    --------
    >>> import vkml
    >>> attention = vkml.nn.MultiheadAttention(8, num_heads=2, batch_first=True)
    >>> x = vkml.ones(3, 5, 8)
    >>> result, weights = attention(x, x, x)
    >>> result.shape, weights.shape
    ((3, 5, 8), (3, 5, 5))
    """

    in_proj_weight: Parameter | None
    q_proj_weight: Parameter | None
    k_proj_weight: Parameter | None
    v_proj_weight: Parameter | None
    in_proj_bias: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        *,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            message = f"MultiheadAttention: {num_heads} heads do not divide embed_dim {embed_dim}."
            raise ArgumentError(message)
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim

        def made(*shape: int) -> Parameter:
            return Parameter(vkml.empty(shape, device=device, dtype=dtype))

        together = self.kdim == self.vdim == embed_dim
        for name, width in (
            ("q_proj_weight", embed_dim),
            ("k_proj_weight", self.kdim),
            ("v_proj_weight", self.vdim),
        ):
            self.register_parameter(name, None if together else made(embed_dim, width))
        self.register_parameter(
            "in_proj_weight", made(3 * embed_dim, embed_dim) if together else None
        )
        self.register_parameter("in_proj_bias", made(3 * embed_dim) if bias else None)
        self.out_proj = Linear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the projections of the inputs anew, and set the biases to 0."""
        for weight in (
            self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight,
        ):  # fmt: skip
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
        if self.out_proj.bias is not None:
            init.zeros_(self.out_proj.bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the result and, if `need_weights`, the attention weights.

        Parameters
        ----------
        query, key, value : Tensor
            (length, batch, size), or as `batch_first` says; the batch may be missing.
        key_padding_mask : Tensor, optional
            (batch, keys): truth values that are true at keys to ignore, or numbers to add to the
            scores.
        need_weights : bool
            Without the weights attention is faster.
        attn_mask : Tensor, optional
            (queries, keys) or (batch * heads, queries, keys), likewise.
        average_attn_weights : bool
            Return (batch, queries, keys), the mean over the heads, or all of them.
        is_causal : bool
            Ignore keys after the query; `attn_mask` may say the same, and is then not read.

        Raises
        ------
        ShapeError
            The inputs or masks do not fit the module or each other.
        """
        batched = query.ndim == 3
        if query.ndim not in (2, 3) or not query.ndim == key.ndim == value.ndim:
            message = (
                "MultiheadAttention: expected query, key and value with 3 axes each (or 2 without "
                f"a batch), got shapes {query.shape}, {key.shape} and {value.shape}."
            )
            raise ShapeError(message)
        query, key, value = self._with_batch_first(query, key, value)
        self._check_shapes(query, key, value)
        q, k, v = self._projected(query, key, value)
        mask = self._mask(q, k, key_padding_mask, None if is_causal else attn_mask)
        weights = None
        dropout = self.dropout if self.training else 0.0
        if need_weights:
            weights = self._weights(q, k, mask, is_causal)
            heads = functional.dropout(weights, dropout) @ v
        else:
            if is_causal and mask is not None:
                mask, is_causal = _both(mask, _future(q, k)), False
            if mask is not None and mask.dtype == vkml.bool:
                mask = ~mask
            heads = vkml.scaled_dot_product_attention(q, k, v, mask, dropout, is_causal)
        result = self.out_proj(heads.transpose(1, 2).flatten(2))
        if weights is not None and average_attn_weights:
            weights = weights.mean(1)
        if not batched:
            return result.squeeze(0), None if weights is None else weights.squeeze(0)
        return result if self.batch_first else result.transpose(0, 1), weights

    def _with_batch_first(self, query: Tensor, key: Tensor, value: Tensor) -> Projected:
        """Return the inputs as (batch, length, size); the same tensor stays the same."""
        found: dict[int, Tensor] = {}
        for each in (query, key, value):
            if id(each) not in found:
                if each.ndim == 2:
                    found[id(each)] = each.unsqueeze(0)
                else:
                    found[id(each)] = each if self.batch_first else each.transpose(0, 1)
        return found[id(query)], found[id(key)], found[id(value)]

    def _check_shapes(self, query: Tensor, key: Tensor, value: Tensor) -> None:
        """Raise a ShapeError unless inputs (batch, length, size) fit the module and each other."""
        sizes = (self.embed_dim, self.kdim, self.vdim)
        for name, each, size in zip(
            ("query", "key", "value"), (query, key, value), sizes, strict=True
        ):
            if each.shape[2] != size:
                message = (
                    f"MultiheadAttention: the last size of the {name} is {each.shape[2]}; the "
                    f"module was made for {size}."
                )
                raise ShapeError(message)
        if key.shape[1] != value.shape[1]:
            message = (
                f"MultiheadAttention: the key has length {key.shape[1]} and the value "
                f"{value.shape[1]}; each key belongs to one value, so give equally many."
            )
            raise ShapeError(message)
        if not query.shape[0] == key.shape[0] == value.shape[0]:
            message = (
                f"MultiheadAttention: query, key and value have batches of {query.shape[0]}, "
                f"{key.shape[0]} and {value.shape[0]} (batch_first={self.batch_first}); give equal "
                "ones."
            )
            raise ShapeError(message)

    def _projected(self, query: Tensor, key: Tensor, value: Tensor) -> Projected:
        """Return queries, keys and values as (batch, head, length, size of a head)."""
        size, bias = self.embed_dim, self.in_proj_bias
        if self.in_proj_weight is not None and query is key and key is value:
            together = vkml.linear(query, self.in_proj_weight, bias)
            q, k, v = together.unflatten(-1, (3, self.num_heads, self.head_dim)).permute(
                2, 0, 3, 1, 4
            )
            return q, k, v
        if self.in_proj_weight is not None:
            weights: tuple[Any, ...] = self.in_proj_weight.split(size)
        else:  # Any: all three are there
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        biases = (None, None, None) if bias is None else bias.split(size)
        projected = (
            vkml.linear(x, weight, shift).unflatten(-1, (self.num_heads, self.head_dim))
            for x, weight, shift in zip((query, key, value), weights, biases, strict=True)
        )
        q, k, v = (each.transpose(1, 2) for each in projected)
        return q, k, v

    def _mask(
        self, q: Tensor, k: Tensor, key_padding_mask: Tensor | None, attn_mask: Tensor | None
    ) -> Tensor | None:
        """Return both masks as one, broadcastable to (batch, head, queries, keys)."""
        batch, heads, queries, keys = q.shape[0], q.shape[1], q.shape[2], k.shape[2]
        if attn_mask is not None:
            if attn_mask.shape == (batch * heads, queries, keys):
                attn_mask = attn_mask.reshape(batch, heads, queries, keys)
            elif attn_mask.shape != (queries, keys):
                message = (
                    f"MultiheadAttention: attn_mask has shape {attn_mask.shape}; expected "
                    f"{(queries, keys)} or {(batch * heads, queries, keys)}."
                )
                raise ShapeError(message)
        if key_padding_mask is None:
            return attn_mask
        if key_padding_mask.ndim == 1:
            key_padding_mask = key_padding_mask.unsqueeze(0)
        if key_padding_mask.shape != (batch, keys):
            message = (
                f"MultiheadAttention: key_padding_mask has shape {key_padding_mask.shape}; "
                f"expected {(batch, keys)}."
            )
            raise ShapeError(message)
        padding = key_padding_mask.reshape(batch, 1, 1, keys)
        return padding if attn_mask is None else _both(attn_mask, padding)

    def _weights(self, q: Tensor, k: Tensor, mask: Tensor | None, is_causal: bool) -> Tensor:
        scores = (q * (1 / math.sqrt(self.head_dim))) @ k.mT
        if is_causal:
            mask = _future(q, k) if mask is None else _both(mask, _future(q, k))
        if mask is not None:
            scores = scores + _added(mask, scores.dtype)
        return vkml.softmax(scores, -1)


def _future(q: Tensor, k: Tensor) -> Tensor:
    """Return a mask that is true at the keys after each query."""
    everything = vkml.ones(q.shape[2], k.shape[2], device=q.device)
    return everything.triu(1) > 0


def _both(first: Tensor, second: Tensor) -> Tensor:
    """Return one mask for two."""
    if first.dtype == vkml.bool and second.dtype == vkml.bool:
        return first | second
    dtype = second.dtype if first.dtype == vkml.bool else first.dtype
    return _added(first, dtype) + _added(second, dtype)


def _added(mask: Tensor, dtype: DType) -> Tensor:
    """Return the mask as numbers to add to the scores."""
    if mask.dtype != vkml.bool:
        return mask
    return vkml.zeros_like(mask, dtype=dtype).masked_fill(mask, -math.inf)
