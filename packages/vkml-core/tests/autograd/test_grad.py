"""`vkml.autograd.grad`, and derivatives of derivatives."""

from __future__ import annotations

from typing import Any

import pytest

import vkml
from vkml.errors import AutogradError


def grad(*arguments: Any, **options: Any) -> Any:
    """Return the gradients; Any, since the tests know which ones are there."""
    return vkml.autograd.grad(*arguments, **options)


def leaf(*values: float) -> Any:
    """Return a leaf; Any, since its gradient is known to be there where a test asks for it."""
    return vkml.tensor(list(values), requires_grad=True)


def test_grad_leaves_every_grad_alone() -> None:
    x, y = leaf(2.0), leaf(3.0)

    (found,) = grad((x * y).sum(), x)

    assert found.tolist() == [3]
    assert (x.grad, y.grad) == (None, None)


def test_grad_by_an_intermediate_result() -> None:
    x = leaf(2.0)
    y = x * x
    z = y * 5

    by_y, by_x = grad(z, [y, x])

    assert (by_y.tolist(), by_x.tolist()) == ([5], [20])


def test_grad_of_an_unrelated_input_raises_or_is_none() -> None:
    x, y = leaf(2.0), leaf(3.0)

    with pytest.raises(AutogradError, match=r"do not depend on input 1.*allow_unused=True"):
        grad(x * 2, [x, y])
    found = grad(x * 2, [x, y], allow_unused=True)

    assert found[0].tolist() == [2]
    assert found[1] is None


def test_grad_with_starting_gradients() -> None:
    x = leaf(1.0, 2.0)

    (found,) = grad(x * x, x, vkml.tensor([10.0, 100.0]))

    assert found.tolist() == [20, 400]


def test_grad_runs_only_what_leads_to_the_inputs() -> None:
    x, y = leaf(2.0), leaf(3.0)
    ran = []
    side = y * y
    side.register_hook(lambda _: ran.append("side"))

    grad(x * side, x)

    assert not ran


def test_higher_derivatives_to_the_fourth() -> None:
    value = leaf(2.0)
    x = value
    y = (x * x * x * x).sum()
    found = []
    for _ in range(4):
        (y,) = grad(y, x, create_graph=True)
        found.append(y.item())
        y = y.sum()

    assert found == [32, 48, 48, 24]


def test_create_graph_reaches_both_factors() -> None:
    x, y = leaf(2.0), leaf(3.0)
    (by_x,) = grad((x * x * y).sum(), x, create_graph=True)

    by_x.backward()

    assert (x.grad.tolist(), y.grad.tolist()) == ([6], [4])


def test_backward_with_create_graph_records_the_gradient() -> None:
    x = leaf(3.0)
    (x * x * x).backward(create_graph=True)

    assert x.grad.requires_grad
    (second,) = grad(x.grad, x)
    assert second.tolist() == [18]


def test_create_graph_sums_broadcast_gradients() -> None:
    x: Any = vkml.ones(3, 1, requires_grad=True)
    y: Any = vkml.full((4,), 2.0, requires_grad=True)

    (by_x,) = grad((x * x * y).sum(), x, create_graph=True)
    (mixed,) = grad(by_x.sum(), y)

    assert by_x.shape == (3, 1)
    assert mixed.tolist() == [6, 6, 6, 6]
