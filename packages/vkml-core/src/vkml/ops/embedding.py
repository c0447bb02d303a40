"""Embeddings: rows of a table by index, and the one-hot vectors that would pick them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from vkml.backends.cpu_kernels import embedding as kernels
from vkml.errors import ArgumentError, DTypeError, IndexOutOfRangeError, ShapeError
from vkml.ops.apply import apply
from vkml.ops.comparison import eq
from vkml.ops.creation import arange
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
from vkml.ops.indexing import INDEX_DTYPES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vkml.tensor import Tensor

__all__ = ["embedding", "one_hot"]


# embedding -------------------------------------------------------------------------------


def _embedding_gradient(
    k: Ops,
    upstream: Value,
    _output: Value,
    weight_spec: Spec,
    indices: Value,
    padding_idx: int | None,
) -> tuple[Value, None]:
    return k.embedding_backward(upstream, indices, weight_spec.shape[0], padding_idx), None


def _looked_up(weight: Spec, indices: Spec, _padding_idx: int | None) -> Spec:
    if len(weight.shape) != 2:
        message = f"expected a weight of shape (entries, size), got {weight.shape}."
        raise ShapeError(message)
    if indices.dtype not in INDEX_DTYPES:
        message = f"expected indices of int64 or int32, got {indices.dtype}; use indices.long()."
        raise DTypeError(message)
    return Spec((*indices.shape, weight.shape[1]), weight.dtype)


def _fused(weight: Any, indices: Any, _padding_idx: int | None) -> Any:
    try:
        return kernels.embedding(weight, indices)
    except IndexError as error:
        raise IndexOutOfRangeError(str(error)) from None


def _embedding(k: Ops, weight: Value, indices: Value, _padding_idx: int | None) -> Value:
    flat = k.reshape(indices, (math.prod(indices.shape),))
    return k.reshape(k.index_select(weight, flat, 0), (*indices.shape, weight.shape[1]))


def _samples(generator: np.random.Generator) -> list[Sample]:
    weight = array(generator, 7, 3)
    return [
        Sample((weight, generator.integers(0, 7, (2, 5))), (None,)),
        Sample((weight, np.array([3, 0, 6, 3], np.int32)), (2,)),
        Sample((weight, np.array(4)), (None,)),
        Sample((weight, np.zeros((2, 0), np.int64)), (None,)),
    ]


EMBEDDING = define(
    Operation(
        name="embedding", operands=2, result=_looked_up, cpu=_fused, decomposition=_embedding,
        gradient=_embedding_gradient, samples=_samples,
    )
)  # fmt: skip


def _embedding_backward(
    k: Ops, upstream: Value, indices: Value, count: int, padding_idx: int | None
) -> Value:
    """Sum the rows of `upstream` by their index; those of the padding count for nothing."""
    number = math.prod(indices.shape)
    rows = k.reshape(upstream, (number, upstream.shape[-1]))
    flat = k.reshape(indices, (number,))
    if padding_idx is not None:
        is_padding = k.reshape(k.eq(flat, padding_idx), (number, 1))
        rows = k.where(is_padding, 0.0, rows)
    return k.index_add_zeros(rows, flat, count, 0)


EMBEDDING_BACKWARD = define(
    Operation(
        name="embedding_backward", operands=2, cpu=kernels.embedding_backward,
        result=lambda upstream, _indices, count, _padding_idx: Spec(
            (count, upstream.shape[-1]), upstream.dtype
        ),
        decomposition=_embedding_backward, gradient=THROUGH_DECOMPOSITION, samples=no_samples,
    )
)  # fmt: skip


def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """Return the rows of `weight` at the indices `input`.

    Parameters
    ----------
    input : Tensor of int64 or int32
        Indices of any shape.
    weight : Tensor
        The table, of shape (entries, size).
    padding_idx : int, optional
        An entry that receives no gradient; negative ones count from the end.

    Returns
    -------
    Tensor
        The shape of `input`, and an axis with the rows.

    Raises
    ------
    IndexOutOfRangeError
        An index is negative or not less than the number of entries.

    Examples
    --------
    >>> import vkml
    >>> table = vkml.tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    >>> vkml.embedding(vkml.tensor([2, 0]), table)
    tensor([[4., 5.],
            [0., 1.]])
    """
    if padding_idx is not None:
        entries = weight.shape[0] if weight.shape else 0
        if not -entries <= padding_idx < entries:
            message = f"embedding: padding_idx {padding_idx} names none of the {entries} entries."
            raise ArgumentError(message)
        padding_idx %= entries
    return apply(EMBEDDING, (weight, input), (padding_idx,))


# one_hot ---------------------------------------------------------------------------------


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Return vectors of int64 that are 1 at the place that `tensor` names and 0 elsewhere.

    Parameters
    ----------
    tensor : Tensor of int64 or int32
        Class numbers of any shape.
    num_classes : int
        The length of the vectors; by default one more than the largest class number.

    Returns
    -------
    Tensor
        The shape of `tensor`, and an axis of `num_classes`.

    Raises
    ------
    IndexOutOfRangeError
        A class number is negative or not less than `num_classes`.

    Examples
    --------
    >>> import vkml
    >>> vkml.one_hot(vkml.tensor([2, 0]))
    tensor([[0, 0, 1],
            [1, 0, 0]])
    """
    if tensor.dtype.dtype not in INDEX_DTYPES:
        message = f"one_hot: expected int64 or int32, got {tensor.dtype}; use x.long()."
        raise DTypeError(message)
    if num_classes == -1:
        if tensor.numel() == 0:
            message = "one_hot: an empty tensor does not say how many classes; give num_classes."
            raise ArgumentError(message)
        num_classes = int(tensor.numpy(force=True).max()) + 1
    if num_classes < 0:
        raise ArgumentError(f"one_hot: num_classes is {num_classes}; give 0 or more, or -1.")
    if tensor.device.type != "meta":  # which has no values to check
        _require_classes(tensor.numpy(force=True), num_classes)
    classes = arange(num_classes, dtype=tensor.dtype, device=tensor.device)
    return eq(tensor.unsqueeze(-1), classes).long()


def _require_classes(values: NDArray[Any], num_classes: int) -> None:
    lowest, highest = int(values.min(initial=0)), int(values.max(initial=0))
    if values.size and not 0 <= lowest <= highest < num_classes:
        message = (
            f"one_hot: class {lowest if lowest < 0 else highest} is out of range for "
            f"{num_classes} classes; give 0 to {num_classes - 1}."
        )
        raise IndexOutOfRangeError(message)
