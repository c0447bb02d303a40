"""Sums of elements by an index: what is to be added where, and which of two ways is shorter.

*Walk*: each result looks through the whole index for what belongs to it. *Sort*: places are sorted
together with the numbers of their elements; then the first of each place adds all its elements. The
cost of sorting does not depend on how many results there are, nor on how often an index occurs.

Both add in the order of the elements, so that the same operands give the same bits, and neither
needs atomic arithmetic, so that all dtypes are alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from vkml.shapes import contiguous_strides
from vkml_vulkan.formats import Format, format_of
from vkml_vulkan.operand import Dtype, Form

NO_PLACE: Final = 2**32 - 1
"""The place to skip where none is to be skipped."""
_SORT_ON_CPU, _SORT_ON_GPU = 2**15, 2**22
"""Steps of a walk that take about as long as the launches of a sort."""


@dataclass(frozen=True, slots=True)
class IndexSum:
    """Which elements are to be added where.

    Attributes
    ----------
    elements, index : Form
        Of one shape; the strides of `index` are 0 along axes that it lacks.
    shape : tuple of int
        Of the result, which lies in C order: that of `elements`, except along `axis`.
    skipped : int
        A place along the axis that stays zero, or `NO_PLACE`.
    """

    elements: Form
    index: Form
    shape: tuple[int, ...]
    axis: int
    skipped: int = NO_PLACE

    @property
    def length(self) -> int:
        """How many elements lie along the axis."""
        return self.elements.shape[self.axis]

    @property
    def steps(self) -> tuple[int, ...]:
        """How far a step along each axis leads along the one that is indexed."""
        return tuple(int(axis == self.axis) for axis in range(len(self.shape)))

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides of the result."""
        return contiguous_strides(self.shape)

    @property
    def has_one_index(self) -> bool:
        """Whether the same index holds along all other axes."""
        pairs = list(zip(self.index.strides, self.index.shape, strict=True))
        del pairs[self.axis]
        return all(stride == 0 or size == 1 for stride, size in pairs)

    def beside(self, strides: tuple[int, ...]) -> tuple[int, ...]:
        """Return strides that stand still along the axis."""
        return (*strides[: self.axis], 0, *strides[self.axis + 1 :])


def should_walk(problem: IndexSum, *, on_cpu: bool) -> bool:
    """Return whether walking is shorter than sorting. Costs are in steps of a walk."""
    count = problem.length if problem.has_one_index else problem.elements.size
    passes = max(count, 2).bit_length()
    launches = _SORT_ON_CPU if on_cpu else _SORT_ON_GPU
    sorting = launches + 8 * count * passes + 10 * problem.elements.size
    return math.prod(problem.shape) * (problem.length + 16) <= sorting


def require_format(dtype: Dtype) -> Format:
    """Return how shaders see a dtype that `Engine.module` has not refused."""
    found = format_of(dtype)
    assert found is not None  # noqa: S101 - so it has one
    return found
