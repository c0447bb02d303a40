"""Kernels of softmax, of its logarithm and of their backward halves: one launch each."""

from __future__ import annotations

from typing import Any, Final

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.fused import covered_format
from vkml_vulkan.kernels.row_launches import Launches, launches
from vkml_vulkan.kernels.rows import rows_over
from vkml_vulkan.layouts import broadcast_strides
from vkml_vulkan.operand import Form, Operand, dense_form
from vkml_vulkan.plans import Plans

_LOGARITHM: Final = 1
"""A specialisation constant of the shaders."""


def build(device: Engine, name: str, entry: Entry) -> Kernel:
    """Return ``kernel(x, dim)``, or ``kernel(upstream, output, dim)`` of a backward half."""
    operation = _LOGARITHM if name.startswith("log_") else 0
    allocate, launch = device.pool.allocate, device.recorder.launch

    def prepare(forms: tuple[Form, ...], dim: int) -> tuple[Form, Launches | None] | None:
        format = covered_format(entry, forms)
        if format is None:
            return None
        device.module(name, forms[0].dtype)  # raises where there is no float64
        shape = forms[-1].shape
        result = dense_form(shape, forms[-1].dtype)
        if result.size == 0:
            return result, None
        shown = [broadcast_strides(each.shape, each.strides, shape) for each in forms]
        laid_out = rows_over(shape, (dim,) if shape else (), [result.strides, *shown])
        assert laid_out is not None  # noqa: S101 - one axis is one run
        made = launches(device, name, entry.shader, *laid_out, format, constants=(operation,))
        return result, made

    plans: Plans[tuple[Form, Launches | None] | None] = Plans(prepare)

    def run(*arguments: Any) -> Any:
        given, dim = arguments[:-1], arguments[-1]
        key = (tuple([each.form for each in given]), dim)
        found = plans[key]
        if found is None:
            return NotImplemented
        form, prepared = found
        storage = allocate(form.nbytes)
        if prepared is not None:
            launch(
                prepared.choose(given), (storage.chunk,), [each.storage.chunk for each in given],
                storage.address, *[each.address for each in given],
            )  # fmt: skip
        return Operand(storage, form, storage.address)

    return run
