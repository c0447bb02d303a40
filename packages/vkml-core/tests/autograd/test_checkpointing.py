"""Checkpoints: the same gradients, without the values in between."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import vkml
from vkml.autograd import Function, checkpoint, gradcheck, gradgradcheck
from vkml.errors import AutogradError


def grad(*arguments: Any, **options: Any) -> Any:
    """Return the gradients; Any, since the tests know which ones are there."""
    return vkml.autograd.grad(*arguments, **options)


def leaf(*values: float) -> Any:
    """Return a leaf; Any, since its gradient is known to be there where a test asks for it."""
    return vkml.tensor(list(values), dtype=vkml.float64, requires_grad=True)


def block(x: vkml.Tensor) -> vkml.Tensor:
    return (x * x).exp() * x.sin()


def test_value_and_gradient_are_those_of_a_plain_call() -> None:
    x, y = leaf(0.5, 1.0), leaf(0.5, 1.0)

    plain, kept = block(x), checkpoint(block, y)
    plain.sum().backward()
    kept.sum().backward()

    assert kept.tolist() == plain.tolist()
    assert y.grad.tolist() == x.grad.tolist()


def test_the_function_is_called_again_once() -> None:
    calls = []

    def counted(x: vkml.Tensor) -> vkml.Tensor:
        calls.append(vkml.is_grad_enabled())
        return block(x)

    y = checkpoint(counted, leaf(1.0, 2.0))
    assert len(calls) == 1
    y.sum().backward()

    assert calls == [True, True]


def test_values_in_between_are_forgotten() -> None:
    middle = []

    def watched(x: vkml.Tensor) -> vkml.Tensor:
        squared = x * x
        middle.append(weakref.ref(squared._operand))
        return squared.exp()

    y = checkpoint(watched, leaf(1.0, 2.0))
    gc.collect()

    assert middle[0]() is None
    y.sum().backward()
    gc.collect()
    assert middle[1]() is None


def test_closed_over_parameters_get_their_gradient() -> None:
    weight = leaf(2.0, 3.0)
    x = leaf(1.0, 2.0)

    checkpoint(lambda x: (x * weight).exp(), x).sum().backward()

    assert weight.grad.tolist() == (x * (x * weight).exp()).tolist()


def test_inputs_without_gradient_are_fine_when_parameters_have_one() -> None:
    weight = leaf(2.0)

    checkpoint(lambda x: (x * weight).exp(), leaf(1.0).detach()).backward()

    assert weight.grad is not None


def test_grad_by_closed_over_parameters_works() -> None:
    weight = leaf(2.0)

    (found,) = grad(checkpoint(lambda x: x * weight * weight, leaf(3.0)), weight)

    assert found.tolist() == [12]
    assert weight.grad is None


def test_checkpoints_pass_gradcheck_twice() -> None:
    x = leaf(0.5, -0.7)

    assert gradcheck(lambda x: checkpoint(block, x), x)
    assert gradgradcheck(lambda x: checkpoint(block, x), x)


def test_checkpoints_follow_each_other() -> None:
    x, y = leaf(0.3, 0.1), leaf(0.3, 0.1)

    block(block(block(x))).sum().backward()
    checkpoint(block, checkpoint(block, checkpoint(block, y))).sum().backward()

    assert y.grad.tolist() == x.grad.tolist()


def test_checkpoints_nest() -> None:
    x, y = leaf(0.3, 0.1), leaf(0.3, 0.1)

    def outer(x: vkml.Tensor) -> vkml.Tensor:
        return checkpoint(block, x.cos()) * x

    (block(x.cos()) * x).sum().backward()
    checkpoint(outer, y).sum().backward()

    assert y.grad.tolist() == x.grad.tolist()


def test_a_second_pass_needs_retain_graph() -> None:
    x = leaf(0.5)
    y = checkpoint(block, x)

    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(AutogradError, match="retain_graph"):
        y.backward()

    reference = leaf(0.5)
    block(reference).backward()
    assert x.grad.tolist() == [2 * reference.grad.item()]


def test_several_results_and_nested_ones() -> None:
    x = leaf(0.5)

    first, others = checkpoint(lambda x: (x.exp(), {"sin": x.sin()}), x)
    (first * others["sin"]).backward()

    reference = leaf(0.5)
    (reference.exp() * reference.sin()).backward()
    assert x.grad.tolist() == reference.grad.tolist()


def test_user_functions_inside_are_computed_again() -> None:
    class Square(Function):
        @staticmethod
        def forward(context: Any, x: vkml.Tensor) -> vkml.Tensor:
            context.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(context: Any, upstream: vkml.Tensor) -> Any:
            return upstream * context.saved_tensors[0] * 2

    x = leaf(3.0)
    checkpoint(lambda x: Square.apply(x * 2), x).backward()

    assert x.grad.tolist() == [24]


def test_keyword_arguments_are_passed_on() -> None:
    x = leaf(3.0)

    def scaled(x: vkml.Tensor, *, factor: float) -> vkml.Tensor:
        return x * factor * x

    checkpoint(scaled, x, factor=2.0).backward()

    assert x.grad.tolist() == [12]


def test_writes_inside_are_computed_again() -> None:
    def writing(x: vkml.Tensor) -> vkml.Tensor:
        y = x * 2
        y.mul_(x)
        return y.exp()

    x, y = leaf(0.5), leaf(0.5)
    writing(x).backward()
    checkpoint(writing, y).backward()

    assert y.grad.tolist() == x.grad.tolist()


def test_nothing_is_kept_under_no_grad() -> None:
    with vkml.no_grad():
        assert not checkpoint(block, leaf(1.0)).requires_grad


def test_a_changed_argument_is_refused() -> None:
    x = leaf(1.0)
    middle = x * 2
    y = checkpoint(block, middle)

    middle.detach().zero_()

    with pytest.raises(AutogradError, match="an argument was changed in place"):
        y.backward()


def test_a_function_that_does_something_else_the_second_time_is_refused() -> None:
    calls = []

    def fickle(x: vkml.Tensor) -> vkml.Tensor:
        calls.append(1)
        return x.exp() if len(calls) == 1 else x.exp().sin()

    y = checkpoint(fickle, leaf(1.0))

    with pytest.raises(AutogradError, match=r"recorded 1 operations .* and 2"):
        y.backward()


def test_random_numbers_are_drawn_again_equal() -> None:
    seen = []

    def noisy(x: vkml.Tensor) -> vkml.Tensor:
        noise = vkml.rand(3, dtype=vkml.float64)
        seen.append(noise.tolist())
        return (x * noise).exp()

    vkml.manual_seed(3)
    y = checkpoint(noisy, leaf(1.0, 2.0, 3.0))
    between = vkml.rand(1).tolist()
    state = vkml.get_rng_state()
    y.sum().backward()

    assert seen[0] == seen[1]
    assert between != seen[0][:1]
    assert vkml.equal(vkml.get_rng_state(), state)
