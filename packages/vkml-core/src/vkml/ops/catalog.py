"""All families, imported; their public functions, by name."""

from __future__ import annotations

from types import ModuleType
from typing import Final

from vkml.ops import (
    arithmetic,
    comparison,
    conversion,
    creation,
    exponential,
    inplace,
    item_access,
    limits,
    movement,
    reduction,
    rounding,
    slicing,
    strided,
    trigonometric,
)
from vkml.ops.functions import FUNCTIONS

FAMILIES: Final[tuple[ModuleType, ...]] = (
    creation,
    conversion,
    arithmetic,
    rounding,
    limits,
    exponential,
    trigonometric,
    comparison,
    reduction,
    movement,
    slicing,
    strided,
)
"""The modules of operations, in the order of the reference."""

for _family in FAMILIES:
    FUNCTIONS.update({name: getattr(_family, name) for name in _family.__all__})
FUNCTIONS.update(inplace.METHODS)
FUNCTIONS.update(item_access.ITEM_ACCESS)
