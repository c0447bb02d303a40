"""Numbers at the ends of lines are read as `int` reads them."""

from __future__ import annotations

import numpy as np
import pytest

from vkml_io.trailing_numbers import trailing_numbers


def test_numbers_of_all_lengths_are_read() -> None:
    numbers = [0, 7, 10, 999, 10**9 + 1, 10**17, 10**18 - 1]

    found = trailing_numbers("".join(f"float32 2,3 {number}\n" for number in numbers))

    assert found is not None
    assert found.tolist() == numbers
    assert found.dtype == np.int64


@pytest.mark.parametrize("lines", ["a 5 F\n", "a 5\nb 6 >\n", f"a {10**18}\n", "a \n"])
def test_other_lines_are_left_to_another_way(lines: str) -> None:
    assert trailing_numbers(lines) is None


def test_no_line_has_no_number() -> None:
    found = trailing_numbers("")

    assert found is None or found.size == 0
