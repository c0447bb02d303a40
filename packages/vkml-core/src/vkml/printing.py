"""How tensors print: as in PyTorch, four decimals, long ones summarised."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vkml import dtypes

if TYPE_CHECKING:
    from vkml.tensor import Tensor

_SUMMARY_ABOVE: Final = 1000  # elements
_EDGE: Final = 3  # elements shown at either end of a long axis
_LINE: Final = 80  # characters
_PREFIX: Final = "tensor("
_LARGEST_RATIO: Final = 1e3  # of two numbers that are both shown with four decimals
_LARGEST: Final = 1e8
_SMALLEST: Final = 1e-4

Writer: TypeAlias = Callable[[Any], str]
"""Writes one number of a tensor, as wide as all the others."""


def describe(tensor: Tensor) -> str:
    """Return the text of ``repr(tensor)``."""
    facts = []
    on_meta = tensor.device.type == "meta"
    empty = tensor.numel() == 0
    if tensor.device.type != "cpu":
        facts.append(f"device='{tensor.device}'")
    if on_meta or (empty and tensor.ndim != 1):
        facts.append(f"size={tensor.shape}")
    # Without elements nothing else tells integers and truth values from floats.
    known = (dtypes.get_default_dtype(),) if empty else _obvious_dtypes()
    if tensor.dtype not in known:
        facts.append(f"dtype={tensor.dtype}")
    node = tensor.grad_fn
    if node is not None:
        facts.append(f"grad_fn={node!r}")
    elif tensor.requires_grad:
        facts.append("requires_grad=True")
    return _with_facts("..." if on_meta else _values(tensor._download()), facts)


def _obvious_dtypes() -> tuple[dtypes.DType, ...]:
    """Return the dtypes that the numbers alone tell from others."""
    default = dtypes.get_default_dtype()
    return (default, dtypes.of(dtypes.number_dtype(1j)), dtypes.int64, dtypes.bool_)


def _with_facts(values: str, facts: list[str]) -> str:
    """Return the whole text; facts that do not fit into the last line begin another."""
    text = _PREFIX + values
    used = len(values) - values.rfind("\n") + 1  # characters of the last line, as PyTorch counts
    for fact in facts:
        if used + len(fact) + 2 > _LINE:
            text += ",\n" + " " * len(_PREFIX) + fact
            used = len(_PREFIX) + len(fact)
        else:
            text += ", " + fact
            used += len(fact) + 2
    return text + ")"


def _values(array: NDArray[Any]) -> str:
    if array.size == 0:
        return "[]"
    if array.dtype.kind == "V":
        array = array.astype(np.float32)
    if array.size > _SUMMARY_ABOVE:
        shown, summarized = _edges(array), True
    else:
        shown, summarized = array, False
    if array.dtype.kind == "c":
        real, real_width = _writer(shown.real)
        imaginary, imaginary_width = _writer(shown.imag)
        write, width = _complex_writer(real, imaginary), real_width + imaginary_width + 1
    else:
        write, width = _writer(shown)
    return _nested(array, len(_PREFIX), write, width, summarized)


def _edges(array: NDArray[Any]) -> NDArray[Any]:
    """Return the elements that a summary shows."""
    for axis, size in enumerate(array.shape):
        if size > 2 * _EDGE:
            array = array.take([*range(_EDGE), *range(-_EDGE, 0)], axis)
    return array


def _nested(array: NDArray[Any], indent: int, write: Writer, width: int, summarized: bool) -> str:
    """Return the elements in brackets, long axes without their middle where `summarized`."""
    if array.ndim == 0:
        return write(array.item())
    if summarized and len(array) > 2 * _EDGE:
        first, last, dots = array[:_EDGE], array[-_EDGE:], ["..."]
    else:
        first, last, dots = array, array[:0], []
    if array.ndim > 1:
        rows = [_nested(each, indent + 1, write, width, summarized) for each in first]
        rows += dots
        rows += [_nested(each, indent + 1, write, width, summarized) for each in last]
        return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(rows) + "]"
    texts = [write(each) for each in first.tolist()]
    texts += [" " + each for each in dots]
    texts += [write(each) for each in last.tolist()]
    per_line = max(1, (_LINE - indent) // (width + len(", ")))
    lines = [", ".join(texts[at : at + per_line]) for at in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _writer(array: NDArray[Any]) -> tuple[Writer, int]:
    """Return what writes all these numbers with one width, and that width."""
    if dtypes.category(array.dtype) < 2:
        width = max(len(str(each)) for each in array.ravel().tolist())
        return (lambda value: str(value).rjust(width)), width
    spec, ending = _float_style(array)

    def text(value: float) -> str:
        return format(value, spec) + (ending if math.isfinite(value) else "")

    counted = array[np.isfinite(array) & (array != 0)]
    width = max((len(text(each)) for each in counted.tolist()), default=1)
    return (lambda value: text(value).rjust(width)), width


def _float_style(array: NDArray[Any]) -> tuple[str, str]:
    """Return how to format each number, and what to write after it."""
    sizes = np.abs(array[np.isfinite(array) & (array != 0)].astype(np.float64))
    if sizes.size == 0:
        return ".0f", "."
    low, high = sizes.min(), sizes.max()
    if high / low > _LARGEST_RATIO or high > _LARGEST or low < _SMALLEST:
        return ".4e", ""
    return (".0f", ".") if bool((sizes == np.rint(sizes)).all()) else (".4f", "")


def _complex_writer(real: Writer, imaginary: Writer) -> Writer:
    def write(value: complex) -> str:
        rest = (imaginary(value.imag) + "j").lstrip()
        return real(value.real) + (rest if rest[0] in "+-" else "+" + rest)

    return write
