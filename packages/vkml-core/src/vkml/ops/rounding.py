"""Signs and rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

from vkml import dtypes
from vkml.backends.interface import Kernel
from vkml.ops import rules
from vkml.ops.apply import apply
from vkml.ops.definition import Operation, Ops, Spec, Value, define
from vkml.ops.samples import unary
from vkml.tensor import Tensor

__all__ = ["abs", "ceil", "floor", "round", "sign", "trunc"]


# abs ---------------------------------------------------------------------------------


def _abs_gradient(k: Ops, upstream: Value, _output: Value, x: Value) -> tuple[Value]:
    return (k.mul(upstream, k.sign(x)),)


def _without_imaginary(x: Spec) -> Spec:
    if dtypes.category(x.dtype) < 3:
        return Spec(x.shape, x.dtype)
    return Spec(x.shape, np.dtype(np.float64 if x.dtype.itemsize == 16 else np.float32))


ABS = define(
    Operation(
        name="abs", result=_without_imaginary, cpu=np.absolute, gradient=_abs_gradient,
        samples=unary(), writes_out=True,
    )
)  # fmt: skip


def abs(x: Tensor) -> Tensor:
    """Return the absolute values of `x`.

    Examples
    --------
    >>> import vkml
    >>> vkml.abs(vkml.tensor([1.0, -2.0]))
    tensor([1., 2.])
    """
    return apply(ABS, (x,))


# sign, floor, ceil, round, trunc ---------------------------------------------------------


def _flat_gradient(k: Ops, upstream: Value, _output: Value, _x: Value) -> tuple[Value]:
    """Return the slope of a staircase: 0, by convention also at the steps."""
    return (k.mul(upstream, 0.0),)


def _whole(kernel: Kernel) -> Kernel:
    """Return a kernel that leaves integers alone; NumPy 2.0 made floats of them."""

    def rounded(x: Any, out: Any = None) -> Any:
        if x.dtype.kind not in "biu":
            return kernel(x, out=out)
        if out is None:
            return np.array(x)
        np.copyto(out, x)
        return out

    return rounded


def _sign(x: Any, out: Any = None) -> Any:
    result = np.asarray(np.sign(x, out=out))
    if x.dtype.kind in "fV":  # as in PyTorch; NumPy keeps NaN
        np.copyto(result, 0, where=np.isnan(result))
    return result


SIGN = define(
    Operation(name="sign", result=rules.no_bool, cpu=_sign, gradient=_flat_gradient,
              samples=unary(), writes_out=True)
)  # fmt: skip


def sign(x: Tensor) -> Tensor:
    """Return -1, 0 or 1 for each element of `x`; 0 for NaN.

    Examples
    --------
    >>> import vkml
    >>> vkml.sign(vkml.tensor([-3.0, 0.0, 2.0]))
    tensor([-1.,  0.,  1.])
    """
    return apply(SIGN, (x,))


FLOOR = define(
    Operation(name="floor", result=rules.same, cpu=_whole(np.floor), gradient=_flat_gradient,
              samples=unary(), writes_out=True)
)  # fmt: skip


def floor(x: Tensor) -> Tensor:
    """Return the largest whole number not above each element.

    Examples
    --------
    >>> import vkml
    >>> vkml.floor(vkml.tensor([1.5, -1.5]))
    tensor([ 1., -2.])
    """
    return apply(FLOOR, (x,))


CEIL = define(
    Operation(name="ceil", result=rules.same, cpu=_whole(np.ceil), gradient=_flat_gradient,
              samples=unary(), writes_out=True)
)  # fmt: skip


def ceil(x: Tensor) -> Tensor:
    """Return the smallest whole number not below each element.

    Examples
    --------
    >>> import vkml
    >>> vkml.ceil(vkml.tensor([1.5, -1.5]))
    tensor([ 2., -1.])
    """
    return apply(CEIL, (x,))


ROUND = define(
    Operation(name="round", result=rules.same, cpu=_whole(np.rint), gradient=_flat_gradient,
              samples=unary(), writes_out=True)
)  # fmt: skip


def round(x: Tensor) -> Tensor:
    """Return the nearest whole number; halves go to the even one.

    Examples
    --------
    >>> import vkml
    >>> vkml.round(vkml.tensor([0.5, 1.5, 2.6]))
    tensor([0., 2., 3.])
    """
    return apply(ROUND, (x,))


TRUNC = define(
    Operation(name="trunc", result=rules.same, cpu=_whole(np.trunc), gradient=_flat_gradient,
              samples=unary(), writes_out=True)
)  # fmt: skip


def trunc(x: Tensor) -> Tensor:
    """Return each element without its fraction.

    Examples
    --------
    >>> import vkml
    >>> vkml.trunc(vkml.tensor([1.7, -1.7]))
    tensor([ 1., -1.])
    """
    return apply(TRUNC, (x,))
