"""How optimisers are used: steps, closures, arguments, printing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

import vkml
import vkml_nn
from vkml import nn

torch = pytest.importorskip("torch")


def test_model_is_trained_as_torch_trains_it() -> None:
    def build(library: Any) -> Any:
        return library.Sequential(library.Linear(4, 8), library.Tanh(), library.Linear(8, 3))

    ours, theirs = build(nn), build(torch.nn)
    ours.load_state_dict(theirs.state_dict())
    optimizer = vkml.optim.AdamW(ours.parameters(), lr=0.05)
    expected = torch.optim.AdamW(theirs.parameters(), lr=0.05)
    generator = np.random.default_rng(0)
    inputs = generator.standard_normal((32, 4)).astype(np.float32)
    targets = generator.integers(0, 3, 32)

    for _ in range(30):
        loss = nn.CrossEntropyLoss()(ours(vkml.tensor(inputs)), vkml.tensor(targets))
        wanted = torch.nn.CrossEntropyLoss()(theirs(torch.tensor(inputs)), torch.tensor(targets))
        assert loss.item() == pytest.approx(wanted.item(), rel=1e-4)
        for each, result in ((optimizer, loss), (expected, wanted)):
            each.zero_grad()
            result.backward()
            each.step()


def test_closure_is_run_with_gradients_and_its_loss_returned() -> None:
    x = vkml.tensor([2.0], requires_grad=True)
    optimizer = vkml.optim.SGD([x], lr=0.1)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    with vkml.no_grad():
        assert optimizer.step(closure).item() == 4
    assert x.tolist() == pytest.approx([1.6])


def test_zero_grad_forgets_or_zeroes() -> None:
    x = vkml.tensor([2.0], requires_grad=True)
    optimizer = vkml.optim.SGD([x])
    x.grad = vkml.ones(1)

    optimizer.zero_grad(set_to_none=False)
    assert x.grad is not None
    assert x.grad.tolist() == [0]
    optimizer.zero_grad()
    assert x.grad is None


@pytest.mark.parametrize(
    ("make", "error", "part"),
    [
        (lambda _: vkml.optim.SGD([]), vkml.ArgumentError, "there are no parameters"),
        (lambda x: vkml.optim.SGD([x * 2]), vkml.ArgumentError, "result of an operation"),
        (lambda x: vkml.optim.SGD([x, x]), vkml.ArgumentError, "comes twice"),
        (lambda x: vkml.optim.SGD(x), vkml.DTypeError, "put it into a list"),
        (lambda _: vkml.optim.SGD([cast(Any, 1.0)]), vkml.DTypeError, "is a float"),
        (lambda x: vkml.optim.SGD([x], lr=-1), vkml.ArgumentError, "lr is -1"),
        (lambda x: vkml.optim.SGD([x], nesterov=True), vkml.ArgumentError, "nesterov needs"),
        (lambda x: vkml.optim.RMSprop([x], alpha=-1), vkml.ArgumentError, "alpha is -1"),
        (lambda x: vkml.optim.Adam([x], betas=(0.9, 1.0)), vkml.ArgumentError, "betas are"),
        (lambda x: vkml.optim.AdamW([x], betas=cast(Any, 0.9)), vkml.ArgumentError, "are 0.9"),
        (lambda x: vkml.optim.Adam([x], betas=cast(Any, (0.9,))), vkml.ArgumentError, "give two"),
    ],
)
def test_wrong_argument_is_named(make: Callable[[Any], Any], error: Any, part: str) -> None:
    with pytest.raises(error, match=part):
        make(vkml.zeros(1, requires_grad=True))


def test_state_of_something_else_is_refused() -> None:
    optimizer = vkml.optim.SGD([vkml.zeros(1, requires_grad=True)])

    with pytest.raises(vkml_nn.StateDictError, match="no 'state' and no 'param_groups'; give what"):
        optimizer.load_state_dict({"weight": vkml.ones(1)})


def test_optimizer_prints_its_options() -> None:
    text = repr(vkml.optim.SGD([vkml.zeros(1, requires_grad=True)], lr=0.5))

    assert text.startswith("SGD (\nParameter Group 0\n    dampening: 0\n    lr: 0.5\n")


def test_optimizer_made_between_forward_and_backward_leaves_the_graph_usable() -> None:
    layer = nn.Linear(3, 1)
    loss = layer(vkml.ones(2, 3)).sum()

    vkml.optim.SGD(layer.parameters(), lr=0.1)
    loss.backward()

    assert layer.weight.grad is not None
    assert layer.weight.grad.tolist() == [[2, 2, 2]]
