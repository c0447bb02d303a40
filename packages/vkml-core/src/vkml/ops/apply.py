"""Applying an operation to tensors: devices, promotion, checks, the kernel, recording."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from vkml import dtypes
from vkml.autograd.graph import record, version_of
from vkml.autograd.modes import mode
from vkml.device import Device
from vkml.errors import DeviceError, DTypeError, ShapeError
from vkml.ops.definition import (
    OPERATIONS,
    THROUGH_DECOMPOSITION,
    Operation,
    Promotion,
    Spec,
)
from vkml.tensor import Tensor, ViewOf, wrap


class _Quiet(threading.local):
    """Runs kernels with NumPy's floating-point warnings off: dividing by zero is no news.

    Entering `np.errstate` costs a microsecond; a context in which it was entered once costs 20 ns.
    A context belongs to one thread at a time, hence one for each.
    """

    def __init__(self) -> None:
        context = contextvars.copy_context()
        context.run(np.errstate(all="ignore").__enter__)
        self.run: Callable[..., Any] = context.run


quiet: Final = _Quiet()
run_on_main_path: Final = _Quiet().run
"""As ``quiet.run``, without the look-up; raises RuntimeError while another thread is inside."""


def apply(operation: Operation, operands: Sequence[Any], options: tuple[Any, ...] = ()) -> Tensor:
    """Return the result of `operation` on tensors, recorded if a gradient may be wanted.

    `operands` are Tensors, Python numbers where the record allows them, or None.
    """
    result: Tensor = apply_all(operation, operands, options)[0]
    return result


def apply_all(
    operation: Operation, operands: Sequence[Any], options: tuple[Any, ...] = ()
) -> tuple[Any, ...]:
    """Return the result of `operation` and its auxiliary results. See `apply`."""
    device = common_device(operation, operands)
    if operation.promotion is not Promotion.NONE:
        operands = promoted(operation, operands)
    raw = [getattr(each, "_operand", each) for each in operands]
    check(operation, raw, options)
    recording = mode.enabled and any(getattr(each, "_node", None) is not None for each in operands)
    if recording and operation.gradient is THROUGH_DECOMPOSITION:
        assert operation.decomposition is not None  # noqa: S101 - `define` has checked
        composed = operation.decomposition(tensor_operations(device), *operands, *options)
        return composed if isinstance(composed, tuple) else (composed,)
    if operation.takes_sequence:
        results = quiet.run(device.kernels[operation.name], raw, *options)
    else:
        results = quiet.run(device.kernels[operation.name], *raw, *options)
    result = results[0] if operation.auxiliaries else results
    is_view = operation.view is not None
    tensor = view_of(operands[0], result) if is_view else wrap(result, device)
    if recording and operation.gradient is not None:
        for each in operands:
            if getattr(each, "_view", None) is not None:
                refresh_view(each)
        tensor._node = record(operation, device, operands, options, results, tensor)
    if operation.auxiliaries:
        extra = (None if each is None else wrap(each, device) for each in results[1:])
        return (tensor, *extra)
    return (tensor,)


def view_of(base: Tensor, operand: Any) -> Tensor:
    """Return a tensor on `operand`, which shows memory of `base`."""
    version = version_of(base)
    tensor = wrap(operand, base._device, None, version)
    root = base._view.base if base._view is not None else base
    tensor._view = ViewOf(root, version[0])
    return tensor


def refresh_view(view: Tensor) -> None:
    """Derive the node of `view` anew if its memory was written since it was taken."""
    known = view._view
    if known is not None and known.version != version_of(view)[0]:
        from vkml.autograd.inplace import rederive

        rederive(view, known)


def common_device(operation: Operation, operands: Sequence[Any]) -> Device:
    """Return the one device that all tensors lie on."""
    device: Device | None = None
    for each in operands:
        if isinstance(each, Tensor):
            if device is None:
                device = each._device
            elif each._device is not device:
                message = (
                    f"{operation.name}: the tensors lie on {device} and on {each._device}. "
                    f"Move one of them first: x.to('{device}')."
                )
                raise DeviceError(message)
        elif each is not None and not isinstance(each, (int, float, complex, np.generic)):
            message = (
                f"{operation.name}: expected a tensor or a number, got {type(each).__name__}. "
                "Convert it with vkml.tensor(data)."
            )
            raise DTypeError(message)
    if device is None:
        message = f"{operation.name}: expected at least one tensor, got {_types(operands)}."
        raise DTypeError(message)
    return device


def _types(operands: Sequence[Any]) -> str:
    return ", ".join(type(each).__name__ for each in operands) or "none"


def promoted(operation: Operation, operands: Sequence[Any]) -> list[Any]:
    """Return the operands, cast to the dtype in which the record says they meet."""
    chosen = operation.promotes or range(len(operands))
    target = meeting_dtype([operands[index] for index in chosen])
    if operation.promotion is Promotion.FLOATING:
        target = dtypes.to_floating(target)
    result = list(operands)
    for index in chosen:
        each = result[index]
        if isinstance(each, Tensor):
            if each._operand.dtype != target:
                result[index] = apply(OPERATIONS["cast"], (each,), (target,))
        elif each is not None:
            result[index] = as_number(each, target)
    return result


def meeting_dtype(operands: Sequence[Any]) -> np.dtype[Any]:
    """Return the dtype of tensors and numbers together, by PyTorch's rule."""
    tensors = [each._operand for each in operands if isinstance(each, Tensor)]
    return dtypes.result_dtype(
        [each.dtype for each in tensors if each.shape],
        [each.dtype for each in tensors if not each.shape],
        [
            each.item() if isinstance(each, np.generic) else each
            for each in operands
            if each is not None and not isinstance(each, Tensor)
        ],
    )


def as_number(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return `value` as the Python number that stands for it among operands of `dtype`."""
    if isinstance(value, np.generic):
        value = value.item()
    kind = dtypes.category(dtype)
    if kind == 2 and not isinstance(value, complex):
        return float(value)
    if kind == 1:
        if not dtype_holds(dtype, value):
            raise DTypeError(f"{value} does not fit in {dtype}; convert the tensor first.")
        return int(value)
    return value


def dtype_holds(dtype: np.dtype[Any], value: int) -> bool:
    """Return whether an integer dtype can hold `value`."""
    limits = np.iinfo(dtype)
    return bool(limits.min <= value <= limits.max)


def check(operation: Operation, raw: Sequence[Any], options: tuple[Any, ...]) -> Any:
    """Return what the result rule says of these operands; an error names the operation."""
    try:
        if operation.takes_sequence:
            return operation.result(raw, *options)
        return operation.result(*raw, *options)
    except (ShapeError, DTypeError) as error:
        raise type(error)(f"{operation.name}: {error}") from None


# The namespace of rules that run on tensors -------------------------------------------


class TensorOperations:
    """The namespace `k` under ``create_graph=True``: each operation is applied to Tensors."""

    def __init__(self, device: Device) -> None:
        self.device = device

    def __getattr__(self, name: str) -> Callable[..., Any]:
        operation = OPERATIONS[name]
        count = 1 if operation.takes_sequence else operation.operands

        def run(*arguments: Any) -> Any:
            operands = arguments[0] if operation.takes_sequence else arguments[:count]
            options = tuple(map(_plain, arguments[count:]))
            if not any(isinstance(each, Tensor) for each in operands):
                return self._without_tensors(name, (*arguments[:count], *options))
            results = apply_all(operation, operands, options)
            return results if len(results) > 1 else results[0]

        setattr(self, name, run)
        return run

    def _without_tensors(self, name: str, arguments: tuple[Any, ...]) -> Tensor:
        return wrap(quiet.run(self.device.kernels[name], *arguments), self.device)


def _plain(option: Any) -> Any:
    """Return an option as kernels take it: a rule on Tensors finds vkML dtypes on them."""
    return option.dtype if isinstance(option, dtypes.DType) else option


_namespaces: Final[dict[Device, TensorOperations]] = {}


def tensor_operations(device: Device) -> TensorOperations:
    """Return the namespace of operations on the tensors of `device`."""
    found = _namespaces.get(device)
    if found is None:
        found = _namespaces[device] = TensorOperations(device)
    return found


# Writing into memory that exists ---------------------------------------------------------


def run_into(
    operation: Operation, operands: Sequence[Any], options: tuple[Any, ...], out: Tensor
) -> None:
    """Write the result of `operation` into `out`, unrecorded."""
    device = common_device(operation, (*operands, out))
    if operation.promotion is not Promotion.NONE:
        operands = promoted(operation, operands)
    raw = [getattr(each, "_operand", each) for each in operands]
    spec = check(operation, raw, options)
    destination = out._placed()
    if spec.shape != destination.shape:
        message = (
            f"{operation.name}: the result has shape {spec.shape}, the memory that it should be "
            f"written into has {destination.shape}."
        )
        raise ShapeError(message)
    if dtypes.category(spec.dtype) > dtypes.category(destination.dtype):
        message = (
            f"{operation.name}: the result is {spec.dtype}, which does not fit into "
            f"{destination.dtype}; convert the target first."
        )
        raise DTypeError(message)
    kernel = device.kernels[operation.name]
    version = version_of(out)
    overlaps = any(
        getattr(each, "_version", None) is version and each is not out for each in operands
    )
    if operation.writes_out and spec.dtype == destination.dtype and not overlaps:
        quiet.run(_with_out, kernel, raw, options, destination)
    else:
        quiet.run(device.handle.copy, quiet_result(kernel, raw, options), destination)
    version[0] += 1


def quiet_result(kernel: Callable[..., Any], raw: Sequence[Any], options: tuple[Any, ...]) -> Any:
    """Return what `kernel` returns, without NumPy's floating-point warnings."""
    return quiet.run(kernel, *raw, *options)


def _with_out(
    kernel: Callable[..., Any], raw: Sequence[Any], options: tuple[Any, ...], out: Any
) -> None:
    kernel(*raw, *options, out=out)


def spec_of(tensor: Tensor) -> Spec:
    """Return the shape and dtype of `tensor`."""
    return Spec(tensor._operand.shape, tensor._operand.dtype)
