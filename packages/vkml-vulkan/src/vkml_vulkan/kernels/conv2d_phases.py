"""The gradient of `conv2d` for its input, as contractions without gaps.

With stride s only every s-th tap of the kernel has touched a given pixel. So pixels are taken in
s x s *phases*, by their position modulo s: in a phase the taps that count are evenly spaced, the
same for all its pixels, and the gradient is a convolution of stride 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from vkml_vulkan.kernels.contraction import Axis, Contraction, Window, contraction

if TYPE_CHECKING:
    from vkml_vulkan.operand import Form

Pair: TypeAlias = tuple[int, int]


class Phase(NamedTuple):
    """Pixels ``first, first + stride, ...`` along one axis, and the taps that touched them.

    Pixel i of the phase and tap t meet at output ``output + i - t * output_step``.
    """

    first: int
    pixels: int
    tap: int
    tap_step: int
    taps: int
    output: int
    output_step: int


def phases(size: int, taps: int, stride: int, padding: int, dilation: int) -> list[Phase]:
    """Return the phases along an axis of `size` pixels."""
    common = math.gcd(stride, dilation)
    tap_step = stride // common
    found = []
    for first in range(min(stride, size)):
        pixels = -(-(size - first) // stride)
        start = first + padding
        fitting = (tap for tap in range(tap_step) if (start - tap * dilation) % stride == 0)
        tap = next(fitting, taps)
        count = len(range(tap, taps, tap_step))
        output = (start - tap * dilation) // stride
        found.append(Phase(first, pixels, tap, tap_step, count, output, dilation // common))
    return found


def input_gradient_phases(
    g: Form, weight: Form, result: Form, stride: Pair, padding: Pair, dilation: Pair, groups: int
) -> list[Contraction]:
    """Return contractions that together make the gradient `result` from that of the output."""
    along_y, along_x = (
        phases(result.shape[axis + 2], weight.shape[axis + 2], stride[axis], padding[axis],
               dilation[axis])
        for axis in (0, 1)
    )  # fmt: skip
    return [_contraction(g, weight, result, stride, y, x, groups) for y in along_y for x in along_x]


def _contraction(
    g: Form, weight: Form, result: Form, stride: Pair, y: Phase, x: Phase, groups: int
) -> Contraction:
    outputs, channels = weight.shape[0] // groups, weight.shape[1]
    to, by, from_ = result.strides, weight.strides, g.strides
    batch = Axis(groups, left=outputs * by[0], right=outputs * from_[1], result=channels * to[1])
    row = Axis(channels, left=by[1], result=to[1])
    columns = [
        Axis(result.shape[0], right=from_[0], result=to[0]),
        Axis(y.pixels, right=from_[2], result=stride[0] * to[2], y=1),
        Axis(x.pixels, right=from_[3], result=stride[1] * to[3], x=1),
    ]
    inner = [
        Axis(outputs, left=by[0], right=from_[1]),
        Axis(y.taps, left=y.tap_step * by[2], right=-y.output_step * from_[2], y=-y.output_step),
        Axis(x.taps, left=x.tap_step * by[3], right=-x.output_step * from_[3], x=-x.output_step),
    ]
    window = Window(g.shape[2], g.shape[3], y.output, x.output)
    return contraction(
        [batch], [row], columns, inner, window,
        left_start=y.tap * by[2] + x.tap * by[3],
        right_start=y.output * from_[2] + x.output * from_[3],
        result_start=y.first * to[2] + x.first * to[3],
    )  # fmt: skip
