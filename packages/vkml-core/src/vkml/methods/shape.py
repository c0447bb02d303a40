"""Methods that reduce, rearrange and pick elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vkml.ops.functions import call

if TYPE_CHECKING:
    from vkml.dtypes import DTypeLike, Number
    from vkml.methods.types import Dims, Operand
    from vkml.tensor import Tensor


class ShapeMethods:
    """Methods that reduce, rearrange and pick elements."""

    __slots__ = ()

    # reduction ------------------------------------------------------------------------

    def sum(
        self, dim: Dims = None, keepdim: bool = False, *, dtype: DTypeLike | None = None
    ) -> Tensor:
        """See `vkml.sum`."""
        return call("sum", self, dim, keepdim, dtype=dtype)

    def mean(
        self, dim: Dims = None, keepdim: bool = False, *, dtype: DTypeLike | None = None
    ) -> Tensor:
        """See `vkml.mean`."""
        return call("mean", self, dim, keepdim, dtype=dtype)

    def prod(self, dim: Dims = None, keepdim: bool = False) -> Tensor:
        """See `vkml.prod`."""
        return call("prod", self, dim, keepdim)

    def amax(self, dim: Dims = None, keepdim: bool = False) -> Tensor:
        """See `vkml.amax`."""
        return call("amax", self, dim, keepdim)

    def amin(self, dim: Dims = None, keepdim: bool = False) -> Tensor:
        """See `vkml.amin`."""
        return call("amin", self, dim, keepdim)

    def max(self, dim: int | Tensor | None = None, keepdim: bool = False) -> Any:
        """See `vkml.max`."""
        return call("max", self, dim, keepdim)

    def min(self, dim: int | Tensor | None = None, keepdim: bool = False) -> Any:
        """See `vkml.min`."""
        return call("min", self, dim, keepdim)

    def argmax(self, dim: int | None = None, keepdim: bool = False) -> Tensor:
        """See `vkml.argmax`."""
        return call("argmax", self, dim, keepdim)

    def argmin(self, dim: int | None = None, keepdim: bool = False) -> Tensor:
        """See `vkml.argmin`."""
        return call("argmin", self, dim, keepdim)

    def any(self, dim: Dims = None, keepdim: bool = False) -> Tensor:
        """See `vkml.any`."""
        return call("any", self, dim, keepdim)

    def all(self, dim: Dims = None, keepdim: bool = False) -> Tensor:
        """See `vkml.all`."""
        return call("all", self, dim, keepdim)

    def var(self, dim: Dims = None, *, correction: float = 1, keepdim: bool = False) -> Tensor:
        """See `vkml.var`."""
        return call("var", self, dim, correction=correction, keepdim=keepdim)

    def std(self, dim: Dims = None, *, correction: float = 1, keepdim: bool = False) -> Tensor:
        """See `vkml.std`."""
        return call("std", self, dim, correction=correction, keepdim=keepdim)

    def logsumexp(self, dim: Dims, keepdim: bool = False) -> Tensor:
        """See `vkml.logsumexp`."""
        return call("logsumexp", self, dim, keepdim)

    def cumsum(self, dim: int) -> Tensor:
        """See `vkml.cumsum`."""
        return call("cumsum", self, dim)

    def norm(self, p: float | str = 2, dim: Dims = None, keepdim: bool = False) -> Tensor:
        """See `vkml.norm`."""
        return call("norm", self, p, dim, keepdim)

    def count_nonzero(self, dim: Dims = None) -> Tensor:
        """See `vkml.count_nonzero`."""
        return call("count_nonzero", self, dim)

    def var_mean(
        self, dim: Dims = None, *, correction: float = 1, keepdim: bool = False
    ) -> tuple[Tensor, Tensor]:
        """See `vkml.var_mean`."""
        return call("var_mean", self, dim, correction=correction, keepdim=keepdim)

    def equal(self, other: Tensor) -> bool:
        """See `vkml.equal`."""
        return call("equal", self, other)

    # movement -------------------------------------------------------------------------

    def reshape(self, *shape: Any) -> Tensor:
        """See `vkml.reshape`."""
        return call("reshape", self, *shape)

    def view(self, *shape: Any) -> Tensor:
        """See `vkml.view`."""
        return call("view", self, *shape)

    def permute(self, *dims: Any) -> Tensor:
        """See `vkml.permute`."""
        return call("permute", self, *dims)

    def transpose(self, dim0: int, dim1: int) -> Tensor:
        """See `vkml.transpose`."""
        return call("transpose", self, dim0, dim1)

    def expand(self, *sizes: Any) -> Tensor:
        """See `vkml.expand`."""
        return call("expand", self, *sizes)

    def broadcast_to(self, shape: Sequence[int]) -> Tensor:
        """See `vkml.broadcast_to`."""
        return call("broadcast_to", self, shape)

    def squeeze(self, dim: Dims = None) -> Tensor:
        """See `vkml.squeeze`."""
        return call("squeeze", self, dim)

    def unsqueeze(self, dim: int) -> Tensor:
        """See `vkml.unsqueeze`."""
        return call("unsqueeze", self, dim)

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Tensor:
        """See `vkml.flatten`."""
        return call("flatten", self, start_dim, end_dim)

    def unflatten(self, dim: int, sizes: Sequence[int]) -> Tensor:
        """See `vkml.unflatten`."""
        return call("unflatten", self, dim, sizes)

    def contiguous(self) -> Tensor:
        """See `vkml.contiguous`."""
        return call("contiguous", self)

    def clone(self) -> Tensor:
        """See `vkml.clone`."""
        return call("clone", self)

    def split(self, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
        """See `vkml.split`."""
        return call("split", self, split_size, dim)

    def chunk(self, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
        """See `vkml.chunk`."""
        return call("chunk", self, chunks, dim)

    def unbind(self, dim: int = 0) -> tuple[Tensor, ...]:
        """See `vkml.unbind`."""
        return call("unbind", self, dim)

    def flip(self, *dims: Any) -> Tensor:
        """See `vkml.flip`."""
        return call("flip", self, *dims)

    def repeat(self, *repeats: Any) -> Tensor:
        """See `vkml.repeat`."""
        return call("repeat", self, *repeats)

    def tril(self, diagonal: int = 0) -> Tensor:
        """See `vkml.tril`."""
        return call("tril", self, diagonal)

    def triu(self, diagonal: int = 0) -> Tensor:
        """See `vkml.triu`."""
        return call("triu", self, diagonal)

    def as_strided(
        self, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
    ) -> Tensor:
        """See `vkml.as_strided`."""
        return call("as_strided", self, size, stride, storage_offset)

    def narrow(self, dim: int, start: int, length: int) -> Tensor:
        """See `vkml.narrow`."""
        return call("narrow", self, dim, start, length)

    def select(self, dim: int, index: int) -> Tensor:
        """See `vkml.select`."""
        return call("select", self, dim, index)

    def roll(self, shifts: int | Sequence[int], dims: Dims = None) -> Tensor:
        """See `vkml.roll`."""
        return call("roll", self, shifts, dims)

    def tile(self, *dims: Any) -> Tensor:
        """See `vkml.tile`."""
        return call("tile", self, *dims)

    def repeat_interleave(self, repeats: int | Tensor, dim: int | None = None) -> Tensor:
        """See `vkml.repeat_interleave`."""
        return call("repeat_interleave", self, repeats, dim)

    def movedim(self, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
        """See `vkml.movedim`."""
        return call("movedim", self, source, destination)

    def swapaxes(self, axis0: int, axis1: int) -> Tensor:
        """See `vkml.swapaxes`."""
        return call("swapaxes", self, axis0, axis1)

    # indexing -------------------------------------------------------------------------

    def index_select(self, dim: int, index: Tensor) -> Tensor:
        """See `vkml.index_select`."""
        return call("index_select", self, dim, index)

    def gather(self, dim: int, index: Tensor) -> Tensor:
        """See `vkml.gather`."""
        return call("gather", self, dim, index)

    def scatter_add(self, dim: int, index: Tensor, src: Tensor) -> Tensor:
        """See `vkml.scatter_add`."""
        return call("scatter_add", self, dim, index, src)

    def index_add(self, dim: int, index: Tensor, source: Tensor) -> Tensor:
        """See `vkml.index_add`."""
        return call("index_add", self, dim, index, source)

    def masked_fill(self, mask: Tensor, value: Operand) -> Tensor:
        """See `vkml.masked_fill`."""
        return call("masked_fill", self, mask, value)

    def take_along_dim(self, indices: Tensor, dim: int | None = None) -> Tensor:
        """See `vkml.take_along_dim`."""
        return call("take_along_dim", self, indices, dim)

    def nonzero(self, *, as_tuple: bool = False) -> Any:
        """See `vkml.nonzero`."""
        return call("nonzero", self, as_tuple=as_tuple)

    # linear algebra -------------------------------------------------------------------

    def matmul(self, other: Tensor) -> Tensor:
        """See `vkml.matmul`."""
        return call("matmul", self, other)

    def bmm(self, other: Tensor) -> Tensor:
        """See `vkml.bmm`."""
        return call("bmm", self, other)

    def mm(self, mat2: Tensor) -> Tensor:
        """See `vkml.mm`."""
        return call("mm", self, mat2)

    def mv(self, vec: Tensor) -> Tensor:
        """See `vkml.mv`."""
        return call("mv", self, vec)

    def dot(self, tensor: Tensor) -> Tensor:
        """See `vkml.dot`."""
        return call("dot", self, tensor)

    def outer(self, vec2: Tensor) -> Tensor:
        """See `vkml.outer`."""
        return call("outer", self, vec2)

    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """See `vkml.addmm`."""
        return call("addmm", self, mat1, mat2, beta=beta, alpha=alpha)
