"""Data types: their names, their NumPy equivalents, and how they combine.

Promotion follows PyTorch: an integer with a float gives the float, a Python number never widens a
tensor of its own kind, and a rank-0 tensor counts less than one with axes.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, Final, TypeAlias

import numpy as np

from vkml.errors import DTypeError

Number: TypeAlias = bool | int | float | complex


class DType:
    """One data type, for example ``vkml.float32``.

    Attributes
    ----------
    name : str
        The name that checkpoints and NumPy use.
    itemsize : int
        Bytes per element.
    is_floating_point, is_complex, is_signed : bool
        What kind of numbers it holds.

    Examples
    --------
    >>> import vkml
    >>> vkml.float32.itemsize
    4
    """

    __slots__ = ("_numpy", "is_complex", "is_floating_point", "is_signed", "itemsize", "name")

    def __init__(self, name: str, itemsize: int, kind: str) -> None:
        self.name = name
        self.itemsize = itemsize
        self.is_floating_point = kind == "f"
        self.is_complex = kind == "c"
        self.is_signed = kind in "fci"
        self._numpy: np.dtype[Any] | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype; under this name NumPy itself accepts a vkML dtype."""
        if self._numpy is None:
            self._numpy = _numpy_dtype(self.name)
            _BY_NUMPY[self._numpy] = self
        return self._numpy

    def __repr__(self) -> str:
        return f"vkml.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


def _numpy_dtype(name: str) -> np.dtype[Any]:
    if name != "bfloat16":
        return np.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        message = (
            "bfloat16 needs the package ml_dtypes, which NumPy lacks on its own. "
            "Install it with: pip install 'vkml-core[bfloat16]'"
        )
        raise DTypeError(message) from None
    found: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return found


bool_: Final = DType("bool", 1, "b")
int8: Final = DType("int8", 1, "i")
int16: Final = DType("int16", 2, "i")
int32: Final = DType("int32", 4, "i")
int64: Final = DType("int64", 8, "i")
uint8: Final = DType("uint8", 1, "u")
uint16: Final = DType("uint16", 2, "u")
uint32: Final = DType("uint32", 4, "u")
uint64: Final = DType("uint64", 8, "u")
float16: Final = DType("float16", 2, "f")
bfloat16: Final = DType("bfloat16", 2, "f")
float32: Final = DType("float32", 4, "f")
float64: Final = DType("float64", 8, "f")
complex64: Final = DType("complex64", 8, "c")
complex128: Final = DType("complex128", 16, "c")

_ALL: Final = (
    bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
    float16, bfloat16, float32, float64, complex64, complex128,
)  # fmt: skip
_BY_NAME: Final[dict[str, DType]] = {dtype.name: dtype for dtype in _ALL}
_BY_NUMPY: Final[dict[np.dtype[Any], DType]] = {
    np.dtype(dtype.name): dtype for dtype in _ALL if dtype is not bfloat16
}
_BY_PYTHON: Final[dict[type, str]] = {bool: "bool", int: "int64", float: "float32"}

DTypeLike: TypeAlias = DType | str | type | np.dtype[Any]

_default: DType = float32


def set_default_dtype(dtype: DTypeLike) -> None:
    """Set the dtype that Python floats become: float32 unless changed.

    Parameters
    ----------
    dtype : DType or str
        A floating-point dtype.

    Raises
    ------
    DTypeError
        `dtype` is not a floating-point dtype.

    Examples
    --------
    >>> import vkml
    >>> vkml.set_default_dtype(vkml.float64)
    >>> vkml.tensor([1.0]).dtype
    vkml.float64
    >>> vkml.set_default_dtype(vkml.float32)
    """
    global _default
    found = as_dtype(dtype)
    if not found.is_floating_point:
        message = f"set_default_dtype: {found} holds no floating-point numbers; give float32 or so."
        raise DTypeError(message)
    _default = found


def get_default_dtype() -> DType:
    """Return the dtype that Python floats become.

    Examples
    --------
    >>> import vkml
    >>> vkml.get_default_dtype()
    vkml.float32
    """
    return _default


def as_dtype(dtype: DTypeLike) -> DType:
    """Return the vkML dtype for a dtype, a name, a NumPy dtype or a Python number type."""
    if isinstance(dtype, DType):
        return dtype
    if isinstance(dtype, str) and dtype in _BY_NAME:
        return _BY_NAME[dtype]
    if isinstance(dtype, type) and dtype in _BY_PYTHON:
        return _default if dtype is float else _BY_NAME[_BY_PYTHON[dtype]]
    holds_values = hasattr(dtype, "__array__") and not isinstance(dtype, type)
    try:
        converted = None if holds_values else np.dtype(dtype).newbyteorder("=")
    except (TypeError, ValueError):
        converted = None
    found = _BY_NUMPY.get(converted) if converted is not None else None
    if found is None and converted is not None:
        found = _BY_NAME.get(converted.name)
    if found is None:
        names = ", ".join(_BY_NAME)
        given = type(dtype).__name__ if holds_values else repr(dtype)
        raise DTypeError(f"vkML has no dtype {given}; it has {names}.")
    return found


def is_name(text: str) -> bool:
    """Return whether `text` is the name of a dtype."""
    return text in _BY_NAME


def of(dtype: np.dtype[Any]) -> DType:
    """Return the vkML dtype of an operand's NumPy dtype (a look-up, for hot paths)."""
    try:
        return _BY_NUMPY[dtype]
    except KeyError:
        return as_dtype(dtype)


def as_numpy(dtype: DTypeLike) -> np.dtype[Any]:
    """Return the NumPy dtype for anything that names a dtype."""
    return dtype if isinstance(dtype, np.dtype) else as_dtype(dtype).dtype


# promotion ---------------------------------------------------------------------------

_CATEGORY: Final = {"b": 0, "u": 1, "i": 1, "f": 2, "V": 2, "c": 3}  # ml_dtypes' kind is "V"


def is_floating(dtype: np.dtype[Any]) -> bool:
    """Return whether a NumPy dtype holds real floating-point numbers, bfloat16 included."""
    return of(dtype).is_floating_point


def category(dtype: np.dtype[Any]) -> int:
    """Return 0 for bool, 1 for integers, 2 for floating point, 3 for complex."""
    return _CATEGORY[dtype.kind]


@functools.cache
def promote(first: np.dtype[Any], second: np.dtype[Any]) -> np.dtype[Any]:
    """Return the smallest dtype that both convert to, by PyTorch's table."""
    if first == second:
        return first
    low, high = sorted((first, second), key=lambda dtype: (category(dtype), dtype.itemsize))
    if category(low) < 2 <= category(high):
        return high  # an integer never widens a float
    if category(low) == category(high) == 1:
        common = np.promote_types(low, high)
        if common.kind == "f":
            message = (
                f"no integer dtype holds both {low} and {high}; convert one of the tensors, "
                "for example with x.to(vkml.int64)."
            )
            raise DTypeError(message)
        return common
    if {first.name, second.name} == {"float16", "bfloat16"}:
        return np.dtype(np.float32)
    if "bfloat16" in (first.name, second.name):
        return high if high.itemsize > 2 else as_numpy(bfloat16)
    return np.promote_types(first, second)


def _combine(higher: np.dtype[Any] | None, lower: np.dtype[Any] | None) -> np.dtype[Any] | None:
    """Return the dtype of a group of greater weight joined by one of lesser weight."""
    if higher is None or lower is None:
        return higher if higher is not None else lower
    if category(lower) <= category(higher):
        return higher
    if category(higher) == 2:  # a float meets a complex: keep the float's precision
        return np.dtype(np.complex128 if higher.itemsize == 8 else np.complex64)
    return lower


def result_dtype(
    with_axes: Iterable[np.dtype[Any]],
    rank_zero: Iterable[np.dtype[Any]] = (),
    numbers: Iterable[Number] = (),
) -> np.dtype[Any]:
    """Return the dtype in which tensors with axes, rank-0 tensors and Python numbers meet."""
    groups: list[np.dtype[Any] | None] = []
    for group in (with_axes, rank_zero, map(number_dtype, numbers)):
        found: np.dtype[Any] | None = None
        for dtype in group:
            found = dtype if found is None else promote(found, dtype)
        groups.append(found)
    result = _combine(_combine(groups[0], groups[1]), groups[2])
    if result is None:
        raise DTypeError("no operand to take a dtype from.")
    return result


def number_dtype(number: Number) -> np.dtype[Any]:
    """Return the dtype that a Python number becomes on its own."""
    if isinstance(number, bool):
        return np.dtype(np.bool_)
    if isinstance(number, int):
        return np.dtype(np.int64)
    if isinstance(number, float):
        return _default.dtype
    return np.dtype(np.complex128 if _default is float64 else np.complex64)


def holds(dtype: np.dtype[Any], number: Number) -> bool:
    """Return whether `number` fits: into integers by size, and complex ones only into complex."""
    kind = category(dtype)
    if isinstance(number, complex):
        return kind in (0, 3)  # any number has a truth value
    if kind != 1:
        return True
    limits = np.iinfo(dtype)
    return bool(limits.min <= number <= limits.max)


def to_floating(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return `dtype` if it is floating point or complex, else the default dtype."""
    return dtype if category(dtype) >= 2 else _default.dtype
