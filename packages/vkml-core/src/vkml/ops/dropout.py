"""Dropout: elements set to zero at random."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vkml.backends.cpu_kernels import random as kernels
from vkml.errors import ArgumentError
from vkml.ops import rules
from vkml.ops.apply import apply
from vkml.ops.definition import Operation, Ops, Sample, Spec, Value, array, define
from vkml.random import Generator, default_generator

if TYPE_CHECKING:
    from vkml.tensor import Tensor

__all__ = ["dropout"]


# masked_scale ----------------------------------------------------------------------------


def _masked_scale_gradient(
    k: Ops, upstream: Value, _output: Value, _x: Value, mask: Value, scale: float
) -> tuple[Value, None]:
    return k.masked_scale(upstream, mask, scale), None


def _masked_scale(k: Ops, x: Value, mask: Value, scale: float) -> Value:
    return k.mul(k.where(mask, x, 0.0), scale)


MASKED_SCALE = define(
    Operation(
        name="masked_scale", operands=2, result=lambda x, _mask, _scale: rules.floating(x),
        gradient=_masked_scale_gradient, decomposition=_masked_scale, cpu=kernels.masked_scale,
        samples=lambda generator: [
            Sample((array(generator, 3, 5), generator.random((3, 5)) < 0.5), (1.25,)),
            Sample((array(generator, 3, 5).T, generator.random((3, 5)).T < 0.5), (2.0,)),
            Sample((array(generator), np.array(True)), (2.0,)),
            Sample((array(generator, 0, 2), np.zeros((0, 2), np.bool_)), (2.0,)),
        ],
    )
)  # fmt: skip
"""`x` times a number where the mask holds, and 0 elsewhere: both halves of dropout."""


# dropout ---------------------------------------------------------------------------------


def _dropout_gradient(
    k: Ops,
    upstream: Value,
    auxiliary: tuple[Value, ...],
    _x: Value,
    p: float,
    _seed: int,
    _offset: int,
) -> tuple[Value]:
    return (k.masked_scale(upstream, auxiliary[0], _scale(p)),)


def _scale(p: float) -> float:
    return 1 / (1 - p) if p < 1 else 0.0


def _dropped(x: Spec, _p: float, _seed: int, _offset: int) -> tuple[Spec, Spec]:
    rules.require_floating(x)
    return Spec(x.shape, x.dtype), Spec(x.shape, rules.BOOL)


def _dropout(k: Ops, x: Value, p: float, seed: int, offset: int) -> tuple[Value, Value]:
    mask = k.ge(k.random_uniform(x.shape, seed, offset, np.dtype(np.float32)), p)
    return k.masked_scale(x, mask, _scale(p)), mask


DROPOUT = define(
    Operation(
        name="dropout", result=_dropped, gradient=_dropout_gradient, decomposition=_dropout,
        cpu=kernels.dropout, auxiliaries=1,
        samples=lambda generator: [
            Sample((array(generator, 3, 5),), (0.5, 7, 0)),
            Sample((array(generator, 3, 5).T,), (0.1, 42, 3)),
            Sample((array(generator, 2, 3),), (1.0, 7, 1)),
            Sample((array(generator, 0, 2),), (0.5, 7, 1)),
        ],
    )
)  # fmt: skip


def dropout(
    input: Tensor, p: float = 0.5, training: bool = True, *, generator: Generator | None = None
) -> Tensor:
    """Return `input` with elements set to 0 at random, and the others scaled up to make up for it.

    Parameters
    ----------
    input : Tensor
        Floating-point numbers of any shape.
    p : float
        The probability of an element to become 0. The others are multiplied by ``1 / (1 - p)``.
    training : bool
        Without it, `input` itself is returned.
    generator : Generator, optional
        What to draw from; the default generator otherwise.

    Raises
    ------
    ArgumentError
        `p` is no probability.

    Examples
    --------
    >>> import vkml
    >>> vkml.dropout(vkml.ones(8), 0.5, generator=vkml.Generator(7))
    tensor([2., 0., 0., 0., 0., 0., 2., 0.])
    """
    if not 0 <= p <= 1:
        raise ArgumentError(f"dropout: p is {p}; a probability lies between 0 and 1.")
    if not training or p == 0:
        return input
    source = default_generator if generator is None else generator
    return apply(DROPOUT, (input,), (p, *source.take()))
