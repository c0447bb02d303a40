"""vkML: tensors and automatic differentiation on any vendor's GPU, and on the CPU.

Examples
--------
>>> import vkml
>>> x = vkml.tensor([1.0, 2.0, 3.0], requires_grad=True)
>>> (x * x).sum().backward()
>>> x.grad
tensor([2., 4., 6.])
"""

from importlib.metadata import version as _version
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from vkml import autograd, operators
from vkml.autograd.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from vkml.device import Device, available_devices, best_device, device
from vkml.doors import open_door as _open_door
from vkml.dtypes import (
    DType,
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
    uint16,
    uint32,
    uint64,
)
from vkml.dtypes import bool_ as bool
from vkml.errors import (
    ArgumentError,
    AutogradError,
    BackendError,
    DeviceError,
    DTypeError,
    IndexOutOfRangeError,
    ShapeError,
    UnsupportedOperationError,
    VkmlError,
)
from vkml.ops.activation import *
from vkml.ops.arithmetic import *
from vkml.ops.arranging import *
from vkml.ops.attention import *
from vkml.ops.batch_normalization import *
from vkml.ops.catalog import PUBLIC_NAMES as _PUBLIC_NAMES
from vkml.ops.comparison import *
from vkml.ops.conversion import *
from vkml.ops.convolution import *
from vkml.ops.creation import *
from vkml.ops.cross_entropy import *
from vkml.ops.dropout import *
from vkml.ops.einsum import *
from vkml.ops.embedding import *
from vkml.ops.exponential import *
from vkml.ops.extremes import *
from vkml.ops.from_data import *
from vkml.ops.group_normalization import *
from vkml.ops.indexing import *
from vkml.ops.joining import *
from vkml.ops.limits import *
from vkml.ops.linear_algebra import *
from vkml.ops.logic import *
from vkml.ops.loss import *
from vkml.ops.movement import *
from vkml.ops.normalization import *
from vkml.ops.padding import *
from vkml.ops.pooling import *
from vkml.ops.powers import *
from vkml.ops.product import *
from vkml.ops.random import *
from vkml.ops.reduction import *
from vkml.ops.rounding import *
from vkml.ops.sampling import *
from vkml.ops.selection import *
from vkml.ops.slicing import *
from vkml.ops.softmax import *
from vkml.ops.special import *
from vkml.ops.strided import *
from vkml.ops.trigonometric import *
from vkml.ops.variance import *
from vkml.random import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from vkml.saving import (
    Checkpoint,
    load,
    load_module,
    load_tensors,
    load_tree,
    save,
    save_module,
    save_tree,
)
from vkml.storage import Storage
from vkml.tensor import Parameter, Tensor

if _TYPE_CHECKING:
    from vkml import data, io, nn, optim

__all__ = [
    "ArgumentError",
    "AutogradError",
    "BackendError",
    "Checkpoint",
    "DType",
    "DTypeError",
    "Device",
    "DeviceError",
    "Generator",
    "IndexOutOfRangeError",
    "Parameter",
    "ShapeError",
    "Storage",
    "Tensor",
    "UnsupportedOperationError",
    "VkmlError",
    "autograd",
    "available_devices",
    "best_device",
    "bfloat16",
    "bool",
    "complex64",
    "complex128",
    "default_generator",
    "device",
    "enable_grad",
    "float16",
    "float32",
    "float64",
    "get_default_dtype",
    "get_rng_state",
    "inference_mode",
    "initial_seed",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_grad_enabled",
    "load",
    "load_module",
    "load_tensors",
    "load_tree",
    "manual_seed",
    "no_grad",
    "save",
    "save_module",
    "save_tree",
    "seed",
    "set_default_dtype",
    "set_grad_enabled",
    "set_rng_state",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    *_PUBLIC_NAMES,
]

__version__ = _version("vkml-core")

autograd.complete()
operators.install()


def __getattr__(name: str) -> _Any:
    return _open_door(name)
