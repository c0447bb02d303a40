"""Which dtype tensors and numbers meet in, by PyTorch's rule, and how it writes a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vkml import dtypes
from vkml.errors import DTypeError
from vkml.tensor import Tensor


def obvious_dtype(operands: Sequence[Any]) -> np.dtype[Any] | None:
    """Return the dtype of one floating-point tensor and one real number: nothing to work out."""
    if len(operands) == 2:
        for tensor, number in (operands, reversed(operands)):
            if number.__class__ in (float, int) and isinstance(tensor, Tensor):
                dtype: np.dtype[Any] = tensor._operand.dtype
                return dtype if dtype.kind == "f" else None
    return None


def meeting_dtype(operands: Sequence[Any]) -> np.dtype[Any]:
    """Return the dtype of tensors and numbers together, by PyTorch's rule."""
    tensors = [each._operand for each in operands if isinstance(each, Tensor)]
    return dtypes.result_dtype(
        [each.dtype for each in tensors if each.shape],
        [each.dtype for each in tensors if not each.shape],
        [
            each.item() if isinstance(each, np.generic) else each
            for each in operands
            if each is not None and not isinstance(each, Tensor)
        ],
    )


def as_number(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return `value` as the Python number that stands for it among operands of `dtype`."""
    if value.__class__ is float and dtype.kind == "f":
        return value
    if isinstance(value, np.generic):
        value = value.item()
    kind = dtypes.category(dtype)
    if kind == 2 and not isinstance(value, complex):
        return float(value)
    if kind == 1:
        if not dtype_holds(dtype, value):
            raise DTypeError(f"{value} does not fit in {dtype}; convert the tensor first.")
        return int(value)
    return value


def dtype_holds(dtype: np.dtype[Any], value: int) -> bool:
    """Return whether an integer dtype can hold `value`."""
    limits = np.iinfo(dtype)
    return bool(limits.min <= value <= limits.max)
