"""How `vkml.save` reads a tensor: its storage once, then where each tensor lies in it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

from vkml.errors import DeviceError

if TYPE_CHECKING:
    from vkml.tensor import Tensor


class TensorEntry:
    """The facts of one tensor, in bytes, and a way to read its storage from any device."""

    def __init__(self, tensor: Tensor) -> None:
        if tensor.device.type == "meta":
            message = (
                f"a tensor of shape {tensor.shape} on 'meta' has no values to save; load or make "
                "it on another device first"
            )
            raise DeviceError(message)
        self._tensor = tensor
        layout = tensor._layout()
        item = tensor.dtype.itemsize
        self.storage: Hashable = (str(tensor.device), layout.storage)
        self.dtype: str = tensor.dtype.name
        self.shape: tuple[int, ...] = tensor.shape
        self.strides: tuple[int, ...] = tuple(stride * item for stride in layout.strides)
        self.offset: int = layout.offset * item
        self.storage_nbytes: int = layout.storage_nbytes

    def read_into(self, buffer: memoryview) -> None:
        """Fill `buffer`, `storage_nbytes` long, with the whole storage."""
        handle = self._tensor.device.handle
        whole = handle.view(
            self._tensor._placed(), (self.storage_nbytes,), (1,), 0, np.dtype(np.uint8)
        )
        np.frombuffer(buffer, np.uint8)[:] = handle.download(whole)
