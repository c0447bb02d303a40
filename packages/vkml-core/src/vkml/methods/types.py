"""What methods take: the types that their signatures share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from vkml.dtypes import Number
    from vkml.tensor import Tensor

Operand: TypeAlias = "Tensor | Number"
Dims: TypeAlias = "int | Sequence[int] | None"
