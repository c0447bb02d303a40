"""Layers of transformers."""

from __future__ import annotations

import copy
from collections.abc import Callable

import vkml
from vkml import ArgumentError, DType, Tensor
from vkml.device import DeviceLike
from vkml_nn import functional
from vkml_nn.containers import ModuleList
from vkml_nn.layers.attention import MultiheadAttention
from vkml_nn.layers.dropout import Dropout
from vkml_nn.layers.linear import Linear
from vkml_nn.layers.normalization import LayerNorm
from vkml_nn.module import Module

Activation = Callable[[Tensor], Tensor]


class TransformerEncoderLayer(Module):
    """Self-attention and two linear layers, each added to its input and normalised.

    Parameters
    ----------
    d_model : int
        The size of the features.
    nhead : int
        How many heads the attention has.
    dim_feedforward : int
        The size between the linear layers.
    dropout : float
        Which part of the values training drops.
    activation : str or callable
        Between the linear layers: ``"relu"``, ``"gelu"`` or a function.
    layer_norm_eps : float
        Added to variances.
    batch_first : bool
        Whether tensors are (batch, length, size) rather than (length, batch, size).
    norm_first : bool
        Whether to normalise before attention and linear layers, rather than after the additions.
    bias : bool
        Whether there are biases.
    device, dtype
        Of the parameters.

    Examples
    --------
    >>> import vkml
    >>> layer = vkml.nn.TransformerEncoderLayer(8, nhead=2, dim_feedforward=16, batch_first=True)
    >>> layer(vkml.ones(2, 5, 8)).shape
    (2, 5, 8)
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout, bias, batch_first=batch_first, device=device, dtype=dtype
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias, device, dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, device, dtype)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = _activation(activation)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Return the layer's result; the masks are those of `MultiheadAttention`."""

        def attended(x: Tensor) -> Tensor:
            found, _ = self.self_attn(
                x, x, x, src_key_padding_mask, False, src_mask, is_causal=is_causal
            )
            result: Tensor = self.dropout1(found)
            return result

        def fed_forward(x: Tensor) -> Tensor:
            result: Tensor = self.dropout2(
                self.linear2(self.dropout(self.activation(self.linear1(x))))
            )
            return result

        if self.norm_first:
            x = src + attended(self.norm1(src))
            return x + fed_forward(self.norm2(x))
        x = self.norm1(src + attended(src))
        result: Tensor = self.norm2(x + fed_forward(x))
        return result


class TransformerEncoder(Module):
    """Copies of one encoder layer, one after the other.

    Parameters
    ----------
    encoder_layer : TransformerEncoderLayer
        Is copied, parameters and all: draw them anew where the copies should differ.
    num_layers : int
        How many copies.
    norm : Module, optional
        Comes last.
    """

    norm: Module | None

    def __init__(self, encoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = ModuleList(copy.deepcopy(encoder_layer) for _ in range(num_layers))
        self.num_layers = num_layers
        self.register_module("norm", norm)

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Return the result of the last layer."""
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, is_causal)
        return src if self.norm is None else self.norm(src)


def _activation(given: str | Activation) -> Activation:
    if callable(given):
        return given
    known: dict[str, Activation] = {"relu": functional.relu, "gelu": vkml.gelu}
    if given not in known:
        message = f"TransformerEncoderLayer: activation is {given!r}; choose 'relu' or 'gelu'."
        raise ArgumentError(message)
    return known[given]
