"""The backend's array: memory, a layout and a dtype."""

from __future__ import annotations

import math
from typing import Any, Final, TypeAlias

import numpy as np

from vkml.shapes import contiguous_strides
from vkml_vulkan.formats import Format, format_of
from vkml_vulkan.memory import Storage

Dtype: TypeAlias = np.dtype[Any]


class Form:
    """Shape, strides and dtype of operands. Equal ones are one object, made once.

    Kernels keep what they prepared for an operand under its form.

    Attributes
    ----------
    shape, strides : tuple of int
        In elements.
    dtype : numpy.dtype
    format : Format or None
        How shaders see the dtype; None where they cannot.
    size : int
        Number of elements.
    is_dense : bool
        The elements lie one after the other, in C order.
    """

    __slots__ = ("dtype", "format", "is_dense", "nbytes", "shape", "size", "strides")

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Dtype) -> None:
        self.shape = shape
        self.strides = strides
        self.dtype = dtype
        self.format: Format | None = format_of(dtype)
        self.size = math.prod(shape)
        self.nbytes = self.size * dtype.itemsize
        self.is_dense = self.size <= 1 or _is_dense(shape, strides)


def _is_dense(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    wanted = contiguous_strides(shape)
    return all(a == b for a, b, size in zip(strides, wanted, shape, strict=True) if size != 1)


_dense: Final[dict[tuple[tuple[int, ...], Dtype], Form]] = {}
_strided: Final[dict[tuple[tuple[int, ...], tuple[int, ...], Dtype], Form]] = {}
_MOST_FORMS: Final = 100_000
"""A program with so many layouts makes new ones all the time; keeping them would be a leak."""


def dense_form(shape: tuple[int, ...], dtype: Dtype) -> Form:
    """Return the form of a new operand."""
    found = _dense.get((shape, dtype))
    if found is None:
        found = form(shape, contiguous_strides(shape), dtype)
        _dense[shape, dtype] = found
    return found


def form(shape: tuple[int, ...], strides: tuple[int, ...], dtype: Dtype) -> Form:
    """Return the form of an operand with these strides."""
    key = (shape, strides, dtype)
    found = _strided.get(key)
    if found is None:
        if len(_strided) >= _MOST_FORMS:
            _strided.clear()
            _dense.clear()
        found = _strided.setdefault(key, Form(shape, strides, dtype))
    return found


class Operand:
    """An array on a Vulkan device. Core reads `shape` and `dtype`.

    Attributes
    ----------
    address : int
        Of the first element, as shaders see it.
    """

    __slots__ = ("address", "dtype", "form", "shape", "storage")

    def __init__(self, storage: Storage, form: Form, address: int) -> None:
        self.storage = storage
        self.form = form
        self.shape = form.shape
        self.dtype = form.dtype
        self.address = address

    @property
    def offset(self) -> int:
        """Where the first element lies in the storage, in elements."""
        return (self.address - self.storage.address) // self.dtype.itemsize


class View(Operand):
    """An operand on the memory of another."""

    __slots__ = ()
