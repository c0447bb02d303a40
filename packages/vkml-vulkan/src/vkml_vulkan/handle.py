"""The open Vulkan device, as core sees it: `vkml.backends.interface.DeviceHandle`."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vkml.backends.interface import Kernel, Layout
from vkml_vulkan.engine import Engine
from vkml_vulkan.kernel_table import KERNELS
from vkml_vulkan.kernels.copying import copy_into, dense
from vkml_vulkan.operand import Dtype, Operand, View, form


class VulkanDevice(Engine):
    """An engine with the methods that core calls."""

    def upload(self, array: NDArray[Any]) -> Operand:
        """Return a new operand with a copy of `array`."""
        native = np.asarray(array, array.dtype.newbyteorder("="), order="C")
        operand = self.empty(native.shape, native.dtype)
        data = native.reshape(-1).view(np.uint8)
        self.transfer.upload(data, operand.storage.chunk)
        return operand

    def download(self, operand: Operand) -> NDArray[Any]:
        """Return a copy of the values, when the work on them is done."""
        if not operand.form.is_dense:
            operand = dense(self, operand)
        start = operand.address - operand.storage.address
        data = self.transfer.download(operand.storage.chunk, start, operand.form.nbytes)
        return data.view(operand.dtype).reshape(operand.shape)

    def place(self, operand: Operand) -> Operand:
        """Return `operand`: each has memory."""
        return operand

    def layout(self, operand: Operand) -> Layout:
        """Return where the elements lie."""
        storage = operand.storage
        return Layout(id(storage), operand.form.strides, operand.offset, storage.nbytes)

    def view(
        self,
        operand: Operand,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        offset: int,
        dtype: Dtype | None = None,
    ) -> Operand:
        """Return an operand on the same memory."""
        dtype = operand.dtype if dtype is None else dtype
        storage = operand.storage
        address = storage.address + offset * dtype.itemsize
        return View(storage, form(shape, strides, dtype), address)

    def owns(self, operand: Any) -> bool:
        """Return whether the operand was made with its memory, by `empty` or a kernel."""
        return operand.__class__ is Operand

    def copy(self, source: Operand, destination: Operand) -> None:
        """Write `source`, converted and broadcast, into `destination`."""
        copy_into(self, source, destination)

    def kernel(self, name: str) -> Kernel | None:
        """Return the kernel of an operation, or None for one that is composed here, or a view."""
        entry = KERNELS.get(name)
        if entry is None:
            return None
        module = importlib.import_module(f"vkml_vulkan.kernels.{entry.kernel}")
        kernel: Kernel = module.build(self, name, entry)
        return kernel

    def why_not(self, name: str, dtypes: Sequence[Dtype], options: Sequence[object]) -> str | None:
        """Return None where there is a kernel for these dtypes, else why there is none."""
        del options  # no kernel looks at them
        entry = KERNELS.get(name)
        if entry is None:
            return f"{name} has no Vulkan kernel."
        return next(filter(None, (self.why_not_dtype(name, each) for each in dtypes)), None)

    def memory(self) -> Mapping[str, int]:
        """Return bytes reserved from the driver and allocated to tensors."""
        return self.pool.statistics()
