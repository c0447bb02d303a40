"""Conversion: other dtypes, other devices."""

from __future__ import annotations

from typing import Any

import numpy as np

from vkml import dtypes
from vkml.autograd.transfer import transferred
from vkml.device import Device, DeviceLike, device
from vkml.dtypes import DType, DTypeLike
from vkml.errors import ArgumentError
from vkml.ops.apply import apply
from vkml.ops.definition import Operation, Ops, Sample, Spec, Value, array, define
from vkml.ops.movement import clone
from vkml.tensor import Tensor, wrap

__all__ = ["to"]


# cast ----------------------------------------------------------------------------------


def _cast_gradient(
    k: Ops, upstream: Value, _output: Value, x_spec: Spec, _dtype: np.dtype[Any]
) -> tuple[Value | None]:
    if dtypes.category(x_spec.dtype) < 2:
        return (None,)
    return (k.cast(upstream, x_spec.dtype),)


def _cast(x: Any, dtype: np.dtype[Any]) -> Any:
    return x.astype(dtype)


CAST = define(
    Operation(
        name="cast", result=lambda x, dtype: Spec(x.shape, dtype), cpu=_cast,
        gradient=_cast_gradient,
        samples=lambda generator: [
            Sample((array(generator, 3, 4),), (np.dtype(np.float64),)),
            Sample((array(generator, 5),), (np.dtype(np.int32),)),
            Sample((array(generator),), (np.dtype(np.bool_),)),
        ],
    )
)  # fmt: skip


# to ------------------------------------------------------------------------------------


def to(
    x: Tensor,
    *target: Any,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    copy: bool = False,
) -> Tensor:
    """Return `x` with another dtype or on another device; `x` itself where nothing changes.

    Parameters
    ----------
    x : Tensor
        Any shape.
    target : DType, Device, Tensor or str
        A dtype, a device, both, or a tensor that has both.
    dtype : DType or str, optional
        The dtype, by keyword.
    device : Device or str, optional
        The device, by keyword.
    copy : bool
        Return a copy also where nothing changes.

    Raises
    ------
    DeviceError
        There is no such device.

    Examples
    --------
    >>> import vkml
    >>> vkml.ones(2).to(vkml.int64)
    tensor([1, 1])
    """
    for each in target:
        if isinstance(each, Tensor):
            dtype, device = each.dtype, each.device
        elif isinstance(each, (DType, np.dtype, type)):
            dtype = each
        elif isinstance(each, Device):
            device = each
        elif isinstance(each, str):
            if dtypes.is_name(each):
                dtype = each
            else:
                device = each
        elif each is not None:
            raise ArgumentError(f"to: {each!r} is neither a dtype nor a device.")
    result = x
    if dtype is not None and dtypes.as_dtype(dtype) is not x.dtype:
        wanted = dtypes.as_numpy(dtype)
        source = result if dtypes.category(wanted) >= 2 else result.detach()  # no gradient there
        result = apply(CAST, (source,), (wanted,))
    if device is not None:
        result = _moved(result, device)
    return clone(result) if copy and result is x else result


def _moved(x: Tensor, target: DeviceLike) -> Tensor:
    destination = device(target)
    if destination is x.device:
        return x
    return transferred(x, wrap(destination.handle.upload(x._download()), destination))
