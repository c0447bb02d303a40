"""Indexing: elements and slices by an index, and sums by an index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vkml.backends.cpu_kernels import indexing as kernels
from vkml.errors import DTypeError, ShapeError
from vkml.ops.apply import apply
from vkml.ops.arithmetic import add
from vkml.ops.definition import OPERATIONS, Operation, Ops, Sample, Spec, Value, array, define
from vkml.ops.from_data import tensor
from vkml.shapes import Shape, axis_of, broadcast

if TYPE_CHECKING:
    from vkml.dtypes import Number
    from vkml.tensor import Tensor

__all__ = [
    "gather", "index_add", "index_select", "nonzero", "scatter_add", "take_along_dim",
]  # fmt: skip


INDEX_DTYPES: Final = (np.dtype(np.int64), np.dtype(np.int32))


def _require_index(index: Spec) -> None:
    if index.dtype not in INDEX_DTYPES:
        message = f"expected an index of int64 or int32, got {index.dtype}; use index.long()."
        raise DTypeError(message)


def _require_index_of_slices(x: Spec, index: Spec) -> None:
    _require_index(index)
    if not x.shape:
        raise ShapeError("a rank-0 tensor has no axis to index; use x.reshape(1) first.")
    if len(index.shape) != 1:
        message = f"expected an index of rank 1, got shape {index.shape}; use index.reshape(-1)."
        raise ShapeError(message)


# gather, scatter_add_zeros ---------------------------------------------------------------


def _gather_gradient(
    k: Ops, upstream: Value, _output: Value, x_spec: Spec, index: Value, dim: int
) -> tuple[Value, None]:
    return k.scatter_add_zeros(upstream, index, x_spec.shape, dim), None


def _gathered(x: Spec, index: Spec, dim: int) -> Spec:
    _require_index(index)
    _require_inside(index.shape, x.shape, dim)
    return Spec(index.shape, x.dtype)


def _require_inside(index: Shape, shape: Shape, dim: int) -> None:
    fits = len(index) == len(shape) and all(
        size <= limit
        for axis, (size, limit) in enumerate(zip(index, shape, strict=True))
        if axis != dim
    )
    if not fits:
        message = (
            f"an index of shape {index} does not fit a tensor of shape {shape}. Both need the "
            f"same rank, and the index may be larger along axis {dim} only."
        )
        raise ShapeError(message)


def _gather_samples(generator: np.random.Generator) -> list[Sample]:
    x = array(generator, 3, 4, 5)
    return [
        Sample((x, generator.integers(0, 4, (3, 2, 5))), (1,)),
        Sample((x, generator.integers(0, 5, (2, 3, 7), dtype=np.int32)), (2,)),
        Sample((x[0].T, generator.integers(0, 5, (6, 4))), (0,)),
        Sample((array(generator), np.zeros((), np.int64)), (0,)),
        Sample((x, np.zeros((3, 0, 5), np.int64)), (1,)),
    ]


GATHER = define(
    Operation(
        name="gather", operands=2, result=_gathered, cpu=kernels.gather,
        gradient=_gather_gradient, samples=_gather_samples,
    )
)  # fmt: skip


def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the elements of `input` whose places along `dim` are given by `index`.

    ``result[i][j] = input[index[i][j]][j]`` for ``dim=0`` and two axes.

    Parameters
    ----------
    input, dim
        A tensor of any shape, and the axis along which `index` chooses.
    index : Tensor of int64 or int32
        The shape of the result; along the other axes at most as large as `input`.

    Raises
    ------
    IndexOutOfRangeError
        An index is negative or not less than the size of axis `dim`.
    ShapeError
        The shapes do not fit.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> vkml.gather(x, 1, vkml.tensor([[1], [0]]))
    tensor([[2.],
            [3.]])
    """
    return apply(GATHER, (input, index), (axis_of(dim, input.ndim),))


def _scatter_add_zeros_gradient(
    k: Ops, upstream: Value, _output: Value, _src: Value, index: Value, _shape: Shape, dim: int
) -> tuple[Value, None]:
    return k.gather(upstream, index, dim), None


def _scattered(src: Spec, index: Spec, shape: Shape, dim: int) -> Spec:
    _require_index(index)
    if src.shape != index.shape:
        raise ShapeError(f"the source has shape {src.shape}, its index {index.shape}.")
    _require_inside(index.shape, shape, dim)
    return Spec(shape, src.dtype)


def _scatter_samples(generator: np.random.Generator) -> list[Sample]:
    return [
        Sample((array(generator, *index.shape), index), (x.shape, *options))
        for (x, index), options in _gather_samples(generator)
    ]


SCATTER_ADD_ZEROS = define(
    Operation(
        name="scatter_add_zeros", operands=2, result=_scattered, cpu=kernels.scatter_add_zeros,
        gradient=_scatter_add_zeros_gradient, samples=_scatter_samples,
    )
)  # fmt: skip


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Return `input` with each element of `src` added at its place along `dim`.

    ``result[index[i][j]][j] += src[i][j]`` for ``dim=0`` and two axes; the reverse of `gather`.

    Parameters
    ----------
    input, dim
        What is added to, and the axis along which `index` chooses.
    index : Tensor of int64 or int32
        Along the other axes at most as large as `input`.
    src : Tensor
        At least as large as `index` along every axis; the rest is not used.

    Raises
    ------
    IndexOutOfRangeError
        An index is negative or not less than the size of axis `dim`.
    ShapeError, DTypeError
        The shapes or the dtypes do not fit.

    Examples
    --------
    >>> import vkml
    >>> vkml.scatter_add(vkml.zeros(3), 0, vkml.tensor([0, 2, 0]), vkml.ones(3))
    tensor([2., 0., 1.])
    """
    _require_same_dtype("scatter_add", input, src)
    if src.shape != index.shape:
        src = _corner(src, index.shape)
    options = (input.shape, axis_of(dim, input.ndim))
    return add(input, apply(SCATTER_ADD_ZEROS, (src, index), options))


def _corner(x: Tensor, sizes: Shape) -> Tensor:
    """Return a view of the first elements along each axis."""
    if x.ndim != len(sizes) or any(n < size for n, size in zip(x.shape, sizes, strict=True)):
        message = (
            f"scatter_add: the source has shape {x.shape}, its index {sizes}. Both need the same "
            "rank, and the index may be larger along no axis."
        )
        raise ShapeError(message)
    rank = x.ndim
    return apply(OPERATIONS["slice"], (x,), ((0,) * rank, (1,) * rank, sizes))


def _require_same_dtype(name: str, first: Tensor, second: Tensor) -> None:
    if first.dtype != second.dtype:
        message = f"{name}: the tensors hold {first.dtype} and {second.dtype}; convert one of them."
        raise DTypeError(message)


# index_select, index_add_zeros -----------------------------------------------------------


def _index_select_gradient(
    k: Ops, upstream: Value, _output: Value, x_spec: Spec, index: Value, dim: int
) -> tuple[Value, None]:
    return k.index_add_zeros(upstream, index, x_spec.shape[dim], dim), None


def _selected(x: Spec, index: Spec, dim: int) -> Spec:
    _require_index_of_slices(x, index)
    return Spec((*x.shape[:dim], index.shape[0], *x.shape[dim + 1 :]), x.dtype)


def _select_samples(generator: np.random.Generator) -> list[Sample]:
    x = array(generator, 3, 4, 5)
    return [
        Sample((x, generator.integers(0, 4, 7)), (1,)),
        Sample((x, np.array([0, 2], np.int32)), (2,)),
        Sample((x[0].T, generator.integers(0, 5, 3)), (0,)),
        Sample((x, np.zeros(0, np.int64)), (0,)),
    ]


INDEX_SELECT = define(
    Operation(
        name="index_select", operands=2, result=_selected, cpu=kernels.index_select,
        gradient=_index_select_gradient, samples=_select_samples,
    )
)  # fmt: skip


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the slices of `input` along `dim` at the places `index`, in that order.

    Parameters
    ----------
    input, dim
        A tensor with one axis or more, and the axis to choose along.
    index : Tensor of int64 or int32
        One axis.

    Raises
    ------
    IndexOutOfRangeError
        An index is negative or not less than the size of axis `dim`.

    Examples
    --------
    >>> import vkml
    >>> vkml.index_select(vkml.tensor([1.0, 2.0, 3.0]), 0, vkml.tensor([2, 0]))
    tensor([3., 1.])
    """
    return apply(INDEX_SELECT, (input, index), (axis_of(dim, input.ndim),))


def _index_add_zeros_gradient(
    k: Ops, upstream: Value, _output: Value, _src: Value, index: Value, _size: int, dim: int
) -> tuple[Value, None]:
    return k.index_select(upstream, index, dim), None


def _added(src: Spec, index: Spec, size: int, dim: int) -> Spec:
    _require_index_of_slices(src, index)
    if index.shape[0] != src.shape[dim]:
        message = (
            f"the source has {src.shape[dim]} slices along axis {dim}, the index {index.shape[0]} "
            "elements; give one index per slice."
        )
        raise ShapeError(message)
    return Spec((*src.shape[:dim], size, *src.shape[dim + 1 :]), src.dtype)


def _add_samples(generator: np.random.Generator) -> list[Sample]:
    return [
        Sample((np.take(x, index, dim), index), (x.shape[dim], dim))
        for (x, index), (dim,) in _select_samples(generator)
    ]


INDEX_ADD_ZEROS = define(
    Operation(
        name="index_add_zeros", operands=2, result=_added, cpu=kernels.index_add_zeros,
        gradient=_index_add_zeros_gradient, samples=_add_samples,
    )
)  # fmt: skip


def index_add(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1
) -> Tensor:
    """Return `input` with the slices of `source`, times `alpha`, added at the places `index`.

    Parameters
    ----------
    input, dim
        A tensor with one axis or more, and the axis along which the slices lie.
    index : Tensor of int64 or int32
        One axis, with one element per slice; an index may occur several times.
    source : Tensor
        The shape of `input`, except along `dim`.
    alpha : number
        A factor for `source`.

    Raises
    ------
    IndexOutOfRangeError
        An index is negative or not less than the size of axis `dim`.
    ShapeError, DTypeError
        The shapes or the dtypes do not fit.

    Examples
    --------
    >>> import vkml
    >>> vkml.index_add(vkml.zeros(3), 0, vkml.tensor([0, 0]), vkml.tensor([1.0, 2.0]))
    tensor([3., 0., 0.])
    """
    _require_same_dtype("index_add", input, source)
    axis = axis_of(dim, input.ndim)
    others = [(*shape[:axis], *shape[axis + 1 :]) for shape in (input.shape, source.shape)]
    if input.ndim != source.ndim or others[0] != others[1]:
        message = (
            f"index_add: the source has shape {source.shape}, the tensor {input.shape}; all sizes "
            f"but that of axis {axis} must agree."
        )
        raise ShapeError(message)
    scaled = source if alpha == 1 else source * alpha
    size = input.shape[axis] if input.shape else 1
    return add(input, apply(INDEX_ADD_ZEROS, (scaled, index), (size, axis)))


# take_along_dim, nonzero -----------------------------------------------------------------


def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Return the elements at `indices` along `dim`; as `gather`, but the other axes broadcast.

    Parameters
    ----------
    input : Tensor
        Any shape.
    indices : Tensor of int64 or int32
        As what `argmax` with ``keepdim=True`` returns.
    dim : int, optional
        The axis to choose along; by default both tensors are flattened first.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.tensor([[1.0, 9.0], [8.0, 2.0]])
    >>> vkml.take_along_dim(x, vkml.tensor([[1], [0]]), 1)
    tensor([[9.],
            [8.]])
    """
    if dim is None:
        return gather(input.reshape(-1), 0, indices.reshape(-1))
    if input.ndim != indices.ndim:
        message = (
            f"take_along_dim: the tensor has rank {input.ndim}, its indices {indices.ndim}; "
            "both need the same rank."
        )
        raise ShapeError(message)
    axis = axis_of(dim, input.ndim)
    if not input.shape:
        return gather(input, axis, indices)
    first, second = input.shape, indices.shape
    shape = broadcast(
        (*first[:axis], 1, *first[axis + 1 :]), (*second[:axis], 1, *second[axis + 1 :])
    )
    input = input.expand((*shape[:axis], first[axis], *shape[axis + 1 :]))
    indices = indices.expand((*shape[:axis], second[axis], *shape[axis + 1 :]))
    return gather(input, axis, indices)


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Return the places of the elements that are not zero. They depend on data: no gradient.

    Parameters
    ----------
    input : Tensor
        Any shape. Its values are fetched from the device.
    as_tuple : bool
        Return one tensor of int64 per axis, which can index `input`, instead of one of shape
        (count, rank).

    Examples
    --------
    >>> import vkml
    >>> vkml.nonzero(vkml.tensor([0.0, 3.0, 4.0]))
    tensor([[1],
            [2]])
    """
    values = input.numpy(force=True)
    if not as_tuple:
        return tensor(np.argwhere(values).astype(np.int64), device=input.device)
    places = np.nonzero(values if values.ndim else values.reshape(1))
    return tuple(tensor(each.astype(np.int64), device=input.device) for each in places)
