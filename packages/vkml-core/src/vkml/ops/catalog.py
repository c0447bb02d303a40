"""All families, imported; their public functions, by name."""

from __future__ import annotations

from types import ModuleType
from typing import Final

from vkml.autograd import backward_pass
from vkml.autograd import inplace as rewriting
from vkml.ops import (
    activation,
    arithmetic,
    arranging,
    attention,
    batch_normalization,
    comparison,
    conversion,
    convolution,
    creation,
    cross_entropy,
    dropout,
    einsum,
    embedding,
    exponential,
    extremes,
    from_data,
    group_normalization,
    indexing,
    inplace,
    item_access,
    joining,
    limits,
    linear_algebra,
    logic,
    loss,
    movement,
    normalization,
    optimizer_steps,
    padding,
    pooling,
    powers,
    product,
    random,
    reduction,
    rounding,
    sampling,
    selection,
    slicing,
    softmax,
    special,
    strided,
    trigonometric,
    variance,
)
from vkml.ops.functions import FUNCTIONS

FAMILIES: Final[tuple[ModuleType, ...]] = (
    from_data,
    creation,
    random,
    sampling,
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
    product,
    extremes,
    variance,
    movement,
    slicing,
    strided,
    joining,
    arranging,
    padding,
    indexing,
    embedding,
    linear_algebra,
    einsum,
    special,
    activation,
    softmax,
    loss,
    cross_entropy,
    convolution,
    pooling,
    normalization,
    group_normalization,
    batch_normalization,
    attention,
    dropout,
)
"""The modules of operations, in the order of the reference."""

FAMILIES_FOR_LIBRARIES: Final[tuple[ModuleType, ...]] = (optimizer_steps,)
"""Families whose functions are called from their module: for those who write optimisers."""

PUBLIC_NAMES: Final[list[str]] = sorted(name for family in FAMILIES for name in family.__all__)
"""What ``vkml.*`` offers of them."""

for _family in FAMILIES:
    FUNCTIONS.update({name: getattr(_family, name) for name in _family.__all__})
FUNCTIONS.update(inplace.METHODS)
FUNCTIONS.update(random.METHODS)
FUNCTIONS.update(item_access.ITEM_ACCESS)
FUNCTIONS.update(backward=backward_pass.backward, rederive_view=rewriting.rederive)
