"""Linear algebra: products of matrices and vectors, the affine map of a linear layer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from vkml import shapes
from vkml.backends.cpu_kernels import linear as kernels
from vkml.errors import DTypeError, ShapeError
from vkml.ops import rules
from vkml.ops.apply import apply
from vkml.ops.arithmetic import add, mul
from vkml.ops.definition import Operation, Ops, Sample, Spec, Value, array, define
from vkml.ops.movement import reshape

if TYPE_CHECKING:
    import numpy as np

    from vkml.dtypes import Number
    from vkml.shapes import Shape
    from vkml.tensor import Tensor

__all__ = ["addmm", "bmm", "dot", "linear", "matmul", "mm", "mv", "outer"]

_MATRIX: Final = 2


def _transposed(k: Ops, x: Value) -> Value:
    """Return a view of `x` with its last two axes swapped."""
    rank = len(x.shape)
    return k.permute(x, (*range(rank - 2), rank - 1, rank - 2))


def _rows(k: Ops, x: Value) -> Value:
    """Return `x` as one matrix: all leading axes merged."""
    if len(x.shape) == _MATRIX:
        return x
    return k.reshape(x, (math.prod(x.shape[:-1]), x.shape[-1]))


# matmul --------------------------------------------------------------------------------


def _matmul_gradient(
    k: Ops, upstream: Value, _output: Value, a: Value, b: Value, needs: tuple[bool, ...]
) -> tuple[Value | None, Value | None]:
    a_shape, b_shape = a.shape, b.shape
    if len(b_shape) == 1:  # as a column
        b = k.reshape(b, (*b_shape, 1))
        upstream = k.reshape(upstream, (*upstream.shape, 1))
    if len(a_shape) == 1:  # as a row
        a = k.reshape(a, (1, *a_shape))
        upstream = k.reshape(upstream, (*upstream.shape[:-1], 1, upstream.shape[-1]))
    to_a = _shaped(k, k.matmul(upstream, _transposed(k, b)), a_shape) if needs[0] else None
    if not needs[1]:
        return to_a, None
    if len(b.shape) == _MATRIX:  # one large product instead of one for each leading index
        a, upstream = _rows(k, a), _rows(k, upstream)
    return to_a, _shaped(k, k.matmul(_transposed(k, a), upstream), b_shape)


def _shaped(k: Ops, gradient: Value, shape: Shape) -> Value:
    """Return a gradient for a matrix, summed over the axes along which an operand was repeated."""
    if gradient.shape == shape:
        return gradient
    if len(shape) > 1:
        return k.sum_to_size(gradient, shape)
    matrix = (1, *shape) if gradient.shape[-1] == shape[0] else (*shape, 1)
    return k.reshape(k.sum_to_size(gradient, matrix), shape)


def _product(a: Spec, b: Spec) -> Spec:
    if not getattr(a, "shape", ()) or not getattr(b, "shape", ()):
        raise ShapeError("expected tensors of rank 1 or more on both sides; numbers multiply by *.")
    if a.dtype != b.dtype:
        message = f"expected one dtype, got {a.dtype} @ {b.dtype}; convert with x.to(dtype)."
        raise DTypeError(message)
    inner = b.shape[-2] if len(b.shape) > 1 else b.shape[0]
    if a.shape[-1] != inner:
        raise ShapeError(_inner_sizes_differ(a.shape, b.shape, inner))
    leading = shapes.broadcast(a.shape[:-2], b.shape[:-2])
    columns = b.shape[-1:] if len(b.shape) > 1 else ()
    return Spec((*leading, *a.shape[-2:-1], *columns), a.dtype)


def _inner_sizes_differ(a: Shape, b: Shape, inner: int) -> str:
    matched = "second to last of the right" if len(b) > 1 else "size of the right"
    message = (
        f"the inner sizes differ: {a} @ {b}. The last size of the left tensor ({a[-1]}) must "
        f"equal the {matched} ({inner})."
    )
    if len(b) > 1 and b[-1] == a[-1]:
        return f"{message} Did you mean {'b.T' if len(b) == _MATRIX else 'b.mT'}?"
    if len(a) > 1 and a[-2] == inner:
        return f"{message} Did you mean {'a.T' if len(a) == _MATRIX else 'a.mT'}?"
    return message


def _products(generator: np.random.Generator) -> list[Sample]:
    pairs: tuple[tuple[Shape, Shape], ...] = (
        ((3, 4), (4, 5)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 5)), ((2, 3, 4), (4, 5)),
        ((2, 3, 4), (4,)), ((4,), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((3, 4), (2, 4, 5)),
        ((1, 1), (1, 1)), ((0, 3), (3, 2)), ((2, 0), (0, 3)),
    )  # fmt: skip
    return [Sample((array(generator, *a), array(generator, *b))) for a, b in pairs]


MATMUL = define(
    Operation(
        name="matmul", operands=2, result=_product, cpu=kernels.matmul, gradient=_matmul_gradient,
        samples=_products,
    )
)  # fmt: skip


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Return the matrix product. Also ``a @ b``.

    Parameters
    ----------
    input, other : Tensor
        Shapes ``(..., n, k)`` and ``(..., k, m)``; the leading axes broadcast. A vector on the left
        counts as a row, one on the right as a column, and that axis is missing in the result. Both
        have one dtype.

    Raises
    ------
    ShapeError
        The inner sizes differ, the leading axes do not broadcast, or a rank is 0.
    DTypeError
        The dtypes differ.

    Examples
    --------
    >>> import vkml
    >>> vkml.matmul(vkml.tensor([[1.0, 2.0], [3.0, 4.0]]), vkml.tensor([1.0, 10.0]))
    tensor([21., 43.])
    """
    return apply(MATMUL, (input, other))


def _require_ranks(name: str, ranks: tuple[int, ...], *tensors: Tensor) -> None:
    if tuple(each.ndim for each in tensors) != ranks:
        listed = " and ".join(str(each.shape) for each in tensors)
        expected = " and ".join(map(str, ranks))
        message = f"{name}: expected ranks {expected}, got shapes {listed}; matmul takes any ranks."
        raise ShapeError(message)


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Return the product of two matrices.

    Raises
    ------
    ShapeError
        One of them is no matrix, or the inner sizes differ.

    Examples
    --------
    >>> import vkml
    >>> vkml.mm(vkml.ones(1, 2), vkml.ones(2, 3))
    tensor([[2., 2., 2.]])
    """
    _require_ranks("mm", (2, 2), input, mat2)
    return apply(MATMUL, (input, mat2))


def mv(input: Tensor, vec: Tensor) -> Tensor:
    """Return the product of a matrix and a vector.

    Examples
    --------
    >>> import vkml
    >>> vkml.mv(vkml.ones(2, 3), vkml.ones(3))
    tensor([3., 3.])
    """
    _require_ranks("mv", (2, 1), input, vec)
    return apply(MATMUL, (input, vec))


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Return the products of two batches of matrices; nothing broadcasts.

    Parameters
    ----------
    input, mat2 : Tensor
        Shapes ``(batch, n, k)`` and ``(batch, k, m)``.

    Raises
    ------
    ShapeError
        A rank is not 3, the batches or the inner sizes differ.

    Examples
    --------
    >>> import vkml
    >>> vkml.bmm(vkml.ones(2, 1, 3), vkml.ones(2, 3, 1)).shape
    (2, 1, 1)
    """
    _require_ranks("bmm", (3, 3), input, mat2)
    if input.shape[0] != mat2.shape[0]:
        message = (
            f"bmm: the batches differ: {input.shape[0]} and {mat2.shape[0]} matrices; "
            "matmul broadcasts a batch of 1."
        )
        raise ShapeError(message)
    return apply(MATMUL, (input, mat2))


def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """Return the sum of the products of two vectors' elements.

    Examples
    --------
    >>> import vkml
    >>> vkml.dot(vkml.tensor([1.0, 2.0]), vkml.tensor([3.0, 4.0]))
    tensor(11.)
    """
    _require_ranks("dot", (1, 1), input, tensor)
    return apply(MATMUL, (input, tensor))


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Return the matrix of all products of two vectors' elements.

    Examples
    --------
    >>> import vkml
    >>> vkml.outer(vkml.tensor([1.0, 2.0]), vkml.tensor([1.0, 10.0]))
    tensor([[ 1., 10.],
            [ 2., 20.]])
    """
    _require_ranks("outer", (1, 1), input, vec2)
    return mul(reshape(input, -1, 1), vec2)


def addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """Return ``beta * input + alpha * (mat1 @ mat2)``.

    Parameters
    ----------
    input : Tensor
        Broadcasts to the product. With ``beta=0`` it is ignored, NaN included.
    mat1, mat2 : Tensor
        Matrices.
    beta, alpha : number
        Factors.

    Examples
    --------
    >>> import vkml
    >>> vkml.addmm(vkml.ones(1, 1), vkml.ones(1, 2), vkml.ones(2, 1), beta=3)
    tensor([[5.]])
    """
    _require_ranks("addmm", (2, 2), mat1, mat2)
    product = apply(MATMUL, (mat1, mat2))
    if alpha != 1:
        product = mul(product, alpha)
    if beta == 0:
        return product
    return add(product, input if beta == 1 else mul(input, beta))


# linear --------------------------------------------------------------------------------


def _linear_gradient(
    k: Ops,
    upstream: Value,
    _output: Value,
    x: Value,
    weight: Value,
    bias_spec: Spec | None,
    needs: tuple[bool, ...],
) -> tuple[Value | None, Value | None, Value | None]:
    to_x = k.matmul(upstream, weight) if needs[0] else None
    to_weight = to_bias = None
    if needs[1]:
        to_weight = k.matmul(_transposed(k, _rows(k, upstream)), _rows(k, x))
    if bias_spec is not None and needs[2]:
        to_bias = k.sum_to_size(upstream, bias_spec.shape)
    return to_x, to_weight, to_bias


def _linear(k: Ops, x: Value, weight: Value, bias: Value | None) -> Value:
    product = k.matmul(x, _transposed(k, weight))
    return product if bias is None else k.add(product, bias)


def _affine(x: Spec, weight: Spec, bias: Spec | None) -> Spec:
    rules.require_same_dtype(input=x, weight=weight, bias=bias)
    if len(weight.shape) != _MATRIX or not x.shape or x.shape[-1] != weight.shape[1]:
        message = (
            f"input {x.shape} and weight {weight.shape} do not fit: expected an input "
            "(..., in_features) and a weight (out_features, in_features)."
        )
        raise ShapeError(message)
    if bias is not None and bias.shape != weight.shape[:1]:
        message = (
            f"expected a bias of shape {weight.shape[:1]} beside the weight {weight.shape}, got "
            f"{bias.shape}."
        )
        raise ShapeError(message)
    return Spec((*x.shape[:-1], weight.shape[0]), x.dtype)


def _linear_samples(generator: np.random.Generator) -> list[Sample]:
    def sample(*leading: int, bias: bool = True) -> Sample:
        operands: tuple[Any, ...] = (array(generator, *leading, 4), array(generator, 3, 4))
        return Sample((*operands, array(generator, 3) if bias else None))

    return [sample(5), sample(5, bias=False), sample(2, 5), sample(), sample(0), sample(2, 0, 3)]


LINEAR = define(
    Operation(
        name="linear", operands=3, result=_affine, cpu=kernels.linear, decomposition=_linear,
        gradient=_linear_gradient, samples=_linear_samples,
    )
)  # fmt: skip


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return ``input @ weight.T + bias``.

    Parameters
    ----------
    input : Tensor
        Shape ``(..., in_features)``.
    weight : Tensor
        Shape ``(out_features, in_features)``.
    bias : Tensor, optional
        Shape ``(out_features,)``.

    Raises
    ------
    ShapeError
        The shapes do not fit together.
    DTypeError
        The dtypes differ.

    Examples
    --------
    >>> import vkml
    >>> vkml.linear(vkml.ones(1, 2), vkml.tensor([[1.0, 2.0]]), vkml.tensor([0.5]))
    tensor([[3.5000]])
    """
    return apply(LINEAR, (input, weight, bias))
