"""What kernels of fused composites share: the dtypes that they cover, and numbers in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vkml_vulkan.formats import FORMATS, Format
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.number_arguments import converter
from vkml_vulkan.operand import Form


def covered_format(entry: Entry, forms: tuple[Form, ...]) -> Format | None:
    """Return the format of the operands; None where they differ, or there is no module."""
    format = forms[0].format
    if format is None or format.compute not in entry.classes:
        return None
    return format if all(each.dtype == forms[0].dtype for each in forms) else None


def wide_converter(format: Format) -> Callable[[Any], Any]:
    """Return the converter for numbers that meet half-precision elements in float32."""
    return float if format.compute == "f64" else converter(FORMATS[np.dtype(np.float32)])
