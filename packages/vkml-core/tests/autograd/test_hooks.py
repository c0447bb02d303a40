"""Hooks: functions that see gradients and may replace them."""

from __future__ import annotations

from typing import Any

import vkml


def leaf(*values: float) -> Any:
    """Return a leaf; Any, since its gradient is known to be there where a test asks for it."""
    return vkml.tensor(list(values), requires_grad=True)


def test_hooks_see_and_replace_gradients_of_leaves() -> None:
    x = leaf(1.0)
    seen = []
    x.register_hook(lambda gradient: seen.append(gradient.tolist()))
    x.register_hook(lambda gradient: gradient * 10)

    (x * 3).backward()

    assert seen == [[3]]
    assert x.grad.tolist() == [30]


def test_hooks_replace_gradients_of_results() -> None:
    x = leaf(1.0)
    y = x * 3
    y.register_hook(lambda gradient: gradient * 10)

    (y * 2).backward()

    assert x.grad.tolist() == [60]


def test_a_leaf_hook_sees_the_sum() -> None:
    x = leaf(1.0)
    seen = []
    x.register_hook(lambda gradient: seen.append(gradient.tolist()))

    (x * 3 + x * 4).backward()

    assert seen == [[7]]


def test_a_hook_is_removed_by_what_registering_returned() -> None:
    x = leaf(1.0)
    handle = x.register_hook(lambda gradient: gradient * 10)

    handle.remove()
    handle.remove()
    (x * 3).backward()

    assert x.grad.tolist() == [3]


def test_one_hook_may_be_registered_twice() -> None:
    x = leaf(1.0)

    def double(gradient: vkml.Tensor) -> vkml.Tensor:
        return gradient * 2

    x.register_hook(double)
    x.register_hook(double)
    (x * 3).backward()

    assert x.grad.tolist() == [12]


def test_what_a_hook_has_seen_stays_as_it_was() -> None:
    x = leaf(1.0)
    seen: list[Any] = []
    x.register_hook(seen.append)

    for _ in range(2):
        (x * 3).backward()

    assert x.grad.tolist() == [6]
    assert [each.tolist() for each in seen] == [[3], [3]]
