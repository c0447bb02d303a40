"""The methods of a tensor that call a public function of the same name.

They reach it by name, so that this module imports no operation; the function's documentation says
what it does. The arithmetic operators are replaced by faster ones in `vkml.operators`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from vkml.ops.functions import FUNCTIONS

if TYPE_CHECKING:
    from vkml.device import DeviceLike
    from vkml.dtypes import DTypeLike, Number
    from vkml.tensor import Tensor

Operand: TypeAlias = "Tensor | Number"
Dims: TypeAlias = "int | Sequence[int] | None"


def _call(name: str, *arguments: Any, **options: Any) -> Any:
    return FUNCTIONS[name](*arguments, **options)


class TensorMethods:
    """Methods that are public functions with the tensor as their first argument."""

    __slots__ = ()

    # arithmetic -----------------------------------------------------------------------

    def add(self, other: Operand, *, alpha: Number = 1) -> Tensor:
        """See `vkml.add`."""
        return _call("add", self, other, alpha=alpha)

    def sub(self, other: Operand, *, alpha: Number = 1) -> Tensor:
        """See `vkml.sub`."""
        return _call("sub", self, other, alpha=alpha)

    def mul(self, other: Operand) -> Tensor:
        """See `vkml.mul`."""
        return _call("mul", self, other)

    def div(self, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
        """See `vkml.div`."""
        return _call("div", self, other, rounding_mode=rounding_mode)

    def pow(self, exponent: Operand) -> Tensor:
        """See `vkml.pow`."""
        return _call("pow", self, exponent)

    def maximum(self, other: Operand) -> Tensor:
        """See `vkml.maximum`."""
        return _call("maximum", self, other)

    def minimum(self, other: Operand) -> Tensor:
        """See `vkml.minimum`."""
        return _call("minimum", self, other)

    def floor_divide(self, other: Operand) -> Tensor:
        """See `vkml.floor_divide`."""
        return _call("floor_divide", self, other)

    def remainder(self, other: Operand) -> Tensor:
        """See `vkml.remainder`."""
        return _call("remainder", self, other)

    def clamp(self, min: Operand | None = None, max: Operand | None = None) -> Tensor:
        """See `vkml.clamp`."""
        return _call("clamp", self, min, max)

    def lerp(self, end: Tensor, weight: Operand) -> Tensor:
        """See `vkml.lerp`."""
        return _call("lerp", self, end, weight)

    def neg(self) -> Tensor:
        """See `vkml.neg`."""
        return _call("neg", self)

    def abs(self) -> Tensor:
        """See `vkml.abs`."""
        return _call("abs", self)

    def sign(self) -> Tensor:
        """See `vkml.sign`."""
        return _call("sign", self)

    def reciprocal(self) -> Tensor:
        """See `vkml.reciprocal`."""
        return _call("reciprocal", self)

    def square(self) -> Tensor:
        """See `vkml.square`."""
        return _call("square", self)

    def floor(self) -> Tensor:
        """See `vkml.floor`."""
        return _call("floor", self)

    def ceil(self) -> Tensor:
        """See `vkml.ceil`."""
        return _call("ceil", self)

    def round(self) -> Tensor:
        """See `vkml.round`."""
        return _call("round", self)

    def trunc(self) -> Tensor:
        """See `vkml.trunc`."""
        return _call("trunc", self)

    # exponential, trigonometric, special ----------------------------------------------

    def exp(self) -> Tensor:
        """See `vkml.exp`."""
        return _call("exp", self)

    def log(self) -> Tensor:
        """See `vkml.log`."""
        return _call("log", self)

    def sqrt(self) -> Tensor:
        """See `vkml.sqrt`."""
        return _call("sqrt", self)

    def rsqrt(self) -> Tensor:
        """See `vkml.rsqrt`."""
        return _call("rsqrt", self)

    def expm1(self) -> Tensor:
        """See `vkml.expm1`."""
        return _call("expm1", self)

    def log1p(self) -> Tensor:
        """See `vkml.log1p`."""
        return _call("log1p", self)

    def exp2(self) -> Tensor:
        """See `vkml.exp2`."""
        return _call("exp2", self)

    def log2(self) -> Tensor:
        """See `vkml.log2`."""
        return _call("log2", self)

    def log10(self) -> Tensor:
        """See `vkml.log10`."""
        return _call("log10", self)

    def sin(self) -> Tensor:
        """See `vkml.sin`."""
        return _call("sin", self)

    def cos(self) -> Tensor:
        """See `vkml.cos`."""
        return _call("cos", self)

    def tan(self) -> Tensor:
        """See `vkml.tan`."""
        return _call("tan", self)

    def sinh(self) -> Tensor:
        """See `vkml.sinh`."""
        return _call("sinh", self)

    def cosh(self) -> Tensor:
        """See `vkml.cosh`."""
        return _call("cosh", self)

    def tanh(self) -> Tensor:
        """See `vkml.tanh`."""
        return _call("tanh", self)

    def asin(self) -> Tensor:
        """See `vkml.asin`."""
        return _call("asin", self)

    def acos(self) -> Tensor:
        """See `vkml.acos`."""
        return _call("acos", self)

    def atan(self) -> Tensor:
        """See `vkml.atan`."""
        return _call("atan", self)

    def erf(self) -> Tensor:
        """See `vkml.erf`."""
        return _call("erf", self)

    def erfc(self) -> Tensor:
        """See `vkml.erfc`."""
        return _call("erfc", self)

    # activations ----------------------------------------------------------------------

    def relu(self) -> Tensor:
        """See `vkml.relu`."""
        return _call("relu", self)

    def sigmoid(self) -> Tensor:
        """See `vkml.sigmoid`."""
        return _call("sigmoid", self)

    def softmax(self, dim: int) -> Tensor:
        """See `vkml.softmax`."""
        return _call("softmax", self, dim)

    def log_softmax(self, dim: int) -> Tensor:
        """See `vkml.log_softmax`."""
        return _call("log_softmax", self, dim)

    # comparison and logic -------------------------------------------------------------

    def eq(self, other: Operand) -> Tensor:
        """See `vkml.eq`."""
        return _call("eq", self, other)

    def ne(self, other: Operand) -> Tensor:
        """See `vkml.ne`."""
        return _call("ne", self, other)

    def lt(self, other: Operand) -> Tensor:
        """See `vkml.lt`."""
        return _call("lt", self, other)

    def le(self, other: Operand) -> Tensor:
        """See `vkml.le`."""
        return _call("le", self, other)

    def gt(self, other: Operand) -> Tensor:
        """See `vkml.gt`."""
        return _call("gt", self, other)

    def ge(self, other: Operand) -> Tensor:
        """See `vkml.ge`."""
        return _call("ge", self, other)

    def logical_and(self, other: Operand) -> Tensor:
        """See `vkml.logical_and`."""
        return _call("logical_and", self, other)

    def logical_or(self, other: Operand) -> Tensor:
        """See `vkml.logical_or`."""
        return _call("logical_or", self, other)

    def logical_xor(self, other: Operand) -> Tensor:
        """See `vkml.logical_xor`."""
        return _call("logical_xor", self, other)

    def logical_not(self) -> Tensor:
        """See `vkml.logical_not`."""
        return _call("logical_not", self)

    def isnan(self) -> Tensor:
        """See `vkml.isnan`."""
        return _call("isnan", self)

    def isinf(self) -> Tensor:
        """See `vkml.isinf`."""
        return _call("isinf", self)

    def isfinite(self) -> Tensor:
        """See `vkml.isfinite`."""
        return _call("isfinite", self)

    def where(self, condition: Tensor, other: Operand) -> Tensor:
        """See `vkml.where`."""
        return _call("where", condition, self, other)

    # reduction ------------------------------------------------------------------------

    def sum(self, dim: Dims = None, keepdim: bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
        """See `vkml.sum`."""
        return _call("sum", self, dim, keepdim, dtype=dtype)

    def mean(self, dim: Dims = None, keepdim: bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
        """See `vkml.mean`."""
        return _call("mean", self, dim, keepdim, dtype=dtype)

    def prod(self, dim: Dims = None, keepdim: bool = False) -> Tensor:
        """See `vkml.prod`."""
        return _call("prod", self, dim, keepdim)

    def amax(self, dim: Dims = None, keepdim: bool = False) -> Tensor:
        """See `vkml.amax`."""
        return _call("amax", self, dim, keepdim)

    def amin(self, dim: Dims = None, keepdim: bool = False) -> Tensor:
        """See `vkml.amin`."""
        return _call("amin", self, dim, keepdim)

    def max(self, dim: int | Tensor | None = None, keepdim: bool = False) -> Any:
        """See `vkml.max`."""
        return _call("max", self, dim, keepdim)

    def min(self, dim: int | Tensor | None = None, keepdim: bool = False) -> Any:
        """See `vkml.min`."""
        return _call("min", self, dim, keepdim)

    def argmax(self, dim: int | None = None, keepdim: bool = False) -> Tensor:
        """See `vkml.argmax`."""
        return _call("argmax", self, dim, keepdim)

    def argmin(self, dim: int | None = None, keepdim: bool = False) -> Tensor:
        """See `vkml.argmin`."""
        return _call("argmin", self, dim, keepdim)

    def any(self, dim: Dims = None, keepdim: bool = False) -> Tensor:
        """See `vkml.any`."""
        return _call("any", self, dim, keepdim)

    def all(self, dim: Dims = None, keepdim: bool = False) -> Tensor:
        """See `vkml.all`."""
        return _call("all", self, dim, keepdim)

    def var(self, dim: Dims = None, *, correction: float = 1, keepdim: bool = False) -> Tensor:
        """See `vkml.var`."""
        return _call("var", self, dim, correction=correction, keepdim=keepdim)

    def std(self, dim: Dims = None, *, correction: float = 1, keepdim: bool = False) -> Tensor:
        """See `vkml.std`."""
        return _call("std", self, dim, correction=correction, keepdim=keepdim)

    def logsumexp(self, dim: Dims, keepdim: bool = False) -> Tensor:
        """See `vkml.logsumexp`."""
        return _call("logsumexp", self, dim, keepdim)

    def cumsum(self, dim: int) -> Tensor:
        """See `vkml.cumsum`."""
        return _call("cumsum", self, dim)

    # movement -------------------------------------------------------------------------

    def reshape(self, *shape: Any) -> Tensor:
        """See `vkml.reshape`."""
        return _call("reshape", self, *shape)

    def view(self, *shape: Any) -> Tensor:
        """See `vkml.view`."""
        return _call("view", self, *shape)

    def permute(self, *dims: Any) -> Tensor:
        """See `vkml.permute`."""
        return _call("permute", self, *dims)

    def transpose(self, dim0: int, dim1: int) -> Tensor:
        """See `vkml.transpose`."""
        return _call("transpose", self, dim0, dim1)

    def expand(self, *sizes: Any) -> Tensor:
        """See `vkml.expand`."""
        return _call("expand", self, *sizes)

    def broadcast_to(self, shape: Sequence[int]) -> Tensor:
        """See `vkml.broadcast_to`."""
        return _call("broadcast_to", self, shape)

    def squeeze(self, dim: Dims = None) -> Tensor:
        """See `vkml.squeeze`."""
        return _call("squeeze", self, dim)

    def unsqueeze(self, dim: int) -> Tensor:
        """See `vkml.unsqueeze`."""
        return _call("unsqueeze", self, dim)

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Tensor:
        """See `vkml.flatten`."""
        return _call("flatten", self, start_dim, end_dim)

    def unflatten(self, dim: int, sizes: Sequence[int]) -> Tensor:
        """See `vkml.unflatten`."""
        return _call("unflatten", self, dim, sizes)

    def contiguous(self) -> Tensor:
        """See `vkml.contiguous`."""
        return _call("contiguous", self)

    def clone(self) -> Tensor:
        """See `vkml.clone`."""
        return _call("clone", self)

    def split(self, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
        """See `vkml.split`."""
        return _call("split", self, split_size, dim)

    def chunk(self, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
        """See `vkml.chunk`."""
        return _call("chunk", self, chunks, dim)

    def unbind(self, dim: int = 0) -> tuple[Tensor, ...]:
        """See `vkml.unbind`."""
        return _call("unbind", self, dim)

    def flip(self, *dims: Any) -> Tensor:
        """See `vkml.flip`."""
        return _call("flip", self, *dims)

    def repeat(self, *repeats: Any) -> Tensor:
        """See `vkml.repeat`."""
        return _call("repeat", self, *repeats)

    def tril(self, diagonal: int = 0) -> Tensor:
        """See `vkml.tril`."""
        return _call("tril", self, diagonal)

    def triu(self, diagonal: int = 0) -> Tensor:
        """See `vkml.triu`."""
        return _call("triu", self, diagonal)

    def as_strided(self, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
        """See `vkml.as_strided`."""
        return _call("as_strided", self, size, stride, storage_offset)

    # indexing -------------------------------------------------------------------------

    def index_select(self, dim: int, index: Tensor) -> Tensor:
        """See `vkml.index_select`."""
        return _call("index_select", self, dim, index)

    def gather(self, dim: int, index: Tensor) -> Tensor:
        """See `vkml.gather`."""
        return _call("gather", self, dim, index)

    def scatter_add(self, dim: int, index: Tensor, src: Tensor) -> Tensor:
        """See `vkml.scatter_add`."""
        return _call("scatter_add", self, dim, index, src)

    def index_add(self, dim: int, index: Tensor, source: Tensor) -> Tensor:
        """See `vkml.index_add`."""
        return _call("index_add", self, dim, index, source)

    def masked_fill(self, mask: Tensor, value: Operand) -> Tensor:
        """See `vkml.masked_fill`."""
        return _call("masked_fill", self, mask, value)

    # linear algebra -------------------------------------------------------------------

    def matmul(self, other: Tensor) -> Tensor:
        """See `vkml.matmul`."""
        return _call("matmul", self, other)

    def bmm(self, other: Tensor) -> Tensor:
        """See `vkml.bmm`."""
        return _call("bmm", self, other)

    # conversion -----------------------------------------------------------------------

    def to(self, *target: Any, dtype: DTypeLike | None = None, device: DeviceLike | None = None, copy: bool = False) -> Tensor:
        """See `vkml.to`."""
        return _call("to", self, *target, dtype=dtype, device=device, copy=copy)

    # in place ---------------------------------------------------------------------------

    def add_(self, other: Operand, *, alpha: Number = 1) -> Tensor:
        """Write `vkml.add` of this tensor into it and return it."""
        return _call("add_", self, other, alpha=alpha)

    def sub_(self, other: Operand, *, alpha: Number = 1) -> Tensor:
        """Write `vkml.sub` of this tensor into it and return it."""
        return _call("sub_", self, other, alpha=alpha)

    def mul_(self, other: Operand) -> Tensor:
        """Write `vkml.mul` of this tensor into it and return it."""
        return _call("mul_", self, other)

    def div_(self, other: Operand) -> Tensor:
        """Write `vkml.div` of this tensor into it and return it."""
        return _call("div_", self, other)

    def pow_(self, exponent: Operand) -> Tensor:
        """Write `vkml.pow` of this tensor into it and return it."""
        return _call("pow_", self, exponent)

    def clamp_(self, min: Operand | None = None, max: Operand | None = None) -> Tensor:
        """Write `vkml.clamp` of this tensor into it and return it."""
        return _call("clamp_", self, min, max)

    def copy_(self, source: Any) -> Tensor:
        """Write `vkml.copy` of this tensor into it and return it."""
        return _call("copy_", self, source)

    def fill_(self, value: Operand) -> Tensor:
        """Write `vkml.fill` of this tensor into it and return it."""
        return _call("fill_", self, value)

    def masked_fill_(self, mask: Tensor, value: Operand) -> Tensor:
        """Write `vkml.masked_fill` of this tensor into it and return it."""
        return _call("masked_fill_", self, mask, value)

    def index_add_(self, dim: int, index: Tensor, source: Tensor) -> Tensor:
        """Write `vkml.index_add` of this tensor into it and return it."""
        return _call("index_add_", self, dim, index, source)

    def lerp_(self, end: Tensor, weight: Operand) -> Tensor:
        """Write `vkml.lerp` of this tensor into it and return it."""
        return _call("lerp_", self, end, weight)

    def zero_(self) -> Tensor:
        """Write the result into this tensor and return it."""
        return _call("zero_", self)

    def neg_(self) -> Tensor:
        """Write the result into this tensor and return it."""
        return _call("neg_", self)

    def abs_(self) -> Tensor:
        """Write the result into this tensor and return it."""
        return _call("abs_", self)

    def exp_(self) -> Tensor:
        """Write the result into this tensor and return it."""
        return _call("exp_", self)

    def sqrt_(self) -> Tensor:
        """Write the result into this tensor and return it."""
        return _call("sqrt_", self)

    def relu_(self) -> Tensor:
        """Write the result into this tensor and return it."""
        return _call("relu_", self)

    def sigmoid_(self) -> Tensor:
        """Write the result into this tensor and return it."""
        return _call("sigmoid_", self)

    def tanh_(self) -> Tensor:
        """Write the result into this tensor and return it."""
        return _call("tanh_", self)

    def reciprocal_(self) -> Tensor:
        """Write the result into this tensor and return it."""
        return _call("reciprocal_", self)

    def square_(self) -> Tensor:
        """Write the result into this tensor and return it."""
        return _call("square_", self)

    def uniform_(self, low: float = 0.0, high: float = 1.0, *, generator: Any = None) -> Tensor:
        """Fill this tensor with random numbers and return it."""
        return _call("uniform_", self, low, high, generator=generator)

    def normal_(self, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
        """Fill this tensor with random numbers and return it."""
        return _call("normal_", self, mean, std, generator=generator)

    # shorthands -------------------------------------------------------------------------

    def float(self) -> Tensor:
        """Return this tensor as float32."""
        return _call("to", self, dtype="float32")

    def double(self) -> Tensor:
        """Return this tensor as float64."""
        return _call("to", self, dtype="float64")

    def half(self) -> Tensor:
        """Return this tensor as float16."""
        return _call("to", self, dtype="float16")

    def bfloat16(self) -> Tensor:
        """Return this tensor as bfloat16."""
        return _call("to", self, dtype="bfloat16")

    def int(self) -> Tensor:
        """Return this tensor as int32."""
        return _call("to", self, dtype="int32")

    def long(self) -> Tensor:
        """Return this tensor as int64."""
        return _call("to", self, dtype="int64")

    def bool(self) -> Tensor:
        """Return this tensor as bool."""
        return _call("to", self, dtype="bool")

    @property
    def T(self) -> Tensor:  # noqa: N802 - the field's name
        """This tensor with its axes in reverse order; for matrices, the transpose."""
        return _call("permute", self, tuple(range(self.ndim))[::-1])  # type: ignore[attr-defined]  # Tensor has ndim

    @property
    def mT(self) -> Tensor:  # noqa: N802 - the field's name
        """This tensor with its last two axes swapped."""
        return self.transpose(-2, -1)

    def t(self) -> Tensor:
        """Return the transpose of a matrix."""
        return self.T

    def reshape_as(self, other: Tensor) -> Tensor:
        """Return this tensor in the shape of `other`."""
        return self.reshape(other.shape)

    def expand_as(self, other: Tensor) -> Tensor:
        """Return this tensor broadcast to the shape of `other`."""
        return self.expand(other.shape)

    def type_as(self, other: Tensor) -> Tensor:
        """Return this tensor with the dtype of `other`."""
        return self.to(dtype=other.dtype)

    def clamp_min(self, min: Operand) -> Tensor:  # noqa: A002 - PyTorch's name
        """Return this tensor with values under `min` raised to it."""
        return self.clamp(min, None)

    def clamp_max(self, max: Operand) -> Tensor:  # noqa: A002 - PyTorch's name
        """Return this tensor with values over `max` lowered to it."""
        return self.clamp(None, max)

    # operators --------------------------------------------------------------------------

    def __add__(self, other: Operand) -> Tensor:
        return _call("add", self, other)

    def __radd__(self, other: Operand) -> Tensor:
        return _call("add", other, self)

    def __sub__(self, other: Operand) -> Tensor:
        return _call("sub", self, other)

    def __rsub__(self, other: Operand) -> Tensor:
        return _call("sub", other, self)

    def __mul__(self, other: Operand) -> Tensor:
        return _call("mul", self, other)

    def __rmul__(self, other: Operand) -> Tensor:
        return _call("mul", other, self)

    def __truediv__(self, other: Operand) -> Tensor:
        return _call("div", self, other)

    def __rtruediv__(self, other: Operand) -> Tensor:
        return _call("div", other, self)

    def __floordiv__(self, other: Operand) -> Tensor:
        return _call("floor_divide", self, other)

    def __rfloordiv__(self, other: Operand) -> Tensor:
        return _call("floor_divide", other, self)

    def __mod__(self, other: Operand) -> Tensor:
        return _call("remainder", self, other)

    def __rmod__(self, other: Operand) -> Tensor:
        return _call("remainder", other, self)

    def __pow__(self, other: Operand) -> Tensor:
        return _call("pow", self, other)

    def __rpow__(self, other: Operand) -> Tensor:
        return _call("pow", other, self)

    def __matmul__(self, other: Operand) -> Tensor:
        return _call("matmul", self, other)

    def __rmatmul__(self, other: Operand) -> Tensor:
        return _call("matmul", other, self)

    def __and__(self, other: Operand) -> Tensor:
        return _call("bitwise_and", self, other)

    def __or__(self, other: Operand) -> Tensor:
        return _call("bitwise_or", self, other)

    def __xor__(self, other: Operand) -> Tensor:
        return _call("bitwise_xor", self, other)

    def __invert__(self) -> Tensor:
        return _call("bitwise_not", self)

    def __lt__(self, other: Operand) -> Tensor:
        return _call("lt", self, other)

    def __le__(self, other: Operand) -> Tensor:
        return _call("le", self, other)

    def __gt__(self, other: Operand) -> Tensor:
        return _call("gt", self, other)

    def __ge__(self, other: Operand) -> Tensor:
        return _call("ge", self, other)

    def __eq__(self, other: object) -> Tensor:  # type: ignore[override]  # elementwise, as in NumPy
        return _call("eq", self, other)

    def __ne__(self, other: object) -> Tensor:  # type: ignore[override]  # elementwise, as in NumPy
        return _call("ne", self, other)

    def __neg__(self) -> Tensor:
        return _call("neg", self)

    def __pos__(self) -> Tensor:
        return self  # type: ignore[return-value]  # every user of the mixin is a Tensor

    def __abs__(self) -> Tensor:
        return _call("abs", self)

    def __iadd__(self, other: Operand) -> Tensor:
        return _call("add_", self, other)

    def __isub__(self, other: Operand) -> Tensor:
        return _call("sub_", self, other)

    def __imul__(self, other: Operand) -> Tensor:
        return _call("mul_", self, other)

    def __itruediv__(self, other: Operand) -> Tensor:
        return _call("div_", self, other)

    def __ipow__(self, other: Operand) -> Tensor:
        return _call("pow_", self, other)

    def __getitem__(self, index: Any) -> Tensor:
        return _call("getitem", self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        _call("setitem", self, index, value)

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.unbind(0))

    def __contains__(self, value: Operand) -> bool:
        return bool((self == value).any().item())
