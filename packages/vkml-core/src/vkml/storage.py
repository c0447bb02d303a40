"""The memory that a tensor shares with its views."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vkml.device import Device
    from vkml.dtypes import DType
    from vkml.tensor import Tensor


class Storage:
    """The memory behind a tensor. Tensors that share memory have equal storages.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.zeros(10)
    >>> x[:5].storage() == x.storage(), x[:5].storage().size()
    (True, 10)
    """

    __slots__ = ("_tensor", "device", "dtype", "nbytes", "token")

    def __init__(self, tensor: Tensor) -> None:
        layout = tensor._layout()
        self.token = layout.storage
        self.nbytes: int = layout.storage_nbytes
        self.device: Device = tensor.device
        self.dtype: DType = tensor.dtype
        self._tensor = tensor  # the token means something only as long as the memory lives

    def size(self) -> int:
        """Return how many elements of the tensor's dtype fit."""
        return self.nbytes // self.dtype.itemsize

    __len__ = size

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Storage):
            return NotImplemented
        return self.device is other.device and self.token == other.token

    def __hash__(self) -> int:
        return hash((self.device, self.token))

    def __repr__(self) -> str:
        return f"<storage of {self.nbytes} bytes on {self.device}>"
