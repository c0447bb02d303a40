"""Arithmetic on shapes, strides and axes. Nothing here knows tensors or devices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

from vkml.errors import ShapeError

Shape: TypeAlias = tuple[int, ...]


def as_shape(sizes: tuple[object, ...]) -> Shape:
    """Return the shape given as ``f(2, 3)``, ``f((2, 3))`` or ``f([2, 3])``."""
    if len(sizes) == 1 and isinstance(sizes[0], Sequence):
        sizes = tuple(sizes[0])
    try:
        return tuple(size.__index__() for size in sizes)  # type: ignore[attr-defined]  # duck-typed: any integer
    except (AttributeError, TypeError):
        given = ", ".join(map(_described, sizes))
        raise ShapeError(f"a shape is made of integers, not of {given}.") from None


def _described(value: object) -> str:
    """Return `value` where that is short, else its type."""
    plain = isinstance(value, (str, bytes, int, float, complex)) or value is None
    return repr(value) if plain else type(value).__name__


def broadcast(*shapes: Shape) -> Shape:
    """Return the shape that all `shapes` broadcast to, by NumPy's rule."""
    rank = max(map(len, shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, start=rank - len(shape)):
            if result[axis] == 1:
                result[axis] = size
            elif size not in (1, result[axis]):
                listed = " and ".join(map(str, shapes))
                message = (
                    f"shapes {listed} do not broadcast: at axis {axis - rank} the sizes are "
                    f"{result[axis]} and {size}. Sizes must be equal, or one of them 1."
                )
                raise ShapeError(message)
    return tuple(result)


def broadcasts_to(shape: Shape, target: Shape) -> bool:
    """Return whether `shape` broadcasts to `target`."""
    try:
        return broadcast(shape, target) == target
    except ShapeError:
        return False


def axis_of(dim: int, rank: int) -> int:
    """Return `dim` counted from the front; negative ones count from the end."""
    if dim.__class__ is not int:
        dim = _integer(dim)
    limit = max(rank, 1)  # a rank-0 tensor has one imaginary axis, as in PyTorch
    if not -limit <= dim < limit:
        message = f"axis {dim} is out of range for rank {rank}; give {-limit} to {limit - 1}."
        raise ShapeError(message)
    return dim % limit


def existing_axis(dim: int, rank: int) -> int:
    """As `axis_of`, where the imaginary axis of a rank-0 tensor will not do."""
    axis = axis_of(dim, rank)
    if not rank:
        raise ShapeError("a rank-0 tensor has no axes.")
    return axis


def _integer(dim: object) -> int:
    try:
        if not isinstance(dim, bool):
            return int(dim.__index__())  # type: ignore[attr-defined]  # duck-typed: any integer
    except (AttributeError, TypeError):
        pass
    raise ShapeError(f"an axis is an integer, not {_described(dim)}.")


def axes_of(dims: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Return the axes that `dims` names, sorted; None or an empty sequence names all of them."""
    if dims is None:
        return tuple(range(rank))
    if isinstance(dims, int):
        dims = (dims,)
    else:
        try:
            dims = tuple(dims)
        except TypeError:
            dims = (_integer(dims),)  # a NumPy integer, or an error
    if not dims:
        return tuple(range(rank))
    axes = sorted(axis_of(dim, rank) for dim in dims)
    if len(set(axes)) != len(axes):
        raise ShapeError(f"axes {dims} name one axis twice; give each axis once.")
    return tuple(axes) if rank else ()


def reduced(shape: Shape, axes: tuple[int, ...], keepdim: bool) -> Shape:
    """Return `shape` without `axes`, or with size 1 there."""
    if keepdim:
        return tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


def contiguous_strides(shape: Shape) -> Shape:
    """Return the strides, in elements, of `shape` in C order."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * max(shape[axis + 1], 1)
    return tuple(strides)


def is_contiguous(shape: Shape, strides: Shape) -> bool:
    """Return whether elements lie in C order without gaps."""
    if 0 in shape:
        return True
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


def complete(sizes: Shape, count: int) -> Shape:
    """Return `sizes` with its -1, if any, replaced so that it holds `count` elements."""
    known = math.prod(size for size in sizes if size != -1)
    unknown = sizes.count(-1)
    if unknown > 1 or any(size < -1 for size in sizes):
        raise ShapeError(f"shape {sizes} may hold one -1 and no other negative size.")
    if unknown:
        if known == 0 or count % known:
            raise ShapeError(f"{count} elements do not fill shape {sizes} for any size at the -1.")
        sizes = tuple(count // known if size == -1 else size for size in sizes)
    elif known != count:
        raise ShapeError(f"shape {sizes} holds {known} elements, the tensor has {count}.")
    return sizes


def view_strides(shape: Shape, strides: Shape, new_shape: Shape) -> Shape | None:
    """Return strides that show the same elements in the same order as `new_shape`.

    None where no strides can: then the elements must be copied first.
    """
    if math.prod(shape) == 0:
        return contiguous_strides(new_shape)
    # Merge neighbouring axes that step through memory as one, then cut the runs anew.
    runs: list[tuple[int, int]] = []
    for size, stride in zip(shape, strides, strict=True):
        if size == 1:
            continue
        if runs and runs[-1][1] == stride * size:
            runs[-1] = (runs[-1][0] * size, stride)
        else:
            runs.append((size, stride))
    result: list[int] = []
    position, left = len(runs) - 1, runs[-1][0] if runs else 1
    step = runs[-1][1] if runs else 1
    for size in reversed(new_shape):
        if left == 1 and position > 0 and size != 1:
            position -= 1
            left, step = runs[position]
        if left % size:
            return None
        result.append(step)
        step *= size
        left //= size
    return tuple(reversed(result))


def span(shape: Shape, strides: Shape) -> tuple[int, int]:
    """Return the lowest and highest element offset, relative to the first, that a view touches."""
    if math.prod(shape) == 0:
        return 0, -1
    steps = [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
    return sum(step for step in steps if step < 0), sum(step for step in steps if step > 0)
