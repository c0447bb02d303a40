"""Arranging: elements in another order or repeated; triangles of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vkml.errors import ArgumentError, ShapeError
from vkml.ops import rules
from vkml.ops.apply import apply
from vkml.ops.definition import Operation, Ops, Sample, Spec, Value, array, define
from vkml.ops.from_data import tensor
from vkml.ops.indexing import index_select
from vkml.ops.movement import clone, expand, permute, reshape, transpose
from vkml.shapes import Shape, as_shape, axes_of, axis_of
from vkml.tensor import Tensor

if TYPE_CHECKING:
    from vkml.ops.reduction import Dims

__all__ = [
    "flip", "movedim", "repeat", "repeat_interleave", "roll", "swapaxes", "tile", "tril",
    "triu",
]  # fmt: skip


# flip ------------------------------------------------------------------------------------


def _flip_gradient(
    k: Ops, upstream: Value, _output: Value, _x: Value, axes: tuple[int, ...]
) -> tuple[Value]:
    return (k.flip(upstream, axes),)


def _flip(k: Ops, x: Value, axes: tuple[int, ...]) -> Value:
    rank = range(len(x.shape))
    starts = tuple(x.shape[axis] - 1 if axis in axes else 0 for axis in rank)
    steps = tuple(-1 if axis in axes else 1 for axis in rank)
    return k.contiguous(k.slice(x, starts, steps, x.shape))


FLIP = define(
    Operation(
        name="flip", result=rules.same, gradient=_flip_gradient, decomposition=_flip,
        cpu=lambda x, axes: np.array(np.flip(x, axes), order="C"),
        samples=lambda generator: [
            Sample((array(generator, 2, 3, 5),), ((0, 2),)),
            Sample((array(generator, 3, 5).T,), ((1,),)),
            Sample((array(generator, 3, 0),), ((1,),)),
            Sample((array(generator),), ((),)),
        ],
    )
)  # fmt: skip


def flip(x: Tensor, *dims: Any) -> Tensor:
    """Return a copy of `x` with the elements in reverse order along the axes `dims`.

    Examples
    --------
    >>> import vkml
    >>> vkml.flip(vkml.tensor([1, 2, 3]), 0)
    tensor([3, 2, 1])
    """
    wanted = as_shape(dims)
    return apply(FLIP, (x,), (axes_of(wanted, x.ndim) if wanted else (),))


# roll ------------------------------------------------------------------------------------


def _roll_gradient(
    k: Ops, upstream: Value, _output: Value, _x: Value, shifts: Shape, axes: Shape
) -> tuple[Value]:
    return (k.roll(upstream, tuple(-shift for shift in shifts), axes),)


def _roll(k: Ops, x: Value, shifts: Shape, axes: Shape) -> Value:
    for shift, axis in zip(shifts, axes, strict=True):
        size = x.shape[axis]
        if size and shift % size:
            cut = size - shift % size
            x = k.cat((_part(k, x, axis, cut, size), _part(k, x, axis, 0, cut)), axis)
    return k.contiguous(x)


def _part(k: Ops, x: Value, axis: int, start: int, stop: int) -> Value:
    starts = tuple(start if each == axis else 0 for each in range(len(x.shape)))
    sizes = (*x.shape[:axis], stop - start, *x.shape[axis + 1 :])
    return k.slice(x, starts, (1,) * len(x.shape), sizes)


ROLL = define(
    Operation(
        name="roll", result=rules.same, gradient=_roll_gradient, decomposition=_roll, cpu=np.roll,
        samples=lambda generator: [
            Sample((array(generator, 3, 5),), ((2,), (1,))),
            Sample((array(generator, 3, 5).T,), ((-1, 7), (0, 1))),
            Sample((array(generator, 0, 2),), ((1,), (0,))),
        ],
    )
)  # fmt: skip


def roll(x: Tensor, shifts: int | Sequence[int], dims: Dims = None) -> Tensor:
    """Return `x` shifted along axes; what leaves at the end comes back at the beginning.

    Parameters
    ----------
    x : Tensor
        Any shape.
    shifts : int or sequence of int
        By how many places, for each of `dims`.
    dims : int or sequence of int, optional
        The axes; by default the elements are shifted in their order.

    Examples
    --------
    >>> import vkml
    >>> vkml.roll(vkml.tensor([1, 2, 3]), 1)
    tensor([3, 1, 2])
    """
    steps = (shifts,) if isinstance(shifts, int) else tuple(shifts)
    if dims is None:
        return reshape(apply(ROLL, (reshape(x, -1),), ((sum(steps),), (0,))), x.shape)
    named = (dims,) if isinstance(dims, int) else tuple(dims)
    if len(named) != len(steps):
        message = (
            f"roll: shifts {steps} and dims {named} differ in number; give one shift per axis."
        )
        raise ArgumentError(message)
    if not x.shape:
        raise ShapeError("roll: a rank-0 tensor has no axis to shift along.")
    return apply(ROLL, (x,), (steps, tuple(axis_of(dim, x.ndim) for dim in named)))


# repeat, tile, repeat_interleave ----------------------------------------------------------


def repeat(x: Tensor, *repeats: Any) -> Tensor:
    """Return `x` repeated as a whole along each axis.

    Parameters
    ----------
    x : Tensor
        Any shape.
    repeats : int ... or sequence of int
        How often along each axis; more numbers than axes add axes at the front.

    Raises
    ------
    ShapeError
        There are fewer numbers than axes, or a negative one.

    Examples
    --------
    >>> import vkml
    >>> vkml.repeat(vkml.tensor([1, 2]), 2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    counts = as_shape(repeats)
    if len(counts) < x.ndim or any(count < 0 for count in counts):
        message = (
            f"repeat: {counts} does not say how often to repeat each axis of shape {x.shape}; give "
            f"{x.ndim} or more numbers from 0 up, or use tile."
        )
        raise ShapeError(message)
    sizes = (1,) * (len(counts) - x.ndim) + x.shape
    apart = reshape(x, tuple(each for size in sizes for each in (1, size)))
    pairs = tuple(zip(counts, sizes, strict=True))
    repeated = expand(apart, tuple(each for pair in pairs for each in pair))
    return reshape(clone(repeated), tuple(count * size for count, size in pairs))


def tile(x: Tensor, *dims: Any) -> Tensor:
    """Return `x` repeated as a whole along its last axes; as `repeat`, where 1 may be left out.

    Examples
    --------
    >>> import vkml
    >>> vkml.tile(vkml.tensor([[1, 2], [3, 4]]), 2)
    tensor([[1, 2, 1, 2],
            [3, 4, 3, 4]])
    """
    counts = as_shape(dims)
    return repeat(x, (1,) * (x.ndim - len(counts)) + counts)


def repeat_interleave(x: Tensor, repeats: int | Tensor, dim: int | None = None) -> Tensor:
    """Return `x` with each element along axis `dim` repeated in place.

    Parameters
    ----------
    x : Tensor
        Any shape.
    repeats : int or Tensor
        How often: one number for all, or one for each element of the axis.
    dim : int, optional
        The axis; by default `x` is flattened first.

    Examples
    --------
    >>> import vkml
    >>> vkml.repeat_interleave(vkml.tensor([1, 2]), 2)
    tensor([1, 1, 2, 2])
    >>> vkml.repeat_interleave(vkml.tensor([1, 2]), vkml.tensor([0, 3]))
    tensor([2, 2, 2])
    """
    if dim is None or not x.shape:
        x = reshape(x, -1)
        dim = 0
    axis = axis_of(dim, x.ndim)
    before, size, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    counts = repeats.numpy(force=True) if isinstance(repeats, Tensor) else np.asarray(repeats)
    if counts.size and counts.min() < 0:
        raise ArgumentError(f"repeat_interleave: repeats holds {counts.min()}; give 0 or more.")
    if counts.size == 1:
        count = int(counts.item())
        spread = expand(reshape(x, (*before, size, 1, *after)), (*before, size, count, *after))
        return reshape(clone(spread), (*before, size * count, *after))
    if counts.shape != (size,):
        message = (
            f"repeat_interleave: repeats has shape {counts.shape}, axis {axis} has size {size}; "
            "give one number, or one for each element."
        )
        raise ShapeError(message)
    places = np.repeat(np.arange(size, dtype=np.int64), counts)
    return index_select(x, axis, tensor(places, device=x.device))


# tril, triu ------------------------------------------------------------------------------


def _tril_gradient(
    k: Ops, upstream: Value, _output: Value, _x: Value, diagonal: int
) -> tuple[Value]:
    return (k.tril(upstream, diagonal),)


def _triu_gradient(
    k: Ops, upstream: Value, _output: Value, _x: Value, diagonal: int
) -> tuple[Value]:
    return (k.triu(upstream, diagonal),)


def _tril(k: Ops, x: Value, diagonal: int) -> Value:
    row, column = _coordinates(k, x)
    return k.where(k.le(column, k.add(row, diagonal)), x, 0)


def _triu(k: Ops, x: Value, diagonal: int) -> Value:
    row, column = _coordinates(k, x)
    return k.where(k.ge(column, k.add(row, diagonal)), x, 0)


def _coordinates(k: Ops, x: Value) -> tuple[Value, Value]:
    """Return the numbers of the rows, as a column, and of the columns, as a row, from 1 on."""
    rows, columns = x.shape[-2:]
    int32 = np.dtype(np.int32)
    row = k.cumsum(k.full((rows, 1), 1, int32), 0)
    return row, k.cumsum(k.full((1, columns), 1, int32), 1)


def _matrices(x: Spec, _diagonal: int) -> Spec:
    if len(x.shape) < 2:
        raise ShapeError(f"expected a matrix or a batch of them, got shape {x.shape}.")
    return Spec(x.shape, x.dtype)


def _triangle_samples(generator: np.random.Generator) -> list[Sample]:
    return [
        Sample((array(generator, 4, 5),), (0,)),
        Sample((array(generator, 5, 2, 3).T,), (-1,)),
        Sample((array(generator, 3, 4),), (2,)),
        Sample((array(generator, 0, 4),), (0,)),
    ]


TRIL = define(
    Operation(
        name="tril", result=_matrices, gradient=_tril_gradient, decomposition=_tril, cpu=np.tril,
        samples=_triangle_samples,
    )
)  # fmt: skip
TRIU = define(
    Operation(
        name="triu", result=_matrices, gradient=_triu_gradient, decomposition=_triu, cpu=np.triu,
        samples=_triangle_samples,
    )
)  # fmt: skip


def tril(x: Tensor, diagonal: int = 0) -> Tensor:
    """Return the matrices of `x` with zeros above a diagonal.

    Parameters
    ----------
    x : Tensor
        Two axes or more; the last two are the matrices'.
    diagonal : int
        The last one that is kept: 0 for the main diagonal, 1 for the one above it.

    Examples
    --------
    >>> import vkml
    >>> vkml.tril(vkml.ones(2, 3))
    tensor([[1., 0., 0.],
            [1., 1., 0.]])
    """
    return apply(TRIL, (x,), (diagonal,))


def triu(x: Tensor, diagonal: int = 0) -> Tensor:
    """Return the matrices of `x` with zeros below a diagonal. Parameters as for `tril`.

    Examples
    --------
    >>> import vkml
    >>> vkml.triu(vkml.ones(2, 3))
    tensor([[1., 1., 1.],
            [0., 1., 1.]])
    """
    return apply(TRIU, (x,), (diagonal,))


# movedim, swapaxes -----------------------------------------------------------------------


def movedim(x: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """Return a view of `x` with the axes `source` at the places `destination`.

    Examples
    --------
    >>> import vkml
    >>> vkml.movedim(vkml.zeros(2, 3, 4), 0, -1).shape
    (3, 4, 2)
    """
    pair = [
        [axis_of(dim, x.ndim) for dim in ((dims,) if isinstance(dims, int) else dims)]
        for dims in (source, destination)
    ]
    if len(pair[0]) != len(pair[1]) or any(len(set(axes)) != len(axes) for axes in pair):
        message = f"movedim: {source} do not go to {destination}; name each axis once in both."
        raise ShapeError(message)
    order = [axis for axis in range(x.ndim) if axis not in pair[0]]
    for place, axis in sorted(zip(pair[1], pair[0], strict=True)):
        order.insert(place, axis)
    return permute(x, order[: x.ndim])


def swapaxes(x: Tensor, axis0: int, axis1: int) -> Tensor:
    """Return a view of `x` with two axes swapped; as `transpose`.

    Examples
    --------
    >>> import vkml
    >>> vkml.swapaxes(vkml.zeros(2, 3), 0, 1).shape
    (3, 2)
    """
    return transpose(x, axis0, axis1)
