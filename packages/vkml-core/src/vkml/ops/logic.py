"""Logic: truth values, and bits of integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from vkml import dtypes
from vkml.errors import DTypeError
from vkml.ops import rules
from vkml.ops.apply import apply
from vkml.ops.comparison import comparable
from vkml.ops.definition import Operation, Promotion, Sample, Spec, define
from vkml.tensor import Tensor

__all__ = [
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
]

Operand: TypeAlias = Tensor | dtypes.Number


# logical ---------------------------------------------------------------------------------


def _logical(name: str, kernel: Callable[..., Any]) -> Operation:
    return define(
        Operation(
            name=name,
            operands=2,
            result=rules.broadcast_to_bool,
            cpu=kernel,
            gradient=None,
            samples=comparable,
            promotion=Promotion.COMMON,
            broadcasts=True,
            writes_out=True,
        )
    )


LOGICAL_AND = _logical("logical_and", np.logical_and)
LOGICAL_OR = _logical("logical_or", np.logical_or)
LOGICAL_XOR = _logical("logical_xor", np.logical_xor)
LOGICAL_NOT = define(
    Operation(
        name="logical_not",
        result=rules.same_as_bool,
        cpu=np.logical_not,
        gradient=None,
        writes_out=True,
        samples=lambda generator: [Sample(each.operands[:1]) for each in comparable(generator)],
    )
)


def logical_and(x: Operand, y: Operand) -> Tensor:
    """Return where both are true (not zero).

    Examples
    --------
    >>> import vkml
    >>> vkml.logical_and(vkml.tensor([1, 0]), vkml.tensor([1, 1]))
    tensor([ True, False])
    """
    return apply(LOGICAL_AND, (x, y))


def logical_or(x: Operand, y: Operand) -> Tensor:
    """Return where at least one is true.

    Examples
    --------
    >>> import vkml
    >>> vkml.logical_or(vkml.tensor([1, 0]), vkml.tensor([0, 0]))
    tensor([ True, False])
    """
    return apply(LOGICAL_OR, (x, y))


def logical_xor(x: Operand, y: Operand) -> Tensor:
    """Return where exactly one is true.

    Examples
    --------
    >>> import vkml
    >>> vkml.logical_xor(vkml.tensor([1, 1]), vkml.tensor([1, 0]))
    tensor([False,  True])
    """
    return apply(LOGICAL_XOR, (x, y))


def logical_not(x: Tensor) -> Tensor:
    """Return where `x` is false (zero).

    Examples
    --------
    >>> import vkml
    >>> vkml.logical_not(vkml.tensor([1, 0]))
    tensor([False,  True])
    """
    return apply(LOGICAL_NOT, (x,))


# bitwise -----------------------------------------------------------------------------------


def _integer(*operands: Any) -> Spec:
    spec = rules.broadcast(*operands)
    if dtypes.category(spec.dtype) > 1:
        raise DTypeError(f"{spec.dtype} has no bits to combine; use integers or truth values.")
    return spec


def _integers(generator: np.random.Generator) -> list[Sample]:
    x, y = generator.integers(-9, 9, (2, 3, 4), dtype=np.int32)
    return [Sample((x, y)), Sample((x > 0, y[:1] > 0)), Sample((x, 3))]


def _bitwise(name: str, kernel: Callable[..., Any]) -> Operation:
    return define(
        Operation(
            name=name, operands=2, result=_integer, cpu=kernel, gradient=None, samples=_integers,
            promotion=Promotion.COMMON, broadcasts=True, writes_out=True,
        )
    )  # fmt: skip


BITWISE_AND = _bitwise("bitwise_and", np.bitwise_and)
BITWISE_OR = _bitwise("bitwise_or", np.bitwise_or)
BITWISE_XOR = _bitwise("bitwise_xor", np.bitwise_xor)
BITWISE_NOT = define(
    Operation(
        name="bitwise_not", result=_integer, cpu=np.invert, gradient=None, writes_out=True,
        samples=lambda generator: [Sample((each.operands[0],)) for each in _integers(generator)],
    )
)  # fmt: skip


def bitwise_and(x: Operand, y: Operand) -> Tensor:
    """Return the bits that both have; for truth values, `logical_and`. Also ``x & y``.

    Examples
    --------
    >>> import vkml
    >>> vkml.bitwise_and(vkml.tensor([6, 5]), 3)
    tensor([2, 1])
    """
    return apply(BITWISE_AND, (x, y))


def bitwise_or(x: Operand, y: Operand) -> Tensor:
    """Return the bits that either has; for truth values, `logical_or`. Also ``x | y``.

    Examples
    --------
    >>> import vkml
    >>> vkml.bitwise_or(vkml.tensor([6, 5]), 3)
    tensor([7, 7])
    """
    return apply(BITWISE_OR, (x, y))


def bitwise_xor(x: Operand, y: Operand) -> Tensor:
    """Return the bits in which they differ; for truth values, `logical_xor`. Also ``x ^ y``.

    Examples
    --------
    >>> import vkml
    >>> vkml.bitwise_xor(vkml.tensor([6, 5]), 3)
    tensor([5, 6])
    """
    return apply(BITWISE_XOR, (x, y))


def bitwise_not(x: Tensor) -> Tensor:
    """Return every bit turned over; for truth values, `logical_not`. Also ``~x``.

    Examples
    --------
    >>> import vkml
    >>> vkml.bitwise_not(vkml.tensor([True, False]))
    tensor([False,  True])
    """
    return apply(BITWISE_NOT, (x,))
