"""Item access: ``x[index]`` and ``x[index] = value`` with everything that NumPy allows as an index.

Integers, slices, None and ``...`` give views. Arrays of integers or truth values pick elements: the
axes they index are merged into one, from which rows are selected.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vkml import dtypes
from vkml.autograd.inplace import is_recorded, replace
from vkml.errors import ArgumentError, DTypeError, IndexOutOfRangeError, ShapeError
from vkml.ops.apply import apply
from vkml.ops.definition import OPERATIONS, Operation, Ops, Sample, Spec, Value, array, define
from vkml.ops.from_data import as_tensor, from_numpy, tensor
from vkml.ops.functions import FUNCTIONS
from vkml.ops.movement import permute, reshape
from vkml.ops.slicing import SLICE, select
from vkml.ops.writing import run_into
from vkml.shapes import Shape, broadcasts_to, contiguous_strides
from vkml.tensor import Tensor

__all__: list[str] = []

_TRUTH_VALUES: Final = (np.dtype(np.bool_), dtypes.bool_)


# put -------------------------------------------------------------------------------------


def _put_gradient(
    k: Ops,
    upstream: Value,
    _output: Value,
    _x: Value,
    index: Value,
    source_spec: Spec,
    needs: tuple[Any, ...],
) -> tuple[Value, None, Value]:
    to_x = to_source = None
    if needs[0]:
        to_x = k.put(upstream, index, k.full(source_spec.shape, 0, source_spec.dtype))
    if needs[2]:
        flat = k.reshape(upstream, (math.prod(upstream.shape),))
        to_source = k.index_select(flat, index, 0)
    return to_x, None, to_source


def _put(x: Any, index: Any, source: Any, out: Any = None) -> Any:
    result = np.array(x) if out is None else out
    if out is not None and out is not x:
        np.copyto(out, x)
    np.put(result, index, source)
    return result


PUT = define(
    Operation(
        name="put", operands=3, result=lambda x, _index, _source: Spec(x.shape, x.dtype),
        cpu=_put, gradient=_put_gradient, writes_out=True,
        samples=lambda generator: [
            Sample((array(generator, 3, 4), np.array([1, 11, 4]), array(generator, 3))),
        ],
    )
)  # fmt: skip
"""A copy of `x` with the elements at flat places `index` replaced."""


# reading an index ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Index:
    """An index taken apart: a slice of every axis, a new shape, and arrays on some axes of it."""

    starts: Shape
    steps: Shape
    sizes: Shape
    shape: Shape
    """The shape after integers dropped axes and None added some."""
    arrays: dict[int, NDArray[np.int64]]
    """For axes of `shape`: which elements to pick, checked and not negative."""
    adjacent: bool


def _parse(index: Any, x: Tensor) -> _Index:
    items = list(index) if isinstance(index, tuple) else [index]
    items = [_as_array(item) if _is_array(item) else item for item in items]
    consumed = sum(
        item.ndim if _is_mask(item) else 1
        for item in items
        if item is not None and item is not Ellipsis
    )
    if consumed > x.ndim:
        message = f"too many indices: {consumed} for a tensor of shape {x.shape}."
        raise IndexOutOfRangeError(message)
    if sum(item is Ellipsis for item in items) > 1:
        raise IndexOutOfRangeError("an index may hold one '...' only.")
    fill = [slice(None)] * (x.ndim - consumed)
    place = next((n for n, item in enumerate(items) if item is Ellipsis), None)
    items = items + fill if place is None else items[:place] + fill + items[place + 1 :]
    return _take_apart(items, x.shape)


def _take_apart(items: list[Any], full_shape: Shape) -> _Index:
    starts: list[int] = []
    steps: list[int] = []
    sizes: list[int] = []
    shape: list[int] = []
    arrays: dict[int, NDArray[np.int64]] = {}
    groups: list[bool] = []  # per result position: does an array stand there?
    axis = 0
    for item in items:
        if item is None:
            shape.append(1)
            groups.append(False)
            continue
        size = full_shape[axis] if axis < len(full_shape) else 0
        if isinstance(item, slice):
            start, stop, step = _limits(item, size)
            count = len(range(start, stop, step))
            part = (start, step, count)
            shape.append(count)
            groups.append(False)
        elif _is_mask(item) and not item.ndim:  # one truth value: a new axis
            arrays[len(shape)] = np.zeros(int(item), np.int64)
            shape.append(1)
            groups.append(True)
            continue
        elif isinstance(item, np.ndarray) and item.ndim:
            picked = _mask_places(item, full_shape, axis) if _is_mask(item) else [item]
            for each in picked:
                arrays[len(shape)] = _checked(each, full_shape[axis], axis)
                starts.append(0)
                steps.append(1)
                sizes.append(full_shape[axis])
                shape.append(full_shape[axis])
                groups.append(True)
                axis += 1
            continue
        else:
            position = _position(item, size, axis)
            part = (position, 1, 1)
        starts.append(part[0])
        steps.append(part[1])
        sizes.append(part[2])
        axis += 1
    runs = sum(now and not before for before, now in zip([False, *groups], groups, strict=False))
    return _Index(tuple(starts), tuple(steps), tuple(sizes), tuple(shape), arrays, runs <= 1)


def _is_array(item: Any) -> bool:
    if isinstance(item, (Tensor, np.ndarray)):
        return not (item.ndim == 0 and item.dtype not in _TRUTH_VALUES)
    return isinstance(item, (list, bool, np.bool_))


def _is_mask(item: Any) -> bool:
    return isinstance(item, np.ndarray) and item.dtype == np.bool_


def _as_array(item: Any) -> NDArray[Any]:
    if isinstance(item, Tensor):
        found = item.numpy(force=True)
    else:
        try:
            found = np.asarray(item)
        except ValueError as error:
            raise ShapeError(f"a list that indexes a tensor has gaps: {error}") from None
    if found.size == 0 and not isinstance(item, (Tensor, np.ndarray)):
        found = found.astype(np.int64)
    if found.dtype.kind not in "biu":
        message = f"an index holds integers or truth values, not {found.dtype}; use x.long()."
        raise DTypeError(message)
    return found


def _limits(item: slice, size: int) -> tuple[int, int, int]:
    try:
        return item.indices(size)
    except (TypeError, ValueError) as error:
        given = ":".join("" if each is None else repr(each) for each in _parts(item))
        message = f"the slice {given} cannot index a tensor: {error}."
        kind = ArgumentError if isinstance(error, ValueError) else DTypeError
        raise kind(message) from None


def _parts(item: slice) -> tuple[Any, ...]:
    return (item.start, item.stop) if item.step is None else (item.start, item.stop, item.step)


def _mask_places(mask: NDArray[Any], full_shape: Shape, axis: int) -> Sequence[NDArray[np.int64]]:
    covered = full_shape[axis : axis + mask.ndim]
    if mask.shape != covered:
        message = f"a mask of shape {mask.shape} does not fit axes of sizes {covered}."
        raise IndexOutOfRangeError(message)
    return mask.nonzero()


def _checked(places: NDArray[Any], size: int, axis: int) -> NDArray[np.int64]:
    wrong = (places < -size) | (places >= size)
    if wrong.any():
        raise _outside(int(places[wrong].flat[0]), size, axis)
    wide = places.astype(np.int64)  # int8 may not hold the size
    return np.where(wide < 0, wide + size, wide)


def _position(item: Any, size: int, axis: int) -> int:
    try:
        position = int(item.__index__())
    except (AttributeError, TypeError):
        message = (
            f"{item!r} cannot index a tensor; use integers, slices, None, '...', or tensors and "
            "lists of integers or truth values."
        )
        raise DTypeError(message) from None
    if not -size <= position < size:
        raise _outside(position, size, axis)
    return position % size


def _outside(position: int, size: int, axis: int) -> IndexOutOfRangeError:
    return IndexOutOfRangeError(f"index {position} lies outside axis {axis} of size {size}.")


# getitem ---------------------------------------------------------------------------------


def getitem(x: Tensor, index: Any) -> Tensor:
    """Return ``x[index]``: a view for integers and slices, a copy for arrays.

    Raises
    ------
    IndexOutOfRangeError
        An index lies outside its axis, or there are too many.
    """
    if index.__class__ is int and x.ndim:
        return select(x, 0, index)
    parsed = _parse(index, x)
    part = _basic(x, parsed)
    return _picked(part, parsed) if parsed.arrays else part


def _basic(x: Tensor, parsed: _Index) -> Tensor:
    result = x
    plain = parsed.sizes == x.shape and all(step == 1 for step in parsed.steps)
    if not plain or parsed.shape == x.shape:
        result = apply(SLICE, (x,), (parsed.starts, parsed.steps, parsed.sizes))
    if parsed.shape != result.shape:
        result = apply(OPERATIONS["view"], (result,), (parsed.shape,))
    return result


def _picked(x: Tensor, parsed: _Index) -> Tensor:
    """Select the elements that arrays pick from the axes they stand on."""
    axes = sorted(parsed.arrays)
    others = [axis for axis in range(x.ndim) if axis not in parsed.arrays]
    merged = tuple(x.shape[axis] for axis in axes)
    places = _merged_places(parsed, merged)
    front = permute(x, *axes, *others) if axes != list(range(len(axes))) else x
    rows = reshape(front, (math.prod(merged), *front.shape[len(axes) :]))
    chosen = FUNCTIONS["index_select"](rows, 0, _on_device(places.ravel(), x))
    result = reshape(chosen, (*places.shape, *rows.shape[1:]))
    if parsed.adjacent and axes[0] > 0:  # NumPy: adjacent arrays leave their axes where they stood
        before, rank = axes[0], places.ndim
        order = [
            *range(rank, rank + before),
            *range(rank),
            *range(rank + before, result.ndim),
        ]
        result = permute(result, *order)
    return result


def _merged_places(parsed: _Index, merged: Shape) -> NDArray[np.int64]:
    arrays = [parsed.arrays[axis] for axis in sorted(parsed.arrays)]
    try:
        together = np.broadcast_arrays(*arrays)
    except ValueError:
        listed = ", ".join(str(each.shape) for each in arrays)
        raise ShapeError(f"index arrays of shapes {listed} do not broadcast together.") from None
    places = np.zeros(together[0].shape, np.int64)
    for each, stride in zip(together, contiguous_strides(merged), strict=True):
        places += each * stride
    return places


def _on_device(values: NDArray[np.int64], x: Tensor) -> Tensor:
    return tensor(values, device=x.device)


# setitem ---------------------------------------------------------------------------------


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """Write `value`, broadcast, into ``x[index]``.

    Raises
    ------
    IndexOutOfRangeError
        An index lies outside its axis.
    ShapeError
        The value does not broadcast to the part.
    """
    parsed = _parse(index, x)
    if not parsed.arrays:
        part = _basic(x, parsed)
        FUNCTIONS["copy_"](part, _source(value, x, part.ndim))
        return
    places = _flat_places(x, parsed)
    source = _source(value, x, places.ndim).to(dtype=x.dtype, device=x.device)
    if not broadcasts_to(source.shape, places.shape):
        message = (
            f"setitem: a value of shape {source.shape} does not broadcast to the part "
            f"{places.shape}."
        )
        raise ShapeError(message)
    spread = reshape(source.expand(places.shape), (places.size,))
    operands = (_on_device(places.ravel(), x), spread)
    if is_recorded(x, source):
        replace("setitem", x, lambda: apply(PUT, (x, *operands)))
    else:
        run_into(PUT, (x, *operands), (), x)


def _source(value: Any, x: Tensor, rank: int) -> Tensor:
    """Return `value` as a tensor, without the axes of size 1 in front that a part lacks."""
    source = value if isinstance(value, Tensor) else as_tensor(value, dtype=x.dtype)
    extra = source.ndim - rank
    if extra > 0 and all(size == 1 for size in source.shape[:extra]):
        return reshape(source, source.shape[extra:])
    return source


def _flat_places(x: Tensor, parsed: _Index) -> NDArray[np.int64]:
    """Return the place, among the elements of `x` in order, of every element of ``x[index]``."""
    numbered = from_numpy(np.arange(x.numel(), dtype=np.int64).reshape(x.shape))
    return _picked(_basic(numbered, parsed), parsed).numpy()


ITEM_ACCESS: Final[dict[str, Callable[..., Any]]] = {"getitem": getitem, "setitem": setitem}
"""The methods behind ``x[index]``, by name."""
