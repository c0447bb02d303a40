"""Records of functions of one floating-point number, which differ in kernel and gradient only."""

from __future__ import annotations

from vkml.backends.interface import Kernel
from vkml.ops import rules
from vkml.ops.definition import GradientRule, Operation, Promotion, define
from vkml.ops.samples import unary


def floating_function(
    name: str, kernel: Kernel, gradient: GradientRule, low: float, high: float
) -> Operation:
    """Return the record of a function, sampled in [low, high); integers become floats first."""
    return define(
        Operation(
            name=name,
            result=rules.same,
            cpu=kernel,
            gradient=gradient,
            writes_out=True,
            promotion=Promotion.FLOATING,
            samples=unary(low, high),
        )
    )
