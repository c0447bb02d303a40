"""Kernels that compare two operands; the result is bool."""

from __future__ import annotations

from typing import Final

import numpy as np

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.binary import elementwise_kernel

_BOOL: Final = np.dtype(np.bool_)


def build(device: Engine, name: str, _entry: Entry) -> Kernel:
    """Return the kernel of a comparison."""
    return elementwise_kernel(device, name, _BOOL)
