"""Kernels of softmax, of its logarithm and of their backward halves: one launch each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from vkml.backends.interface import Kernel
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.activation import covered_format
from vkml_vulkan.kernels.rows import Array, Rows, alignment, is_wide, row_launch
from vkml_vulkan.launch import Launch
from vkml_vulkan.layouts import broadcast_strides
from vkml_vulkan.operand import Form, Operand, dense_form

if TYPE_CHECKING:
    from vkml_vulkan.handle import VulkanDevice

_LOGARITHM: Final = 1
"""A specialisation constant of the shaders."""

_Prepared = tuple[Form, int, Launch | None, Launch | None]


def build(device: VulkanDevice, name: str, entry: Entry) -> Kernel:
    """Return ``kernel(x, dim)``, or ``kernel(upstream, output, dim)`` of a backward half."""
    plans: dict[tuple[tuple[Form, ...], int], _Prepared | None] = {}
    operation = _LOGARITHM if name.startswith("log_") else 0
    allocate, launch = device.pool.allocate, device.recorder.launch

    def prepare(forms: tuple[Form, ...], dim: int) -> _Prepared | None:
        format = covered_format(entry, forms)
        if format is None:
            return None
        device.module(name, forms[0].dtype)  # raises where there is no float64
        x = forms[-1]
        result = dense_form(x.shape, x.dtype)
        if result.size == 0:
            return result, 0, None, None
        rows, arrays = _rows_along(dim, result, forms)
        mask = alignment(format)

        def made(wide: bool) -> Launch:
            return row_launch(
                device, name, entry.shader, rows, arrays, format,
                wide=wide, constants=(operation,),
            )  # fmt: skip

        return result, mask, made(True) if is_wide(rows, arrays, format) else None, made(False)

    def run(*arguments: Any) -> Any:
        given, dim = arguments[:-1], arguments[-1]
        key = (tuple([each.form for each in given]), dim)
        try:
            found = plans[key]
        except KeyError:
            found = plans[key] = prepare(*key)
        if found is None:
            return NotImplemented
        form, mask, wide, narrow = found
        storage = allocate(form.nbytes)
        if narrow is not None:
            addresses = [each.address for each in given]
            fits = wide is not None and not any(each & mask for each in addresses)
            launch(
                wide if fits else narrow,  # type: ignore[arg-type]  # it is not None where it fits
                (storage.chunk,), [each.storage.chunk for each in given],
                storage.address, *addresses,
            )  # fmt: skip
        return Operand(storage, form, storage.address)

    return run


def _rows_along(dim: int, result: Form, forms: tuple[Form, ...]) -> tuple[Rows, list[Array]]:
    """Return the rows along an axis, and how the result and the operands lie in them."""
    shape = result.shape
    strides = [result.strides, *(broadcast_strides(f.shape, f.strides, shape) for f in forms)]
    if not shape:
        return Rows((), 1, 1), [Array((), 1) for _ in strides]
    length = shape[dim]
    arrays = [Array((*each[:dim], *each[dim + 1 :]), each[dim]) for each in strides]
    return Rows((*shape[:dim], *shape[dim + 1 :]), length, length), arrays
