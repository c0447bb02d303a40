"""What every operation record promises, tested on its own samples."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import vkml
from vkml.autograd import gradcheck, gradgradcheck
from vkml.autograd.backward_pass import _apply_rule
from vkml.autograd.graph import Node
from vkml.device import Device
from vkml.ops.apply import apply, apply_all
from vkml.ops.catalog import FAMILIES
from vkml.ops.definition import OPERATIONS, THROUGH_DECOMPOSITION, Operation, Sample, Spec
from vkml.ops.quiet import quiet
from vkml.tensor import Tensor
from vkml.testing.case import require_close
from vkml.testing.operations import evaluate
from vkml.testing.samples import samples_of, tensors_of, with_dtype

CPU = vkml.device("cpu")
LARGEST_JACOBIAN = 20_000
"""Entries. Larger samples are left to the comparison of backends."""

NOT_CHECKED: dict[str, str] = {
    "sum_to_size": "undoes a broadcast; reached through expand",
    "reshape": "reached through view",
    "sgd_step": "writes into its operands; compared with torch in test_optimizer_steps",
    "adam_step": "writes into its operands; compared with torch in test_optimizer_steps",
}
"""Records without samples of their own that no gradient of a sampled record reaches."""

NO_SECOND_DERIVATIVE: dict[str, str] = {}
"""Records whose gradient rule cannot be differentiated again, and why."""

CONSTANT_OPERANDS: dict[str, tuple[int, ...]] = {
    "cross_entropy": (2,),  # the weights of the classes, as in PyTorch
    "nll_loss": (2,),
}
"""Operands of floating-point numbers by which a record is not differentiated."""

NOT_THE_DERIVATIVE: dict[str, str] = {
    "embedding": "the row of padding_idx is not trained",
}
"""Records whose gradient is on purpose another one for some options: only sample 0 is checked."""

RECORDS = list(OPERATIONS.values())
SAMPLED = [each for each in RECORDS if samples_of(each)]
DIFFERENTIABLE = [each for each in SAMPLED if each.gradient is not None and each.operands]
FUSED = [each for each in SAMPLED if each.cpu is not None and each.decomposition is not None]
by_name = functools.partial(pytest.mark.parametrize, ids=lambda each: each.name)


def in_float64(operation: Operation) -> list[tuple[Sample, list[Any]]]:
    """Return samples, with their floating-point operands as float64 leaves."""
    found = []
    constant = CONSTANT_OPERANDS.get(operation.name, ())
    for sample in samples_of(operation)[: 1 if operation.name in NOT_THE_DERIVATIVE else None]:
        precise = with_dtype(sample, np.dtype(np.float64))
        operands = tensors_of(precise, CPU)
        for position, each in enumerate(operands):
            if isinstance(each, Tensor) and each.dtype.is_floating_point:
                each.requires_grad_(position not in constant)
        found.append((precise, operands))
    return found


def checkable(operation: Operation) -> list[tuple[Any, list[Any]]]:
    """Return functions and inputs for gradcheck, without those too large."""
    found = []
    for sample, operands in in_float64(operation):
        leaves = [each for each in operands if isinstance(each, Tensor) and each.requires_grad]

        def function(*operands: Any, options: tuple[Any, ...] = sample.options) -> Any:
            return apply(operation, operands, options)

        result = function(*operands)
        size = result.numel() * sum(each.numel() for each in leaves)
        if leaves and result.dtype.name == "float64" and size <= LARGEST_JACOBIAN:
            found.append((function, operands))
    return found


@by_name("operation", DIFFERENTIABLE)
def test_gradient_is_that_of_central_differences(operation: Operation) -> None:
    cases = checkable(operation)

    assert cases, "no sample is small enough"
    for function, operands in cases:
        assert gradcheck(function, operands)


@by_name("operation", [each for each in DIFFERENTIABLE if each.name not in NO_SECOND_DERIVATIVE])
def test_second_derivative_is_that_of_central_differences(operation: Operation) -> None:
    for function, operands in checkable(operation):
        assert gradgradcheck(function, operands, rtol=1e-2, atol=1e-4)


@by_name("operation", FUSED)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fused_kernel_equals_decomposition(operation: Operation, dtype: str) -> None:
    for sample in samples_of(operation):
        operands = with_dtype(sample, np.dtype(dtype)).operands
        arguments = (operands,) if operation.takes_sequence else operands

        fused = quiet.run(operation.cpu, *arguments, *sample.options)
        composed = quiet.run(operation.decomposition, CPU.raw, *arguments, *sample.options)

        if not operation.auxiliaries:
            fused, composed = (fused,), (composed,)
        elif not isinstance(composed, tuple):
            composed = (composed,)
        for ours, theirs in zip(fused, composed, strict=False):  # statistics may be left out
            if ours is not None and theirs is not None:
                tensor = vkml.tensor(np.asarray(theirs))
                require_close(tensor, np.asarray(ours), operation.tolerance, operation.name)


@by_name("operation", SAMPLED)
def test_result_rule_says_what_comes_out(operation: Operation) -> None:
    for sample in samples_of(operation):
        operands = tensors_of(sample, CPU)
        arguments = [each._operand if isinstance(each, Tensor) else each for each in operands]

        results = evaluate(operation, operands, sample, CPU)
        rule: Any = operation.result
        found = rule(arguments, *sample.options) if operation.takes_sequence else rule(
            *arguments, *sample.options
        )  # fmt: skip

        specs = [found] if isinstance(found, Spec) else list(found)
        for result, spec in zip(results, specs, strict=False):
            if result is not None and spec is not None:
                assert (result.shape, result._operand.dtype) == (spec.shape, np.dtype(spec.dtype))


@by_name("operation", [each for each in DIFFERENTIABLE if callable(each.gradient)])
def test_gradient_rule_returns_one_gradient_per_operand(operation: Operation) -> None:
    for sample, operands in in_float64(operation):
        result = apply_all(operation, operands, sample.options)[0]
        node = result._node
        if not isinstance(node, Node):
            continue

        upstream = np.ones(result.shape, result._operand.dtype)
        gradients = quiet.run(_apply_rule, node, upstream, node.saved, node.edges, CPU.raw)

        assert len(gradients) == len(operands)
        for gradient, operand in zip(gradients, operands, strict=True):
            if gradient is not None and isinstance(operand, Tensor) and operand.requires_grad:
                assert gradient.dtype == operand._operand.dtype
                if not operation.broadcasts:
                    assert gradient.shape == operand.shape


def test_every_record_is_run_by_its_own_samples_or_another_s_gradient() -> None:
    fresh = Device("cpu", 0)
    fresh.kernels.clear()
    for operation in SAMPLED:
        for sample in samples_of(operation):
            for create_graph in (False, True):
                operands = tensors_of(sample, fresh)
                leaves = [
                    each.requires_grad_()
                    for each in operands
                    if isinstance(each, Tensor) and each.dtype.is_floating_point
                ]
                result = evaluate(operation, operands, sample, fresh)[0]
                if leaves and result.requires_grad and result.dtype.is_floating_point:
                    upstream = vkml.ones_like(result).requires_grad_(create_graph)
                    vkml.autograd.grad(
                        result, leaves, upstream, create_graph=create_graph, allow_unused=True
                    )

    unreached = {each.name for each in RECORDS} - set(fresh.kernels) - {e.name for e in SAMPLED}

    assert unreached <= set(NOT_CHECKED)


def test_backward_halves_are_differentiated_through_their_decompositions() -> None:
    halves = [each for each in RECORDS if each.gradient is THROUGH_DECOMPOSITION]

    assert halves
    assert all(each.decomposition is not None for each in halves)


def public_functions() -> list[Any]:
    return [
        pytest.param(getattr(family, name), id=name)
        for family in FAMILIES
        for name in family.__all__
    ]


@pytest.mark.parametrize("function", public_functions())
def test_public_function_shows_an_example(function: Any) -> None:
    assert function.__doc__
    assert ">>> " in function.__doc__
    assert function.__doc__.split("\n")[0].endswith((".", ":"))
