"""The errors of vkML.

Each one is also the built-in error that fits, so ``except ValueError`` works as with NumPy::

    VkmlError
    ├── ShapeError (ValueError)               shapes, axes or sizes that do not fit
    ├── ArgumentError (ValueError)            any other argument with a wrong value
    ├── DTypeError (TypeError)                a dtype that the operation cannot take
    ├── IndexOutOfRangeError (IndexError)     an index outside its axis
    ├── DeviceError (RuntimeError)            a device that does not exist, or two that differ
    │   └── BackendError (DeviceError)        a backend that is missing, broken or too old
    ├── UnsupportedOperationError (NotImplementedError)   no kernel for this device or dtype
    └── AutogradError (RuntimeError)          a gradient that cannot be computed
"""

__all__ = [
    "ArgumentError",
    "AutogradError",
    "BackendError",
    "DTypeError",
    "DeviceError",
    "IndexOutOfRangeError",
    "ShapeError",
    "UnsupportedOperationError",
    "VkmlError",
]


class VkmlError(Exception):
    """The base of every error that vkML raises on purpose."""


class ShapeError(VkmlError, ValueError):
    """Shapes, axes or sizes do not fit together."""


class ArgumentError(VkmlError, ValueError):
    """An argument has a value that the function cannot work with."""


class DTypeError(VkmlError, TypeError):
    """A dtype does not fit the operation."""


class IndexOutOfRangeError(VkmlError, IndexError):
    """An index lies outside its axis."""


class DeviceError(VkmlError, RuntimeError):
    """A device does not exist, or two tensors lie on different ones."""


class BackendError(DeviceError):
    """A backend is missing, broken, or speaks another version of the interface."""


class UnsupportedOperationError(VkmlError, NotImplementedError):
    """A device has no kernel for this operation with these dtypes or options."""


class AutogradError(VkmlError, RuntimeError):
    """A gradient cannot be computed as asked."""
