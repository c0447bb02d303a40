"""Where the taps of a 2-D convolution fall, and the buffers its matrix products read.

Two layouts of the input serve every stride, padding and dilation:

* *columns* (N, groups, kh * kw * C, outputs): one copy of the input for each tap, one product.
* *rows* (N, groups, kw * C, phases, rows * output columns): one copy for each kernel column. The
  operand of kernel row i is a contiguous run of it, because a step of one input row (of the same
  phase, the row number modulo the stride) is a step of one row of outputs. A third of the copies
  of a 3×3 kernel, one product and one addition for each kernel row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Geometry:
    """Sizes of one 2-D sliding window operation; pairs are (vertical, horizontal)."""

    size: Pair
    kernel: Pair
    stride: Pair
    padding: Pair
    dilation: Pair
    output: Pair

    @property
    def phase_rows(self) -> int:
        """Input rows of one phase that the outputs read."""
        return ((self.kernel[0] - 1) * self.dilation[0]) // self.stride[0] + self.output[0]

    @property
    def positions(self) -> int:
        """Number of outputs of one plane."""
        return self.output[0] * self.output[1]

    def row_run(self, kernel_row: int) -> tuple[int, slice]:
        """Return the phase, and the run of *rows*, that one kernel row reads."""
        step, phase = divmod(kernel_row * self.dilation[0], self.stride[0])
        start = step * self.output[1]
        return phase, slice(start, start + self.positions)

    def tap(self, axis: int, index: int) -> tuple[slice, slice]:
        """Return the outputs whose tap `index` lies inside the input, and the inputs there."""
        offset = index * self.dilation[axis] - self.padding[axis]
        return clip(offset, self.stride[axis], self.output[axis], self.size[axis])


def clip(offset: int, stride: int, count: int, size: int) -> tuple[slice, slice]:
    """Return the k in [0, count) with 0 <= k * stride + offset < size, and those positions."""
    first = max(0, -(offset // stride))
    last = min(count, (size - 1 - offset) // stride + 1)
    if first >= last:
        return slice(0, 0), slice(0, 0)
    start = first * stride + offset
    return slice(first, last), slice(start, (last - 1) * stride + offset + 1, stride)


def output_size(size: Pair, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair) -> Pair:
    """Return how many windows fit, vertically and horizontally."""
    high, wide = (
        (size[axis] + 2 * padding[axis] - dilation[axis] * (kernel[axis] - 1) - 1) // stride[axis]
        + 1
        for axis in (0, 1)
    )
    return high, wide


def empty_columns(
    samples: int, groups: int, channels: int, geometry: Geometry, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return a zeroed buffer of columns (N, groups, kh, kw, C, Ho, Wo)."""
    return np.zeros((samples, groups, *geometry.kernel, channels, *geometry.output), dtype)


def fill_columns(columns: NDArray[Any], x: NDArray[Any], geometry: Geometry) -> NDArray[Any]:
    """Copy x (N, groups, C, H, W) to the columns, and return them as matrices.

    What lies in the padding is never written: it stays zero when a buffer is used again.
    """
    for i in range(geometry.kernel[0]):
        rows, input_rows = geometry.tap(0, i)
        for j in range(geometry.kernel[1]):
            places, input_places = geometry.tap(1, j)
            columns[:, :, i, j, :, rows, places] = x[:, :, :, input_rows, input_places]
    return as_matrices(columns)


def as_matrices(columns: NDArray[Any]) -> NDArray[Any]:
    """Return columns (N, groups, kh, kw, C, Ho, Wo) as (N, groups, kh * kw * C, outputs)."""
    samples, groups, high, wide, channels, *output = columns.shape
    return columns.reshape(samples, groups, high * wide * channels, output[0] * output[1])


def add_columns(dx: NDArray[Any], columns: NDArray[Any], geometry: Geometry) -> None:
    """Add columns (N, groups, kh, kw, C, Ho, Wo) to the places of dx they were copied from."""
    for i in range(geometry.kernel[0]):
        rows, input_rows = geometry.tap(0, i)
        for j in range(geometry.kernel[1]):
            places, input_places = geometry.tap(1, j)
            dx[:, :, :, input_rows, input_places] += columns[:, :, i, j, :, rows, places]


def empty_rows(
    samples: int, groups: int, channels: int, geometry: Geometry, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return a zeroed buffer of rows (N, groups, kw, C, phases, rows, Wo)."""
    phases, wide = geometry.stride[0], geometry.output[1]
    shape = (samples, groups, geometry.kernel[1], channels, phases, geometry.phase_rows, wide)
    return np.zeros(shape, dtype)


def fill_rows(rows: NDArray[Any], x: NDArray[Any], geometry: Geometry) -> NDArray[Any]:
    """Copy x (N, groups, C, H, W) to the rows, and return them as matrices of runs."""
    stride, padding = geometry.stride[0], geometry.padding[0]
    for phase in range(stride):
        lines, input_lines = clip(phase - padding, stride, geometry.phase_rows, geometry.size[0])
        for j in range(geometry.kernel[1]):
            places, input_places = geometry.tap(1, j)
            rows[:, :, j, :, phase, lines, places] = x[:, :, :, input_lines, input_places]
    samples, groups, wide, channels, phases, high, output = rows.shape
    return rows.reshape(samples, groups, wide * channels, phases, high * output)
