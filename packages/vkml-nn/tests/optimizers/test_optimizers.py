"""Optimisers equal torch's, step for step, with all parameters in all memory layouts."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import vkml
from vkml import nn
from vkml_nn.optimizers import flat

torch = pytest.importorskip("torch")

SHAPES = [(3, 4), (4,), (), (2, 1, 3), (0,), (5,)]

OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.1, "weight_decay": 0.1, "maximize": True}),
    ("SGD", {"lr": 0.1, "momentum": 0.5, "maximize": True}),
    ("Adam", {"lr": 0.1}),
    ("Adam", {"lr": 0.1, "betas": (0.5, 0.9), "eps": 1e-3, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.1, "amsgrad": True, "maximize": True}),
    ("AdamW", {"lr": 0.1}),
    ("AdamW", {"lr": 0.1, "amsgrad": True, "weight_decay": 0.3, "maximize": True}),
    ("RMSprop", {}),
    ("RMSprop", {"alpha": 0.8, "eps": 1e-3, "weight_decay": 0.1, "momentum": 0.9}),
    ("RMSprop", {"centered": True, "maximize": True}),
    ("RMSprop", {"centered": True, "momentum": 0.5, "weight_decay": 0.1}),
]


class Pair:
    """An optimiser of vkML and one of torch with equal parameters, given equal gradients."""

    def __init__(self, name: str, options: dict[str, Any], groups: Any = None) -> None:
        self.generator = np.random.default_rng(0)
        values = [self.generator.standard_normal(shape) for shape in SHAPES]
        self.ours = [vkml.Parameter(vkml.tensor(each)) for each in values]
        self.theirs = [torch.nn.Parameter(torch.tensor(each)) for each in values]
        group = groups or (lambda parameters: parameters)
        self.optimizer = getattr(vkml.optim, name)(group(self.ours), **options)
        self.expected = getattr(torch.optim, name)(group(self.theirs), **options)

    def step(self, having_gradients: Sequence[int] = range(len(SHAPES))) -> None:
        self.optimizer.zero_grad()
        self.expected.zero_grad()
        for index in having_gradients:
            gradient = np.asarray(self.generator.standard_normal(SHAPES[index]))
            self.ours[index].grad = vkml.tensor(gradient)
            self.theirs[index].grad = torch.tensor(gradient)
        self.optimizer.step()
        self.expected.step()

    def compare(self, tolerance: float = 1e-10) -> None:
        for index, (mine, other) in enumerate(zip(self.ours, self.theirs, strict=True)):
            found, wanted = mine.detach().numpy(), other.detach().numpy()
            np.testing.assert_allclose(found, wanted, tolerance, tolerance, err_msg=str(index))


@pytest.fixture(params=[True, False], ids=["together", "alone"])
def layout(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make all parameters small, or all large."""
    monkeypatch.setattr(flat, "LARGE", 2**16 if request.param else 0)


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_twenty_steps_equal_torch(name: str, options: Any) -> None:
    pair = Pair(name, options)

    for _ in range(20):
        pair.step()
        pair.compare()


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_parameters_that_lack_gradients_now_and_then_equal_torch(name: str, options: Any) -> None:
    pair = Pair(name, options)

    for number in range(20):
        pair.step([index for index in range(len(SHAPES)) if (number + index) % 3])
        pair.compare()


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_groups_with_options_of_their_own_and_changing_lr_equal_torch(name: str) -> None:
    def groups(parameters: Any) -> Any:
        return [
            {"params": parameters[:2], "lr": 0.02},
            {"params": parameters[2:5], "weight_decay": 0.2},
        ]

    pair = Pair(name, {"lr": 0.1}, groups)
    for number in range(20):
        pair.optimizer.param_groups[1]["lr"] = pair.expected.param_groups[1]["lr"] = 0.1 / (
            1 + number
        )
        pair.step()
        if number == 9:
            pair.optimizer.add_param_group({"params": pair.ours[5], "lr": 0.5})
            pair.expected.add_param_group({"params": pair.theirs[5], "lr": 0.5})
    pair.compare()


def test_momentum_switched_on_later_equals_torch() -> None:
    pair = Pair("SGD", {"lr": 0.1})

    for number in range(10):
        for optimizer in (pair.optimizer, pair.expected):
            optimizer.param_groups[0]["momentum"] = 0.9 if number > 4 else 0.0
        pair.step()
        pair.compare()


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_state_goes_to_torch_and_back_in_the_middle_of_training(name: str, options: Any) -> None:
    pair = Pair(name, options)
    for _ in range(5):
        pair.step()

    ours, theirs = pair.optimizer.state_dict(), pair.expected.state_dict()
    for number, kept in ours["state"].items():
        assert kept.keys() == theirs["state"][number].keys()
    assert [group["params"] for group in ours["param_groups"]] == [list(range(len(SHAPES)))]
    assert ours["param_groups"][0].keys() <= theirs["param_groups"][0].keys()

    pair.optimizer.load_state_dict(theirs)
    pair.expected.load_state_dict(
        {
            "state": {
                number: {
                    key: torch.tensor(each.numpy()) if isinstance(each, vkml.Tensor) else each
                    for key, each in kept.items()
                }
                for number, kept in ours["state"].items()
            },
            "param_groups": [theirs["param_groups"][0] | ours["param_groups"][0]],
        }
    )
    for _ in range(5):
        pair.step()
        pair.compare()


def test_loaded_state_is_a_copy() -> None:
    first, second = Pair("Adam", {}), Pair("Adam", {})
    first.step()

    second.optimizer.load_state_dict(first.optimizer.state_dict())
    first.step()

    kept = second.optimizer.state[second.ours[0]]
    assert kept["step"] == 1
    assert kept["exp_avg"].tolist() != first.optimizer.state[first.ours[0]]["exp_avg"].tolist()


def test_state_of_another_model_is_refused_and_nothing_changed() -> None:
    pair = Pair("Adam", {})
    pair.step()
    other = vkml.optim.Adam([vkml.Parameter(vkml.zeros(2))])
    wrong = pair.optimizer.state_dict()
    wrong["state"][5]["exp_avg"] = vkml.zeros(7)

    with pytest.raises(nn.StateDictError, match=r"groups of \[6\] parameters"):
        other.load_state_dict(pair.optimizer.state_dict())
    with pytest.raises(nn.StateDictError, match=r"exp_avg has shape \(7,\), its parameter \(5,\)"):
        pair.optimizer.load_state_dict(wrong)
    assert pair.optimizer.state[pair.ours[0]]["step"] == 1


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))])  # noqa: S301 - made here
def test_copy_goes_on_as_the_original(copied: Any) -> None:
    pair = Pair("Adam", {"lr": 0.1})
    for _ in range(3):
        pair.step()

    pair.optimizer = copied(pair.optimizer)
    pair.ours = pair.optimizer.param_groups[0]["params"]

    for _ in range(3):
        pair.step()
    pair.compare()


# memory ---------------------------------------------------------------------------------------


def test_small_parameters_are_moved_next_to_each_other() -> None:
    pair = Pair("SGD", {})

    assert len({each.storage() for each in pair.ours}) == 1


def test_second_optimizer_moves_them_again_and_the_first_goes_on_working() -> None:
    pair = Pair("SGD", {"lr": 0.1, "momentum": 0.9})
    pair.step()

    vkml.optim.Adam(pair.ours)
    for _ in range(3):
        pair.step()

    pair.compare()


def test_large_parameters_stay_where_they_are() -> None:
    weight = vkml.Parameter(vkml.zeros(flat.LARGE))
    storage = weight.storage()

    vkml.optim.SGD([weight, vkml.Parameter(vkml.zeros(1)), vkml.Parameter(vkml.zeros(2))])

    assert weight.storage() == storage


def test_parameter_that_is_part_of_other_memory_stays_there() -> None:
    shared = vkml.zeros(2, 3)
    weight = vkml.Parameter(shared[:1])
    optimizer = vkml.optim.SGD([weight, vkml.Parameter(vkml.zeros(3))], lr=1.0)

    for _ in range(2):
        weight.grad = vkml.ones_like(weight)
        optimizer.step()

    assert shared.tolist() == [[-2, -2, -2], [0, 0, 0]]


@pytest.mark.parametrize("transposed", [False, True])
def test_two_parameters_on_one_memory_stay_tied(transposed: bool) -> None:
    values = vkml.zeros(3, 2)
    first, second = vkml.Parameter(values), vkml.Parameter(values.T if transposed else values)
    optimizer = vkml.optim.SGD([first, second], lr=1.0)

    for _ in range(2):
        first.grad, second.grad = vkml.ones_like(first), vkml.ones_like(second)
        optimizer.step()

    assert first.tolist() == [[-4, -4]] * 3
    assert (second.T if transposed else second).tolist() == first.tolist()


def test_parameters_moved_in_the_middle_of_training_go_on() -> None:
    pair = Pair("Adam", {"lr": 0.1})
    pair.step()

    for each in pair.ours:
        each.set_(each.detach().clone())
    for _ in range(3):
        pair.step()

    pair.compare()


def test_cleared_state_begins_anew() -> None:
    pair = Pair("Adam", {"lr": 0.1})
    pair.step()

    pair.optimizer.state.clear()
    pair.expected.state.clear()
    for _ in range(3):
        pair.step()

    pair.compare()


def test_step_counts_as_a_write_for_the_backward_pass() -> None:
    layer = nn.Linear(2, 1)
    optimizer = vkml.optim.SGD(layer.parameters(), lr=0.1)
    x = vkml.ones(1, 2, requires_grad=True)
    loss = layer(x).sum()
    loss.backward(retain_graph=True)

    optimizer.step()

    with pytest.raises(vkml.AutogradError, match="changed in place"):
        loss.backward()


def test_mixed_dtypes_are_updated_apart() -> None:
    parameters = [
        vkml.Parameter(vkml.zeros(2, dtype=dtype))
        for dtype in (vkml.float32, vkml.float64, vkml.float32, vkml.float64)
    ]
    optimizer = vkml.optim.SGD(parameters, lr=1.0)

    for each in parameters:
        each.grad = vkml.ones_like(each)
    optimizer.step()

    assert [each.tolist() for each in parameters] == [[-1, -1]] * 4


def test_frozen_parameter_is_left_alone() -> None:
    layer = nn.Linear(2, 2)
    layer.bias.requires_grad_(False)  # type: ignore[union-attr]  # there is one
    before = layer.bias.tolist()  # type: ignore[union-attr]
    optimizer = vkml.optim.AdamW(layer.parameters(), lr=1.0)

    layer(vkml.ones(1, 2)).sum().backward()
    optimizer.step()

    assert layer.bias.tolist() == before  # type: ignore[union-attr]
    assert list(optimizer.state_dict()["state"]) == [0]
