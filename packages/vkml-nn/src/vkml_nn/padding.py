"""Padding: a tensor with a border around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import vkml
from vkml import ArgumentError, ShapeError, Tensor

_OWN_VALUES: Final = ("reflect", "replicate", "circular")


def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """Return `input` with a border.

    Parameters
    ----------
    input : Tensor
        Any shape.
    pad : sequence of int
        How much is added before and after the last axis, then the one before it, and so on.
        Negative numbers cut off, with ``"constant"``.
    mode : {"constant", "reflect", "replicate", "circular"}
        What the border holds: one number, or the values mirrored (the edge not repeated), the
        edge repeated, or the values of the other end.
    value : float, optional
        The number, for ``"constant"``; 0 by default.

    Raises
    ------
    ArgumentError
        The mode is none of these, or takes no value.
    ShapeError
        There are more numbers than axes take, or a border is larger than its axis allows.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.functional.pad(vkml.tensor([1.0, 2.0, 3.0]), (2, 1), mode="reflect")
    tensor([3., 2., 1., 2., 3., 2.])
    """
    if mode == "constant":
        return vkml.pad(input, pad, mode, 0 if value is None else value)
    if mode not in _OWN_VALUES:
        choices = ", ".join(("constant", *_OWN_VALUES))
        raise ArgumentError(f"pad: mode is {mode!r}; choose from {choices}.")
    if value is not None:
        raise ArgumentError(f"pad: mode {mode!r} takes no value.")
    if len(pad) % 2 or len(pad) > 2 * input.ndim:
        message = (
            f"pad: {tuple(pad)} for shape {input.shape}: give a number for before and one for "
            "after each axis to pad, last axis first."
        )
        raise ShapeError(message)
    result = input
    for position in range(len(pad) // 2):
        before, after = pad[2 * position], pad[2 * position + 1]
        if before or after:
            result = _extended(result, input.ndim - 1 - position, before, after, mode)
    return result


def _extended(x: Tensor, axis: int, before: int, after: int, mode: str) -> Tensor:
    """Return `x` with its own values around one axis."""
    size = x.shape[axis]
    limit = {"reflect": size - 1, "circular": size}.get(mode, before + after if size else 0)
    if min(before, after) < 0 or max(before, after) > limit:
        message = (
            f"pad: a border of {(before, after)} does not fit an axis of {size} with {mode!r}; "
            f"give 0 to {limit}."
        )
        raise ShapeError(message)
    indices = [_source(index, size, mode) for index in range(-before, size + after)]
    return vkml.index_select(x, axis, vkml.tensor(indices, dtype=vkml.int64, device=x.device))


def _source(index: int, size: int, mode: str) -> int:
    """Return where the value at `index`, which may lie outside, comes from."""
    if mode == "circular":
        return index % size
    if mode == "replicate":
        return min(max(index, 0), size - 1)
    return size - 1 - abs(size - 1 - abs(index))
