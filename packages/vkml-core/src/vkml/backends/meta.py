"""The meta device: operands have a shape and a dtype and no data.

Operations answer by the result rules of their records, so a whole model can be run for its shapes,
its dtypes and the memory that it would take.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vkml import shapes
from vkml.backends.interface import INTERFACE_VERSION, Backend, DeviceInfo, Kernel, Layout
from vkml.errors import BackendError, DeviceError, ShapeError
from vkml.ops.definition import OPERATIONS, Operation, Spec

_INFO: Final = DeviceInfo(name="shapes without data", kind="meta")


class _Storage:
    """Memory that is only counted. Operands that would share memory share this object."""

    __slots__ = ("nbytes",)

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes


class MetaOperand:
    """A shape, a dtype, and where the elements would lie."""

    __slots__ = ("dtype", "offset", "shape", "storage", "strides")

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        strides: tuple[int, ...],
        offset: int,
        storage: _Storage,
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.strides = strides
        self.offset = offset
        self.storage = storage


def _new(shape: tuple[int, ...], dtype: np.dtype[Any]) -> MetaOperand:
    dtype = np.dtype(dtype)
    storage = _Storage(math.prod(shape) * dtype.itemsize)
    return MetaOperand(tuple(shape), dtype, shapes.contiguous_strides(shape), 0, storage)


class MetaDevice:
    """The one meta device."""

    def __init__(self) -> None:
        self.info: Final = _INFO

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> MetaOperand:
        """Return a new operand."""
        return _new(shape, dtype)

    def upload(self, array: NDArray[Any]) -> MetaOperand:
        """Return an operand like `array`; the values are forgotten."""
        return _new(array.shape, array.dtype.newbyteorder("="))

    def download(self, operand: MetaOperand) -> NDArray[Any]:
        """Raise: there are no values."""
        message = (
            f"a tensor of shape {operand.shape} on 'meta' has no values; make it on another "
            "device, for example vkml.empty_like(x, device='cpu')."
        )
        raise DeviceError(message)

    def place(self, operand: MetaOperand) -> MetaOperand:
        """Return `operand`: all of them have (imaginary) storage."""
        return operand

    def layout(self, operand: MetaOperand) -> Layout:
        """Return where the elements would lie."""
        storage = operand.storage
        return Layout(storage, operand.strides, operand.offset, storage.nbytes)

    def view(
        self,
        operand: MetaOperand,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        offset: int,
        dtype: np.dtype[Any] | None = None,
    ) -> MetaOperand:
        """Return an operand on the same storage."""
        dtype = operand.dtype if dtype is None else dtype
        return MetaOperand(shape, dtype, strides, offset, operand.storage)

    def owns(self, operand: MetaOperand) -> bool:
        """Return whether `operand` fills its storage in C order."""
        filled = math.prod(operand.shape) * operand.dtype.itemsize == operand.storage.nbytes
        return filled and shapes.is_contiguous(operand.shape, operand.strides)

    def kernel(self, name: str) -> Kernel | None:
        """Return what computes the shapes and dtypes of the results of an operation."""
        if OPERATIONS[name].view is not None:
            return None
        return _kernel(OPERATIONS[name])

    def why_not(
        self,
        _name: str,
        _dtypes: Sequence[np.dtype[Any]],
        _options: Sequence[object],
    ) -> str | None:
        """Return None: every operation has a result rule."""
        return None

    def copy(self, source: Any, destination: MetaOperand) -> None:
        """Check that `source` broadcasts to `destination`."""
        if shapes.broadcast(source.shape, destination.shape) != destination.shape:
            message = f"shape {source.shape} does not broadcast to {destination.shape}."
            raise ShapeError(message)

    def synchronize(self) -> None:
        """Do nothing: there is no work."""

    def memory(self) -> Mapping[str, int]:
        """Return nothing: no memory is used."""
        return {}

    def close(self) -> None:
        """Do nothing: nothing is held."""


def _kernel(operation: Operation) -> Kernel:
    missing = (None,) * operation.auxiliaries

    rule: Any = operation.result

    def run(*arguments: Any, out: MetaOperand | None = None) -> Any:
        found = rule(*arguments)
        if out is not None:
            return out
        if not operation.auxiliaries:
            return _new(*found)
        if isinstance(found, Spec):  # the record says nothing of the auxiliary results
            return (_new(*found), *missing)
        return tuple(None if each is None else _new(*each) for each in found)

    return run


class MetaBackend:
    """The backend named ``meta``."""

    interface_version = INTERFACE_VERSION

    def list_devices(self) -> Sequence[DeviceInfo]:
        """Return the one meta device."""
        return (_INFO,)

    def why_unavailable(self) -> str | None:
        """Return None: shapes are always available."""
        return None

    def open_device(self, index: int) -> MetaDevice:
        """Open the meta device; there is only index 0."""
        if index:
            raise BackendError(f"there is no device 'meta:{index}'; use 'meta'.")
        return MetaDevice()


META_BACKEND: Final[Backend] = MetaBackend()
