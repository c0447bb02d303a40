"""Layouts for shaders: broadcast strides, fewer axes, and division by multiplication."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from vkml.errors import UnsupportedOperationError

MAX_ELEMENTS = 2**31 - 1
"""Shaders count elements in 32 bits, and divide them exactly up to here."""


def broadcast_strides(
    shape: tuple[int, ...], strides: tuple[int, ...], target: tuple[int, ...]
) -> tuple[int, ...]:
    """Return the strides that show an operand as `target`: 0 along repeated axes."""
    missing = len(target) - len(shape)
    repeated = (
        0 if size == 1 != wanted else stride
        for size, stride, wanted in zip(shape, strides, target[missing:], strict=True)
    )
    return (0,) * missing + tuple(repeated)


def collapse(
    shape: tuple[int, ...], all_strides: Sequence[tuple[int, ...]]
) -> tuple[list[int], list[list[int]]]:
    """Return sizes and strides with as few axes as show the same elements, innermost first.

    Two neighbouring axes become one where, for every operand, a step along the outer one is as
    long as all steps along the inner one together. Axes of size 1 vanish.
    """
    sizes: list[int] = []
    strides: list[list[int]] = [[] for _ in all_strides]
    for axis in reversed(range(len(shape))):
        size = shape[axis]
        if size == 1:
            continue
        steps = [each[axis] for each in all_strides]
        if sizes and all(
            step == known[-1] * sizes[-1] for step, known in zip(steps, strides, strict=True)
        ):
            sizes[-1] *= size
            continue
        sizes.append(size)
        for step, known in zip(steps, strides, strict=True):
            known.append(step)
    return sizes, strides


@functools.cache
def divisor(size: int) -> tuple[int, int]:
    """Return multiplier and shift such that ``x // size == (x * multiplier >> 32) + x >> shift``.

    For x below 2**31. Granlund and Montgomery, "Division by invariant integers using
    multiplication" (PLDI 1994), section 4.
    """
    shift = (size - 1).bit_length()
    return ((1 << 32) * ((1 << shift) - size)) // size + 1, shift


def axis_words(sizes: Sequence[int], strides: Sequence[Sequence[int]]) -> list[int]:
    """Return the rank and, for each axis, size, multiplier, shift and strides."""
    words = [len(sizes)]
    for axis, size in enumerate(sizes):
        words += [size, *divisor(size), *(each[axis] for each in strides)]
    return words


def require_countable(name: str, count: int) -> None:
    """Raise where there are more elements than shaders can count."""
    if count > MAX_ELEMENTS:
        message = (
            f"{name}: {count} elements are more than the Vulkan backend counts ({MAX_ELEMENTS}); "
            "split the tensor."
        )
        raise UnsupportedOperationError(message)
