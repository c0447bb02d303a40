"""Writing in place, through views too: values and gradients are PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import vkml
from vkml.errors import AutogradError, ShapeError

torch: Any = pytest.importorskip("torch")

Pair = tuple[Any, Any]
"""The same tensor in vkML and in PyTorch."""


def leaf_pair(values: Any) -> Pair:
    array = np.asarray(values, np.float64)
    return vkml.tensor(array, requires_grad=True), torch.tensor(array, requires_grad=True)


def compare_gradients(program: Callable[[Any], Any], *shape: int) -> None:
    """Run `program` on a leaf in both libraries and compare result and gradient."""
    ours, theirs = leaf_pair(np.random.default_rng(1).uniform(0.5, 1.5, shape))

    our_result, their_result = program(ours), program(theirs)
    weights = np.random.default_rng(2).uniform(0.5, 1.5, tuple(their_result.shape))
    (our_result * vkml.tensor(weights)).sum().backward()
    (their_result * torch.tensor(weights)).sum().backward()

    np.testing.assert_allclose(our_result.detach().numpy(), their_result.detach().numpy())
    np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-9)


def test_a_write_counts_as_a_new_value() -> None:
    def program(x: Any) -> Any:
        y = x * 2
        y.mul_(3)
        y.add_(x)
        return y

    compare_gradients(program, 3)


def test_a_write_that_needs_the_old_value() -> None:
    def program(x: Any) -> Any:
        y = x * 2
        y.mul_(x)
        y.div_(x.exp())
        return y

    compare_gradients(program, 3)


def test_a_write_through_a_view_reaches_the_base() -> None:
    def program(x: Any) -> Any:
        y = x * 2
        y[1:].mul_(5)
        return y

    compare_gradients(program, 4)


def test_a_write_to_the_base_reaches_its_views() -> None:
    def program(x: Any) -> Any:
        y = x * 2
        view = y[1:]
        y.mul_(x)
        return view * view

    compare_gradients(program, 4)


def test_views_of_views_see_each_other() -> None:
    def program(x: Any) -> Any:
        y = x * 1
        row = y[1]
        part = row[1:3]
        other = y.T[2]
        part.mul_(7)
        return other + row.sum()

    compare_gradients(program, 3, 4)


def test_overwritten_parts_get_no_gradient() -> None:
    def program(x: Any) -> Any:
        y = x * 3
        y[0] = 5
        return y

    compare_gradients(program, 2, 3)


def test_a_value_written_into_a_view_gets_its_gradient() -> None:
    def program(x: Any) -> Any:
        y = (x * 0).detach()
        y[::2] = x[::2] * 2
        return y * y

    compare_gradients(program, 5)


def test_a_write_into_memory_without_history_gives_the_base_one() -> None:
    x: Any = vkml.tensor([1.0, 2.0], requires_grad=True)
    base = vkml.zeros(3)

    base[1:].copy_(x)

    assert base.requires_grad
    (base * 2).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_zeroing_cuts_the_gradient() -> None:
    def program(x: Any) -> Any:
        y = x * 2
        y.zero_()
        return y + x

    compare_gradients(program, 3)


def test_writes_inside_no_grad_are_not_differentiated() -> None:
    w: Any = vkml.tensor([1.0, 2.0], requires_grad=True)
    (w * w).sum().backward()

    with vkml.no_grad():
        w.sub_(w.grad, alpha=0.5)
        w[:1].add_(3)
        w.clamp_(0, 2)

    assert w.is_leaf
    assert w.requires_grad
    assert w.tolist() == [2, 0]


@pytest.mark.parametrize("name", ["add_", "mul_", "copy_", "zero_", "clamp_"])
def test_a_leaf_that_requires_a_gradient_is_not_overwritten(name: str) -> None:
    arguments = {"zero_": (), "copy_": (vkml.ones(2),), "clamp_": (0, 1)}.get(name, (2,))
    w: Any = vkml.ones(2, requires_grad=True)

    for target in (w, w[:]):
        with pytest.raises(AutogradError, match=r"leaf that requires a gradient; .*no_grad"):
            getattr(target, name)(*arguments)
    assert w.tolist() == [1, 1]


def test_numbers_are_written_with_the_digits_of_the_target() -> None:
    x = vkml.zeros(3, dtype=vkml.float64)

    x[0] = 0.1
    x[vkml.tensor([1])] = 0.1
    x[2:].fill_(0.1)

    assert x.tolist() == [0.1, 0.1, 0.1]


def test_a_value_that_does_not_broadcast_is_refused() -> None:
    x = vkml.zeros(2, 3)

    for index in (slice(None), vkml.tensor([0, 1])):
        with pytest.raises(ShapeError, match="does not broadcast"):
            x[index] = vkml.zeros(4)


def test_setting_an_item_of_a_leaf_is_refused() -> None:
    w: Any = vkml.ones(2, requires_grad=True)

    with pytest.raises(AutogradError, match="no_grad"):
        w[0] = 3


def test_a_detached_tensor_writes_into_the_same_memory() -> None:
    w: Any = vkml.ones(2, requires_grad=True)

    w.detach().mul_(3)

    assert w.tolist() == [3, 3]


def test_a_value_saved_before_the_write_is_refused() -> None:
    x: Any = vkml.ones(2, requires_grad=True)
    y = x * 2
    z = y * y

    y.add_(1)

    with pytest.raises(AutogradError, match="gradient of mul needs was changed in place"):
        z.sum().backward()


def test_a_view_taken_before_a_write_to_another_view_is_current() -> None:
    def program(x: Any) -> Any:
        y = x * 1
        first, second = y[:2], y[1:]
        first.mul_(10)
        return second * 2

    compare_gradients(program, 3)


def test_a_view_that_is_a_leaf_stays_one_when_its_memory_is_written() -> None:
    flat = vkml.zeros(5)
    w: Any = flat[1:3].requires_grad_()

    with vkml.no_grad():
        w.add_(1)
        flat.mul_(2)
    (w * w).sum().backward()

    assert w.is_leaf
    assert w.grad.tolist() == [4, 4]


def test_a_view_first_used_without_recording_keeps_its_history() -> None:
    x: Any = vkml.ones(3, requires_grad=True)
    base = x * 2
    view = base[1:]

    base.mul_(3)
    with vkml.no_grad():
        view + 1
    view.sum().backward()

    assert x.grad.tolist() == [0, 6, 6]


def test_a_view_taken_before_its_base_had_a_history_finds_it() -> None:
    x: Any = vkml.ones(2, requires_grad=True)
    base = vkml.zeros(3)
    view, other = base[1:], base[:2]

    base[1:].copy_(x * 2)

    assert view.requires_grad
    assert not view.is_leaf
    (view * other).sum().backward()
    assert x.grad.tolist() == [4, 4]


# Random programs -----------------------------------------------------------------------------


def _tanh(t: Any) -> Any:
    return t.tanh_()


VIEWS: list[Callable[[Any, int], Any]] = [
    lambda t, n: t[n % max(t.shape[0], 1) :],
    lambda t, n: t[: n + 1],
    lambda t, n: t[:: n + 1],
    lambda t, n: t[..., n % max(t.shape[-1], 1)],
    lambda t, _: t.transpose(0, -1),
    lambda t, n: t.transpose(0, n % len(t.shape)),
    lambda t, _: t.unsqueeze(0),
    lambda t, _: t.view(-1),
    lambda t, _: t.view(2, -1),
    lambda t, n: t.expand(n + 1, *t.shape),
    lambda t, _: t.detach(),
]

WRITES: list[Callable[[Any, Any], Any]] = [
    lambda t, _: t.mul_(0.5),
    lambda t, u: t.mul_(u),
    lambda t, u: t.add_(u, alpha=2),
    lambda t, u: t.sub_(u),
    lambda t, u: t.copy_(u),
    lambda t, _: t.zero_(),
    lambda t, _: t.fill_(0.3),
    lambda t, _: _tanh(t),
    lambda t, _: t.clamp_(-0.5, 0.5),
    lambda t, u: t.__setitem__(0, u[0]),
    lambda t, u: t.__setitem__((slice(None, None, 2)), u[::2]),
    lambda t, _: t.__setitem__(-1, 0.7),
]

NEW: list[Callable[[Any, Any], Any]] = [
    lambda t, u: t + u,
    lambda t, u: t * u,
    lambda t, _: t.sin(),
    lambda t, _: t.sum(0),
    lambda t, _: t.reshape(-1),
    lambda t, _: t.clone(),
]

STEP = st.tuples(
    st.sampled_from(["view", "view", "write", "write", "new"]),
    st.integers(0, 20),
    st.integers(0, 7),
    st.integers(0, 7),
    st.integers(0, 3),
)


def take_step(step: tuple[Any, ...], tensors: list[Pair]) -> None:
    """Do the same in both libraries; what PyTorch refuses is left out."""
    kind, choice, first, second, number = step
    table: list[Any] = {"view": VIEWS, "write": WRITES, "new": NEW}[kind]
    action = table[choice % len(table)]
    (ours, theirs), (our_other, their_other) = (
        tensors[index % len(tensors)] for index in (first, second)
    )
    extra = (number, number) if kind == "view" else (our_other, their_other)
    try:
        their_result = action(theirs, extra[1])
    except (RuntimeError, IndexError):
        return
    our_result = action(ours, extra[0])
    if kind != "write":
        tensors.append((our_result, their_result))


@settings(
    max_examples=300,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(st.lists(STEP, min_size=2, max_size=12))
def test_random_programs_of_views_and_writes(steps: list[tuple[Any, ...]]) -> None:
    values = np.random.default_rng(5).uniform(-1, 1, (4, 6))
    leaves = leaf_pair(values)
    tensors: list[Pair] = [
        (leaves[0] * 1, leaves[1] * 1),
        (vkml.tensor(values), torch.tensor(values)),
    ]

    for step in steps:
        take_step(step, tensors)

    for ours, theirs in tensors:
        np.testing.assert_allclose(
            ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-9, atol=1e-12
        )
    compare_losses(leaves, tensors)


def compare_losses(leaves: Pair, tensors: list[Pair]) -> None:
    our_loss, their_loss = leaves[0].sum() * 0, leaves[1].sum() * 0
    for number, (ours, theirs) in enumerate(tensors):
        # PyTorch keeps a history of which nothing is left after zero_; here it ends.
        assert theirs.requires_grad or not ours.requires_grad
        our_loss = our_loss + (ours * ours).sum() * (number + 1)
        their_loss = their_loss + (theirs * theirs).sum() * (number + 1)
    try:
        their_loss.backward()
    except RuntimeError:  # a saved value was changed
        return
    our_loss.backward()
    np.testing.assert_allclose(
        leaves[0].grad.numpy(), leaves[1].grad.numpy(), rtol=1e-8, atol=1e-10
    )
