"""Cases about operations, made from the records: each with each layout, dtype and gradient."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from vkml import dtypes
from vkml.autograd import grad
from vkml.device import Device, device
from vkml.errors import UnsupportedOperationError, VkmlError
from vkml.ops.apply import apply_all
from vkml.ops.definition import OPERATIONS, Operation, Sample, Spec
from vkml.ops.quiet import quiet
from vkml.ops.writing import run_into
from vkml.tensor import Tensor, wrap
from vkml.testing.case import Case, Refused, require, require_close, require_equal
from vkml.testing.samples import LAYOUTS, SEED, repeated, samples_of, tensors_of, with_dtype

_OTHER_DTYPES: Final = ("float64", "float16", "int32", "int64", "uint8", "bool")
_MADE_FOR_ONE_STORAGE: Final = ("as_strided",)
"""The samples' options hold offsets into a storage, which a smaller one does not have."""


def operation_cases() -> Iterator[Case]:
    """Yield the cases of every record that has samples."""
    for operation in list(OPERATIONS.values()):
        name = operation.name
        yield Case(f"{name}: why_not agrees with kernel", functools.partial(_why_not, operation))
        samples = samples_of(operation)
        if not samples:
            continue
        for layout in LAYOUTS if operation.operands else ("contiguous",):
            check = functools.partial(_on_layout, operation, layout)
            yield Case(f"{name}: {layout} operands", check)
        for dtype in _OTHER_DTYPES:
            yield Case(f"{name}: {dtype}", functools.partial(_on_dtype, operation, dtype))
        if operation.operands and name not in _MADE_FOR_ONE_STORAGE:
            yield Case(f"{name}: repeated operands", functools.partial(_repeated, operation))
        if operation.broadcasts and operation.operands > 1:
            yield Case(f"{name}: numbers", functools.partial(_numbers, operation))
        if operation.view is not None:
            yield Case(f"{name}: shares memory", functools.partial(_shares_memory, operation))
        if operation.writes_out:
            yield Case(f"{name}: out=", functools.partial(_out, operation))
            yield Case(f"{name}: out= over an operand", functools.partial(_over, operation))
        if operation.gradient is not None and operation.operands:
            for layout in ("contiguous", "transposed"):
                check = functools.partial(_gradient, operation, layout)
                yield Case(f"{name}: gradient of {layout} operands", check)


# Running on two devices ----------------------------------------------------------------------


def evaluate(
    operation: Operation, operands: Sequence[Any], sample: Sample, on: Device
) -> tuple[Any, ...]:
    """Return all results of an operation, also of one without operands."""
    if operation.operands:
        return apply_all(operation, operands, sample.options)
    found = quiet.run(on.kernels[operation.name], *sample.options)
    if not operation.auxiliaries:
        return (wrap(found, on),)
    return tuple(None if each is None else wrap(each, on) for each in found)


def _attempt(action: Callable[[], Any]) -> Any:
    """Return what `action` returns, or the error that it raises on purpose."""
    try:
        return action()
    except UnsupportedOperationError as error:
        raise Refused(str(error)) from None
    except VkmlError as error:
        return error


def _compare(
    operation: Operation, sample: Sample, on: Device, make: Callable[[Sample, Device], list[Any]]
) -> None:
    """Raise unless the results, or the errors, are those of the CPU."""
    cpu = device("cpu")
    expected = _attempt(lambda: evaluate(operation, make(sample, cpu), sample, cpu))
    operands = make(sample, on)
    results = _attempt(lambda: evaluate(operation, operands, sample, on))
    if isinstance(expected, Exception) or isinstance(results, Exception):
        require_equal(
            type(results), type(expected), f"{operation.name}: error ({results}, {expected})"
        )
        return
    for number, (found, wanted) in enumerate(zip(results, expected, strict=True)):
        if found is not None and wanted is not None:
            where = f"{operation.name}{sample.options}, result {number}"
            require_close(found, wanted, operation.tolerance, where)
    spec = specified(operation, operands, sample)
    require_equal((results[0].shape, results[0]._operand.dtype), spec, "the record's result rule")


def specified(operation: Operation, operands: Sequence[Any], sample: Sample) -> Spec:
    """Return what the record says of the first result for operands that meet already."""
    from vkml.ops.apply import promoted
    from vkml.ops.definition import Promotion

    if operation.promotion is not Promotion.NONE:
        operands = promoted(operation, operands)
    raw = [getattr(each, "_operand", each) for each in operands]
    arguments = (raw,) if operation.takes_sequence else raw
    rule: Any = operation.result
    found = rule(*arguments, *sample.options)
    spec = found if isinstance(found, Spec) else found[0]
    return Spec(tuple(spec.shape), np.dtype(spec.dtype))


# The cases -------------------------------------------------------------------------------------


def _on_layout(operation: Operation, layout: str, on: Device) -> None:
    for sample in samples_of(operation):
        _compare(operation, sample, on, functools.partial(tensors_of, layout=layout))


def _on_dtype(operation: Operation, dtype: str, on: Device) -> None:
    for sample in samples_of(operation):
        _compare(operation, with_dtype(sample, dtypes.as_numpy(dtype)), on, tensors_of)


def _repeated(operation: Operation, on: Device) -> None:
    """Each operand in turn is repeated along its last axis by a stride of 0."""
    for sample in samples_of(operation):
        for position, each in enumerate(sample.operands):
            if not isinstance(each, np.ndarray) or each.dtype.kind not in "fc":
                continue

            def make(sample: Sample, on: Device, position: int = position) -> list[Any]:
                operands = tensors_of(sample, on)
                operands[position] = repeated(sample.operands[position], on)
                return operands

            _compare(operation, sample, on, make)


def _numbers(operation: Operation, on: Device) -> None:
    """Each operand in turn is a Python number, as long as a tensor is left."""
    cpu = device("cpu")
    sample = samples_of(operation)[0]
    for position in range(operation.operands):
        operands = list(sample.operands)
        operands[position] = 1.25
        changed = Sample(tuple(operands), sample.options)
        try:
            evaluate(operation, tensors_of(changed, cpu), changed, cpu)
        except (VkmlError, TypeError, AttributeError):
            continue  # this operand must be a tensor
        _compare(operation, changed, on, tensors_of)


def _shares_memory(operation: Operation, on: Device) -> None:
    """Check that a view lies on the memory of its operand, and shows what is written there."""
    for sample in samples_of(operation):
        operands = tensors_of(sample, on)
        result = evaluate(operation, operands, sample, on)[0]
        same = result.storage() == operands[0].storage()
        require(same, f"{operation.name}{sample.options} made a copy.")
        operands[0].fill_(7)
        np.testing.assert_array_equal(result._download(), np.full(result.shape, 7))


def _out(operation: Operation, on: Device) -> None:
    """Write the result into a transposed target."""
    for sample in samples_of(operation):
        operands = tensors_of(sample, on)
        try:
            expected = evaluate(operation, operands, sample, on)[0]
            array = expected._download()
            target = LAYOUTS["transposed"](np.zeros_like(array), on)
            run_into(operation, operands, sample.options, target)
        except UnsupportedOperationError as error:
            raise Refused(str(error)) from None
        require_close(target, array, operation.tolerance, f"{operation.name}: out=")


def _over(operation: Operation, on: Device) -> None:
    """Write the result over an operand, or into its memory transposed."""
    sample = samples_of(operation)[0]
    arrays = [each for each in sample.operands if isinstance(each, np.ndarray)]
    if len({each.shape for each in arrays}) != 1 or arrays[0].ndim != 2:
        return
    size = min(arrays[0].shape)
    square = Sample(
        tuple(
            each[:size, :size] if isinstance(each, np.ndarray) else each for each in sample.operands
        ),
        sample.options,
    )
    for position, each in enumerate(square.operands):
        if not isinstance(each, np.ndarray):
            continue
        for swapped in (False, True):
            operands = tensors_of(square, on)
            try:
                expected = evaluate(operation, operands, square, on)[0]
                if expected._operand.dtype != each.dtype:
                    return
                array = expected._download().copy()
                target = operands[position].T if swapped else operands[position]
                run_into(operation, operands, square.options, target)
            except UnsupportedOperationError as error:
                raise Refused(str(error)) from None
            require_close(target, array, operation.tolerance, f"{operation.name}: overlapping out=")


def _gradient(operation: Operation, layout: str, on: Device) -> None:
    """Compare gradients with the CPU's, and with those of a recorded backward pass."""
    for sample in samples_of(operation):
        if operation.view is not None and layout != "contiguous":
            return  # the layout is part of a view's options
        expected = _gradients(operation, sample, device("cpu"), "contiguous", create_graph=False)
        for create_graph in (False, True):
            found = _gradients(operation, sample, on, layout, create_graph=create_graph)
            require_equal(len(found), len(expected), f"{operation.name}: number of gradients")
            for number, (ours, wanted) in enumerate(zip(found, expected, strict=True)):
                message = f"{operation.name}{sample.options}: gradient {number}"
                require((ours is None) == (wanted is None), f"{message} is missing on one device.")
                if ours is not None:
                    require_close(ours, wanted, 10 * operation.tolerance, message)


def _gradients(
    operation: Operation, sample: Sample, on: Device, layout: str, *, create_graph: bool
) -> tuple[Tensor | None, ...]:
    operands = tensors_of(sample, on, layout)
    leaves = [
        each.requires_grad_()
        for each in operands
        if isinstance(each, Tensor) and each.dtype.is_floating_point
    ]
    try:
        result = apply_all(operation, operands, sample.options)[0]
        if not leaves or not result.requires_grad:
            return ()
        generator = np.random.default_rng(SEED)
        upstream = wrap(
            on.handle.upload(
                generator.uniform(0.5, 1.5, result.shape).astype(result._operand.dtype)
            ),
            on,
        )
        return grad(result, leaves, upstream, create_graph=create_graph, allow_unused=True)
    except UnsupportedOperationError as error:
        raise Refused(str(error)) from None


def _why_not(operation: Operation, on: Device) -> None:
    """Check that a missing kernel has a sentence that says why, and that the error holds it."""
    if operation.view is not None or on.handle.kernel(operation.name) is not None:
        return
    reason = on.handle.why_not(operation.name, (), ())
    require(
        isinstance(reason, str) and reason.endswith("."),
        f"there is no kernel for {operation.name}, and why_not says {reason!r}: give a sentence.",
    )
    if operation.decomposition is not None:
        return
    for sample in samples_of(operation)[:1]:
        try:
            evaluate(operation, tensors_of(sample, on), sample, on)
        except UnsupportedOperationError as error:
            specific = on.handle.why_not(operation.name, _dtypes(sample), sample.options)
            require(str(specific) in str(error), f"the error lacks the sentence: {error}")
            raise Refused(str(error)) from None
        raise AssertionError(f"{operation.name} ran without a kernel.")


def _dtypes(sample: Sample) -> list[np.dtype[Any]]:
    return [each.dtype for each in sample.operands if isinstance(each, np.ndarray)]
