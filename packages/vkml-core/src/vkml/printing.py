"""How tensors print: as in PyTorch, four decimals, long ones summarised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vkml import dtypes

if TYPE_CHECKING:
    from vkml.tensor import Tensor

_SUMMARY_ABOVE: Final = 1000  # elements
_DEFAULTS: Final = ("float32", "int64", "bool")


def describe(tensor: Tensor) -> str:
    """Return the text of ``repr(tensor)``."""
    facts = []
    if tensor.device.type == "meta":
        values = "..."
        facts.append(f"size={tensor.shape}")
    else:
        values = _values(tensor)
    empty = tensor.numel() == 0
    if empty and tensor.shape != (0,) and tensor.device.type != "meta":
        facts.append(f"size={tensor.shape}")
    if tensor.device.type != "cpu":
        facts.append(f"device='{tensor.device}'")
    # Without elements nothing else tells integers and truth values from floats.
    if tensor.dtype.name not in (_DEFAULTS[:1] if empty else _DEFAULTS):
        facts.append(f"dtype={tensor.dtype}")
    node = tensor.grad_fn
    if node is not None:
        facts.append(f"grad_fn={node!r}")
    elif tensor.requires_grad:
        facts.append("requires_grad=True")
    return f"tensor({', '.join([values, *facts])})"


def _values(tensor: Tensor) -> str:
    array = tensor._download()
    if array.dtype.kind == "V":
        array = array.astype(np.float32)
    if array.size == 0:
        return "[]"
    kind = dtypes.category(array.dtype)
    style: Any = {}  # NumPy's own type for it is private
    if kind == 2:
        style["float_kind"] = _float_format(array)
    return np.array2string(
        array, separator=", ", prefix="tensor(", precision=4, suppress_small=False,
        threshold=_SUMMARY_ABOVE, edgeitems=3, max_line_width=100, formatter=style or None,
    )  # fmt: skip


def _float_format(array: Any) -> Any:
    """Return a formatter that gives all numbers one width: whole, four decimals or scientific."""
    finite = array[np.isfinite(array)].astype(np.float64)
    nonzero = np.abs(finite[finite != 0])
    if nonzero.size == 0 or bool((finite == np.rint(finite)).all() and nonzero.max() < 1e6):
        spec = ".0f"
        ending = "."
    elif bool(nonzero.max() >= 1e8 or nonzero.min() < 1e-4 or nonzero.max() / nonzero.min() > 1e3):
        spec, ending = ".4e", ""
    else:
        spec, ending = ".4f", ""
    shown = array.ravel() if array.size <= _SUMMARY_ABOVE else finite
    width = max(len(_text(float(value), spec, ending)) for value in shown) if shown.size else 0
    return lambda value: _text(float(value), spec, ending).rjust(width)


def _text(value: float, spec: str, ending: str) -> str:
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    return format(value, spec) + ending
