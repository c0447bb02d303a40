"""The numbers at the ends of lines, all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from vkml_io.aliases import Array

_MOST_DIGITS = 18  # that always fit 64 bits
_NEWLINE, _ZERO = ord("\n"), ord("0")


def trailing_numbers(lines: str) -> Array | None:
    r"""Return the decimal number that each line of ASCII text ends with, as int64.

    Every line must end with a newline and have something before its number. Returns None if a line
    ends with no digit, or with more digits than fit.

    >>> trailing_numbers("float32 2,3 640\nbool  7\n")
    array([640,   7])
    """
    text = np.frombuffer(lines.encode("ascii"), np.uint8)
    place = np.flatnonzero(text == _NEWLINE)
    values = np.zeros(place.size, np.int64)
    in_number = np.ones(place.size, np.bool_)
    for exponent in range(_MOST_DIGITS + 1):
        place -= 1
        digits = text[place] - np.uint8(_ZERO)  # what is no digit becomes 10 or more
        in_number &= digits < 10
        if not in_number.any():
            return values if exponent else None
        if exponent == 0 and not in_number.all():
            return None
        values += np.where(in_number, digits, 0) * np.int64(10 ** min(exponent, _MOST_DIGITS))
    return None
