"""Rows of a table by index, and the gradient for the table: a sum of rows by index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vkml.backends.cpu_kernels.half import through_float32

if TYPE_CHECKING:
    from numpy.typing import NDArray

# With so few entries a product with a one-hot matrix beats every scatter.
FEW_ENTRIES = 128

# Rows shorter than this are added element by element: passes over whole rows cost more.
SHORT_ROW = 128

# Repetitions of an index that get a pass of their own; what is beyond, of very frequent indices,
# is added element by element.
MOST_PASSES = 16


def _checked(indices: NDArray[Any], size: int) -> NDArray[Any]:
    """Return the indices; raise for one that is not in the table."""
    if indices.size:
        lowest, highest = int(indices.min()), int(indices.max())
        if lowest < 0 or highest >= size:
            value = lowest if lowest < 0 else highest
            raise IndexError(
                f"embedding: index {value} is out of range for {size} embeddings: "
                f"indices must be from 0 to {size - 1}."
            )
    return indices


def embedding(weight: NDArray[Any], indices: NDArray[Any]) -> NDArray[Any]:
    """Return the rows of weight (V, D) at the indices, as (*indices.shape, D)."""
    # `take` is nearly twice as fast as indexing with an array.
    return np.take(weight, _checked(np.asarray(indices), weight.shape[0]), axis=0)


@through_float32()
def embedding_backward(
    g: NDArray[Any], indices: NDArray[Any], num_embeddings: int, padding_idx: int | None
) -> NDArray[Any]:
    """Return the gradient of `embedding` for its weight; the row `padding_idx` gets none.

    Rows of one index are added in their order: the result does not depend on timing.
    """
    size = g.shape[-1]
    ids = np.asarray(indices, np.int64).reshape(-1)
    rows = g.reshape(ids.size, size)
    # Infinity times the zeros of a one-hot matrix would put NaN into the rows of other indices.
    if num_embeddings <= FEW_ENTRIES <= 2 * size and np.isfinite(rows).all():
        one_hot = np.zeros((num_embeddings, ids.size), g.dtype)
        one_hot[ids, np.arange(ids.size)] = 1
        dweight: NDArray[Any] = np.matmul(one_hot, rows)
    else:
        dweight = np.zeros((num_embeddings, size), g.dtype)
        if size < SHORT_ROW:
            _add_elements(dweight, ids, rows)
        else:
            _add_by_rank(dweight, ids, rows)
    if padding_idx is not None:
        dweight[padding_idx] = 0
    return dweight


def _add_elements(target: NDArray[Any], ids: NDArray[np.int64], rows: NDArray[Any]) -> None:
    """Add each row to the target row of its index, as one flat scatter."""
    size = target.shape[1]
    places = ids[:, None] * size + np.arange(size)
    # `add.at` is fast on one axis only.
    np.add.at(target.reshape(-1), places.reshape(-1), rows.reshape(-1))


def _add_by_rank(target: NDArray[Any], ids: NDArray[np.int64], rows: NDArray[Any]) -> None:
    """Add the first row of every index in one pass, then the second ones, and so on.

    No index is twice in one pass, so a pass is a plain indexed addition of whole rows.
    """
    if ids.size == 0:
        return
    order = np.argsort(ids, kind="stable")
    ordered = ids[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    lengths = np.diff(np.append(starts, ids.size))
    ranks = np.arange(ids.size) - np.repeat(starts, lengths)
    target[ordered[starts]] = rows[order[starts]]
    for rank in range(1, min(int(lengths.max()), MOST_PASSES)):
        chosen = order[ranks == rank]
        target[ids[chosen]] += rows[chosen]
    rest = order[ranks >= MOST_PASSES]
    if rest.size:
        _add_elements(target, ids[rest], rows[rest])
