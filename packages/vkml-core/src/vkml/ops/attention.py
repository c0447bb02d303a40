"""Scaled dot-product attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vkml import shapes
from vkml.backends.cpu_kernels import attention as kernels
from vkml.errors import ArgumentError, DTypeError, ShapeError, UnsupportedOperationError
from vkml.ops import rules
from vkml.ops.apply import apply, check, common_device, tensor_operations
from vkml.ops.definition import (
    THROUGH_DECOMPOSITION,
    Operation,
    Ops,
    Sample,
    Spec,
    Value,
    array,
    define,
    no_samples,
)
from vkml.ops.functions import FUNCTIONS
from vkml.ops.half import statistics_dtype, through_float32
from vkml.shapes import Shape
from vkml.tensor import Tensor

__all__ = ["scaled_dot_product_attention"]


def _causal_mask(k: Any, queries: int, keys: int) -> Value:
    """Return where query i may look at key j: where j is at most i."""
    return k.upload(np.tri(queries, keys, dtype=np.bool_))


def _swapped(k: Ops, x: Value) -> Value:
    """Return `x` with its last two axes swapped."""
    rank = len(x.shape)
    return k.permute(x, (*range(rank - 2), rank - 1, rank - 2))


def _probabilities(
    k: Ops, q: Value, key: Value, mask: Value | None, is_causal: bool, scale: float
) -> Value:
    """Return how much each query (row) attends to each key; 0 in rows that may attend to none."""
    scores = k.matmul(k.mul(q, scale), _swapped(k, key))
    if is_causal:
        mask = _causal_mask(k, q.shape[-2], key.shape[-2])
    if mask is not None:
        is_choice = mask.dtype == rules.BOOL
        scores = k.where(mask, scores, -math.inf) if is_choice else k.add(scores, mask)
    last = len(scores.shape) - 1
    if mask is None or is_causal:
        return k.softmax(scores, last)
    # In a row of -inf only, softmax and its gradients are NaN; it never sees such a row.
    is_open = k.cast(k.ne(scores, -math.inf), scores.dtype)
    is_shut = k.eq(k.sum(is_open, (last,), True), 0.0)
    return k.where(is_shut, 0.0, k.softmax(k.where(is_shut, 0.0, scores), last))


# scaled_dot_product_attention --------------------------------------------------------


def _samples(generator: np.random.Generator) -> list[Sample]:
    q, key, value = (array(generator, 2, 3, n, 4) for n in (5, 7, 7))
    mask = generator.random((5, 7)) < 0.7
    mask[2] = False
    added = array(generator, 2, 1, 5, 7)
    return [
        Sample((q, key, value, None), (False, 0.5)),
        Sample((q, key, value[..., :3], None), (True, 0.5)),
        Sample((q, key[:1], value[:, :1], mask), (False, 0.3)),
        Sample((q, key, value, added), (False, 0.5)),
        Sample((q[0, 0], key[0, 0], value[0, 0], None), (False, 1.0)),
        Sample((q[:0], key[:0], value[:0], None), (False, 0.5)),
    ]


def _attention_gradient(
    k: Ops,
    upstream: Value,
    auxiliary: tuple[Value | None],
    query: Value,
    key: Value,
    value: Value,
    mask: Value | None,
    is_causal: bool,
    scale: float,
    needs: tuple[bool, ...],
) -> tuple[Value | None, ...]:
    wanted = tuple(map(bool, needs))
    gradients: tuple[Value | None, ...] = k.scaled_dot_product_attention_backward(
        upstream, query, key, value, mask, *auxiliary, is_causal, scale, wanted
    )
    return gradients


def _attention_rule(
    query: Spec, key: Spec, value: Spec, mask: Spec | None, is_causal: bool, _scale: float
) -> tuple[Spec, Spec]:
    operands = {"query": query, "key": key, "value": value}
    rules.require_floating(query)
    if query.dtype.kind == "c":
        raise DTypeError(f"expected real numbers, got {query.dtype}.")
    rules.require_same_dtype(query=query, key=key, value=value)
    for name, each in operands.items():
        if len(each.shape) < 2:
            raise ShapeError(f"expected a {name} (..., length, size), got shape {each.shape}.")
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        message = (
            f"query {query.shape} and key {key.shape} must agree in the last size, key and value "
            f"{value.shape} in the one before."
        )
        raise ShapeError(message)
    scores: Shape = (query.shape[-2], key.shape[-2])
    leading = [each.shape[:-2] for each in operands.values()]
    if mask is not None:
        if is_causal:
            message = (
                "scaled_dot_product_attention: a mask and is_causal=True; put the causal mask "
                "into attn_mask."
            )
            raise ArgumentError(message)
        if mask.dtype != rules.BOOL:
            rules.require_same_dtype(query=query, attn_mask=mask)
        if shapes.broadcast(mask.shape[-2:], scores) != scores:
            message = f"a mask {mask.shape} does not broadcast to (..., {scores[0]}, {scores[1]})."
            raise ShapeError(message)
        leading.append(mask.shape[:-2])
    batch = shapes.broadcast(*leading)
    result = Spec((*batch, query.shape[-2], value.shape[-1]), query.dtype)
    return result, Spec((*batch, *scores), statistics_dtype(query.dtype))


@through_float32(cast_back=1)
def _attention(
    k: Ops,
    query: Value,
    key: Value,
    value: Value,
    mask: Value | None,
    is_causal: bool,
    scale: float,
) -> Value:
    return k.matmul(_probabilities(k, query, key, mask, is_causal, scale), value)


ATTENTION = define(
    Operation(
        name="scaled_dot_product_attention", operands=4, result=_attention_rule,
        cpu=kernels.scaled_dot_product_attention, decomposition=_attention,
        gradient=_attention_gradient, samples=_samples, auxiliaries=1, tolerance=1e-4,
    )
)  # fmt: skip


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """Return the averages of values that each query attends to.

    ``softmax(query @ key.T * scale + mask) @ value``; a query that may attend to nothing gives 0.

    Parameters
    ----------
    query : Tensor
        Floating-point numbers (..., L, E).
    key, value : Tensor
        (..., S, E) and (..., S, Ev). The leading axes broadcast.
    attn_mask : Tensor, optional
        Broadcasts to (..., L, S). Truth values: true where a query may attend to a key. Numbers:
        added to the scores.
    dropout_p : float
        The probability with which an attention probability becomes 0 (also outside training).
    is_causal : bool
        Let query i attend only to the keys up to i.
    scale : float, optional
        A factor for the scores; ``1 / sqrt(E)`` by default.

    Returns
    -------
    Tensor
        (..., L, Ev).

    Raises
    ------
    ShapeError
        The shapes do not fit.
    ArgumentError
        There are both a mask and ``is_causal=True``, or `dropout_p` is not in [0, 1].

    Examples
    --------
    >>> import vkml
    >>> x = vkml.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> vkml.scaled_dot_product_attention(x, x, x, is_causal=True)
    tensor([[1.0000, 0.0000],
            [0.3302, 0.6698]])
    """
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1]) if query.ndim and query.shape[-1] else 1.0
    operands, options = (query, key, value, attn_mask), (is_causal, scale)
    if not 0 <= dropout_p <= 1:
        message = f"scaled_dot_product_attention: dropout_p is {dropout_p}; give 0 to 1."
        raise ArgumentError(message)
    if dropout_p == 0:
        return apply(ATTENTION, operands, options)
    device = common_device(ATTENTION, operands)
    check(ATTENTION, [getattr(each, "_operand", each) for each in operands], options)
    k = tensor_operations(device)
    probabilities = _probabilities(k, query, key, attn_mask, is_causal, scale)
    result: Tensor = k.matmul(_dropped(probabilities, dropout_p), value)
    return result


def _dropped(probabilities: Tensor, dropout_p: float) -> Tensor:
    dropout = FUNCTIONS.get("dropout")
    if dropout is None:
        message = "scaled_dot_product_attention: there is no dropout yet; use dropout_p=0."
        raise UnsupportedOperationError(message)
    result: Tensor = dropout(probabilities, dropout_p)
    return result


# scaled_dot_product_attention_backward -----------------------------------------------


@through_float32(cast_back=4)
def _attention_backward(
    k: Ops,
    g: Value,
    query: Value,
    key: Value,
    value: Value,
    mask: Value | None,
    _probabilities_found: Value | None,
    is_causal: bool,
    scale: float,
    needs: tuple[bool, ...],
) -> tuple[Value | None, ...]:
    probabilities = _probabilities(k, query, key, mask, is_causal, scale)
    dquery = dkey = dvalue = dmask = None
    if needs[2]:
        dvalue = k.sum_to_size(k.matmul(_swapped(k, probabilities), g), value.shape)
    if needs[0] or needs[1] or needs[3]:
        upstream = k.matmul(g, _swapped(k, value))
        weighted = k.mul(upstream, probabilities)
        total = k.sum(weighted, (len(weighted.shape) - 1,), True)
        dscores = k.sub(weighted, k.mul(probabilities, total))
        if needs[0]:
            dquery = k.sum_to_size(k.mul(k.matmul(dscores, key), scale), query.shape)
        if needs[1]:
            dkey = k.matmul(_swapped(k, dscores), query)
            dkey = k.sum_to_size(k.mul(dkey, scale), key.shape)
        if needs[3] and mask is not None:
            dmask = k.sum_to_size(dscores, mask.shape)
    return dquery, dkey, dvalue, dmask


def _fused_backward(
    g: Any,
    query: Any,
    key: Any,
    value: Any,
    _mask: Any,
    probabilities: Any,
    _is_causal: bool,
    scale: float,
    needs: tuple[bool, bool, bool, bool],
) -> Any:
    if probabilities is None or needs[3]:  # a mask that is learned is rare: no fused kernel
        return NotImplemented
    found = kernels.scaled_dot_product_attention_backward(
        g, query, key, value, probabilities, scale, needs[:3]
    )
    return *found, None


def _backward_rule(
    _g: Spec, query: Spec, key: Spec, value: Spec, mask: Spec | None, *_rest: Any
) -> tuple[Spec | None, ...]:
    operands = query, key, value, mask
    return tuple(None if each is None else Spec(each.shape, each.dtype) for each in operands)


ATTENTION_BACKWARD = define(
    Operation(
        name="scaled_dot_product_attention_backward", operands=6, cpu=_fused_backward,
        result=_backward_rule, decomposition=_attention_backward,
        gradient=THROUGH_DECOMPOSITION, samples=no_samples, auxiliaries=3,
    )
)  # fmt: skip
