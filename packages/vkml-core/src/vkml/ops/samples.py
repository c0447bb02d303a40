"""Samples that families share: inputs on which operations are tested."""

from __future__ import annotations

from typing import Any

import numpy as np

from vkml.ops.definition import Sample, Samples, array


def pairs(low: float = -2, high: float = 2) -> Samples:
    """Return samples of two operands: equal shapes, broadcast, rank 0, a number, empty."""

    def samples(generator: np.random.Generator) -> list[Sample]:
        def make(*shape: int) -> Any:
            return array(generator, *shape, low=low, high=high)

        return [
            Sample((make(3, 4), make(3, 4))),
            Sample((make(2, 1, 4), make(3, 1))),
            Sample((make(), make(5))),
            Sample((make(2, 3), 1.5)),
            Sample((make(0, 3), make(3))),
        ]

    return samples


def unary(low: float = -2, high: float = 2) -> Samples:
    """Return samples of one operand with values in [low, high)."""

    def samples(generator: np.random.Generator) -> list[Sample]:
        shapes: tuple[tuple[int, ...], ...] = ((3, 4), (2, 1, 5), (), (0, 2))
        return [Sample((array(generator, *shape, low=low, high=high),)) for shape in shapes]

    return samples
