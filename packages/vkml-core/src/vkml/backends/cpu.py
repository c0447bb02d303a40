"""The CPU backend. Its operand is a `numpy.ndarray`; its kernels stand in the operation records."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vkml.backends.interface import INTERFACE_VERSION, Backend, DeviceInfo, Kernel, Layout
from vkml.errors import BackendError
from vkml.ops.definition import OPERATIONS


def _root(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array that owns the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


class CpuDevice:
    """The one CPU device."""

    def __init__(self) -> None:
        self.info: Final = _describe()
        _show_allocator_large_arrays()

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return a new array; its values are undefined."""
        return np.empty(shape, dtype)

    def upload(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return a copy of `array` in C order and native byte order."""
        return np.array(array, dtype=array.dtype.newbyteorder("="), order="C")

    def download(self, operand: NDArray[Any]) -> NDArray[Any]:
        """Return `operand`: it is an array already."""
        return np.asarray(operand)

    def place(self, operand: Any) -> NDArray[Any]:
        """Return `operand` as an array; NumPy's kernels return rank-0 results as scalars."""
        return np.asarray(operand)

    def layout(self, operand: NDArray[Any]) -> Layout:
        """Return where the elements of `operand` lie, relative to the array that owns them."""
        root = _root(operand)
        item = operand.itemsize
        start = operand.__array_interface__["data"][0] - root.__array_interface__["data"][0]
        strides = tuple(stride // item for stride in operand.strides)
        return Layout(id(root), strides, start // item, root.nbytes)

    def view(
        self,
        operand: NDArray[Any],
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        offset: int,
        dtype: np.dtype[Any] | None = None,
    ) -> NDArray[Any]:
        """Return an array on the same memory."""
        dtype = operand.dtype if dtype is None else dtype
        item = dtype.itemsize
        root = _root(operand)
        # NumPy's results own memory without gaps, but their axes may lie in any order.
        buffer = root if root.flags.c_contiguous else root.ravel(order="K")
        if root.dtype.kind == "V":  # ml_dtypes' types cannot pass through the buffer protocol
            buffer = buffer.reshape(-1).view(np.uint8)
        byte_strides = tuple([stride * item for stride in strides])
        result: NDArray[Any] = np.ndarray(shape, dtype, buffer, offset * item, byte_strides)
        if not operand.flags.writeable:
            result.flags.writeable = False
        return result

    def owns(self, operand: Any) -> bool:
        """Return whether `operand` is a contiguous array with memory of its own."""
        if operand.__class__ is not np.ndarray:
            return False
        flags = operand.flags
        return bool(flags.owndata and flags.c_contiguous and flags.writeable)

    def kernel(self, name: str) -> Kernel | None:
        """Return the NumPy kernel of the operation's record."""
        return OPERATIONS[name].cpu

    def why_not(
        self,
        name: str,
        dtypes: Sequence[np.dtype[Any]],  # noqa: ARG002 - the CPU's kernels take every dtype
        options: Sequence[object],  # noqa: ARG002
    ) -> str | None:
        """Return None for every operation that has a kernel."""
        return None if OPERATIONS[name].cpu else f"{name} has no fused kernel on the CPU."

    def copy(self, source: NDArray[Any], destination: NDArray[Any]) -> None:
        """Write `source` into `destination`."""
        np.copyto(destination, source, casting="unsafe")

    def synchronize(self) -> None:
        """Do nothing: NumPy returns when the work is done."""

    def memory(self) -> Mapping[str, int]:
        """Return nothing: NumPy does not count."""
        return {}

    def close(self) -> None:
        """Do nothing: arrays free themselves."""


class CpuBackend:
    """The backend named ``cpu``."""

    interface_version = INTERFACE_VERSION

    def list_devices(self) -> Sequence[DeviceInfo]:
        """Return the one CPU."""
        return (_describe(),)

    def why_unavailable(self) -> str | None:
        """Return None: there is always a CPU."""
        return None

    def open_device(self, index: int) -> CpuDevice:
        """Open the CPU; there is only index 0."""
        if index:
            raise BackendError(f"there is no device 'cpu:{index}'; use 'cpu'.")
        return CpuDevice()


_LARGE_ARRAY: Final = 31 * 2**20
"""Bytes; glibc's threshold for reusing freed memory follows what is freed, up to 32 MiB."""


def _show_allocator_large_arrays() -> None:
    """Allocate and free one large array, without touching it.

    The system allocator then keeps freed arrays up to this size for the next ones. Until it has
    seen one freed, it returns each to the system, and every result of an operation costs page
    faults that take longer than the arithmetic (docs/adr/0006-memory-of-freed-arrays.md).
    """
    np.empty(_LARGE_ARRAY, np.uint8)


def _describe() -> DeviceInfo:
    return DeviceInfo(
        name=_model_name() or platform.machine() or "CPU",
        kind="cpu",
        details={"cores": os.cpu_count(), "numpy": np.__version__},
    )


def _model_name() -> str | None:
    """Return what Linux calls the processor. `platform.processor` would start a program."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, None)


CPU_BACKEND: Final[Backend] = CpuBackend()
