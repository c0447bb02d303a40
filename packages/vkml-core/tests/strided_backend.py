"""A second backend for tests: its operand is no ndarray, and it has kernels for primitives only.

An operand is a storage of bytes, a shape, strides, an offset and a dtype. A kernel gathers its
operands into arrays, calls the CPU kernel of the record and stores the results in new storage.
Composites have no kernel, so their decompositions run. What passes here assumes nothing about
NumPy; and it is refused what a GPU would refuse: operands of different dtypes where the record
promotes, and options that are no plain values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vkml.backends.interface import INTERFACE_VERSION, DeviceInfo, Kernel, Layout
from vkml.errors import DeviceError
from vkml.ops.definition import OPERATIONS, Operation, Promotion
from vkml.shapes import contiguous_strides, span

INFO = DeviceInfo(name="strided bytes", kind="virtual")
PLAIN = (bool, int, float, complex, str, np.dtype, type(None), np.random.Generator)


class StridedOperand:
    """An array in the making: nothing here is an ndarray's."""

    __slots__ = ("dtype", "offset", "shape", "storage", "strides")

    def __init__(
        self,
        storage: bytearray,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        offset: int,
        dtype: np.dtype[Any],
    ) -> None:
        assert all(type(size) is int for size in (*shape, *strides, offset))
        self.storage = storage
        self.shape = shape
        self.strides = strides
        self.offset = offset
        self.dtype = dtype
        low, high = span(shape, strides)
        if high >= low:
            assert offset + low >= 0, "a view starts before its storage"
            assert (offset + high + 1) * dtype.itemsize <= len(storage), "a view ends after it"


def places(operand: StridedOperand) -> NDArray[np.int64]:
    """Return where the elements lie in the storage, in elements."""
    found = np.full(operand.shape, operand.offset, np.int64)
    for axis, (size, stride) in enumerate(zip(operand.shape, operand.strides, strict=True)):
        steps = np.arange(size) * stride
        found += steps.reshape((-1,) + (1,) * (len(operand.shape) - axis - 1))
    return found


def _flat(operand: StridedOperand) -> NDArray[Any]:
    bytes_ = np.frombuffer(operand.storage, np.uint8)
    item = operand.dtype.itemsize
    return bytes_[: len(bytes_) // item * item].view(operand.dtype)


def gather(operand: StridedOperand) -> NDArray[Any]:
    """Return a copy of the elements."""
    return _flat(operand)[places(operand)]


class Owner(StridedOperand):
    """An operand that was made with its storage."""

    __slots__ = ()


def store(array: Any) -> Owner:
    """Return a new operand with a copy of `array`."""
    array = np.asarray(array)
    native = np.array(array, dtype=array.dtype.newbyteorder("="), order="C")
    storage = bytearray(native.tobytes())
    return Owner(storage, native.shape, contiguous_strides(native.shape), 0, native.dtype)


class StridedDevice:
    """The one device of the backend. Counts what it runs, and whether it was closed."""

    info = INFO

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.closed = False

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> StridedOperand:
        storage = bytearray(b"\xfe" * (math.prod(shape) * dtype.itemsize))
        return Owner(storage, shape, contiguous_strides(shape), 0, dtype)

    def upload(self, array: NDArray[Any]) -> StridedOperand:
        assert isinstance(array, np.ndarray)
        return store(array)

    def download(self, operand: StridedOperand) -> NDArray[Any]:
        return gather(operand)

    def place(self, operand: StridedOperand) -> StridedOperand:
        assert isinstance(operand, StridedOperand)
        return operand

    def layout(self, operand: StridedOperand) -> Layout:
        storage = operand.storage
        return Layout(id(storage), operand.strides, operand.offset, len(storage))

    def view(
        self,
        operand: StridedOperand,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        offset: int,
        dtype: np.dtype[Any] | None = None,
    ) -> StridedOperand:
        dtype = operand.dtype if dtype is None else dtype
        return StridedOperand(operand.storage, shape, strides, offset, dtype)

    def owns(self, operand: StridedOperand) -> bool:
        return isinstance(operand, Owner)

    def kernel(self, name: str) -> Kernel | None:
        operation = OPERATIONS[name]
        primitive = operation.decomposition is None and operation.view is None
        if not primitive or operation.cpu is None:
            return None
        return self._kernel(operation, operation.cpu)

    def why_not(
        self, name: str, dtypes: Sequence[np.dtype[Any]], options: Sequence[object]
    ) -> str | None:
        if self.kernel(name) is not None:
            return None
        return f"{name} is made of other operations on this device."

    def _kernel(self, operation: Operation, cpu: Kernel) -> Kernel:
        def run(*arguments: Any, out: StridedOperand | None = None) -> Any:
            self.ran.append(operation.name)
            count = 1 if operation.takes_sequence else operation.operands
            operands = list(arguments[0] if operation.takes_sequence else arguments[:count])
            options = arguments[count:]
            _require_plain(options)
            _require_one_dtype(operation, operands)
            gathered = [gather(x) if isinstance(x, StridedOperand) else x for x in operands]
            with np.errstate(all="ignore"):
                if operation.takes_sequence:
                    found = cpu(gathered, *options)
                else:
                    found = cpu(*gathered, *options)
            if out is not None:
                assert out.shape == np.shape(found), "out= has another shape"
                self.copy(store(found), out)
                return out
            if operation.auxiliaries:
                return tuple(None if each is None else store(each) for each in found)
            return store(found)

        return run

    def copy(self, source: StridedOperand, destination: StridedOperand) -> None:
        values = np.broadcast_to(gather(source), destination.shape)
        with np.errstate(all="ignore"):
            _flat(destination)[places(destination)] = values.astype(destination.dtype)

    def synchronize(self) -> None:
        pass

    def memory(self) -> Mapping[str, int]:
        return {"kernels run": len(self.ran)}

    def close(self) -> None:
        self.closed = True


def _require_plain(options: Sequence[Any]) -> None:
    for each in options:
        if isinstance(each, (tuple, list)):
            _require_plain(each)
        else:
            assert isinstance(each, PLAIN), f"option {each!r} of {type(each)} is no plain value"


def _require_one_dtype(operation: Operation, operands: Sequence[Any]) -> None:
    for each in operands:
        if isinstance(each, (bool, int, float, complex, type(None))):
            continue
        assert isinstance(each, StridedOperand), f"operand {each!r} of {type(each)}"
    if operation.promotion is Promotion.NONE:
        return
    chosen = operation.promotes or range(len(operands))
    found = {operands[n].dtype for n in chosen if isinstance(operands[n], StridedOperand)}
    assert len(found) == 1, f"{operation.name} got operands of {found}"


class StridedBackend:
    """The backend, as an entry point names it."""

    interface_version = INTERFACE_VERSION

    def list_devices(self) -> Sequence[DeviceInfo]:
        return (INFO,)

    def why_unavailable(self) -> str | None:
        return None

    def open_device(self, index: int) -> StridedDevice:
        if index:
            raise DeviceError("there is one.")
        return StridedDevice()


STRIDED_BACKEND = StridedBackend()
