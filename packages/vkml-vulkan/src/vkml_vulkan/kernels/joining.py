"""Kernels that put operands side by side, by copies into parts of the result: `cat` and `roll`."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from vkml.backends.interface import Kernel
from vkml.shapes import contiguous_strides
from vkml_vulkan.engine import Engine
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.copying import Copies
from vkml_vulkan.operand import Form, Operand, View, dense_form, form
from vkml_vulkan.plans import Plans

_MOST_ROLLED_AXES: Final = 3
"""Rolling along n axes is 2**n copies; beyond this the decomposition has fewer."""


class _Part(NamedTuple):
    """A part of an operand: its form, and where it begins, in bytes."""

    form: Form
    start: int


def build(device: Engine, name: str, _entry: Entry) -> Kernel:
    """Return the kernel of `cat` or of `roll`."""
    return _cat(device) if name == "cat" else _roll(device)


def _part(whole: Form, starts: Sequence[int], sizes: tuple[int, ...]) -> _Part:
    first = sum(start * stride for start, stride in zip(starts, whole.strides, strict=True))
    return _Part(form(sizes, whole.strides, whole.dtype), first * whole.dtype.itemsize)


def _view(x: Operand, part: _Part) -> Operand:
    return View(x.storage, part.form, x.address + part.start)


# cat -------------------------------------------------------------------------------------


def _cat(device: Engine) -> Kernel:
    plans: Plans[tuple[Form, list[_Part]]] = Plans(_places)
    allocate, write = device.pool.allocate, device.shared(Copies).write

    def run(operands: Sequence[Operand], axis: int) -> Operand:
        whole, parts = plans[tuple([each.form for each in operands]), axis]
        storage = allocate(whole.nbytes)
        result = Operand(storage, whole, storage.address)
        for each, part in zip(operands, parts, strict=True):
            write(each, _view(result, part))
        return result

    return run


def _places(forms: tuple[Form, ...], axis: int) -> tuple[Form, list[_Part]]:
    """Return the form of the result, and the part of it that each operand fills."""
    first = forms[0]
    total = sum(each.shape[axis] for each in forms)
    whole = dense_form((*first.shape[:axis], total, *first.shape[axis + 1 :]), first.dtype)
    parts = []
    start = 0
    for each in forms:
        starts = [start if place == axis else 0 for place in range(len(whole.shape))]
        parts.append(_part(whole, starts, each.shape))
        start += each.shape[axis]
    return whole, parts


# roll ------------------------------------------------------------------------------------


def _roll(device: Engine) -> Kernel:
    plans: Plans[list[tuple[_Part, _Part]] | None] = Plans(_pieces)

    def run(x: Operand, shifts: tuple[int, ...], axes: tuple[int, ...]) -> Any:
        found = plans[x.form, shifts, axes]
        if found is None:
            return NotImplemented
        result = device.empty(x.shape, x.dtype)
        for source, target in found:
            device.shared(Copies).write(_view(x, source), _view(result, target))
        return result

    return run


def _pieces(
    x: Form, shifts: tuple[int, ...], axes: tuple[int, ...]
) -> list[tuple[_Part, _Part]] | None:
    """Return parts of the operand and of the result; None where there would be too many."""
    total = dict.fromkeys(axes, 0)
    for shift, axis in zip(shifts, axes, strict=True):
        total[axis] += shift
    # Along each axis: where a piece begins in the operand and in the result, and its size.
    ways = []
    for axis, size in enumerate(x.shape):
        shift = total.get(axis, 0) % size if size else 0
        both = [(0, shift, size - shift), (size - shift, 0, shift)]
        ways.append(both if shift else both[:1])
    if sum(len(each) == 2 for each in ways) > _MOST_ROLLED_AXES:
        return None
    whole = form(x.shape, contiguous_strides(x.shape), x.dtype)
    pieces = []
    for chosen in itertools.product(*ways):
        sizes = tuple(each[2] for each in chosen)
        source = _part(x, [each[0] for each in chosen], sizes)
        pieces.append((source, _part(whole, [each[1] for each in chosen], sizes)))
    return pieces
