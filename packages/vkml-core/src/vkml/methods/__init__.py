"""The methods of a tensor that call a public function of the same name.

They reach it by name, so that nothing here imports an operation; the function's documentation says
what it does.
"""

from types import FunctionType

from vkml.methods.conversion import ConversionMethods
from vkml.methods.elementwise import ElementwiseMethods
from vkml.methods.in_place import InPlaceMethods
from vkml.methods.operators import OperatorMethods
from vkml.methods.shape import ShapeMethods

__all__ = ["TensorMethods"]


class TensorMethods(
    ElementwiseMethods, ShapeMethods, ConversionMethods, InPlaceMethods, OperatorMethods
):
    """Methods that are public functions with the tensor as their first argument."""

    __slots__ = ()


for _mixin in TensorMethods.__bases__:  # errors speak of the class that users know
    for _name, _method in vars(_mixin).items():
        if isinstance(_method, FunctionType):
            _method.__qualname__ = f"Tensor.{_name}"
