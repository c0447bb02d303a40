"""The kernel of `put`: elements written at flat places.

Where an index occurs twice, the later element stays, as on the CPU: writes in no order would give
now the one and now the other. An index outside the tensor cannot raise on a GPU; it writes nothing.
"""

from __future__ import annotations

import functools
from typing import Final, NamedTuple

import numpy as np

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.formats import RAW
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.copying import Copies, dense
from vkml_vulkan.kernels.gathering import index_code
from vkml_vulkan.launch import Launch, is_long
from vkml_vulkan.layouts import axis_words, collapse, require_countable
from vkml_vulkan.operand import Form, Operand
from vkml_vulkan.plans import Plans

_ALONE, _COMPETE, _WRITE = range(3)
_FEW: Final = 256
"""So many elements look for later ones at their place; more compete in a table as large as the
result."""
_WORD: Final = np.dtype(np.uint32)


class _Passes(NamedTuple):
    """The launches, in order, and whether they need the table."""

    launches: list[Launch]
    has_table: bool


def build(device: Engine, name: str, _entry: Entry) -> Kernel:
    """Return the kernel ``put(x, index, source)``."""
    plans: Plans[_Passes] = Plans(functools.partial(_prepare, device, name))
    recorder = device.recorder

    def run(x: Operand, index: Operand, source: Operand, out: Operand | None = None) -> Operand:
        device.require_raw(name, x.dtype)
        if out is None:
            result = device.shared(Copies).made(x, x.dtype)
        else:
            result = out
            if source.storage is out.storage:
                source = device.shared(Copies).made(source, source.dtype)
            if not _are_same(x, out):
                device.shared(Copies).write(x, out)
        index, source = _flat(device, index), _flat(device, source)
        write(plans[result.form, index.form, source.form], result, index, source)
        return result

    def write(passes: _Passes, result: Operand, index: Operand, source: Operand) -> None:
        read = [index.storage.chunk, source.storage.chunk]
        table = result  # nothing reads it in one pass
        written = [result.storage.chunk]
        if passes.has_table:
            table = device.empty((result.form.size,), _WORD)
            recorder.fill(table.storage.chunk, 0, table.form.nbytes, 0)
            read.append(table.storage.chunk)
            written.append(table.storage.chunk)
        for each in passes.launches:
            recorder.launch(
                each, written, read, result.address, index.address, source.address, table.address
            )

    return run


def _are_same(x: Operand, out: Operand) -> bool:
    return x.form is out.form and x.address == out.address


def _flat(device: Engine, x: Operand) -> Operand:
    return x if len(x.shape) == 1 else dense(device, x)


def _prepare(device: Engine, name: str, result: Form, index: Form, source: Form) -> _Passes:
    require_countable(name, max(result.size, index.size))
    if index.size == 0 or result.size == 0:
        return _Passes([], has_table=False)
    raw = RAW[result.dtype.itemsize]
    strides = [each.strides[0] if len(each.shape) == 1 else 1 for each in (index, source)]
    tail = [index.size, *strides, result.size]
    tail += axis_words(*collapse(result.shape, [result.strides]))
    workgroup = device.profile.independent_workgroup
    groups = device.grid(-(-index.size // workgroup))
    passes = [_ALONE] if index.size <= _FEW else [_COMPETE, _WRITE]
    launches = []
    for each in passes:
        constants = (
            workgroup, int(is_long("QQQQ", tail)), each, raw.code, index_code(index.dtype),
        )  # fmt: skip
        pipeline = device.pipelines.get("put", constants)
        launches.append(Launch(device.device.api, name, pipeline, "QQQQ", tail, groups, index.size))
    return _Passes(launches, has_table=len(passes) > 1)
