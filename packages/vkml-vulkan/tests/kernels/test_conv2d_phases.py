"""Phases of the gradient for an image, and what is left of a contraction's axes; on no device."""

from __future__ import annotations

import pytest

from vkml_vulkan.kernels.contraction import Axis, Window, contraction
from vkml_vulkan.kernels.conv2d_phases import phases


@pytest.mark.parametrize("size", [1, 2, 7, 12])
@pytest.mark.parametrize("taps", [1, 3, 4])
@pytest.mark.parametrize("stride", [1, 2, 3, 4])
@pytest.mark.parametrize("padding", [0, 1, 3])
@pytest.mark.parametrize("dilation", [1, 2, 3])
def test_each_pixel_meets_each_tap_that_touched_it_once(
    size: int, taps: int, stride: int, padding: int, dilation: int
) -> None:
    met = [
        (phase.first + i * stride, phase.tap + t * phase.tap_step,
         phase.output + i - t * phase.output_step)
        for phase in phases(size, taps, stride, padding, dilation)
        for i in range(phase.pixels)
        for t in range(phase.taps)
    ]  # fmt: skip

    expected = {
        (pixel, tap, (pixel + padding - tap * dilation) // stride)
        for pixel in range(size)
        for tap in range(taps)
        if (pixel + padding - tap * dilation) % stride == 0
    }
    assert len(met) == len(set(met))
    assert set(met) == expected


def test_phases_cover_each_pixel_once() -> None:
    found = [phase.first + 3 * i for phase in phases(10, 2, 3, 1, 3) for i in range(phase.pixels)]

    assert sorted(found) == list(range(10))


def test_a_window_that_nothing_looks_out_of_is_left_out() -> None:
    columns, inner = [Axis(5, right=9, y=1)], [Axis(3, right=9, y=1)]

    assert contraction([], [], columns, inner, Window(7, 1, 0, 0)).window is None
    assert contraction([], [], columns, inner, Window(6, 1, 0, 0)).window is not None
    assert contraction([], [], columns, inner, Window(8, 1, -1, 0)).window is not None


def test_the_innermost_axis_has_no_step_of_y() -> None:
    inner = [Axis(9, right=100, y=1), Axis(2, right=1)]

    found = contraction([], [], [], inner, Window(4, 4, 0, 0)).inner

    assert [each.y for each in found] == [0, 1, 0]


def test_an_axis_of_rows_alone_is_followed_by_one_of_size_one() -> None:
    found = contraction([], [], [], [Axis(9, right=100, y=1)], Window(4, 4, 0, 0)).inner

    assert [each.size for each in found] == [1, 9, 1]


def test_rows_that_lie_one_after_the_other_are_one_axis() -> None:
    rows = [Axis(3, left=20, result=8), Axis(4, left=5, result=2)]

    assert contraction([], rows, [], []).rows == (Axis(12, left=5, result=2),)
