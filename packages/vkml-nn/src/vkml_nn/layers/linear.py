"""Layers that multiply with a matrix, and the one that does nothing."""

from __future__ import annotations

import math
from typing import Any

import vkml
from vkml import DType, Parameter, Tensor
from vkml.device import DeviceLike
from vkml_nn import init
from vkml_nn.module import Module


class Identity(Module):
    """Returns its input. Takes any arguments, so that it can stand in for another layer."""

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """Return `input`."""
        return input


class Linear(Module):
    """``x @ weight.T + bias`` on the last axis.

    Parameters
    ----------
    in_features, out_features : int
        Sizes of the last axis before and after.
    bias : bool
        Whether a bias is added.
    device, dtype
        Of the parameters.

    Attributes
    ----------
    weight : Parameter
        Shape (out_features, in_features), even in ±1/√in_features at first.
    bias : Parameter or None
        Shape (out_features,), from the same interval.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.Linear(3, 2)(vkml.zeros(5, 3)).shape
    (5, 2)
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(vkml.empty(out_features, in_features, device=device, dtype=dtype))
        made = Parameter(vkml.empty(out_features, device=device, dtype=dtype)) if bias else None
        self.register_parameter("bias", made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features else 0.0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Return shape (..., out_features) for shape (..., in_features)."""
        return vkml.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the sizes."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )
