"""The kernel of `matmul`."""

from __future__ import annotations

from collections.abc import Sequence

from vkml.backends.interface import Kernel
from vkml.shapes import broadcast, contiguous_strides
from vkml_vulkan.engine import Engine
from vkml_vulkan.formats import format_of
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.contraction import Axis, contraction
from vkml_vulkan.kernels.contraction_plan import ContractionPlan, compute, plan_contractions
from vkml_vulkan.layouts import broadcast_strides
from vkml_vulkan.operand import Form, Operand, dense_form
from vkml_vulkan.plans import Plans


def build(device: Engine, name: str, _entry: Entry) -> Kernel:
    """Return the kernel ``matmul(a, b)``; operands of any strides are read where they lie."""

    def prepare(a: Form, b: Form) -> ContractionPlan:
        device.module(name, a.dtype)
        operand = format_of(a.dtype)
        assert operand is not None  # noqa: S101 - `module` refuses what has no format
        leading = broadcast(a.shape[:-2], b.shape[:-2])
        columns = b.shape[-1:] if len(b.shape) > 1 else ()
        result = dense_form((*leading, *a.shape[-2:-1], *columns), a.dtype)
        axes = product_axes(a, b, leading, result)
        return plan_contractions(device, name, result, operand, [contraction(*axes)])

    plans: Plans[ContractionPlan] = Plans(prepare)

    def run(a: Operand, b: Operand) -> Operand:
        key = (a.form, b.form)
        found = plans[key]
        return compute(device, found, a, b)

    return run


def product_axes(
    a: Form, b: Form, leading: tuple[int, ...], result: Form
) -> tuple[list[Axis], list[Axis], list[Axis], list[Axis]]:
    """Return batch, rows, columns and inner axes of a product of matrices or vectors."""
    strides = contiguous_strides(result.shape)
    a_steps = broadcast_strides(a.shape[:-2], a.strides[:-2], leading)
    b_steps = broadcast_strides(b.shape[:-2], b.strides[:-2], leading)
    batch, rows, columns = _leading_axes(leading, a_steps, b_steps, strides)
    rank = len(leading)
    if len(a.shape) > 1:
        rows.append(Axis(a.shape[-2], left=a.strides[-2], result=strides[rank]))
    if len(b.shape) > 1:
        columns.append(Axis(b.shape[-1], right=b.strides[-1], result=strides[-1]))
    b_inner = b.strides[-2] if len(b.shape) > 1 else b.strides[-1]
    return batch, rows, columns, [Axis(a.shape[-1], left=a.strides[-1], right=b_inner)]


def _leading_axes(
    leading: Sequence[int], a_steps: Sequence[int], b_steps: Sequence[int], strides: Sequence[int]
) -> tuple[list[Axis], list[Axis], list[Axis]]:
    """Return leading axes by kind: one that repeats an operand belongs to the other's matrix.

    A stack of matrices times one matrix is thereby one product with many rows.
    """
    batch: list[Axis] = []
    rows: list[Axis] = []
    columns: list[Axis] = []
    for size, left, right, result in zip(leading, a_steps, b_steps, strides, strict=False):
        kind = rows if right == 0 else columns if left == 0 else batch
        kind.append(Axis(size, left=left, right=right, result=result))
    return batch, rows, columns
