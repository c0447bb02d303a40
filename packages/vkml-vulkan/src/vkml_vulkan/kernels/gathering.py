"""Elements by an index: `gather`, `index_select` and `embedding` are one shader.

Each result lies at an index along one axis of the operand and somewhere along the others. Shown
with the result's shape, the operand has stride 0 along that axis, and the index stride 0 along the
axes that it lacks.

An index that lies outside its axis cannot raise on a GPU. No memory outside the operand is read:
its result is zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.formats import RAW, StorageCode
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.elementwise import plan
from vkml_vulkan.launch import Launch
from vkml_vulkan.layouts import require_countable
from vkml_vulkan.operand import Dtype, Form, Operand, dense_form, form
from vkml_vulkan.plans import Plans


class _Lookup(NamedTuple):
    """A launch, and what the shader is told of the axis that is indexed."""

    result: Form
    launch: Launch | None
    size: int
    stride: int


def index_code(dtype: Dtype) -> StorageCode:
    """Return how an index lies in memory: int64 or int32."""
    return StorageCode.PAIR if dtype.itemsize == 8 else StorageCode.WORD


def build(device: Engine, name: str, _entry: Entry) -> Kernel:
    """Return the kernel of an operation that looks elements up."""
    allocate, launch = device.pool.allocate, device.recorder.launch
    show = {"gather": _gathered, "index_select": _selected, "embedding": _embedded}[name]

    def prepare(x: Form, index: Form, dim: int) -> _Lookup:
        device.require_raw(name, x.dtype)
        require_countable(name, x.size)
        shown_x, shown_index = show(x, index, dim)
        raw = RAW[x.dtype.itemsize]
        result = dense_form(shown_x.shape, x.dtype)
        found = plan(
            device, name, "gather", index_code(index.dtype), result, (shown_x, shown_index),
            result_format=raw, operand_format=raw, options="Ii",
        )  # fmt: skip
        size, stride = (x.shape[dim], x.strides[dim]) if x.shape else (1, 0)
        return _Lookup(result, found.launch, size, stride)

    plans: Plans[_Lookup] = Plans(prepare)

    def run(x: Operand, index: Operand, dim: int) -> Operand:
        key = (x.form, index.form, dim)
        found = plans[key]
        result, prepared, size, stride = found
        storage = allocate(result.nbytes)
        if prepared is not None:
            launch(
                prepared, (storage.chunk,), (x.storage.chunk, index.storage.chunk),
                storage.address, x.address, index.address, size, stride,
            )  # fmt: skip
        return Operand(storage, result, storage.address)

    def embedding(weight: Operand, indices: Operand, _padding_idx: Any) -> Operand:
        return run(weight, indices, 0)

    return embedding if name == "embedding" else run


def _gathered(x: Form, index: Form, dim: int) -> tuple[Form, Form]:
    strides = (*x.strides[:dim], 0, *x.strides[dim + 1 :]) if x.shape else ()
    return form(index.shape, strides, x.dtype), index


def _selected(x: Form, index: Form, dim: int) -> tuple[Form, Form]:
    before, after = x.shape[:dim], x.shape[dim + 1 :]
    shape = (*before, index.size, *after)
    strides = (*x.strides[:dim], 0, *x.strides[dim + 1 :])
    along = (*[0] * len(before), *index.strides, *[0] * len(after))
    return form(shape, strides, x.dtype), form(shape, along, index.dtype)


def _embedded(weight: Form, indices: Form, _dim: int) -> tuple[Form, Form]:
    shape = (*indices.shape, weight.shape[1])
    strides = (*[0] * len(indices.shape), weight.strides[1])
    return form(shape, strides, weight.dtype), form(shape, (*indices.strides, 0), indices.dtype)
