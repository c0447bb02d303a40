"""PyTorch's tensors of dtypes that NumPy lacks, as the integers that carry their bits.

PyTorch is not imported: whoever has such a tensor has imported it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from vkml_io.logical_dtypes import LOGICAL_DTYPES, LogicalDtype, logical_dtype_of

if TYPE_CHECKING:
    from vkml_io.aliases import Array

# Any in this module: PyTorch's own types.


def is_of_torch(value: Any) -> bool:
    """Return whether this is an object of PyTorch's own, its tensors and parameters."""
    return type(value).__module__.partition(".")[0] == "torch"


def as_array(given: Any) -> tuple[Array, LogicalDtype | None]:
    """Return what `numpy.asarray` makes of a value, and its dtype if NumPy lacks it.

    A tensor of PyTorch comes with that dtype as its carrier, on the same memory.
    """
    if is_of_torch(given):
        logical = LOGICAL_DTYPES.get(str(getattr(given, "dtype", "")).rpartition(".")[2])
        if logical is not None:
            torch = sys.modules["torch"]
            carrier = torch.int16 if logical.itemsize == 2 else torch.uint8
            bits: Array = given.detach().view(carrier).numpy()
            return bits.view(logical.carrier), logical
        if getattr(given, "requires_grad", False):
            given = given.detach()
    array = np.asarray(given)
    return array, logical_dtype_of(array.dtype)


def as_torch(array: Array) -> Any:
    """Return an array as a tensor of PyTorch, which takes bfloat16 as the integers that carry it.

    What PyTorch lacks comes as float32.
    """
    torch = sys.modules["torch"]
    logical = logical_dtype_of(array.dtype)
    if logical is None:
        return torch.from_numpy(array)
    dtype = getattr(torch, logical.name, None)
    if dtype is None or logical.is_packed:
        return torch.from_numpy(array.astype(np.float32))
    carrier = np.int16 if logical.itemsize == 2 else np.uint8
    return torch.from_numpy(np.array(array, order="C").view(carrier)).view(dtype)
