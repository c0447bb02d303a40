"""Creation: tensors filled with numbers, counting, like other tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vkml import dtypes, shapes
from vkml.device import DeviceLike
from vkml.dtypes import DTypeLike, Number
from vkml.errors import ArgumentError, DTypeError
from vkml.ops.definition import Operation, Sample, Spec, define
from vkml.ops.from_data import device_or_cpu, marked, tensor
from vkml.ops.quiet import quiet
from vkml.tensor import Tensor, wrap

__all__ = [
    "arange",
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "linspace",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]


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
    destination = device_or_cpu(place)
    found = dtypes.number_dtype(value) if dtype is None else dtypes.as_numpy(dtype)
    _require_sizes(shape)
    return wrap(quiet.run(destination.kernels["full"], shape, value, found), destination)


def _require_sizes(shape: tuple[int, ...]) -> None:
    if any(size < 0 for size in shape):
        raise ArgumentError(f"a size is negative in shape {shape}; sizes are 0 or more.")


def _number(value: Any, dtype: DTypeLike | None) -> Number:
    """Return `value`, also that of a tensor or NumPy number, as a Python number that fits."""
    number: Number = value.item() if hasattr(value, "item") else value
    if not isinstance(number, (int, float, complex)):
        raise DTypeError(f"full: expected a number, got {type(value).__name__}.")
    wanted = dtypes.number_dtype(number) if dtype is None else dtypes.as_numpy(dtype)
    if not dtypes.holds(wanted, number):
        raise DTypeError(f"full: {number} does not fit in {wanted}; choose another dtype.")
    return number


def full(
    size: Any,
    fill_value: Number,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a tensor of shape `size` filled with one number.

    Raises
    ------
    DTypeError
        The number does not fit in `dtype`.

    Examples
    --------
    >>> import vkml
    >>> vkml.full((2, 2), 7)
    tensor([[7, 7],
            [7, 7]])
    """
    shape = shapes.as_shape((size,) if isinstance(size, int) else tuple(size))
    filled = _filled(shape, _number(fill_value, dtype), dtype, device)
    return marked(filled, requires_grad)


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
    return marked(_filled(shapes.as_shape(size), 0, dtype, device), requires_grad)


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
    return marked(_filled(shapes.as_shape(size), 1, dtype, device), requires_grad)


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
    destination = device_or_cpu(device)
    found = dtypes.as_numpy(dtypes.get_default_dtype() if dtype is None else dtype)
    shape = shapes.as_shape(size)
    _require_sizes(shape)
    return marked(wrap(destination.handle.empty(shape, found), destination), requires_grad)


def zeros_like(
    input: Tensor,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
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
    input: Tensor,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
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
    input: Tensor,
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
    dtype = dtype or input.dtype
    return _filled(input.shape, _number(fill_value, dtype), dtype, device or input.device)


def empty_like(
    input: Tensor,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
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
        `step` is 0 or leads away from `end`, or a limit is not finite.

    Examples
    --------
    >>> import vkml
    >>> vkml.arange(1, 10, 3)
    tensor([1, 4, 7])
    """
    first, last = (0, start) if end is None else (start, end)
    first, last, step = _real("arange", first), _real("arange", last), _real("arange", step)
    if step == 0 or (last - first) / step < 0:
        message = f"arange: step {step} does not lead from {first} to {last}."
        raise ArgumentError(message)
    if dtype is None:
        whole = all(isinstance(each, int) for each in (first, last, step))
        dtype = dtypes.int64 if whole else dtypes.get_default_dtype()
    count = math.ceil((last - first) / step)
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
    (count,) = shapes.as_shape((steps,))
    if count < 0:
        raise ArgumentError(f"linspace: steps is {steps}; give 0 or more.")
    return tensor(
        np.linspace(_real("linspace", start), _real("linspace", end), count),
        dtype=dtype or dtypes.get_default_dtype(), device=device, requires_grad=requires_grad,
    )  # fmt: skip


def _real(function: str, value: Any) -> int | float:
    """Return `value`, also that of a tensor of one element, as a finite Python number."""
    number = value.item() if hasattr(value, "item") else value
    if not isinstance(number, (int, float)) or not math.isfinite(number):
        raise ArgumentError(f"{function}: expected a finite number, got {value!r}.")
    return number


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
    rows, columns = shapes.as_shape((n, n if m is None else m))
    _require_sizes((rows, columns))
    return tensor(
        np.eye(rows, columns), dtype=dtype or dtypes.get_default_dtype(), device=device,
        requires_grad=requires_grad,
    )  # fmt: skip
