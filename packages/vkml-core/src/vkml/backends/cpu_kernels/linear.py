"""Matrix products: `matmul` and the affine map of a linear layer."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from vkml.backends.cpu_kernels.half import is_half, through_float32

if TYPE_CHECKING:
    from numpy.typing import NDArray


@through_float32()
def linear(x: NDArray[Any], weight: NDArray[Any], bias: NDArray[Any] | None) -> NDArray[Any]:
    """Return ``x @ weight.T + bias``; x (..., in), weight (out, in), bias (out,)."""
    # One large product instead of one for each leading index.
    rows = x if x.ndim == 2 else x.reshape(prod(x.shape[:-1]), x.shape[-1])
    y: NDArray[Any] = np.matmul(rows, weight.T)
    if bias is not None:
        y += bias
    return y if x.ndim == 2 else y.reshape(*x.shape[:-1], weight.shape[0])


def matmul(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return the matrix product by the rules of `torch.matmul`, for ranks of one and more."""
    if a.ndim == 2 and b.ndim == 2 and a.dtype.itemsize > 2:
        matrix: NDArray[Any] = np.matmul(a, b)
        return matrix
    if is_half(a.dtype):
        return matmul(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)
    if a.ndim > 2 and b.ndim == 2 and a.flags.c_contiguous and a.size:
        # One large product instead of one for each leading index.
        rows: NDArray[Any] = np.matmul(a.reshape(-1, a.shape[-1]), b)
        return rows.reshape(*a.shape[:-1], b.shape[-1])
    # The product of two vectors is a scalar of NumPy, not an array.
    return np.asarray(np.matmul(a, b))
