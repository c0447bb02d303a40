"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

import vkml
from vkml import ShapeError, Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return the elements of all parameters, one after the other.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.utils.parameters_to_vector([vkml.zeros(2), vkml.ones(1, 1)])
    tensor([0., 0., 1.])
    """
    return vkml.cat([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Copy the elements of `vec` into the parameters, one after the other.

    Raises
    ------
    ShapeError
        There are more or fewer than the parameters hold; nothing is changed.
    """
    targets = list(parameters)
    count = sum(each.numel() for each in targets)
    if vec.shape != (count,):
        message = f"vector_to_parameters: expected shape {(count,)}, got {vec.shape}."
        raise ShapeError(message)
    start = 0
    with vkml.no_grad():
        for each in targets:
            each.copy_(vec[start : start + each.numel()].reshape(each.shape))
            start += each.numel()
