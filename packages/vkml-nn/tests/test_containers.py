from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest

import vkml
from vkml import nn


def test_sequential_runs_in_order_and_slices() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))

    assert model(vkml.zeros(4, 2)).shape == (4, 1)
    assert len(model[:2]) == 2
    assert model[:2][0] is model[0]
    assert model[-1] is model[2]
    assert list(model[1:].state_dict()) == ["2.weight", "2.bias"]


def test_sequential_takes_names() -> None:
    model = nn.Sequential(OrderedDict(first=nn.Linear(1, 1), second=nn.ReLU()))

    assert list(model.state_dict()) == ["first.weight", "first.bias"]
    assert model[0] is model.first  # type: ignore[attr-defined]  # made at run time


@pytest.mark.parametrize("kind", [nn.Sequential, nn.ModuleList])
def test_list_of_modules_can_be_changed(kind: Any) -> None:
    first, second, third = nn.ReLU(), nn.Tanh(), nn.Sigmoid()
    model = kind() if kind is nn.Sequential else kind([])

    model.append(first).extend([third]).insert(1, second)
    assert list(model) == [first, second, third]

    del model[0]
    model[0] = first
    assert model.pop() is third
    assert list(model) == [first]
    assert [name for name, _ in model.named_children()] == ["0"]
    with pytest.raises(IndexError, match="has 1 members; there is no 3"):
        model[3]


def test_layers_in_a_list_are_refused_with_the_right_call() -> None:
    layers = [nn.Linear(2, 2), nn.ReLU()]

    for wrong in (layers, tuple(layers), iter(layers)):
        with pytest.raises(vkml.DTypeError, match=r"write nn\.Sequential\(\*layers\)"):
            nn.Sequential(wrong)


def test_module_list_prints_as_a_module_and_adds_up() -> None:
    layers = nn.ModuleList([nn.ReLU()])

    layers += [nn.Tanh()]

    assert repr(layers) == "ModuleList(\n  (0): ReLU()\n  (1): Tanh()\n)"


def test_module_dict_is_a_dictionary_of_modules() -> None:
    heads = nn.ModuleDict({"a": nn.Linear(1, 1)})

    heads["b"] = nn.ReLU()
    heads.update({"c": nn.Tanh()})

    assert list(heads) == ["a", "b", "c"]
    assert "b" in heads
    assert repr(heads.pop("b")) == "ReLU()"
    assert list(heads.state_dict()) == ["a.weight", "a.bias"]
    with pytest.raises(KeyError):
        del heads["b"]
    with pytest.raises(vkml.ArgumentError, match="has an attribute 'forward'"):
        heads["forward"] = nn.ReLU()
    heads.clear()
    assert len(heads) == 0


def test_parameter_list_makes_parameters_of_tensors() -> None:
    weights = nn.ParameterList([vkml.zeros(2)])

    weights.append(vkml.ones(3))

    assert [type(each) for each in weights] == [vkml.Parameter] * 2
    assert list(weights.state_dict()) == ["0", "1"]
    assert weights[1].tolist() == [1, 1, 1]


def test_parameter_dict_makes_parameters_of_tensors() -> None:
    weights = nn.ParameterDict({"a": vkml.zeros(2)})

    assert isinstance(weights["a"], vkml.Parameter)
    assert list(weights.state_dict()) == ["a"]
