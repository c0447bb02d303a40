"""Sixteen-bit floats: computed in float32, returned in their own type."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

P = ParamSpec("P")
R = TypeVar("R")


def is_half(dtype: np.dtype[Any]) -> bool:
    """Return whether `dtype` is float16 or bfloat16 (an extension type of kind "V")."""
    return dtype.itemsize == 2 and dtype.kind in "fV"


def widen(operand: object) -> object:
    """Return a half-precision array in float32 and everything else as it is."""
    if isinstance(operand, np.ndarray | np.generic) and is_half(operand.dtype):
        return operand.astype(np.float32)
    return operand


def _narrow(result: object, dtype: np.dtype[Any]) -> object:
    return None if result is None else cast("NDArray[Any]", result).astype(dtype)


def through_float32(cast_back: int = 1) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that runs a kernel on half-precision operands in float32.

    The type of the first operand decides. The first `cast_back` results return to it; the
    others, auxiliary values for the gradient, stay in float32.
    """

    def decorate(kernel: Callable[P, R]) -> Callable[P, R]:
        @wraps(kernel)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            first: Any = args[0]  # a ParamSpec does not say that it is an array
            dtype = first.dtype
            # One look at the item size keeps the common case at a tenth of a microsecond.
            if dtype.itemsize != 2 or not is_half(dtype):
                return kernel(*args, **kwargs)
            wide = cast("Callable[..., Any]", kernel)
            results = wide(*[widen(operand) for operand in args], **kwargs)
            if not isinstance(results, tuple):
                return cast("R", _narrow(results, dtype) if cast_back else results)
            narrowed = [_narrow(result, dtype) for result in results[:cast_back]]
            return cast("R", (*narrowed, *results[cast_back:]))

        return run

    return decorate
