"""Kernels of the steps of optimisers: one launch each, in place on flat operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any, Final

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.fused import covered_format, wide_converter
from vkml_vulkan.launch import Launch
from vkml_vulkan.layouts import require_countable
from vkml_vulkan.number_arguments import packed_as
from vkml_vulkan.operand import Form, Operand
from vkml_vulkan.plans import Plans

# Flags of optimizer_step.glsl, adam_step.comp and sgd_step.comp.
_MAXIMIZE, _DECAYS_GRADIENT = 1, 2
_AMSGRAD, _DECAYS_WEIGHTS = 4, 8
_MOMENTUM, _FIRST, _NESTEROV = 4, 8, 16

_ELEMENTS: Final = 4
"""Elements that an invocation takes; `ELEMENTS` of the shader."""

_Run = Callable[[tuple["Operand | None", ...], int, tuple[int, ...], Sequence[float]], Any]


def build(device: Engine, name: str, entry: Entry) -> Kernel:
    """Return the kernel of `adam_step` or of `sgd_step`."""
    run = _runner(device, name, entry)
    return _adam_step(run) if name == "adam_step" else _sgd_step(run)


def _runner(device: Engine, name: str, entry: Entry) -> _Run:
    """Return a function that launches a step; it is given which operands are written."""
    launch = device.recorder.launch

    def prepare(
        forms: tuple[Form | None, ...], flags: int, count: int
    ) -> tuple[Launch | None, Any] | None:
        given = [each for each in forms if each is not None]
        format = covered_format(entry, (*given,))
        # Half precision is rounded after each operation on the CPU: core composes that.
        if format is None or format.itemsize < 4 or not all(each.is_dense for each in given):
            return None
        module = device.module(name, given[0].dtype)
        convert = wide_converter(format)
        size = given[0].size
        if size == 0:
            return None, convert
        require_countable(name, size)
        head = len(forms) * "Q" + count * packed_as(format)
        workgroup = device.profile.independent_workgroup
        pipeline = device.pipelines.get(module, (workgroup, 0, flags))
        groups = device.grid(-(-size // (workgroup * _ELEMENTS)))
        return Launch(device.device.api, name, pipeline, head, (size,), groups, size), convert

    plans: Plans[tuple[Launch | None, Any] | None] = Plans(prepare)

    def run(
        operands: tuple[Operand | None, ...],
        flags: int,
        written: tuple[int, ...],
        numbers: Sequence[float],
    ) -> Any:
        forms = tuple([None if each is None else each.form for each in operands])
        found = plans[forms, flags, len(numbers)]
        if found is None:
            return NotImplemented
        prepared, convert = found
        if prepared is not None:
            launch(
                prepared,
                [operands[each].storage.chunk for each in written],  # type: ignore[union-attr]  # the flags say that they are there
                [each.storage.chunk for each in operands if each is not None],
                *[0 if each is None else each.address for each in operands],
                *map(convert, numbers),
            )
        return None

    return run


def _adam_step(run: _Run) -> Kernel:
    def step(
        param: Operand,
        grad: Operand,
        exp_avg: Operand,
        exp_avg_sq: Operand,
        max_exp_avg_sq: Operand | None,
        lr: float,
        beta1: float,
        beta2: float,
        eps: float,
        weight_decay: float,
        decoupled: bool,
        step: int,
        amsgrad: bool,
        maximize: bool,
    ) -> Any:
        flags = _MAXIMIZE if maximize else 0
        if weight_decay:
            flags |= _DECAYS_WEIGHTS if decoupled else _DECAYS_GRADIENT
        written: tuple[int, ...] = (0, 2, 3)
        if amsgrad and max_exp_avg_sq is not None:
            flags |= _AMSGRAD
            written = (0, 2, 3, 4)
        numbers = (
            1 - lr * weight_decay, weight_decay, 1 - beta1, beta2, 1 - beta2,
            sqrt(1 - beta2**step), eps, lr / (1 - beta1**step),
        )  # fmt: skip
        return run((param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq), flags, written, numbers)

    return step


def _sgd_step(run: _Run) -> Kernel:
    def step(
        param: Operand,
        grad: Operand,
        momentum_buffer: Operand | None,
        lr: float,
        momentum: float,
        dampening: float,
        weight_decay: float,
        nesterov: bool,
        first: bool,
        maximize: bool,
    ) -> Any:
        flags = _MAXIMIZE if maximize else 0
        if weight_decay:
            flags |= _DECAYS_GRADIENT
        written: tuple[int, ...] = (0,)
        if momentum_buffer is not None and momentum:
            flags |= _MOMENTUM | (_FIRST if first else 0) | (_NESTEROV if nesterov else 0)
            written = (0, 2)
        numbers = (lr, weight_decay, momentum, 1 - dampening)
        return run((param, grad, momentum_buffer), flags, written, numbers)

    return step
