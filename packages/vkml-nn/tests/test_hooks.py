"""Hooks of modules."""

from __future__ import annotations

from typing import Any

import numpy as np

import vkml
from vkml import nn


def test_forward_hooks_see_and_replace_arguments_and_result() -> None:
    layer = nn.Identity()
    before = layer.register_forward_pre_hook(lambda _, args: args[0] + 1)
    after = layer.register_forward_hook(lambda _module, _args, result: result * 10)

    assert layer(vkml.ones(1)).tolist() == [20]
    before.remove()
    assert layer(vkml.ones(1)).tolist() == [10]
    after.remove()
    after.remove()
    assert layer(vkml.ones(1)).tolist() == [1]


def test_hooks_get_keyword_arguments_if_they_ask() -> None:
    class Scaled(nn.Module):
        def forward(self, x: int, *, by: int) -> int:
            return x * by

    layer = Scaled()
    layer.register_forward_pre_hook(
        lambda _, args, kwargs: (args, {"by": kwargs["by"] + 1}), with_kwargs=True
    )
    seen: list[Any] = []
    layer.register_forward_hook(
        lambda _, args, kwargs, result: seen.append((args, kwargs, result)), with_kwargs=True
    )

    assert layer(3, by=1) == 6
    assert seen == [((3,), {"by": 2}, 6)]


def test_prepended_hook_runs_first() -> None:
    layer, order = nn.Identity(), []
    layer.register_forward_hook(lambda *_: order.append("second"))
    layer.register_forward_hook(lambda *_: order.append("first"), prepend=True)

    layer(1)

    assert order == ["first", "second"]


def test_backward_hook_sees_both_gradients_and_replaces_the_inputs() -> None:
    layer = nn.Linear(2, 1, bias=False)
    layer.load_state_dict({"weight": np.array([[2.0, 3.0]])})
    seen: list[Any] = []

    def hook(module: Any, grad_input: Any, grad_output: Any) -> Any:
        seen.append((grad_input[0].tolist(), grad_output[0].tolist()))
        return (grad_input[0] * 10,)

    layer.register_full_backward_hook(hook)
    x = vkml.ones(1, 2, requires_grad=True)
    (layer(x) * 5).sum().backward()

    assert seen == [([[10.0, 15.0]], [[5.0]])]
    assert x.grad is not None
    assert x.grad.tolist() == [[100, 150]]


def test_backward_hook_without_gradient_of_the_input_sees_that_of_the_result() -> None:
    layer = nn.Linear(2, 1)
    seen: list[Any] = []
    layer.register_full_backward_hook(lambda _module, incoming, _outgoing: seen.append(incoming))

    layer(vkml.ones(1, 2)).sum().backward()

    assert seen == [(None,)]
