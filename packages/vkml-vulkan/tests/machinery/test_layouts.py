"""Layouts for shaders: fewer axes show the same elements, and division is exact."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vkml.errors import UnsupportedOperationError
from vkml.shapes import contiguous_strides
from vkml_vulkan.layouts import (
    MAX_ELEMENTS,
    axis_words,
    broadcast_strides,
    collapse,
    divisor,
    require_countable,
)

_COUNTS = st.integers(0, MAX_ELEMENTS)


@given(st.integers(1, MAX_ELEMENTS), _COUNTS)
@example(1, MAX_ELEMENTS)
@example(2, MAX_ELEMENTS)
@example(3, MAX_ELEMENTS)
@example(MAX_ELEMENTS, MAX_ELEMENTS)
@example(MAX_ELEMENTS - 1, MAX_ELEMENTS)
@example(2**30 + 1, MAX_ELEMENTS)
def test_division_by_multiplication_is_exact(size: int, x: int) -> None:
    assert _shader_quotient(x, size) == x // size


@given(st.integers(1, MAX_ELEMENTS), st.integers(1, MAX_ELEMENTS), st.sampled_from([-1, 0]))
def test_division_is_exact_beside_multiples(size: int, quotient: int, change: int) -> None:
    x = min(size * quotient, MAX_ELEMENTS // size * size) + change

    assert _shader_quotient(x, size) == x // size


def test_division_of_small_numbers_is_exact_for_every_size() -> None:
    assert all(_shader_quotient(x, size) == x // size for size in range(1, 200) for x in range(600))


@given(st.integers(1, MAX_ELEMENTS))
def test_multiplier_and_shift_are_words(size: int) -> None:
    multiplier, shift = divisor(size)

    assert 0 <= multiplier < 2**32
    assert 0 <= shift < 32


def _shader_quotient(x: int, size: int) -> int:
    """Return what a shader computes in 32 bits."""
    multiplier, shift = divisor(size)
    high = x * multiplier >> 32
    assert high + x < 2**32
    return high + x >> shift


@st.composite
def _layouts(draw: st.DrawFn) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """Return a shape, and strides of operands: contiguous, permuted, broadcast or any."""
    shape = tuple(draw(st.lists(st.integers(1, 4), max_size=5)))
    dense = contiguous_strides(shape)
    kinds = st.sampled_from(["dense", "any", "repeated", "reversed", "doubled"])

    def strides(kind: str) -> tuple[int, ...]:
        if kind == "any":
            return tuple(draw(st.integers(-5, 20)) for _ in shape)
        if kind == "repeated":
            return tuple(step * draw(st.integers(0, 1)) for step in dense)
        factor = {"dense": 1, "reversed": -1, "doubled": 2}[kind]
        return tuple(step * factor for step in dense)

    count = draw(st.integers(1, 3))
    return shape, [strides(draw(kinds)) for _ in range(count)]


@given(_layouts())
def test_fewer_axes_show_the_same_elements_in_the_same_order(
    layout: tuple[tuple[int, ...], list[tuple[int, ...]]],
) -> None:
    shape, all_strides = layout

    sizes, strides = collapse(shape, all_strides)

    for before, after in zip(all_strides, strides, strict=True):
        assert _offsets(shape, before) == _offsets(tuple(sizes[::-1]), tuple(after[::-1]))


@given(_layouts())
def test_no_two_axes_that_could_be_one_are_left(
    layout: tuple[tuple[int, ...], list[tuple[int, ...]]],
) -> None:
    sizes, strides = collapse(*layout)

    assert 1 not in sizes
    for inner, outer in itertools.pairwise(range(len(sizes))):
        assert any(each[outer] != each[inner] * sizes[inner] for each in strides)


def test_a_dense_layout_is_one_axis() -> None:
    assert collapse((2, 3, 4), [(12, 4, 1)]) == ([24], [[1]])


def test_a_single_element_has_no_axis() -> None:
    assert collapse((1, 1), [(7, 3)]) == ([], [[]])


def _offsets(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[int]:
    places = itertools.product(*map(range, shape))
    return [sum(a * b for a, b in zip(place, strides, strict=True)) for place in places]


@pytest.mark.parametrize(
    ("shape", "strides", "target", "wanted"),
    [
        ((3,), (1,), (2, 3), (0, 1)),
        ((2, 1), (1, 1), (2, 3), (1, 0)),
        ((1, 1), (5, 5), (1, 4), (5, 0)),
        ((), (), (2, 2), (0, 0)),
        ((2, 3), (-3, -1), (2, 3), (-3, -1)),
    ],
)
def test_repeated_axes_have_no_stride(
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    target: tuple[int, ...],
    wanted: tuple[int, ...],
) -> None:
    assert broadcast_strides(shape, strides, target) == wanted


def test_words_are_rank_and_each_axis() -> None:
    assert axis_words([3, 5], [[1, 3]]) == [2, 3, *divisor(3), 1, 5, *divisor(5), 3]


def test_more_elements_than_shaders_count_are_refused() -> None:
    require_countable("add", MAX_ELEMENTS)

    with pytest.raises(UnsupportedOperationError, match=r"add: 2147483648 elements.*split the"):
        require_countable("add", MAX_ELEMENTS + 1)
