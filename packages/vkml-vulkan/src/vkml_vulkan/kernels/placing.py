"""Kernels that put an operand into a result of one value: `slice_backward` and `pad`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.copying import Copies
from vkml_vulkan.kernels.filling import build as build_full
from vkml_vulkan.operand import Form, Operand, View, dense_form, form
from vkml_vulkan.plans import Plans


class _Placed(NamedTuple):
    """The part of the operand that is copied, the part of the result, and where both begin."""

    whole: Form
    source: Form
    source_start: int
    target: Form
    target_start: int

    @property
    def covers_all(self) -> bool:
        return self.target.size == self.whole.size


def build(device: Engine, name: str, entry: Entry) -> Kernel:
    """Return the kernel of `slice_backward` or of `pad`."""
    plans: Plans[_Placed] = Plans(_sliced if name == "slice_backward" else _padded)
    full = build_full(device, "full", entry)

    def place(x: Operand, value: Any, key: tuple[Any, ...]) -> Operand:
        found = plans[key]
        whole, source, source_start, target, target_start = found
        if found.covers_all:
            result = device.empty(whole.shape, whole.dtype)
        else:
            result = full(whole.shape, value, whole.dtype)
        part = View(x.storage, source, x.address + source_start)
        device.shared(Copies).write(
            part, View(result.storage, target, result.address + target_start)
        )
        return result

    def slice_backward(
        part: Operand, shape: tuple[int, ...], starts: tuple[int, ...], steps: tuple[int, ...]
    ) -> Operand:
        return place(part, 0, (part.form, shape, starts, steps))

    def pad(x: Operand, pads: tuple[tuple[int, int], ...], value: Any) -> Operand:
        return place(x, value, (x.form, pads))

    return slice_backward if name == "slice_backward" else pad


def _sliced(
    part: Form, shape: tuple[int, ...], starts: tuple[int, ...], steps: tuple[int, ...]
) -> _Placed:
    whole = dense_form(shape, part.dtype)
    strides = tuple(step * stride for step, stride in zip(steps, whole.strides, strict=True))
    first = 0  # an empty slice may start past the end; it needs no place
    if part.size:
        first = int(np.dot(starts, whole.strides)) * part.dtype.itemsize
    return _Placed(whole, part, 0, form(part.shape, strides, part.dtype), first)


def _padded(x: Form, pads: tuple[tuple[int, int], ...]) -> _Placed:
    shape = tuple(size + sum(pair) for size, pair in zip(x.shape, pads, strict=True))
    whole = dense_form(shape, x.dtype)
    source_start = target_start = 0
    sizes = []
    for axis, (before, after) in enumerate(pads):
        sizes.append(x.shape[axis] - max(0, -before) - max(0, -after))
        source_start += max(0, -before) * x.strides[axis]
        target_start += max(0, before) * whole.strides[axis]
    kept = tuple(sizes)
    return _Placed(
        whole,
        form(kept, x.strides, x.dtype), source_start * x.dtype.itemsize,
        form(kept, whole.strides, x.dtype), target_start * x.dtype.itemsize,
    )  # fmt: skip
