"""Sizes that may be given once for all axes."""

from __future__ import annotations

from collections.abc import Sequence

from vkml import ArgumentError


def repeated(layer: str, name: str, value: int | Sequence[int], axes: int) -> tuple[int, ...]:
    """Return one size for each axis.

    Raises
    ------
    ArgumentError
        `value` holds another number of sizes.
    """
    sizes = (value,) * axes if isinstance(value, int) else tuple(value)
    if len(sizes) != axes:
        raise ArgumentError(f"{layer}: {name} is {value}; give one number, or {axes}.")
    return sizes
