"""Vectors by their direction: scaled to one length, and compared."""

from __future__ import annotations

import vkml
from vkml import Tensor
from vkml.shapes import broadcast


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """Return the vectors along `dim`, each divided by its length.

    Parameters
    ----------
    input : Tensor
        Floating-point values.
    p : float
        Of the norm that is the length.
    dim : int
        The axis of the vectors; a tuple of axes will do too.
    eps : float
        Vectors that are shorter are divided by this.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.functional.normalize(vkml.tensor([[3.0, 4.0], [0.0, 0.0]]))
    tensor([[0.6000, 0.8000],
            [0.0000, 0.0000]])
    """
    return input / vkml.clamp(vkml.norm(input, p, dim, keepdim=True), eps)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Return the cosine of the angle between vectors along `dim`.

    Parameters
    ----------
    x1, x2 : Tensor
        Floating-point values, of shapes that broadcast.
    dim : int
        The axis of the vectors, counted after broadcasting.
    eps : float
        Lengths count as this much at least.

    Examples
    --------
    >>> import vkml
    >>> x, y = vkml.tensor([[1.0, 0.0]]), vkml.tensor([[1.0, 1.0], [0.0, 2.0]])
    >>> vkml.nn.functional.cosine_similarity(x, y)
    tensor([0.7071, 0.0000])
    """
    shape = broadcast(x1.shape, x2.shape)
    first, second = x1.expand(shape), x2.expand(shape)
    return (normalize(first, 2.0, dim, eps) * normalize(second, 2.0, dim, eps)).sum(dim)
