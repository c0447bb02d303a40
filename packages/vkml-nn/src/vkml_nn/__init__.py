"""Modules, losses, optimisers and data loading for vkML, under PyTorch's names.

Users reach all of it through core: ``vkml.nn``, ``vkml.nn.functional``, ``vkml.optim``,
``vkml.data``.

Examples
--------
>>> import vkml
>>> model = vkml.nn.Sequential(vkml.nn.Linear(2, 4), vkml.nn.ReLU(), vkml.nn.Linear(4, 1))
>>> optimizer = vkml.optim.AdamW(model.parameters(), lr=0.01)
>>> loss = vkml.nn.MSELoss()(model(vkml.zeros(8, 2)), vkml.ones(8, 1))
>>> loss.backward()
>>> optimizer.step()
"""

from importlib.metadata import version as _version

from vkml import Parameter
from vkml_nn import init, utils
from vkml_nn.containers import (
    ModuleDict,
    ModuleList,
    ParameterDict,
    ParameterList,
    Sequential,
)
from vkml_nn.errors import StateDictError, WorkerError
from vkml_nn.layers.activation import (
    ELU,
    GELU,
    LeakyReLU,
    LogSoftmax,
    ReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
)
from vkml_nn.layers.attention import MultiheadAttention
from vkml_nn.layers.convolution import Conv1d, Conv2d
from vkml_nn.layers.dropout import Dropout, Dropout1d, Dropout2d
from vkml_nn.layers.embedding import Embedding
from vkml_nn.layers.linear import Identity, Linear
from vkml_nn.layers.normalization import (
    BatchNorm1d,
    BatchNorm2d,
    GroupNorm,
    LayerNorm,
    RMSNorm,
)
from vkml_nn.layers.pooling import AdaptiveAvgPool2d, AvgPool2d, MaxPool2d
from vkml_nn.layers.shape import Flatten, Unflatten
from vkml_nn.layers.transformer import TransformerEncoder, TransformerEncoderLayer
from vkml_nn.losses import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
)
from vkml_nn.module import Module

__all__ = [
    "ELU", "GELU", "AdaptiveAvgPool2d", "AvgPool2d", "BCELoss", "BCEWithLogitsLoss", "BatchNorm1d",
    "BatchNorm2d", "Conv1d", "Conv2d", "CrossEntropyLoss", "Dropout", "Dropout1d", "Dropout2d",
    "Embedding", "Flatten", "GroupNorm", "HuberLoss", "Identity", "KLDivLoss", "L1Loss",
    "LayerNorm", "LeakyReLU", "Linear", "LogSoftmax", "MSELoss", "MaxPool2d", "Module",
    "ModuleDict", "ModuleList", "MultiheadAttention", "NLLLoss", "Parameter", "ParameterDict",
    "ParameterList", "RMSNorm", "ReLU", "Sequential", "SiLU", "Sigmoid", "SmoothL1Loss", "Softmax",
    "Softplus", "StateDictError", "Tanh", "TransformerEncoder", "TransformerEncoderLayer",
    "Unflatten", "WorkerError", "init", "utils",
]  # fmt: skip

__version__ = _version("vkml-nn")
