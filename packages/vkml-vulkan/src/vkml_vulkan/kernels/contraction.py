"""Sums of products over shared axes: what matrix products and convolutions have in common.

A result element is the sum, over *inner* axes, of a left operand's element times a right one's.
Along *rows* only the left operand changes, along *columns* only the right one, along the *batch*
both. ``contraction.glsl`` computes all of them; here they are described, and reduced to the fewest
axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from vkml_vulkan.layouts import collapse


class Axis(NamedTuple):
    """An axis and the step that each operand, and the result, makes along it, in elements.

    `y` and `x` are steps of the right operand's position in its plane.
    """

    size: int
    left: int = 0
    right: int = 0
    result: int = 0
    bias: int = 0
    y: int = 0
    x: int = 0


class Window(NamedTuple):
    """The plane of a windowed right operand, outside of which there are zeros.

    `y` and `x` are the position of row, column and inner index 0.
    """

    height: int
    width: int
    y: int
    x: int


Axes = tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class Contraction:
    """What to compute.

    Attributes
    ----------
    batch, rows, columns, inner : tuple of Axis
        Outermost first. Of inner axes, three; the last one has no step of `y`.
    window : Window or None
        Where the right operand has zeros around it.
    left_start, right_start, result_start : int
        Where their first elements lie.
    """

    batch: Axes
    rows: Axes
    columns: Axes
    inner: Axes
    window: Window | None = None
    left_start: int = 0
    right_start: int = 0
    result_start: int = 0

    def swapped(self) -> Contraction:
        """Return the same with left and right exchanged; there must be no window."""
        return Contraction(
            _swapped(self.batch), _swapped(self.columns), _swapped(self.rows),
            _swapped(self.inner), None, self.right_start, self.left_start, self.result_start,
        )  # fmt: skip


def _swapped(axes: Axes) -> Axes:
    return tuple(each._replace(left=each.right, right=each.left) for each in axes)


def contraction(
    batch: Sequence[Axis],
    rows: Sequence[Axis],
    columns: Sequence[Axis],
    inner: Sequence[Axis],
    window: Window | None = None,
    *,
    left_start: int = 0,
    right_start: int = 0,
    result_start: int = 0,
) -> Contraction:
    """Return a contraction with the fewest axes; `inner` are filled up to three.

    A window that nothing looks out of is left out.
    """
    if window is not None and _stays_inside(window, [*columns, *inner]):
        window = None
    if window is None:
        columns = [each._replace(y=0, x=0) for each in columns]
        inner = [each._replace(y=0, x=0) for each in inner]
    return Contraction(
        merged(batch), merged(rows), merged(columns), _three(inner), window,
        left_start, right_start, result_start,
    )  # fmt: skip


def _stays_inside(window: Window, axes: Sequence[Axis]) -> bool:
    return _extends_within(window.height, window.y, [(each.size, each.y) for each in axes]) and (
        _extends_within(window.width, window.x, [(each.size, each.x) for each in axes])
    )


def _extends_within(limit: int, start: int, steps: Sequence[tuple[int, int]]) -> bool:
    least = start + sum(min(0, (size - 1) * step) for size, step in steps)
    most = start + sum(max(0, (size - 1) * step) for size, step in steps)
    return least >= 0 and most < limit


def merged(axes: Sequence[Axis]) -> Axes:
    """Return axes, outermost first, with those merged that lie one after the other."""
    shape = tuple(each.size for each in axes)
    steps = [tuple(each[place] for each in axes) for place in range(1, len(Axis._fields))]
    sizes, strides = collapse(shape, steps)
    found = [Axis(size, *(each[place] for each in strides)) for place, size in enumerate(sizes)]
    return tuple(reversed(found))


def _three(inner: Sequence[Axis]) -> Axes:
    axes = _with_best_last(merged(inner))
    return (Axis(1),) * (3 - len(axes)) + axes


def _with_best_last(axes: Axes) -> Axes:
    """Return axes with the one last that the innermost loop runs along.

    It is the longest that does not change `y`; among long ones, one with short steps.
    """
    candidates = [each for each in axes if each.y == 0]
    if not candidates:
        return (*axes, Axis(1))
    best = max(candidates, key=lambda each: (min(each.size, _LONG), -abs(each.right)))
    rest = list(axes)
    rest.remove(best)
    return (*rest, best)


_LONG = 8
"""Steps of an innermost loop that make up for what it costs to begin it."""


def count(axes: Axes) -> int:
    """Return how many elements there are along axes together."""
    return math.prod(each.size for each in axes)


def reach(work: Contraction) -> int:
    """Return how far apart, in elements, the first and last element of an operand may be."""
    axes = work.batch + work.rows + work.columns + work.inner
    left = sum((each.size - 1) * abs(each.left) for each in axes)
    return max(left, sum((each.size - 1) * abs(each.right) for each in axes))
