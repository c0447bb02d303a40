"""All families, imported; their public functions, by name."""

from __future__ import annotations

from types import ModuleType
from typing import Final

from vkml.ops import (
    arithmetic,
    comparison,
    conversion,
    creation,
    embedding,
    exponential,
    from_data,
    indexing,
    inplace,
    item_access,
    limits,
    logic,
    movement,
    powers,
    reduction,
    rounding,
    selection,
    slicing,
    strided,
    trigonometric,
)
from vkml.ops.functions import FUNCTIONS

FAMILIES: Final[tuple[ModuleType, ...]] = (
    from_data,
    creation,
    conversion,
    arithmetic,
    powers,
    rounding,
    limits,
    exponential,
    trigonometric,
    comparison,
    logic,
    selection,
    reduction,
    movement,
    slicing,
    strided,
    indexing,
    embedding,
)
"""The modules of operations, in the order of the reference."""

PUBLIC_NAMES: Final[list[str]] = sorted(name for family in FAMILIES for name in family.__all__)
"""What ``vkml.*`` offers of them."""

for _family in FAMILIES:
    FUNCTIONS.update({name: getattr(_family, name) for name in _family.__all__})
FUNCTIONS.update(inplace.METHODS)
FUNCTIONS.update(item_access.ITEM_ACCESS)
