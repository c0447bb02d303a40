"""Joining tensors along an axis, and cutting them apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vkml.errors import ArgumentError, ShapeError
from vkml.ops.apply import apply
from vkml.ops.definition import (
    Arity,
    Operation,
    Ops,
    Promotion,
    Sample,
    Spec,
    Value,
    array,
    define,
)
from vkml.ops.movement import reshape, unsqueeze
from vkml.ops.slicing import SLICE
from vkml.shapes import Shape, axis_of

if TYPE_CHECKING:
    from vkml.tensor import Tensor

__all__ = ["cat", "chunk", "split", "stack", "unbind"]


def _part(shape: Shape, axis: int, start: int, size: int) -> tuple[Shape, Shape, Shape]:
    """Return the options of the slice of `size` elements along `axis`, from `start` on."""
    starts = tuple([start if each == axis else 0 for each in range(len(shape))])
    sizes = (*shape[:axis], size, *shape[axis + 1 :])
    return starts, (1,) * len(shape), sizes


# cat -------------------------------------------------------------------------------------


def _cat_gradient(
    k: Ops,
    upstream: Value,
    _output: Value,
    tensors_spec: Sequence[Spec],
    axis: int,
    needs: tuple[Any, ...],
) -> tuple[Value | None, ...]:
    gradients: list[Value | None] = []
    start = 0
    for spec, needed in zip(tensors_spec, needs, strict=True):
        options = _part(spec.shape, axis, start, spec.shape[axis])
        gradients.append(k.slice(upstream, *options) if needed else None)
        start += spec.shape[axis]
    return tuple(gradients)


def _joined(tensors: Sequence[Spec], axis: int) -> Spec:
    first = tensors[0]
    if not first.shape:
        raise ShapeError("rank-0 tensors have no axis to be joined along; use stack.")
    total = 0
    for position, each in enumerate(tensors):
        shape = each.shape
        same = shape[:axis] == first.shape[:axis] and shape[axis + 1 :] == first.shape[axis + 1 :]
        if len(shape) != len(first.shape) or not same:
            message = (
                f"tensor {position} has shape {shape}, the first one {first.shape}; all sizes but "
                f"that of axis {axis} must agree."
            )
            raise ShapeError(message)
        total += shape[axis]
    return Spec((*first.shape[:axis], total, *first.shape[axis + 1 :]), first.dtype)


CAT = define(
    Operation(
        name="cat", operands=Arity.SEQUENCE, result=_joined, gradient=_cat_gradient,
        cpu=np.concatenate, promotion=Promotion.COMMON,
        samples=lambda generator: [
            Sample((array(generator, 2, 3), array(generator, 4, 3)), (0,)),
            Sample((array(generator, 3, 2).T, array(generator, 2, 0)), (1,)),
            Sample((array(generator, 5),), (0,)),
        ],
    )
)  # fmt: skip


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Return the tensors joined along an axis that they have.

    Parameters
    ----------
    tensors : sequence of Tensor
        One or more; all sizes but that of axis `dim` agree. Dtypes are promoted.
    dim : int
        The axis along which they follow each other.

    Raises
    ------
    ShapeError
        The shapes differ along another axis.

    Examples
    --------
    >>> import vkml
    >>> vkml.cat([vkml.ones(2), vkml.zeros(1)])
    tensor([1., 1., 0.])
    """
    tensors = tuple(tensors)
    if not tensors:
        raise ArgumentError("cat: there is no tensor to join; give at least one.")
    return apply(CAT, tensors, (axis_of(dim, tensors[0].ndim),))


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Return the tensors joined along a new axis `dim`.

    Parameters
    ----------
    tensors : sequence of Tensor
        One or more, of one shape. Dtypes are promoted.
    dim : int
        Where the new axis goes.

    Raises
    ------
    ShapeError
        The shapes differ.

    Examples
    --------
    >>> import vkml
    >>> vkml.stack([vkml.zeros(2), vkml.ones(2)])
    tensor([[0., 0.],
            [1., 1.]])
    """
    tensors = tuple(tensors)
    if not tensors:
        raise ArgumentError("stack: there is no tensor to join; give at least one.")
    for position, each in enumerate(tensors):
        if each.shape != tensors[0].shape:
            message = (
                f"stack: tensor {position} has shape {each.shape}, the first one "
                f"{tensors[0].shape}; all must agree."
            )
            raise ShapeError(message)
    axis = axis_of(dim, tensors[0].ndim + 1)
    return apply(CAT, [unsqueeze(each, axis) for each in tensors], (axis,))


# split, chunk, unbind --------------------------------------------------------------------


def split(x: Tensor, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Return views of consecutive parts of `x` along axis `dim`.

    Parameters
    ----------
    x : Tensor
        One axis or more.
    split_size : int or sequence of int
        The size of every part (the last one may be smaller), or the size of each.
    dim : int
        The axis to cut.

    Raises
    ------
    ArgumentError
        The sizes do not add up to that of the axis, or are negative.

    Examples
    --------
    >>> import vkml
    >>> vkml.split(vkml.arange(5), 2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    axis = _axis_to_cut("split", x, dim)
    size = x.shape[axis]
    if isinstance(split_size, int):
        if split_size < 0 or (split_size == 0 and size):
            raise ArgumentError(f"split: parts of {split_size} elements do not fill {size}.")
        # An empty axis still has one part, which is empty.
        starts = range(0, size, split_size) if size else range(1)
        sizes = [min(split_size, size - start) for start in starts]
    else:
        sizes = list(split_size)
        if any(each < 0 for each in sizes) or sum(sizes) != size:
            message = f"split: sizes {tuple(sizes)} do not add up to {size}, that of axis {axis}."
            raise ArgumentError(message)
    parts = []
    start = 0
    for each in sizes:
        parts.append(apply(SLICE, (x,), _part(x.shape, axis, start, each)))
        start += each
    return tuple(parts)


def chunk(x: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Return `x` cut along axis `dim` into at most `chunks` views of equal size.

    The last one may be smaller, and there may be fewer.

    Examples
    --------
    >>> import vkml
    >>> vkml.chunk(vkml.arange(5), 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    if chunks < 1:
        raise ArgumentError(f"chunk: chunks is {chunks}; give 1 or more.")
    size = x.shape[_axis_to_cut("chunk", x, dim)]
    if size == 0:
        return split(x, [0] * chunks, dim)
    return split(x, -(-size // chunks), dim)


def unbind(x: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Return a view at each place along axis `dim`, which goes away.

    Examples
    --------
    >>> import vkml
    >>> vkml.unbind(vkml.tensor([[1, 2], [3, 4]]), 1)
    (tensor([1, 3]), tensor([2, 4]))
    """
    axis = _axis_to_cut("unbind", x, dim)
    shape = (*x.shape[:axis], *x.shape[axis + 1 :])
    return tuple(
        reshape(apply(SLICE, (x,), _part(x.shape, axis, place, 1)), shape)
        for place in range(x.shape[axis])
    )


def _axis_to_cut(name: str, x: Tensor, dim: int) -> int:
    if not x.shape:
        raise ShapeError(f"{name}: a rank-0 tensor has no axis to cut; use x.reshape(1) first.")
    return axis_of(dim, x.ndim)
