"""The agreement between vkML and a backend. This file is the whole of it.

What crosses it: a backend's own array objects (*operands*), names of operations, plain numbers.
No Tensor, no callback, no autograd. The CPU goes through it like any other device.

**Operands.** Core reads `.shape` and `.dtype` (a NumPy dtype) of an operand, keeps it as long as
its tensor lives, and hands it back. An operand is made once, with its tensor.

**Kernels.** `DeviceHandle.kernel(name)` is asked once per operation and device; what it returns is
called as ``kernel(*operands, *options)``, on the hot path, so it should be as cheap as it can be.

- Core has checked shapes and options by the operation's record, and has cast the operands where
  the record promotes. Elementwise kernels broadcast; where shapes do not fit they raise ValueError.
- A Python number may stand where an operand stands, as long as one operand is left.
- Strides may be anything, zero and negative ones included.
- The kernel allocates its result. Records marked `writes_out` also take ``out=operand``; core has
  seen to it that `out` overlaps no input of another layout.
- Results of rank 0 may be plain values of the backend; `place` gives them storage.
- A primitive's kernel raises `UnsupportedOperationError`, with the sentence of `why_not`, for a
  dtype or option it does not cover. A composite's kernel returns NotImplemented instead, and core
  runs the decomposition. `kernel` returns None for a composite that has no fused kernel at all.
- A view's kernel returns an operand on the same memory; where it is None, core computes the layout
  and calls `view`.
- Work is ordered per device and may finish later; `download` and `synchronize` wait, and may
  raise what happened earlier.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

INTERFACE_VERSION = 1
"""Raised whenever this file changes in a way that a backend could notice."""

Kernel: TypeAlias = Callable[..., Any]  # Any: each operation has its own operands and options


class Operand(Protocol):
    """A backend's array."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of the elements."""


class Layout(NamedTuple):
    """Where an operand's elements lie. Strides and offset count elements, not bytes."""

    storage: Hashable
    """The memory; operands that share memory have equal storages."""
    strides: tuple[int, ...]
    offset: int
    storage_nbytes: int


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """What a person would want to know about a device."""

    name: str
    kind: str
    """"cpu", "integrated", "discrete", "virtual" or "meta"."""
    memory_bytes: int | None = None
    details: Mapping[str, object] = field(default_factory=dict)


class DeviceHandle(Protocol):
    """An open device."""

    @property
    def info(self) -> DeviceInfo:
        """Facts about the device."""

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """Return a new operand with storage of its own, in C order; its values are undefined."""

    def upload(self, array: NDArray[Any]) -> Any:
        """Return a new operand with a copy of `array`."""

    def download(self, operand: Any) -> NDArray[Any]:
        """Return the values of `operand`; the array may share the operand's memory."""

    def place(self, operand: Any) -> Any:
        """Return `operand` itself, or an operand with storage for a plain rank-0 value."""

    def layout(self, operand: Any) -> Layout:
        """Return where the elements of `operand` lie."""

    def view(
        self,
        operand: Any,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        offset: int,
        dtype: np.dtype[Any] | None = None,
    ) -> Any:
        """Return an operand on the same memory; `offset` counts from the start of the storage."""

    def owns(self, operand: Any) -> bool:
        """Return whether `operand` is contiguous and alone on its storage."""

    def kernel(self, name: str) -> Kernel | None:
        """Return the kernel of an operation; None for views and for composites not fused here."""

    def why_not(
        self, name: str, dtypes: Sequence[np.dtype[Any]], options: Sequence[object]
    ) -> str | None:
        """Return None where a kernel exists, else one sentence that says why there is none."""

    def copy(self, source: Any, destination: Any) -> None:
        """Write the values of `source`, converted and broadcast, into `destination`.

        Where the two overlap, `source` counts as it was before.
        """

    def synchronize(self) -> None:
        """Wait until all work is done."""

    def memory(self) -> Mapping[str, int]:
        """Return what is known of the memory in use, in bytes."""

    def close(self) -> None:
        """Release everything. May be called twice."""


class Backend(Protocol):
    """What an entry point in the group ``vkml.backends`` names."""

    @property
    def interface_version(self) -> int:
        """The `INTERFACE_VERSION` that the backend was written for."""

    def list_devices(self) -> Sequence[DeviceInfo]:
        """Return the devices that can be opened, best first. Never raises for want of a driver."""

    def why_unavailable(self) -> str | None:
        """Return None where there are devices, else what is missing and how to install it."""

    def open_device(self, index: int) -> DeviceHandle:
        """Open the device at `index` of `list_devices`."""
