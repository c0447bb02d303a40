"""Rows, which some kernels reduce or normalize, and how arrays lie in them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final, NamedTuple

from vkml_vulkan.formats import Format
from vkml_vulkan.layouts import collapse

_WIDTH: Final = 4
"""Elements that an invocation takes at a time; `MOST` of rows.glsl."""


class Array(NamedTuple):
    """An operand or result of a kernel on rows, in elements.

    Attributes
    ----------
    row_strides : tuple of int
        One for each axis of the rows.
    step : int
        From element to element of a row.
    run_step : int
        From run to run, where a row is made of runs.
    """

    row_strides: tuple[int, ...]
    step: int
    run_step: int = 0


class Rows(NamedTuple):
    """The rows of an operation.

    Attributes
    ----------
    shape : tuple of int
        Their axes.
    length : int
        Elements of a row.
    inner : int
        Elements of a run; `length` where the row is one run.
    """

    shape: tuple[int, ...]
    length: int
    inner: int


def rows_over(
    shape: tuple[int, ...], axes: Sequence[int], all_strides: Sequence[tuple[int, ...]]
) -> tuple[Rows, list[Array]] | None:
    """Return the rows along some axes, and how arrays with these strides lie in them.

    None where rows are not even made of runs; copies in C order have such rows if the axes are
    neighbours, or all but one.
    """
    others = [axis for axis in range(len(shape)) if axis not in axes]
    sizes, steps = collapse(
        tuple(shape[axis] for axis in axes),
        [tuple(strides[axis] for axis in axes) for strides in all_strides],
    )
    if len(sizes) > 2:
        return None
    length = prod(sizes)
    rows = Rows(tuple(shape[axis] for axis in others), length, sizes[0] if sizes else 1)
    arrays = [
        Array(tuple(strides[axis] for axis in others), *(*found, 1, 0)[: max(len(found), 1)])
        for strides, found in zip(all_strides, steps, strict=True)
    ]
    return rows, arrays


def is_wide(rows: Rows, arrays: Sequence[Array], format: Format) -> bool:
    """Return whether rows can be read four elements at a time, where addresses are aligned."""
    if rows.inner % _WIDTH or format.itemsize == 1:
        return False
    return all(
        each.step == 1 and not any(stride % _WIDTH for stride in (*each.row_strides, each.run_step))
        for each in arrays
    )


def alignment(format: Format) -> int:
    """Return the mask of address bits that are 0 where an array can be read wide."""
    return _WIDTH * min(format.itemsize, 4) - 1
