"""Kernels of activations and of their backward halves, fused: one launch each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.elementwise import Plan, plan
from vkml_vulkan.kernels.fused import covered_format, wide_converter
from vkml_vulkan.number_arguments import packed_as
from vkml_vulkan.operand import Form, Operand, dense_form
from vkml_vulkan.operation_codes import operation_codes
from vkml_vulkan.plans import Plans

_NO_NUMBERS: Final = (0.0, 0.0)


def build(device: Engine, name: str, entry: Entry) -> Kernel:
    """Return ``kernel(x, *options)``, or ``kernel(upstream, x, *options)`` of a backward half."""
    operands = 2 if name.endswith("_backward") else 1
    has_variants = name.startswith("gelu")
    allocate, launch = device.pool.allocate, device.recorder.launch

    def prepare(
        forms: tuple[Form, ...], variant: str | None
    ) -> tuple[Plan, Callable[[Any], Any]] | None:
        x = forms[-1]
        format = covered_format(entry, forms)
        if format is None:
            return None  # core composes the operation
        module = device.module(name, x.dtype)
        code = name.replace("gelu", "gelu_tanh") if variant == "tanh" else name
        made = plan(
            device, name, module, operation_codes()[code], dense_form(x.shape, x.dtype), forms,
            result_format=format, operand_format=format, options=2 * packed_as(format),
        )  # fmt: skip
        return made, wide_converter(format)

    plans: Plans[tuple[Plan, Callable[[Any], Any]] | None] = Plans(prepare)

    def run(*arguments: Any) -> Any:
        given, options = arguments[:operands], arguments[operands:]
        variant, numbers = (options[0], _NO_NUMBERS) if has_variants else (None, options)
        key = (tuple([each.form for each in given]), variant)
        found = plans[key]
        if found is None:
            return NotImplemented
        (form, prepared), convert = found
        storage = allocate(form.nbytes)
        if prepared is not None:
            first, second = (*map(convert, numbers), *_NO_NUMBERS)[:2]
            launch(
                prepared, (storage.chunk,), [each.storage.chunk for each in given],
                storage.address, *[each.address for each in given], first, second,
            )  # fmt: skip
        return Operand(storage, form, storage.address)

    return run
