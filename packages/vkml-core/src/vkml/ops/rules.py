"""Result rules that several operations share: what shape and dtype comes out, or what is wrong."""

from __future__ import annotations

from typing import Any, Final, TypeVar

import numpy as np

from vkml import dtypes, shapes
from vkml.errors import DTypeError
from vkml.ops.definition import CHECKED_ELSEWHERE, ResultRule, Spec

Rule = TypeVar("Rule", bound=ResultRule)

BOOL: Final = np.dtype(np.bool_)
INT64: Final = np.dtype(np.int64)


def checked_elsewhere(rule: Rule) -> Rule:
    """Mark a rule that need not run before every kernel; see `CHECKED_ELSEWHERE`."""
    CHECKED_ELSEWHERE.add(rule)
    return rule


@checked_elsewhere
def same(x: Spec, *_options: Any) -> Spec:
    """Return the operand's shape and dtype."""
    return Spec(x.shape, x.dtype)


@checked_elsewhere
def same_as_bool(x: Spec, *_options: Any) -> Spec:
    """Return the operand's shape, for truth values."""
    return Spec(x.shape, BOOL)


@checked_elsewhere
def broadcast(*operands: Any) -> Spec:
    """Return the common shape; numbers among the operands take the tensors' dtype."""
    specs = [each for each in operands if hasattr(each, "dtype")]
    return Spec(shapes.broadcast(*(each.shape for each in specs)), specs[0].dtype)


@checked_elsewhere
def broadcast_to_bool(*operands: Any) -> Spec:
    """Return the common shape, for truth values."""
    return Spec(broadcast(*operands).shape, BOOL)


def no_bool(x: Spec, *_options: Any) -> Spec:
    """As `same`, but refuses truth values, for which the operation means nothing."""
    if x.dtype == BOOL:
        raise DTypeError("truth values have no sign; use logical_not, or convert to an integer.")
    return Spec(x.shape, x.dtype)


def reduction(x: Spec, axes: tuple[int, ...], keepdim: bool) -> Spec:
    """Return the shape without the axes, or with size 1 there; the dtype stays."""
    return Spec(shapes.reduced(x.shape, axes, keepdim), x.dtype)


def accumulated(x: Spec, axes: tuple[int, ...], keepdim: bool) -> Spec:
    """As `reduction`, for sums and products: integers among them are int64, which holds many."""
    require_wide(x)
    return Spec(shapes.reduced(x.shape, axes, keepdim), x.dtype)


def require_wide(x: Spec) -> None:
    """Raise for truth values and for integers other than int64."""
    if x.dtype != INT64 and dtypes.category(x.dtype) < 2:
        message = f"expected int64 or floating-point numbers, got {x.dtype}; use x.to(vkml.int64)."
        raise DTypeError(message)


def floating(x: Spec, *_options: Any) -> Spec:
    """As `same`, for operations that only floating-point numbers have."""
    require_floating(x)
    return Spec(x.shape, x.dtype)


def require_floating(*operands: Any) -> None:
    """Raise unless all operands hold floating-point (or complex) numbers."""
    for each in operands:
        if each is not None and hasattr(each, "dtype") and dtypes.category(each.dtype) < 2:
            message = f"expected floating-point numbers, got {each.dtype}; use x.to(vkml.float32)."
            raise DTypeError(message)


def require_same_dtype(**operands: Any) -> None:
    """Raise unless all operands have one dtype."""
    given = {name: each.dtype for name, each in operands.items() if each is not None}
    if len(set(given.values())) > 1:
        listed = ", ".join(f"{name} {dtype}" for name, dtype in given.items())
        raise DTypeError(f"expected one dtype, got {listed}; convert with x.to(dtype).")
