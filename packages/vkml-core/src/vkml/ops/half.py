"""Half precision in decompositions: computed in float32, as fused kernels do.

The squares of a variance overflow float16 from 256 on, so that composites with statistics must not
be put together from half-precision operations.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import numpy as np

from vkml.ops.definition import Ops, Value

_FLOAT32: Final = np.dtype(np.float32)
_HALF_BYTES: Final = 2


def through_float32(cast_back: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that runs a decomposition on half-precision operands in float32.

    The dtype of the first operand decides. The first `cast_back` results return to it; the
    others, statistics for the gradient, stay in float32.
    """

    def decorate(decomposition: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(decomposition)
        def run(k: Ops, first: Value, *rest: Any) -> Any:
            dtype = first.dtype
            if dtype.itemsize != _HALF_BYTES:
                return decomposition(k, first, *rest)
            wide = [
                k.cast(each, _FLOAT32) if getattr(each, "dtype", None) == dtype else each
                for each in (first, *rest)
            ]
            results = decomposition(k, *wide)
            if not isinstance(results, tuple):
                return k.cast(results, dtype)
            narrow = [None if each is None else k.cast(each, dtype) for each in results[:cast_back]]
            return (*narrow, *results[cast_back:])

        return run

    return decorate


def statistics_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which statistics of numbers of `dtype` are kept: float32 or wider."""
    return _FLOAT32 if dtype.itemsize == _HALF_BYTES else dtype
