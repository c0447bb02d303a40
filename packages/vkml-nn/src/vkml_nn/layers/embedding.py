"""Vectors looked up by number."""

from __future__ import annotations

from typing import Self

import vkml
from vkml import ArgumentError, DType, Parameter, ShapeError, Tensor
from vkml.device import DeviceLike
from vkml_nn import init
from vkml_nn.module import Module


class Embedding(Module):
    """The rows of a matrix, looked up by integers.

    Parameters
    ----------
    num_embeddings : int
        How many rows there are.
    embedding_dim : int
        How long they are.
    padding_idx : int, optional
        A row that is 0 at first, and gets no gradient.
    device, dtype
        Of the matrix.

    Attributes
    ----------
    weight : Parameter
        Shape (num_embeddings, embedding_dim), drawn normally at first.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.Embedding(10, 3)(vkml.tensor([[1, 2], [4, 9]])).shape
    (2, 2, 3)
    """

    weight: Parameter

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        *,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            message = f"Embedding: padding_idx {padding_idx} is none of {num_embeddings} rows."
            raise ArgumentError(message)
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx if padding_idx is None else padding_idx % num_embeddings
        weight = vkml.empty(num_embeddings, embedding_dim, device=device, dtype=dtype)
        self.weight = Parameter(weight)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the matrix anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight.detach()[self.padding_idx].zero_()

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None
    ) -> Self:
        """Return a layer with these rows, by default not to be trained."""
        if embeddings.ndim != 2:
            message = f"from_pretrained: expected a matrix, got shape {embeddings.shape}."
            raise ShapeError(message)
        layer = cls(1, 1)
        layer.num_embeddings, layer.embedding_dim = embeddings.shape
        layer.padding_idx = padding_idx
        layer.weight = Parameter(embeddings, requires_grad=not freeze)
        return layer

    def forward(self, input: Tensor) -> Tensor:
        """Return shape (..., embedding_dim) for integers of shape (...)."""
        return vkml.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        """Return the sizes."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"
