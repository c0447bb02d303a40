"""Creation: tensors from data, from numbers, like other tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vkml import dtypes, shapes
from vkml.device import Device, DeviceLike, device
from vkml.dtypes import DTypeLike, Number
from vkml.errors import ArgumentError, DTypeError
from vkml.ops.apply import quiet
from vkml.ops.definition import Operation, Sample, Spec, define
from vkml.tensor import Tensor, wrap

__all__ = [
    "arange", "as_tensor", "asarray", "empty", "empty_like", "eye", "from_numpy", "full",
    "full_like", "linspace", "ones", "ones_like", "tensor", "zeros", "zeros_like",
]  # fmt: skip


def _place(name: DeviceLike | None) -> Device:
    return device("cpu" if name is None else name)


def _marked(result: Tensor, requires_grad: bool) -> Tensor:
    return result.requires_grad_() if requires_grad else result


# from data -------------------------------------------------------------------------------


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
        destination = _place(device)
        result = wrap(destination.handle.upload(_as_array(data, dtype)), destination)
    return _marked(result, requires_grad)


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
        if dtype is None and not hasattr(data, "__array__"):
            if found.dtype == np.float64 and not _holds_arrays(data):
                dtype = dtypes.get_default_dtype()
            elif found.size == 0 and found.dtype == np.float64:
                dtype = dtypes.get_default_dtype()
            elif found.dtype == np.complex128 and not _holds_arrays(data):
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
    if isinstance(data, np.ndarray) and _place(device).type == "cpu":
        try:
            return from_numpy(data).to(dtype=dtype)
        except (DTypeError, ArgumentError):
            pass
    return tensor(data, dtype=dtype, device=device)


asarray = as_tensor


# full ------------------------------------------------------------------------------------

FULL = define(
    Operation(
        name="full", operands=0, gradient=None,
        result=lambda shape, _value, dtype: Spec(shape, dtype),
        cpu=lambda shape, value, dtype: np.full(shape, value, dtype),
        samples=lambda _generator: [Sample((), ((2, 3), 1.5, np.dtype(np.float32)))],
    )
)  # fmt: skip


def _filled(
    shape: tuple[int, ...], value: Number, dtype: DTypeLike | None, place: DeviceLike | None
) -> Tensor:
    destination = _place(place)
    found = dtypes.number_dtype(value) if dtype is None else dtypes.as_numpy(dtype)
    if any(size < 0 for size in shape):
        raise ArgumentError(f"a size is negative in shape {shape}; sizes are 0 or more.")
    return wrap(quiet.run(destination.kernels["full"], shape, value, found), destination)


def full(
    size: Any,
    fill_value: Number,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a tensor of shape `size` filled with one number.

    Examples
    --------
    >>> import vkml
    >>> vkml.full((2, 2), 7)
    tensor([[7, 7],
            [7, 7]])
    """
    return _marked(_filled(shapes.as_shape((size,) if isinstance(size, int) else tuple(size)),
                           fill_value, dtype, device), requires_grad)  # fmt: skip


def zeros(
    *size: Any,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a tensor of zeros.

    Parameters
    ----------
    size : int ... or sequence of int
        The shape.
    dtype, device
        float32 on the CPU by default.
    requires_grad : bool
        Whether operations on it are recorded.

    Examples
    --------
    >>> import vkml
    >>> vkml.zeros(2, 3).shape
    (2, 3)
    """
    dtype = dtypes.get_default_dtype() if dtype is None else dtype
    return _marked(_filled(shapes.as_shape(size), 0, dtype, device), requires_grad)


def ones(
    *size: Any,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a tensor of ones. Parameters as for `zeros`.

    Examples
    --------
    >>> import vkml
    >>> vkml.ones(2)
    tensor([1., 1.])
    """
    dtype = dtypes.get_default_dtype() if dtype is None else dtype
    return _marked(_filled(shapes.as_shape(size), 1, dtype, device), requires_grad)


def empty(
    *size: Any,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a tensor whose values are undefined: for code that writes all of them.

    Examples
    --------
    >>> import vkml
    >>> vkml.empty(2, 3).shape
    (2, 3)
    """
    destination = _place(device)
    found = dtypes.as_numpy(dtypes.get_default_dtype() if dtype is None else dtype)
    result = wrap(destination.handle.empty(shapes.as_shape(size), found), destination)
    return _marked(result, requires_grad)


def zeros_like(
    input: Tensor, *, dtype: DTypeLike | None = None, device: DeviceLike | None = None  # noqa: A002
) -> Tensor:
    """Return zeros with the shape, dtype and device of `input`.

    Examples
    --------
    >>> import vkml
    >>> vkml.zeros_like(vkml.ones(2))
    tensor([0., 0.])
    """
    return _filled(input.shape, 0, dtype or input.dtype, device or input.device)


def ones_like(
    input: Tensor, *, dtype: DTypeLike | None = None, device: DeviceLike | None = None  # noqa: A002
) -> Tensor:
    """Return ones with the shape, dtype and device of `input`.

    Examples
    --------
    >>> import vkml
    >>> vkml.ones_like(vkml.zeros(2))
    tensor([1., 1.])
    """
    return _filled(input.shape, 1, dtype or input.dtype, device or input.device)


def full_like(
    input: Tensor,  # noqa: A002 - PyTorch's name
    fill_value: Number,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """Return one number in the shape, dtype and device of `input`.

    Examples
    --------
    >>> import vkml
    >>> vkml.full_like(vkml.zeros(2), 7)
    tensor([7., 7.])
    """
    return _filled(input.shape, fill_value, dtype or input.dtype, device or input.device)


def empty_like(
    input: Tensor, *, dtype: DTypeLike | None = None, device: DeviceLike | None = None  # noqa: A002
) -> Tensor:
    """Return undefined values in the shape, dtype and device of `input`.

    Examples
    --------
    >>> import vkml
    >>> vkml.empty_like(vkml.zeros(2)).shape
    (2,)
    """
    return empty(input.shape, dtype=dtype or input.dtype, device=device or input.device)


# arange, linspace, eye -----------------------------------------------------------------------


def arange(
    start: Number,
    end: Number | None = None,
    step: Number = 1,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the numbers from `start` (0 if only one is given) up to, without, `end`.

    Parameters
    ----------
    start, end, step : number
        Integers give int64, floats the default dtype.
    dtype, device, requires_grad
        As for `tensor`.

    Raises
    ------
    ArgumentError
        `step` is 0 or leads away from `end`.

    Examples
    --------
    >>> import vkml
    >>> vkml.arange(1, 10, 3)
    tensor([1, 4, 7])
    """
    first, last = (0, start) if end is None else (start, end)
    if step == 0 or (last - first) / step < 0:  # type: ignore[operator]  # complex numbers raise
        message = f"arange: step {step} does not lead from {first} to {last}."
        raise ArgumentError(message)
    if dtype is None:
        whole = all(isinstance(each, int) for each in (first, last, step))
        dtype = dtypes.int64 if whole else dtypes.get_default_dtype()
    count = math.ceil((last - first) / step)  # type: ignore[operator]
    values = first + np.arange(count) * step
    return tensor(values, dtype=dtype, device=device, requires_grad=requires_grad)


def linspace(
    start: float,
    end: float,
    steps: int,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return `steps` numbers from `start` to `end`, both included, evenly spaced.

    Examples
    --------
    >>> import vkml
    >>> vkml.linspace(0, 1, 3)
    tensor([0.0000, 0.5000, 1.0000])
    """
    if steps < 0:
        raise ArgumentError(f"linspace: steps is {steps}; give 0 or more.")
    return tensor(
        np.linspace(start, end, steps),
        dtype=dtype or dtypes.get_default_dtype(), device=device, requires_grad=requires_grad,
    )  # fmt: skip


def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the identity matrix with `n` rows and `m` (by default `n`) columns.

    Examples
    --------
    >>> import vkml
    >>> vkml.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    return tensor(
        np.eye(n, m), dtype=dtype or dtypes.get_default_dtype(), device=device,
        requires_grad=requires_grad,
    )  # fmt: skip
