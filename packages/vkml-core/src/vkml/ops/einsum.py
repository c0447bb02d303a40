"""Sums of products over axes that are named by letters or numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from vkml.errors import ArgumentError, ShapeError
from vkml.ops.arithmetic import mul
from vkml.ops.linear_algebra import matmul
from vkml.ops.movement import permute, reshape
from vkml.ops.reduction import sum
from vkml.shapes import axis_of

if TYPE_CHECKING:
    from vkml.tensor import Tensor

__all__ = ["einsum", "tensordot"]


class _Labelled(NamedTuple):
    """A tensor with a label for each axis; no label occurs twice."""

    tensor: Tensor
    labels: tuple[str, ...]

    def sizes(self, labels: Iterable[str]) -> tuple[int, ...]:
        return tuple(self.tensor.shape[self.labels.index(each)] for each in labels)

    def ordered(self, labels: Sequence[str]) -> Tensor:
        """Return the tensor with its axes in the order of `labels`."""
        order = tuple(map(self.labels.index, labels))
        return self.tensor if order == tuple(range(len(order))) else permute(self.tensor, order)

    def summed_except(self, kept: Iterable[str]) -> _Labelled:
        gone = [axis for axis, each in enumerate(self.labels) if each not in kept]
        if not gone:
            return self
        left = tuple(each for each in self.labels if each in kept)
        return _Labelled(sum(self.tensor, gone), left)


def _product(x: _Labelled, y: _Labelled, later: set[str]) -> _Labelled:
    """Return the product of both, summed over shared axes that nothing uses later."""
    x, y = x.summed_except(later.union(y.labels)), y.summed_except(later.union(x.labels))
    shared = [each for each in x.labels if each in y.labels]
    batch = [each for each in shared if each in later]
    inner = [each for each in shared if each not in later]
    left = [each for each in x.labels if each not in shared]
    right = [each for each in y.labels if each not in shared]
    shapes = [x.sizes(batch), x.sizes(left), x.sizes(inner), y.sizes(right)]
    count = [math.prod(sizes) for sizes in shapes]
    x_rows, y_rows = x.ordered([*batch, *left, *inner]), y.ordered([*batch, *inner, *right])
    if inner:
        leading = (count[0],) if batch else ()
        product = matmul(
            reshape(x_rows, (*leading, count[1], count[2])),
            reshape(y_rows, (*leading, count[2], count[3])),
        )
    else:
        wide = (*shapes[0], *shapes[1], *(1,) * len(right))
        product = mul(
            reshape(x_rows, wide), reshape(y_rows, (*shapes[0], *(1,) * len(left), *shapes[3]))
        )
    product = reshape(product, (*shapes[0], *shapes[1], *shapes[3]))
    return _Labelled(product, (*batch, *left, *right))


# einsum --------------------------------------------------------------------------------


def einsum(equation: str, *operands: Tensor | Sequence[Tensor]) -> Tensor:
    """Return the sum of products that `equation` describes.

    Parameters
    ----------
    equation : str
        One letter for each axis, operands separated by commas: ``"bij,bjk->bik"``. Axes with one
        letter go together; letters missing after the arrow are summed over. Without an arrow, the
        letters that occur once remain, in alphabetical order. ``...`` stands for axes that
        broadcast.
    operands : Tensor ...
        One for each term of the equation, or one sequence of them. They are multiplied from left
        to right.

    Raises
    ------
    ArgumentError
        The equation does not make sense.
    ShapeError
        A term has another number of letters than its operand axes, or one letter has two sizes.

    Examples
    --------
    >>> import vkml
    >>> vkml.einsum("ij,j->i", vkml.ones(2, 3), vkml.ones(3))
    tensor([3., 3.])
    """
    tensors: Any = operands  # several tensors, or one sequence of them
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        tensors = operands[0]
    terms, kept = _parsed(equation, [each.ndim for each in tensors])
    sizes = _sizes(equation, tensors, terms)
    factors = [_factor(*each, sizes) for each in zip(tensors, terms, strict=True)]
    result = factors[0]
    for position, factor in enumerate(factors[1:], start=2):
        later = set(kept).union(*terms[position:])
        result = _product(result, factor, later)
    return result.summed_except(kept).ordered(kept)


def _parsed(equation: str, ranks: Sequence[int]) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """Return the labels of each operand and of the result.

    The axes that an ellipsis stands for are called "0", "1" ..., counted from the last one.
    """
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(ranks):
        message = f"einsum: {equation!r} has {len(terms)} terms for {len(ranks)} operands."
        raise ArgumentError(message)
    hidden = [rank - len(term.replace("...", "")) for term, rank in zip(terms, ranks, strict=True)]
    for term, rank, count in zip(terms, ranks, hidden, strict=True):
        if count < 0 or (count and "..." not in term):
            raise ShapeError(f"einsum: the term {term!r} stands for a tensor of rank {rank}.")
    labels = [_labels(equation, *each) for each in zip(terms, hidden, strict=True)]
    most = max(
        (count for term, count in zip(terms, hidden, strict=True) if "..." in term), default=0
    )
    if not arrow:
        letters = sorted(each for each in inputs if each.isalpha())
        output = "..." + "".join(each for each in letters if letters.count(each) == 1)
    kept = _labels(equation, output, most)
    if len(set(kept)) < len(kept) or not set(kept) <= set().union(*labels):
        message = (
            f"einsum: {output!r} in {equation!r} names an axis twice, or one that is not there."
        )
        raise ArgumentError(message)
    return labels, kept


def _labels(equation: str, term: str, hidden: int) -> tuple[str, ...]:
    before, _, after = term.partition("...")
    if not (before + after).isalpha() and before + after:
        message = f"einsum: {term!r} in {equation!r} is no term; give letters, and '...' once."
        raise ArgumentError(message)
    middle = map(str, range(hidden - 1, -1, -1)) if "..." in term else ()
    return (*before, *middle, *after)


def _sizes(
    equation: str, tensors: Sequence[Tensor], terms: Sequence[tuple[str, ...]]
) -> dict[str, int]:
    """Return the size of each label; 1 gives way to any other size."""
    sizes: dict[str, int] = {}
    for tensor, labels in zip(tensors, terms, strict=True):
        for label, size in zip(labels, tensor.shape, strict=True):
            known = sizes.get(label, 1)
            if size not in (1, known) and known != 1:
                axis = repr(label) if label.isalpha() else "an axis of '...'"
                message = f"einsum: {axis} in {equation!r} has the sizes {known} and {size}."
                raise ShapeError(message)
            sizes[label] = size if known == 1 else known
    return sizes


def _factor(tensor: Tensor, labels: tuple[str, ...], sizes: dict[str, int]) -> _Labelled:
    """Return an operand with the diagonals of its repeated labels, without repeated elements.

    An axis of size 1 whose label has another size elsewhere takes part in no sum: it goes.
    """
    full = [axis for axis, each in enumerate(labels) if tensor.shape[axis] == sizes[each]]
    tensor = reshape(tensor, tuple(tensor.shape[axis] for axis in full))
    remaining = [labels[axis] for axis in full]
    for label in set(remaining):
        while remaining.count(label) > 1:
            first, second = [axis for axis, each in enumerate(remaining) if each == label][:2]
            others = [axis for axis in range(len(remaining)) if axis not in (first, second)]
            size = sizes[label]
            moved = permute(tensor, (*others, first, second))
            flat = reshape(moved, (*moved.shape[:-2], size * size))
            tensor = flat[..., :: size + 1]
            remaining = [*(remaining[axis] for axis in others), label]
    return _Labelled(tensor, tuple(remaining))


# tensordot -----------------------------------------------------------------------------


def tensordot(a: Tensor, b: Tensor, dims: int | Sequence[Any] = 2) -> Tensor:
    """Return the sum of products over some axes of `a` and as many of `b`.

    Parameters
    ----------
    a, b : Tensor
        Any shapes, one dtype.
    dims : int or two sequences of int
        How many axes: the last ones of `a` with the first ones of `b`. Or the axes of `a` and, in
        the same order, those of `b`.

    Returns
    -------
    Tensor
        The remaining axes of `a`, then those of `b`.

    Raises
    ------
    ShapeError
        Two axes that go together differ in size.

    Examples
    --------
    >>> import vkml
    >>> vkml.tensordot(vkml.ones(2, 3, 4), vkml.ones(3, 4), 2)
    tensor([12., 12.])
    """
    if isinstance(dims, int):
        first, second = range(a.ndim - dims, a.ndim), range(dims)
        if not 0 <= dims <= min(a.ndim, b.ndim):
            message = f"tensordot: shapes {a.shape} and {b.shape} do not both have {dims} axes."
            raise ShapeError(message)
    else:
        first, second = dims
    a_axes = [axis_of(each, a.ndim) for each in first]
    b_axes = [axis_of(each, b.ndim) for each in second]
    sizes = [a.shape[each] for each in a_axes]
    if sizes != [b.shape[each] for each in b_axes]:
        message = (
            f"tensordot: axes {a_axes} of shape {a.shape} and axes {b_axes} of shape {b.shape} "
            "differ in size."
        )
        raise ShapeError(message)
    a_kept = [axis for axis in range(a.ndim) if axis not in a_axes]
    b_kept = [axis for axis in range(b.ndim) if axis not in b_axes]
    inner = math.prod(sizes)
    rows = math.prod(a.shape[axis] for axis in a_kept)
    columns = math.prod(b.shape[axis] for axis in b_kept)
    product = matmul(
        reshape(permute(a, (*a_kept, *a_axes)), (rows, inner)),
        reshape(permute(b, (*b_axes, *b_kept)), (inner, columns)),
    )
    kept = (*(a.shape[axis] for axis in a_kept), *(b.shape[axis] for axis in b_kept))
    return reshape(product, kept)
