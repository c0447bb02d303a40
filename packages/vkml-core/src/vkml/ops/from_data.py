"""Tensors from data: numbers, sequences, arrays, other tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vkml import dtypes
from vkml.device import Device, DeviceLike, device
from vkml.dtypes import DTypeLike
from vkml.errors import ArgumentError, DTypeError
from vkml.tensor import Tensor, wrap

__all__ = ["as_tensor", "asarray", "from_numpy", "tensor"]


def device_or_cpu(name: DeviceLike | None) -> Device:
    """Return the device called `name`, or the CPU."""
    return device("cpu" if name is None else name)


def marked(result: Tensor, requires_grad: bool) -> Tensor:
    """Return `result`, with its gradient wanted or not."""
    return result.requires_grad_() if requires_grad else result


def tensor(
    data: Any,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a new tensor with a copy of `data`.

    Parameters
    ----------
    data : number, sequence, array or Tensor
        Python floats become the default dtype (float32), integers int64; arrays keep their dtype.
    dtype : DType or str, optional
        The dtype to convert to.
    device : Device or str, optional
        Where the tensor goes; the CPU by default.
    requires_grad : bool
        Whether operations on it are recorded.

    Raises
    ------
    DTypeError
        `data` holds something else than numbers.

    Examples
    --------
    >>> import vkml
    >>> vkml.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """
    if isinstance(data, Tensor):
        source = data.detach()
        placed = source.to(device=device or data.device, dtype=dtype)
        result = placed.clone() if placed is source else placed
    else:
        destination = device_or_cpu(device)
        result = wrap(destination.handle.upload(_as_array(data, dtype)), destination)
    return marked(result, requires_grad)


def _as_array(data: Any, dtype: DTypeLike | None) -> NDArray[Any]:
    """Return `data` as an array of numbers, with vkML's defaults for Python numbers."""
    if isinstance(data, (np.ndarray, np.generic)):
        found = np.asarray(data)
    else:
        if isinstance(data, (list, tuple)) and _holds_tensors(data):
            data = _with_arrays(data)
        try:
            found = np.asarray(data)
        except ValueError as error:
            message = f"tensor: the nested sequences have uneven lengths ({error})."
            raise ArgumentError(message) from None
        if dtype is None and not hasattr(data, "__array__") and not _holds_arrays(data):
            if found.dtype == np.float64:
                dtype = dtypes.get_default_dtype()
            elif found.dtype == np.complex128:
                dtype = dtypes.of(dtypes.number_dtype(1j))
    if found.dtype.kind not in "biufcV":
        message = (
            f"tensor: expected numbers, got {found.dtype} from {type(data).__name__}; "
            "a tensor holds numbers and truth values only."
        )
        raise DTypeError(message)
    wanted = dtypes.of(found.dtype) if dtype is None else dtypes.as_dtype(dtype)
    with np.errstate(all="ignore"):
        return found.astype(wanted.dtype, copy=False)


def _holds_tensors(data: Any) -> bool:
    return any(
        isinstance(each, Tensor) or (isinstance(each, (list, tuple)) and _holds_tensors(each))
        for each in data
    )


def _holds_arrays(data: Any) -> bool:
    """Return whether NumPy values, whose dtype is meant, lie anywhere in nested sequences."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return isinstance(data, (np.ndarray, np.generic))


def _with_arrays(data: Any) -> Any:
    if isinstance(data, Tensor):
        return data.numpy(force=True)
    return [_with_arrays(each) for each in data] if isinstance(data, (list, tuple)) else data


def from_numpy(array: NDArray[Any]) -> Tensor:
    """Return a CPU tensor on the memory of `array`: a change of one is seen in the other.

    Parameters
    ----------
    array : numpy.ndarray
        Numbers in native byte order.

    Raises
    ------
    TypeError
        It is no NumPy array.
    DTypeError
        Its dtype or byte order is one that tensors lack; ``vkml.tensor(array)`` converts.

    Examples
    --------
    >>> import numpy as np
    >>> import vkml
    >>> array = np.zeros(2, np.float32)
    >>> x = vkml.from_numpy(array)
    >>> x += 1
    >>> array
    array([1., 1.], dtype=float32)
    """
    if not isinstance(array, np.ndarray):
        raise DTypeError(f"from_numpy: expected a numpy.ndarray, got {type(array).__name__}.")
    if not array.dtype.isnative:
        message = f"from_numpy: {array.dtype} is not in native byte order; use vkml.tensor(array)."
        raise DTypeError(message)
    dtypes.as_dtype(array.dtype)
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if not owner.flags.forc or any(stride % array.itemsize for stride in array.strides):
        message = "from_numpy: this memory has gaps between elements; use vkml.tensor(array)."
        raise ArgumentError(message)
    return wrap(array.view(np.ndarray), device("cpu"))


def as_tensor(
    data: Any, *, dtype: DTypeLike | None = None, device: DeviceLike | None = None
) -> Tensor:
    """Return `data` as a tensor, without a copy where that is possible.

    Parameters
    ----------
    data : number, sequence, array or Tensor
        A tensor comes back as it is; a NumPy array on the CPU shares its memory.
    dtype, device
        What to convert to.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.ones(2)
    >>> vkml.as_tensor(x) is x
    True
    """
    if isinstance(data, Tensor):
        return data.to(dtype=dtype, device=device)
    if isinstance(data, np.ndarray) and device_or_cpu(device).type == "cpu":
        try:
            return from_numpy(data).to(dtype=dtype)
        except (DTypeError, ArgumentError):
            pass
    return tensor(data, dtype=dtype, device=device)


asarray = as_tensor
