"""Kernels of batch normalization in training: the rows are the channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vkml.backends.interface import Kernel
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.normalization import CENTRES, PER_ROW, TO_INPUT, Forward
from vkml_vulkan.kernels.normalization_backward import Backward
from vkml_vulkan.operand import Operand

if TYPE_CHECKING:
    from vkml_vulkan.handle import VulkanDevice


def build(device: VulkanDevice, name: str, entry: Entry) -> Kernel:
    """Return the kernel of `batch_norm_train` or of `batch_norm_backward`."""
    return (
        _train(device, name, entry)
        if name == "batch_norm_train"
        else _backward(device, name, entry)
    )


def _all_but_channels(x: Operand) -> tuple[int, ...]:
    return (0, *range(2, len(x.shape)))


def _train(device: VulkanDevice, name: str, entry: Entry) -> Kernel:
    forward = Forward(device, name, entry)

    def run(x: Operand, weight: Operand | None, bias: Operand | None, eps: float) -> Any:
        axes, flags = _all_but_channels(x), CENTRES | PER_ROW
        return forward.run(x, weight, bias, axes, x.shape[1:2], eps, flags)

    return run


def _backward(device: VulkanDevice, name: str, entry: Entry) -> Kernel:
    backward = Backward(device, name, entry)

    def run(
        g: Operand,
        x: Operand,
        weight: Operand | None,
        mean: Any,
        rstd: Any,
        _eps: float,
        needs: tuple[bool, ...],
    ) -> Any:
        if mean is None or not backward.covers(g, x, weight, rstd):
            return NotImplemented
        flags = PER_ROW | (TO_INPUT if needs[0] else 0)
        of_rows = tuple(device.empty(x.shape[1:2], x.dtype) for _ in range(2))
        made = backward.run(g, x, weight, mean, rstd, _all_but_channels(x), flags, of_rows)
        return tuple(each if needed else None for each, needed in zip(made, needs, strict=True))

    return run
