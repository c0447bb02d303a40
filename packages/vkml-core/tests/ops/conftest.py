"""What the tests of operations share: comparing values and derivatives with torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import vkml

AgreesWithTorch = Callable[..., None]


def _leaf_and_value(library: Any, operand: Any) -> tuple[Any, Any]:
    """Return a tensor that gathers a gradient, and the operand as computed from it."""
    if not isinstance(operand, np.ndarray):
        return None, operand
    if operand.dtype.kind != "f":
        return None, library.tensor(operand)
    if operand.flags.c_contiguous:
        leaf = library.tensor(operand).requires_grad_()
        return leaf, leaf
    leaf = library.tensor(np.ascontiguousarray(operand.T)).requires_grad_()
    return leaf, leaf.permute(tuple(range(operand.ndim))[::-1])


def _values_and_derivatives(
    library: Any, function: Callable[..., Any], operands: tuple[Any, ...], second: bool
) -> list[NDArray[Any]]:
    """Return the result, the gradients of all operands and the gradients of these."""
    rng = np.random.default_rng(11)

    def direction(like: Any) -> Any:
        numbers = rng.standard_normal(tuple(like.shape))
        return library.tensor(numbers.astype(str(like.dtype).split(".")[-1]))

    pairs = [_leaf_and_value(library, operand) for operand in operands]
    leaves = [leaf for leaf, _ in pairs if leaf is not None]
    result = function(*(value for _, value in pairs))
    upstream = direction(result).requires_grad_()
    firsts = library.autograd.grad(result, leaves, upstream, create_graph=second)
    found = [result, *firsts]
    if second:
        directions = [direction(first) for first in firsts]
        total = sum((a * b).sum() for a, b in zip(firsts, directions, strict=True))
        found += [
            # An operand on which the gradient does not depend: 0 in one library, unused in another.
            library.zeros(1) if each is None or bool((each == 0).all()) else each
            for each in library.autograd.grad(total, [*leaves, upstream], allow_unused=True)
        ]
    return [each.detach().numpy() for each in found]


@pytest.fixture
def agrees_with_torch() -> AgreesWithTorch:
    """Return an assertion that compares a function with torch's: values, derivatives, dtypes.

    Operands are arrays; those that are not in C order reach both libraries as transposed views.
    """
    torch = pytest.importorskip("torch")

    def check(
        ours: Callable[..., Any],
        theirs: Callable[..., Any],
        *operands: Any,
        second: bool = True,
        tolerance: float = 1.0,
    ) -> None:
        actual = _values_and_derivatives(vkml, ours, operands, second)
        expected = _values_and_derivatives(torch, theirs, operands, second)
        assert len(actual) == len(expected)
        for mine, other in zip(actual, expected, strict=True):
            assert mine.shape == other.shape
            assert mine.dtype == other.dtype
            limit = (2e-5 if mine.dtype == np.float32 else 1e-11) * tolerance
            np.testing.assert_allclose(mine, other, rtol=limit, atol=limit)

    return check
