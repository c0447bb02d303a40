"""Padding: elements surrounded by a constant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from vkml.errors import ArgumentError, ShapeError
from vkml.ops.apply import apply
from vkml.ops.definition import Operation, Ops, Sample, Spec, Value, array, define

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vkml.dtypes import Number
    from vkml.tensor import Tensor

__all__ = ["pad"]

Pads: TypeAlias = tuple[tuple[int, int], ...]
"""How many elements to add before and after each axis; negative ones are cut off."""


# pad -------------------------------------------------------------------------------------


def _pad_gradient(
    k: Ops, upstream: Value, _output: Value, _x: Value, pads: Pads, _value: Number
) -> tuple[Value]:
    return (k.pad(upstream, tuple((-before, -after) for before, after in pads), 0),)


def _padded(x: Spec, pads: Pads, _value: Number) -> Spec:
    shape = []
    for axis, (size, pair) in enumerate(zip(x.shape, pads, strict=True)):
        cut = sum(-each for each in pair if each < 0)
        if cut > size:
            message = f"{cut} elements cannot be cut off axis {axis} of shape {x.shape}."
            raise ShapeError(message)
        shape.append(size + sum(pair))
    return Spec(tuple(shape), x.dtype)


def _pad(k: Ops, x: Value, pads: Pads, value: Number) -> Value:
    for axis, (before, after) in enumerate(pads):
        if before < 0 or after < 0:
            x = _cut(k, x, axis, max(0, -before), max(0, -after))
        if before > 0 or after > 0:
            sides = [
                k.full((*x.shape[:axis], max(0, size), *x.shape[axis + 1 :]), value, x.dtype)
                for size in (before, after)
            ]
            x = k.cat((sides[0], x, sides[1]), axis)
    return k.contiguous(x)


def _cut(k: Ops, x: Value, axis: int, first: int, last: int) -> Value:
    starts = tuple(first if each == axis else 0 for each in range(len(x.shape)))
    sizes = (*x.shape[:axis], x.shape[axis] - first - last, *x.shape[axis + 1 :])
    return k.slice(x, starts, (1,) * len(x.shape), sizes)


def _fused_pad(x: Any, pads: Pads, value: Number) -> Any:
    kept, target, shape = [], [], []
    for size, (before, after) in zip(x.shape, pads, strict=True):
        first, last = max(0, -before), size - max(0, -after)
        start = max(0, before)
        kept.append(slice(first, last))
        target.append(slice(start, start + last - first))
        shape.append(size + before + after)
    result = np.full(shape, value, x.dtype) if value else np.zeros(shape, x.dtype)
    result[tuple(target)] = x[tuple(kept)]
    return result


PAD = define(
    Operation(
        name="pad", result=_padded, gradient=_pad_gradient, decomposition=_pad, cpu=_fused_pad,
        samples=lambda generator: [
            Sample((array(generator, 2, 3, 5),), (((0, 0), (1, 2), (3, 0)), 1.5)),
            Sample((array(generator, 3, 5).T,), (((-2, 1), (1, -1)), 0)),
            Sample((array(generator, 0, 2),), (((1, 1), (0, 0)), 2.0)),
        ],
    )
)  # fmt: skip


def pad(x: Tensor, pad: Sequence[int], mode: str = "constant", value: Number | None = 0) -> Tensor:
    """Return `x` surrounded by a constant.

    Parameters
    ----------
    x : Tensor
        Any shape.
    pad : sequence of int
        How many elements to add before and after: the last axis first, two numbers for each axis.
        Negative ones cut elements off.
    mode : str
        Only ``"constant"``.
    value : number
        The constant.

    Raises
    ------
    ArgumentError
        The numbers in `pad` are not pairs, or `mode` is another.

    Examples
    --------
    >>> import vkml
    >>> vkml.pad(vkml.ones(2), (1, 2))
    tensor([0., 1., 1., 0., 0.])
    """
    if mode != "constant":
        message = f"pad: there is no mode {mode!r}; use 'constant', or index_select for others."
        raise ArgumentError(message)
    counts = tuple(int(each) for each in pad)
    if len(counts) % 2 or len(counts) > 2 * x.ndim:
        message = (
            f"pad: {counts} are no pairs for the axes of shape {x.shape}; give two numbers for "
            "each axis, the last axis first."
        )
        raise ArgumentError(message)
    pairs = [(counts[each], counts[each + 1]) for each in range(0, len(counts), 2)][::-1]
    pads = ((0, 0),) * (x.ndim - len(pairs)) + tuple(pairs)
    return apply(PAD, (x,), (pads, 0 if value is None else value))
