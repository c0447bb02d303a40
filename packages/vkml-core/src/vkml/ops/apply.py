"""Applying an operation to tensors: devices, promotion, checks, the kernel, recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vkml import dtypes
from vkml.autograd.graph import record, version_of
from vkml.autograd.modes import mode
from vkml.autograd.views import ViewOf, refresh_view
from vkml.device import Device
from vkml.errors import ArgumentError, DeviceError, DTypeError, ShapeError, VkmlError
from vkml.ops.definition import (
    OPERATIONS,
    THROUGH_DECOMPOSITION,
    Operation,
    Promotion,
)
from vkml.ops.promotion import as_number, meeting_dtype, obvious_dtype
from vkml.ops.quiet import quiet
from vkml.tensor import Tensor, wrap

_NUMBERS: Final = (float, int)


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
    device: Device | None = None
    dtype: np.dtype[Any] | None = None
    alike = True  # all are tensors of one dtype, numbers that do not widen it, or None
    numbers = wanted = False
    raw: list[Any] = []
    for each in operands:
        try:
            operand = each._operand
        except AttributeError:
            raw.append(each)
            if each is not None:
                numbers = True
                alike = alike and each.__class__ in _NUMBERS
            continue
        raw.append(operand)
        if device is None:
            device = each._device
            dtype = operand.dtype
        elif each._device is not device:
            device = common_device(operation, operands)
        elif operand.dtype is not dtype:
            alike = False
        if each._view is not None:
            refresh_view(each)  # a write may have given its base a history
        if each._node is not None:
            wanted = True
    if numbers:
        alike = alike and dtype is not None and dtype.kind == "f"
    if device is None or not alike:
        device = common_device(operation, operands)
    promotion = operation.promotion
    if promotion is not Promotion.NONE:
        if not alike or (promotion is Promotion.FLOATING and dtype.kind not in "fc"):  # type: ignore[union-attr]  # a device was found, so a dtype too
            operands = promoted(operation, operands)
            raw = [getattr(each, "_operand", each) for each in operands]
        elif numbers:
            operands = [float(each) if each.__class__ is int else each for each in operands]
            raw = [getattr(each, "_operand", each) for each in operands]
    if operation.checks_first:
        check(operation, raw, options)
    recording = wanted and mode.enabled
    if recording and operation.gradient is THROUGH_DECOMPOSITION:
        assert operation.decomposition is not None  # noqa: S101 - `define` has checked
        composed = operation.decomposition(tensor_operations(device), *operands, *options)
        return composed if isinstance(composed, tuple) else (composed,)
    if operation.view is not None:
        base = operands[0]
        results = device.kernels[operation.name](
            raw[0] if raw[0].shape else base._placed(), *options
        )
        tensor = view_of(base, results)
    else:
        results = _run(operation, device, raw, options)
        tensor = wrap(results[0] if operation.auxiliaries else results, device)
    if recording and operation.gradient is not None:
        tensor._node = record(operation, device, operands, options, results, tensor)
    if operation.auxiliaries:
        extra = (None if each is None else wrap(each, device) for each in results[1:])
        return (tensor, *extra)
    return (tensor,)


def _run(operation: Operation, device: Device, raw: Sequence[Any], options: tuple[Any, ...]) -> Any:
    """Return what the kernel returns, or say what is wrong with its arguments."""
    kernel = device.kernels[operation.name]
    try:
        if operation.takes_sequence:
            return quiet.run(kernel, raw, *options)
        return quiet.run(kernel, *raw, *options)
    except (ValueError, TypeError, OverflowError, RuntimeError) as error:
        return _run_again(error, operation, kernel, raw, options)


def _run_again(
    error: Exception,
    operation: Operation,
    kernel: Callable[..., Any],
    raw: Sequence[Any],
    options: tuple[Any, ...],
) -> Any:
    """Say what is wrong with the arguments on which a kernel failed.

    Nothing is where it did not start, because this runs inside another kernel: by a signal
    handler, a finalizer or an option that is a tensor. Then run it in a context of its own.
    """
    if isinstance(error, VkmlError):
        raise error
    if isinstance(error, RuntimeError):
        trace = error.__traceback__
        if "cannot enter context" not in str(error) or trace is None or trace.tb_next is not None:
            raise error
        with np.errstate(all="ignore"):
            return kernel(*([raw] if operation.takes_sequence else raw), *options)
    check(operation, raw, options)
    given = ", ".join(map(_kind, raw))
    message = f"{operation.name}: cannot take {given} with options {options}: {error}"
    raise (DTypeError if isinstance(error, TypeError) else ArgumentError)(message) from error


def _kind(operand: Any) -> str:
    if hasattr(operand, "dtype"):
        return f"a tensor of {operand.dtype}"
    return repr(operand) if operand is None else f"a {type(operand).__name__}"


def view_of(base: Tensor, operand: Any) -> Tensor:
    """Return a tensor on `operand`, which shows memory of `base`."""
    version = version_of(base)
    tensor = wrap(operand, base._device, None, version)
    root = base._view.base if base._view is not None else base
    tensor._view = ViewOf(root, version[0])
    return tensor


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
    target = obvious_dtype(operands) if operation.promotes is None else None
    if target is None:
        target = meeting_dtype([operands[index] for index in chosen])
    if operation.promotion is Promotion.FLOATING:
        target = dtypes.to_floating(target)
    result = list(operands)
    for index in chosen:
        each = result[index]
        if isinstance(each, Tensor):
            dtype = each._operand.dtype
            if dtype is not target and dtype != target:
                result[index] = apply(OPERATIONS["cast"], (each,), (target,))
        elif each is not None:
            number = as_number(each, target)
            if target.kind == "V":  # NumPy would widen bfloat16 beside a Python number
                number = _constant(number, target, common_device(operation, operands))
            result[index] = number
    return result


def _constant(number: Any, dtype: np.dtype[Any], device: Device) -> Tensor:
    return wrap(device.kernels["full"]((), number, dtype), device)


def check(operation: Operation, raw: Sequence[Any], options: tuple[Any, ...]) -> Any:
    """Return what the result rule says of these operands; an error names the operation."""
    try:
        if operation.takes_sequence:
            return operation.result(raw, *options)
        return operation.result(*raw, *options)
    except (ShapeError, DTypeError) as error:
        raise type(error)(f"{operation.name}: {error}") from None
    except AttributeError:
        message = f"{operation.name}: expected tensors, got {', '.join(map(_kind, raw))}."
        raise DTypeError(message) from None


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

    def upload(self, array: NDArray[Any]) -> Tensor:
        """Return a tensor with the values of `array`, for rules that compute places in memory."""
        return wrap(self.device.handle.upload(array), self.device)

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
