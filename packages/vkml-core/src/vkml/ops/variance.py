"""How far elements lie from their mean, and from zero: variances and norms over axes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from vkml.backends.cpu_kernels import reduction as kernels
from vkml.errors import ArgumentError, DTypeError
from vkml.ops import rules
from vkml.ops.apply import apply
from vkml.ops.comparison import eq, ne
from vkml.ops.definition import Operation, Ops, Sample, Spec, Value, array, define
from vkml.ops.extremes import amax, amin
from vkml.ops.half import through_float32
from vkml.ops.reduction import Dims, mean, reductions, restored
from vkml.ops.reduction import sum as total
from vkml.ops.rounding import abs as absolute
from vkml.ops.selection import where
from vkml.shapes import axes_of, reduced

if TYPE_CHECKING:
    from vkml.tensor import Tensor

__all__ = ["norm", "std", "var", "var_mean"]

Axes: TypeAlias = tuple[int, ...]


def _varied(x: Spec, axes: Axes, _correction: float, keepdim: bool) -> Spec:
    rules.require_floating(x)
    return rules.reduction(x, axes, keepdim)


def _per_divisor(number: float, x: Any, axes: Axes, correction: float) -> float:
    """Return `number` by the divisor of the variance: the count less the correction."""
    divisor = max(0.0, math.prod(x.shape[axis] for axis in axes) - correction)
    return number / divisor if divisor else math.inf


def _samples(generator: np.random.Generator) -> list[Sample]:
    x = array(generator, 3, 4, 5)
    return [
        Sample((x,), ((0, 1, 2), 1, False)),
        Sample((x.T,), ((1,), 0, True)),
        Sample((x,), ((2,), 1, False)),
        Sample((x,), ((0, 2), 1.5, False)),
    ]


# var -------------------------------------------------------------------------------------


def _var_gradient(
    k: Ops, upstream: Value, _output: Value, x: Value, axes: Axes, correction: float, _keepdim: bool
) -> tuple[Value]:
    centred = k.sub(x, k.mean(x, axes, True))
    scaled = k.mul(upstream, _per_divisor(2.0, x, axes, correction))
    return (k.mul(restored(k, scaled, x.shape, axes), centred),)


@through_float32(1)
def _var(k: Ops, x: Value, axes: Axes, correction: float, keepdim: bool) -> Value:
    squares = k.square(k.sub(x, k.mean(x, axes, True)))
    return k.mul(k.sum(squares, axes, keepdim), _per_divisor(1.0, x, axes, correction))


VAR = define(
    Operation(
        name="var", result=_varied, gradient=_var_gradient, decomposition=_var, cpu=kernels.var,
        samples=_samples,
    )
)  # fmt: skip


def var(x: Tensor, dim: Dims = None, *, correction: float = 1, keepdim: bool = False) -> Tensor:
    """Return the variance over the axes `dim`: the mean squared distance from the mean.

    Parameters
    ----------
    x : Tensor
        Floating-point numbers of any shape.
    dim : int or sequence of int, optional
        The axes to reduce; all of them by default.
    correction : float
        The sum of squares is divided by the count less this: 1 for a sample, 0 for the whole.
    keepdim : bool
        Keep the reduced axes with size 1.

    Examples
    --------
    >>> import vkml
    >>> vkml.var(vkml.tensor([1.0, 2.0, 3.0]))
    tensor(1.)
    """
    return apply(VAR, (x,), (axes_of(dim, x.ndim), correction, keepdim))


# std -------------------------------------------------------------------------------------


def _std_gradient(
    k: Ops, upstream: Value, output: Value, x: Value, axes: Axes, correction: float, keepdim: bool
) -> tuple[Value]:
    ratio = _over_root(k, upstream, output)
    return _var_gradient(k, k.mul(ratio, 0.5), output, x, axes, correction, keepdim)


def _over_root(k: Ops, upstream: Value, root: Value) -> Value:
    """Return `upstream` by `root`, without an infinity where the root has its corner at 0."""
    return k.div(upstream, k.where(k.eq(root, 0.0), 1.0, root))


@through_float32(1)
def _std(k: Ops, x: Value, axes: Axes, correction: float, keepdim: bool) -> Value:
    return k.sqrt(k.var(x, axes, correction, keepdim))


STD = define(
    Operation(
        name="std", result=_varied, gradient=_std_gradient, decomposition=_std, samples=_samples
    )
)


def std(x: Tensor, dim: Dims = None, *, correction: float = 1, keepdim: bool = False) -> Tensor:
    """Return the standard deviation over the axes `dim`: the root of the variance.

    Parameters
    ----------
    x, dim, correction, keepdim
        As for `var`. Where all elements are equal the gradient is 0.

    Examples
    --------
    >>> import vkml
    >>> vkml.std(vkml.tensor([1.0, 3.0, 5.0]))
    tensor(2.)
    """
    return apply(STD, (x,), (axes_of(dim, x.ndim), correction, keepdim))


def var_mean(
    x: Tensor, dim: Dims = None, *, correction: float = 1, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the variance and the mean over the axes `dim`. See `var`.

    Examples
    --------
    >>> import vkml
    >>> vkml.var_mean(vkml.tensor([1.0, 2.0, 3.0]))
    (tensor(1.), tensor(2.))
    """
    return var(x, dim, correction=correction, keepdim=keepdim), mean(x, dim, keepdim)


# norm ------------------------------------------------------------------------------------


def _norm_gradient(
    k: Ops, upstream: Value, output: Value, x: Value, axes: Axes, _keepdim: bool
) -> tuple[Value]:
    return (k.mul(x, restored(k, _over_root(k, upstream, output), x.shape, axes)),)


def _normed(x: Spec, axes: Axes, keepdim: bool) -> Spec:
    rules.require_floating(x)
    return Spec(reduced(x.shape, axes, keepdim), x.dtype)


@through_float32(1)
def _norm(k: Ops, x: Value, axes: Axes, keepdim: bool) -> Value:
    return k.sqrt(k.sum(k.square(x), axes, keepdim))


NORM = define(
    Operation(
        name="norm", result=_normed, gradient=_norm_gradient, decomposition=_norm,
        samples=reductions,
    )
)  # fmt: skip


def norm(x: Tensor, p: float | str = 2, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return the length of the vectors that lie along the axes `dim`.

    Parameters
    ----------
    x : Tensor
        Floating-point numbers of any shape.
    p : float or str
        2 or ``"fro"``: the root of the sum of squares; its gradient is 0 at 0. 1: the sum of
        absolute values; infinity: the largest; -infinity: the smallest; 0: how many are not zero.
        Any other number: ``sum(|x|**p) ** (1 / p)``.
    dim, keepdim
        As for `sum`.

    Examples
    --------
    >>> import vkml
    >>> vkml.norm(vkml.tensor([3.0, 4.0]))
    tensor(5.)
    """
    if p in (2, "fro"):
        return apply(NORM, (x,), (axes_of(dim, x.ndim), keepdim))
    if isinstance(p, str):
        raise ArgumentError(f"norm: p is {p!r}; give a number or 'fro'.")
    if not x.dtype.is_floating_point:
        message = f"norm: expected floating-point numbers, got {x.dtype}; use x.to(vkml.float32)."
        raise DTypeError(message)
    if p == math.inf:
        return amax(absolute(x), dim, keepdim)
    if p == -math.inf:
        return amin(absolute(x), dim, keepdim)
    if p == 0:
        return total(ne(x, 0), dim, keepdim).to(dtype=x.dtype)
    if p == 1:
        return total(absolute(x), dim, keepdim)
    powers = total(absolute(x) ** p, dim, keepdim)
    nothing = eq(powers, 0)  # the root has no slope there; the norm's is 0 by convention
    return where(nothing, 0, where(nothing, 1, powers) ** (1 / p))
