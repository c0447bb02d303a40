"""Devices: how they are named, found and opened, and which function runs an operation on each."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from numpy.typing import NDArray

from vkml.backends.interface import DeviceHandle, DeviceInfo, Kernel
from vkml.backends.registry import backend_names, find_backend
from vkml.errors import DeviceError, UnsupportedOperationError, VkmlError
from vkml.ops.definition import OPERATIONS, WHEN_DEFINED, Operation, Ops

if TYPE_CHECKING:
    from collections.abc import Sequence

DeviceLike: TypeAlias = "Device | str"

_NAME: Final = re.compile(r"([a-z_]+)(?::(0|[1-9][0-9]*))?")


class KernelTable(dict[str, Kernel]):
    """What runs each operation on one device, looked up by name and filled on first use."""

    def __init__(self, device: Device) -> None:
        super().__init__()
        self._device = device

    def __missing__(self, name: str) -> Kernel:
        runner = _runner(OPERATIONS[name], self._device)
        self[name] = runner
        return runner


class RawOperations:
    """The namespace `k` of a plain backward pass: kernels on the raw operands of one device.

    Each operation is an attribute from the start, since a ``__getattr__`` would slow every access;
    a kernel is looked up when it is first called.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        for name in OPERATIONS:
            self._add(name)
        WHEN_DEFINED.append(self._add)

    def upload(self, array: NDArray[Any]) -> Any:
        """Return an operand with the values of `array`, for rules that compute places in memory."""
        return self.device.handle.upload(array)

    def _add(self, name: str) -> None:
        def first_call(*arguments: Any, **options: Any) -> Any:
            kernel = self.device.kernels[name]
            setattr(self, name, kernel)
            return kernel(*arguments, **options)

        setattr(self, name, first_call)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Kernel: ...


class Device:
    """A place where tensors lie: ``vkml.device("cpu")``, ``vkml.device("vulkan:1")``.

    Devices are interned, so two equal ones are one object.

    Attributes
    ----------
    type : str
        The backend's name.
    index : int
        Which device of that backend.
    """

    __slots__ = ("__weakref__", "_handle", "index", "kernels", "raw", "type")

    def __init__(self, type: str, index: int) -> None:
        self.type = type
        self.index = index
        self._handle: DeviceHandle | None = None
        self.kernels: Final = KernelTable(self)
        self.raw: Final[Ops] = RawOperations(self)

    @property
    def handle(self) -> DeviceHandle:
        """The open device, for backends and their tests. Opened on first use."""
        if self._handle is None:
            with _opening:  # threads that come at once must not open it twice
                if self._handle is None:
                    self._handle = find_backend(self.type).open_device(self.index)
        return self._handle

    @property
    def info(self) -> DeviceInfo:
        """Facts about the device."""
        return self.handle.info

    def synchronize(self) -> None:
        """Wait until all work on the device is done, and raise what happened in it."""
        self.handle.synchronize()

    def __str__(self) -> str:
        return f"{self.type}:{self.index}" if self.type not in ("cpu", "meta") else self.type

    def __repr__(self) -> str:
        return f"device({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            try:
                return self is device(other)
            except DeviceError:
                return False
        return self is other

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (str(self),)


_opening: Final = threading.RLock()  # a backend that opens a device may ask for the CPU
_devices: Final[dict[tuple[str, int], Device]] = {}


def device(name: DeviceLike, index: int | None = None) -> Device:
    """Return the device called `name`.

    Parameters
    ----------
    name : str or Device
        ``"cpu"``, ``"meta"``, ``"vulkan"`` (its first device) or ``"vulkan:1"``.
    index : int, optional
        The device's number, where `name` holds none.

    Raises
    ------
    DeviceError
        There is no such device. The message says what is missing and how to get it.

    Examples
    --------
    >>> import vkml
    >>> vkml.device("cpu")
    device('cpu')
    """
    if isinstance(name, Device):
        return name
    match = _NAME.fullmatch(name) if isinstance(name, str) else None  # type: ignore[redundant-expr]  # callers may err
    if match is None or (match[2] is not None and index is not None):
        message = f"{name!r} names no device; give a name such as 'cpu', 'vulkan' or 'vulkan:1'."
        raise DeviceError(message)
    number = index if index is not None else int(match[2] or 0)
    found = _devices.get((match[1], number))
    if found is not None:
        return found
    backend = find_backend(match[1])
    count = len(backend.list_devices())
    if number >= count:
        reason = backend.why_unavailable()
        remedy = reason or f"{match[1]} has {count}, numbered from 0."
        raise DeviceError(f"there is no device '{match[1]}:{number}': {remedy}")
    return _devices.setdefault((match[1], number), Device(match[1], number))


def available_devices() -> list[Device]:
    """Return the devices that tensors can be put on, the CPU first. Never raises.

    Examples
    --------
    >>> import vkml
    >>> vkml.available_devices()[0]
    device('cpu')
    """
    found = []
    for name in backend_names():
        if name == "meta":
            continue
        try:
            found += [
                device(name, index) for index in range(len(find_backend(name).list_devices()))
            ]
        except VkmlError:  # a setting that means nothing is one, too
            continue
    return found


def best_device() -> tuple[Device, str]:
    """Return the device to train on, and why it was chosen. Never raises.

    Examples
    --------
    >>> import vkml
    >>> chosen, reason = vkml.best_device()
    """
    others = [each for each in available_devices() if each.type != "cpu"]
    for kind in ("discrete", "integrated", "virtual"):
        for candidate in others:
            info = find_backend(candidate.type).list_devices()[candidate.index]
            if info.kind == kind:
                return candidate, f"{info.name}, a {kind} GPU"
    if others:
        return device("cpu"), f"{others[0]} runs in software; NumPy is faster"
    for_gpus = [name for name in backend_names() if name not in ("cpu", "meta")]
    return device("cpu"), "; ".join(_why_unavailable(name) for name in for_gpus or ["vulkan"])


def _why_unavailable(name: str) -> str:
    try:
        return f"{name}: {find_backend(name).why_unavailable()}"
    except VkmlError as error:
        return str(error)


# Running an operation ------------------------------------------------------------------


def _runner(operation: Operation, on: Device) -> Kernel:
    """Return the function that runs `operation` on raw operands of device `on`."""
    kernel = on.handle.kernel(operation.name)
    if operation.view is not None:
        return kernel if kernel is not None else _view_runner(operation.view, on)
    if operation.decomposition is None:
        return kernel if kernel is not None else _refusal(operation, on)
    composed = _composed_runner(operation, operation.decomposition, on)
    return composed if kernel is None else _fused_runner(kernel, composed)


def _view_runner(view: Callable[..., tuple[Any, ...]], on: Device) -> Kernel:
    def run(operand: Any, *options: Any) -> Any:
        operand = on.handle.place(operand)
        layout = on.handle.layout(operand)
        shape, strides, offset = view(operand.shape, layout.strides, layout.offset, *options)
        return on.handle.view(operand, shape, strides, offset)

    return run


def _composed_runner(operation: Operation, decomposition: Callable[..., Any], on: Device) -> Kernel:
    missing = (None,) * operation.auxiliaries

    def run(*arguments: Any) -> Any:
        result = decomposition(on.raw, *arguments)
        return (result, *missing) if missing and not isinstance(result, tuple) else result

    return run


def _fused_runner(kernel: Kernel, composed: Kernel) -> Kernel:
    def run(*arguments: Any) -> Any:
        result = kernel(*arguments)
        return composed(*arguments) if result is NotImplemented else result

    return run


def _refusal(operation: Operation, on: Device) -> Kernel:
    def run(*arguments: Any) -> Any:
        count = 1 if operation.takes_sequence else operation.operands
        operands: Sequence[Any] = arguments[0] if operation.takes_sequence else arguments[:count]
        dtypes = [value.dtype for value in operands if hasattr(value, "dtype")]
        reason = on.handle.why_not(operation.name, dtypes, arguments[count:])
        message = (
            f"{operation.name}: {reason or f'{on} has no kernel for it.'} "
            f"Move the tensors first: x.to('cpu')."
        )
        raise UnsupportedOperationError(message)

    return run
