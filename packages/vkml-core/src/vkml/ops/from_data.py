"""Tensors from data: numbers, sequences, arrays, other tensors."""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vkml import dtypes
from vkml.device import Device, DeviceLike, device
from vkml.dtypes import DTypeLike
from vkml.errors import ArgumentError, DTypeError
from vkml.tensor import Tensor, wrap

__all__ = ["as_tensor", "asarray", "from_numpy", "tensor"]

_NUMBERS: Final[dict[type, dtypes.Number]] = {bool: False, int: 0, float: 0.0, complex: 0j}
"""An example of each type of Python numbers; bool stands before int, whose subclass it is."""


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
        Where a sequence holds several kinds, their dtypes are promoted.
    dtype : DType or str, optional
        The dtype to convert to.
    device : Device or str, optional
        Where the tensor goes; the CPU by default.
    requires_grad : bool
        Whether operations on it are recorded.

    Raises
    ------
    DTypeError
        `data` holds something else than numbers, or a number that does not fit in `dtype`.
    ArgumentError
        Nested sequences have uneven lengths.

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
    if isinstance(data, np.ndarray):
        found = np.asarray(data)
        meant: dtypes.DType | np.dtype[Any] = found.dtype
    else:
        found, meant = _gathered(data)
    if found.dtype.kind not in "biufcV":
        raise _no_numbers(found, data)
    wanted = dtypes.as_dtype(meant if dtype is None else dtype)
    if not isinstance(data, np.ndarray):
        _require_fit(found, wanted)
    with np.errstate(all="ignore"):
        return found.astype(wanted.dtype, copy=False)


def _gathered(data: Any) -> tuple[NDArray[Any], dtypes.DType | np.dtype[Any]]:
    """Return numbers and nested sequences of them as one array, and the dtype they mean."""
    kinds: set[Any] = set()
    if isinstance(data, (list, tuple)):
        data = _without_tensors(data, kinds)
    elif hasattr(data, "__array__"):
        kinds.add(np.asarray(data).dtype)
    else:
        kinds.add(type(data))
    try:
        found = np.asarray(data)
    except ValueError as error:
        message = f"tensor: the nested sequences have uneven lengths ({error})."
        raise ArgumentError(message) from None
    meant = [dtype for dtype in map(_dtype_of, kinds) if dtype is not None]
    if meant and len(meant) == len(kinds):
        return found, functools.reduce(dtypes.promote, meant)
    return found, dtypes.get_default_dtype() if found.dtype == np.float64 else found.dtype


def _without_tensors(data: Any, kinds: set[Any]) -> list[Any]:
    """Return nested sequences with arrays in place of tensors; add to `kinds` what they hold."""
    result = []
    for each in data:
        kind = type(each)
        if kind is float or kind is int:
            kinds.add(kind)
        elif isinstance(each, (list, tuple)):
            each = _without_tensors(each, kinds)
        elif isinstance(each, Tensor):
            each = each.numpy(force=True)
            kinds.add(each.dtype)
        else:
            dtype = getattr(each, "dtype", None)
            kinds.add(dtype if isinstance(dtype, np.dtype) else kind)
        result.append(each)
    return result


def _dtype_of(kind: Any) -> np.dtype[Any] | None:
    """Return the dtype of a type of Python numbers; NumPy's dtypes are what they are."""
    if isinstance(kind, np.dtype):
        return kind if kind.kind in "biufcV" else None
    number = _NUMBERS.get(kind)
    if number is None:
        number = next((_NUMBERS[each] for each in _NUMBERS if issubclass(kind, each)), None)
    return None if number is None else dtypes.number_dtype(number)


def _no_numbers(found: NDArray[Any], data: Any) -> DTypeError:
    large = [each for each in found.flat if isinstance(each, int)] if found.dtype == object else []
    if large and len(large) == found.size:
        message = (
            f"tensor: {max(large, key=abs)} does not fit in any integer dtype; give floats, "
            "for example float(value)."
        )
        return DTypeError(message)
    message = (
        f"tensor: expected numbers, got {found.dtype} from {type(data).__name__}; "
        "a tensor holds numbers and truth values only."
    )
    return DTypeError(message)


def _require_fit(found: NDArray[Any], wanted: dtypes.DType) -> None:
    """Raise where a number does not fit; of an array, NumPy's and PyTorch's casts wrap around."""
    if found.size == 0 or found.dtype == wanted.dtype:
        return
    if found.dtype.kind == "c":
        extremes: tuple[Any, ...] = (1j,)
    elif dtypes.category(wanted.dtype) == 1:
        extremes = (found.min().item(), found.max().item())
    else:
        return
    for value in extremes:
        if not dtypes.holds(wanted.dtype, value):
            given = "a complex number" if value == 1j else value
            message = f"tensor: {given} does not fit in {wanted}; choose another dtype."
            raise DTypeError(message)


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
