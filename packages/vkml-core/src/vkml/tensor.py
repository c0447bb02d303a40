"""The tensor: a backend's operand, the device it lies on, and how it was computed."""

from __future__ import annotations

from typing import Any, Final

from numpy.typing import NDArray

from vkml import dtypes, shapes
from vkml.autograd.graph import Leaf, Node, Version, version_of
from vkml.autograd.tensor_gradient import GradientMethods
from vkml.autograd.views import ViewOf
from vkml.device import Device, device
from vkml.errors import ArgumentError, AutogradError, DeviceError, DTypeError, ShapeError
from vkml.methods import TensorMethods
from vkml.printing import describe
from vkml.storage import Storage
from vkml.tensor_entry import TensorEntry

_new: Final = object.__new__


class Tensor(GradientMethods, TensorMethods):
    """An array on a device that knows how it was computed.

    Tensors are made by `vkml.tensor`, `vkml.zeros` and the other creation functions.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """

    __slots__ = ("__weakref__", "_device", "_node", "_operand", "_version", "_view")

    _operand: Any
    """The backend's array."""
    _device: Device
    _node: Node | Leaf | None
    """Where the gradient goes; None for a tensor that needs none."""
    _version: Version | None
    """Shared by all tensors on the same memory; made when first needed, see `version_of`."""
    _view: ViewOf | None

    __array_priority__ = 1000  # NumPy leaves ``array * tensor`` to the tensor
    __hash__ = object.__hash__

    def __init__(self, *_: object, **__: object) -> None:
        message = "make tensors with vkml.tensor(data), vkml.zeros(shape) or vkml.from_numpy(array)"
        raise TypeError(message)

    # what it is ------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        shape: tuple[int, ...] = self._operand.shape
        return shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._operand.shape)

    @property
    def dtype(self) -> dtypes.DType:
        """The data type of the elements."""
        return dtypes.of(self._operand.dtype)

    @property
    def device(self) -> Device:
        """The device that the elements lie on."""
        return self._device

    @property
    def operand(self) -> Any:
        """The backend's own array, for code that extends vkML."""
        return self._operand

    def dim(self) -> int:
        """Return the number of axes."""
        return len(self._operand.shape)

    def size(self, dim: int | None = None) -> Any:
        """Return the shape, or the size of axis `dim`."""
        shape = self._operand.shape
        return shape if dim is None else shape[shapes.existing_axis(dim, len(shape))]

    def numel(self) -> int:
        """Return the number of elements."""
        count = 1
        for size in self._operand.shape:
            count *= size
        return count

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self.dtype.itemsize

    def element_size(self) -> int:
        """Return the bytes per element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.numel() * self.dtype.itemsize

    def stride(self, dim: int | None = None) -> Any:
        """Return how many elements one step along each axis (or `dim`) skips in memory."""
        strides = self._layout().strides
        return strides if dim is None else strides[shapes.existing_axis(dim, len(strides))]

    def storage_offset(self) -> int:
        """Return where in its storage the first element lies, in elements."""
        offset: int = self._layout().offset
        return offset

    def storage(self) -> Storage:
        """Return the memory that this tensor and its views share."""
        return Storage(self)

    untyped_storage = storage

    def is_contiguous(self) -> bool:
        """Return whether the elements lie in C order without gaps."""
        return shapes.is_contiguous(self.shape, self._layout().strides)

    def _layout(self) -> Any:
        return self._device.handle.layout(self._placed())

    def _placed(self) -> Any:
        """Return the operand, with storage for sure (kernels may return rank-0 plain values)."""
        self._operand = operand = self._device.handle.place(self._operand)
        return operand

    # its values ------------------------------------------------------------------------

    def numpy(self, *, force: bool = False) -> NDArray[Any]:
        """Return the values as a NumPy array; on the CPU it shares the tensor's memory.

        Parameters
        ----------
        force : bool
            Detach a tensor that requires a gradient and fetch it from another device, instead of
            raising.

        Raises
        ------
        AutogradError
            The tensor requires a gradient, which would be lost: ``x.detach().numpy()``.
        DeviceError
            The tensor lies on another device: ``x.cpu().numpy()``.
        """
        if not force:
            if self._node is not None:
                message = "numpy: this tensor requires a gradient; call x.detach().numpy()."
                raise AutogradError(message)
            if self._device.type != "cpu":
                message = f"numpy: this tensor lies on {self._device}; call x.cpu().numpy()."
                raise DeviceError(message)
        return self._download()

    def _download(self) -> NDArray[Any]:
        array: NDArray[Any] = self._device.handle.download(self._placed())
        return array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ArgumentError(f"converting {array.dtype} to {dtype} needs a copy.")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(self, **options: Any) -> Any:
        return self.numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.numpy().__dlpack_device__()

    def __vkml_entry__(self) -> TensorEntry:
        """Return how `vkml.save` reads this tensor, whatever its device."""
        return TensorEntry(self)

    def item(self) -> Any:
        """Return the one element as a Python number.

        Raises
        ------
        ShapeError
            The tensor holds more or fewer elements than one.
        """
        if self.numel() != 1:
            message = f"item: this tensor has shape {self.shape}; only one element makes a number."
            raise ShapeError(message)
        return self._download().item()

    def tolist(self) -> Any:
        """Return the values as nested lists of Python numbers."""
        return self._download().tolist()

    def __bool__(self) -> bool:
        if self.numel() != 1:
            message = (
                f"bool: the truth of a tensor of shape {self.shape} is not clear; "
                "use x.any() or x.all()."
            )
            raise ShapeError(message)
        return bool(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self.dtype.is_floating_point or self.dtype.is_complex:
            raise TypeError(f"a tensor of {self.dtype} cannot be an index; use an integer dtype.")
        return int(self.item())

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a rank-0 tensor has no length.")
        return self.shape[0]

    def __repr__(self) -> str:
        return describe(self)

    def __format__(self, spec: str) -> str:
        # As in PyTorch: f"{loss}" is the number, f"{weights}" the text with "tensor(...)".
        plain_number = self.ndim == 0 and type(self) is Tensor and self._device.type != "meta"
        return format(self.item(), spec) if spec or plain_number else repr(self)

    # without its history --------------------------------------------------------------

    def detach(self) -> Tensor:
        """Return a tensor on the same memory that knows nothing of its history."""
        return wrap(self._placed(), self._device, None, version_of(self))

    def detach_(self) -> Tensor:
        """Forget this tensor's history, and return it."""
        self._node = None
        return self

    @property
    def data(self) -> Tensor:
        """The same memory without history, as `detach`."""
        return self.detach()

    # where it lies -----------------------------------------------------------------------

    def cpu(self) -> Tensor:
        """Return this tensor on the CPU."""
        return self.to("cpu")

    def set_(self, source: Tensor) -> Tensor:
        """Make this tensor show the memory of `source`, keeping its identity, and return it.

        Raises
        ------
        AutogradError
            The tensor is the result of a recorded operation.
        """
        if isinstance(self._node, Node):
            raise AutogradError(
                "set_: this is the result of a recorded operation; detach it first."
            )
        self._operand = source._placed()
        self._device = source._device
        self._version = version_of(source)
        self._view = None
        if self._node is not None:
            self._node.device = source._device
            self._node.dtype = source._operand.dtype
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if isinstance(self._node, Node):
            message = "deepcopy: this is the result of an operation; call x.detach().clone()."
            raise AutogradError(message)
        found: Tensor | None = memo.get(id(self))
        if found is None:
            found = self._like(self.detach().clone())
            memo[id(self)] = found
            if self.grad is not None:
                found.grad = self.grad.detach().clone()
        return found

    def _like(self, copied: Tensor) -> Tensor:
        """Return `copied` as the kind of tensor that this one is."""
        result: Tensor = _new(type(self))
        result._operand, result._device = copied._operand, copied._device
        result._version, result._view = copied._version, None
        result._node = None
        return result.requires_grad_(self.requires_grad)

    def __reduce__(self) -> Any:
        if isinstance(self._node, Node):
            message = "pickle: this is the result of an operation; pickle x.detach()."
            raise AutogradError(message)
        values = self._download()
        return _rebuilt, (type(self), values, str(self._device), self.requires_grad)


def wrap(
    operand: Any, device: Device, node: Node | Leaf | None = None, version: Version | None = None
) -> Tensor:
    """Return a tensor on `operand`. The one way in which core makes tensors."""
    result: Tensor = _new(Tensor)
    result._operand = operand
    result._device = device
    result._node = node
    result._version = version
    result._view = None
    return result


def _rebuilt(
    kind: type[Tensor], values: NDArray[Any], device_name: str, requires_grad: bool
) -> Tensor:
    destination = device(device_name)
    plain = wrap(destination.handle.upload(values), destination)
    return (kind(plain) if kind is not Tensor else plain).requires_grad_(requires_grad)


class Parameter(Tensor):
    """A tensor that a module learns: it requires a gradient, and modules find it by its type.

    Parameters
    ----------
    data : Tensor
        The values; memory is shared with it.
    requires_grad : bool
        Whether it is trained.

    Examples
    --------
    >>> import vkml
    >>> vkml.Parameter(vkml.zeros(2))
    Parameter containing:
    tensor([0., 0.], requires_grad=True)
    """

    __slots__ = ()

    def __new__(cls, data: Tensor, requires_grad: bool = True) -> Parameter:  # noqa: D102
        result: Parameter = _new(cls)
        try:
            result._operand = data._placed()
        except AttributeError:
            message = f"Parameter: expected a tensor, got {type(data).__name__}; use vkml.tensor."
            raise DTypeError(message) from None
        result._device = data._device
        result._node = None
        result._version = version_of(data)
        result._view = None
        result.requires_grad_(requires_grad)
        return result

    def __init__(self, data: Tensor, requires_grad: bool = True) -> None:
        pass

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()
