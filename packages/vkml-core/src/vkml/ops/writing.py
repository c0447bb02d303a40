"""Running an operation into memory that exists: ``out=`` and in-place methods, unrecorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from vkml import dtypes
from vkml.autograd.graph import version_of
from vkml.errors import ArgumentError, DTypeError, ShapeError
from vkml.ops.apply import check, common_device, promoted
from vkml.ops.definition import Operation, Promotion
from vkml.ops.quiet import quiet
from vkml.tensor import Tensor


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
    try:
        if operation.writes_out and spec.dtype == destination.dtype and not overlaps:
            quiet.run(_with_out, kernel, raw, options, destination)
        else:
            result = quiet.run(kernel, *raw, *options)
            quiet.run(device.handle.copy, result, destination)
    except ValueError as error:
        raise unwritable(error) from None
    version[0] += 1


def unwritable(error: ValueError) -> ValueError:
    """Return what to say where memory cannot be written: an array of NumPy's that is read-only."""
    if "read-only" not in str(error):
        return error
    return ArgumentError("this tensor lies on a read-only array; write to a clone: x.clone().")


def _with_out(
    kernel: Callable[..., Any], raw: Sequence[Any], options: tuple[Any, ...], out: Any
) -> None:
    kernel(*raw, *options, out=out)
