"""The graph and the backward pass."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import vkml
from vkml.autograd.graph import Node
from vkml.errors import ArgumentError, AutogradError, ShapeError


def grad(*arguments: Any, **options: Any) -> Any:
    """Return the gradients; Any, since the tests know which ones are there."""
    return vkml.autograd.grad(*arguments, **options)


def leaf(*values: float) -> Any:
    """Return a leaf; Any, since its gradient is known to be there where a test asks for it."""
    return vkml.tensor(list(values), requires_grad=True)


def test_gradients_of_several_uses_add_up() -> None:
    x = leaf(2.0)

    (x * x + 3 * x).sum().backward()

    assert x.grad.tolist() == [7]


def test_backward_passes_add_up() -> None:
    x = leaf(1.0, 2.0)

    for _ in range(3):
        (x * 2).sum().backward()

    assert x.grad.tolist() == [6, 6]


def test_accumulation_keeps_the_same_memory() -> None:
    x = leaf(1.0)
    (x * 2).backward()
    first = x.grad

    (x * 2).backward()

    assert x.grad is first
    assert first.tolist() == [4]


def test_setting_grad_to_none_starts_anew() -> None:
    x = leaf(1.0)
    (x * 2).backward()

    x.grad = None
    (x * 5).backward()

    assert x.grad.tolist() == [5]


def test_gradients_lie_on_separate_memory() -> None:
    a, b = leaf(1.0, 2.0), leaf(3.0, 4.0)
    upstream = vkml.ones(2)

    (a + b).backward(upstream)

    memories = {a.grad.storage(), b.grad.storage(), upstream.storage()}
    assert len(memories) == 3
    a.grad.zero_()
    assert (b.grad.tolist(), upstream.tolist()) == ([1, 1], [1, 1])


def test_gradients_do_not_share_memory_with_views() -> None:
    x: Any = vkml.zeros(2, 3, requires_grad=True)

    y = x.T.sum(0)
    y.backward(vkml.ones(2))

    assert x.grad.is_contiguous()
    x.grad.add_(1)
    assert x.grad.tolist() == [[2, 2, 2], [2, 2, 2]]


def test_a_graph_is_freed_by_its_backward_pass() -> None:
    x = leaf(2.0)
    y = x.exp()
    y.backward()

    with pytest.raises(AutogradError, match=r"exp was freed.*retain_graph=True"):
        y.backward()


def test_retain_graph_allows_a_second_pass() -> None:
    x = leaf(2.0)
    y = x * x

    y.backward(retain_graph=True)
    y.backward()

    assert x.grad.tolist() == [8]


def test_saved_values_are_freed_by_the_backward_pass() -> None:
    x = leaf(1.0, 2.0)
    middle = x * 2
    saved = weakref.ref(middle._operand)
    y = middle.exp().sum()
    del middle

    y.backward()
    gc.collect()

    assert saved() is None


def test_values_that_no_rule_needs_are_not_kept() -> None:
    x = leaf(1.0, 2.0)
    middle = x * 2
    forgotten = weakref.ref(middle._operand)

    y = middle + 1
    del middle
    gc.collect()

    assert forgotten() is None
    assert y.requires_grad


def test_a_graph_dies_with_its_result() -> None:
    x = leaf(1.0)
    y = (x * 2).exp()
    device_held = weakref.ref(y._operand)

    del y
    gc.collect()

    assert device_held() is None


def test_deep_chains_need_no_recursion() -> None:
    x = leaf(1.0)
    y = x
    for _ in range(50_000):
        y = y + 1.0

    y.backward()

    assert x.grad.tolist() == [1]
    del y


def test_a_deep_graph_is_freed_without_recursion() -> None:
    y = leaf(1.0)
    for _ in range(50_000):
        y = y * 1.0

    del y
    gc.collect()


def test_a_diamond_of_many_paths_is_walked_once_per_node() -> None:
    x = leaf(1.0)
    y = x
    for _ in range(60):
        y = y + y

    y.backward()

    assert x.grad.tolist() == [2.0**60]


def test_gradients_lie_on_separate_memory_with_create_graph() -> None:
    a, b = leaf(1.0), leaf(3.0)
    upstream = vkml.ones(1)

    (a + b).backward(upstream, create_graph=True)

    assert len({a.grad.storage(), b.grad.storage(), upstream.storage()}) == 3


def test_retain_grad_keeps_gradients_of_results() -> None:
    x = leaf(1.0, 2.0)
    y = x * 3
    y.retain_grad()

    (y * y).sum().backward()

    assert y.grad.tolist() == [6, 12]


def test_retained_gradients_are_on_separate_memory() -> None:
    x = leaf(1.0)
    y = x * 1
    y.retain_grad()
    z = y + 0
    z.retain_grad()

    z.backward()
    y.grad.zero_()

    assert z.grad.tolist() == [1]
    assert x.grad.tolist() == [1]


def test_a_changed_value_is_refused_by_name() -> None:
    x = leaf(1.0)
    y = x * 2
    z = y.exp()
    z.add_(1)

    with pytest.raises(AutogradError, match=r"gradient of exp needs was changed in place"):
        z.backward()


def test_a_changed_operand_is_refused() -> None:
    x = leaf(1.0)
    weight = vkml.tensor([2.0])
    y = x * weight

    weight.add_(1)

    with pytest.raises(AutogradError, match="mul"):
        y.backward()


def test_a_change_through_a_view_is_refused() -> None:
    x = leaf(1.0, 2.0)
    weight = vkml.tensor([2.0, 3.0])
    y = x * weight

    weight[:1].zero_()

    with pytest.raises(AutogradError, match="mul"):
        y.sum().backward()


def test_a_change_of_a_value_that_is_not_needed_is_allowed() -> None:
    x = leaf(1.0)
    y = x * 2
    z = y + 1

    y.detach().zero_()
    z.backward()

    assert x.grad.tolist() == [2]


def test_a_result_that_requires_no_gradient_is_refused() -> None:
    with pytest.raises(AutogradError, match="requires no gradient"):
        vkml.ones(1).backward()


def test_many_elements_need_a_gradient_to_start_from() -> None:
    with pytest.raises(AutogradError, match=r"shape \(2,\) needs a gradient"):
        (leaf(1.0, 2.0) * 2).backward()


def test_a_starting_gradient_of_another_shape_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"\(3,\)"):
        (leaf(1.0, 2.0) * 2).backward(vkml.ones(3))


def test_several_results_are_differentiated_together() -> None:
    x = leaf(1.0, 2.0)
    y, z = x * 2, (x * x).sum()

    vkml.autograd.backward([y, z], [vkml.ones(2), None])

    assert x.grad.tolist() == [4, 6]


def test_a_leaf_may_be_differentiated_itself() -> None:
    x = leaf(3.0)

    x.backward()

    assert x.grad.tolist() == [1]


def test_integers_cannot_require_a_gradient() -> None:
    with pytest.raises(AutogradError, match="int64 has no gradient"):
        vkml.tensor([1], requires_grad=True)


def test_requires_grad_cannot_be_taken_from_a_result() -> None:
    y = leaf(1.0) * 2

    with pytest.raises(AutogradError, match="detach"):
        y.requires_grad_(False)


def test_detach_cuts_the_graph_and_keeps_the_memory() -> None:
    x = leaf(1.0)
    y = (x * 2).detach()

    assert not y.requires_grad
    assert x.detach().storage() == x.storage()


def test_integer_operands_get_no_gradient() -> None:
    x = leaf(1.0, 2.0)

    (x * vkml.tensor([2, 3])).sum().backward()

    assert x.grad.tolist() == [2, 3]


def test_gradients_have_the_dtype_of_their_leaf() -> None:
    x: Any = vkml.ones(2, dtype=vkml.float16, requires_grad=True)
    y: Any = vkml.ones(2, dtype=vkml.float64, requires_grad=True)

    (x * y).sum().backward()

    assert (x.grad.dtype, y.grad.dtype) == (vkml.float16, vkml.float64)


def test_rank_zero_gradients_of_broadcast_operands() -> None:
    x: Any = vkml.tensor(2.0, requires_grad=True)

    (x * vkml.ones(3, 4)).sum().backward()

    assert (x.grad.shape, x.grad.item()) == ((), 12)


def test_empty_tensors_have_empty_gradients() -> None:
    x: Any = vkml.zeros(0, 3, requires_grad=True)

    (x * 2).sum().backward()

    assert x.grad.shape == (0, 3)


def test_gradients_move_between_devices(strided: vkml.Device) -> None:
    x = leaf(1.0, 2.0)

    y = (x * 2).to(strided)
    (y * y).sum().backward()

    assert x.grad.device == "cpu"
    assert x.grad.tolist() == [8, 16]


def test_nodes_name_their_operation_and_predecessors() -> None:
    x = leaf(1.0)
    y: Any = (x * 2).exp()

    node: Any = y.grad_fn
    assert isinstance(y.grad_fn, Node)
    names = [node.name]
    while node.next_functions:
        node = node.next_functions[0]
        names.append(node.name)
    assert names == ["exp", "mul", "leaf"]


def test_grad_refuses_tensors_of_another_shape() -> None:
    x = leaf(1.0)

    with pytest.raises(ShapeError):
        x.grad = vkml.ones(2)


def test_out_records_no_gradient_and_says_so() -> None:
    x = leaf(1.0)

    with pytest.raises(ArgumentError, match="no_grad"):
        vkml.add(x, 1, out=vkml.zeros(1))


def test_floating_point_warnings_stay_silent() -> None:
    x: Any = vkml.zeros(1, requires_grad=True)

    (1 / x).log().sum().backward()

    assert not np.isfinite(x.grad.numpy()).any()


def test_set_after_the_forward_pass_leaves_saved_values_alone() -> None:
    x = leaf(2.0, 3.0)
    loss = (x * x).sum()
    other = vkml.zeros(2)
    other += 1  # a version of its own

    x.set_(other)
    loss.backward()

    assert x.grad.tolist() == [4, 6]
