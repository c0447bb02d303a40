from __future__ import annotations

import inspect

import pytest

import vkml
import vkml_nn.functional
from vkml.nn import functional

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("name", vkml_nn.functional.__all__)
def test_function_takes_torchs_arguments_in_torchs_order(name: str) -> None:
    theirs = getattr(torch.nn.functional, name)
    try:
        known = list(inspect.signature(theirs).parameters)
    except ValueError:
        pytest.skip("torch tells no signature")
    if known[:1] == ["args"]:
        pytest.skip("torch tells no signature")

    own = list(inspect.signature(getattr(functional, name)).parameters)

    # The first is never named in a call; core calls it x here and there.
    assert [each for each in known[1:] if each in own[1:]] == own[1:]


def test_door_shows_the_same_functions() -> None:
    assert functional.relu is vkml_nn.functional.relu
    assert functional.linear is vkml.linear


def test_relu_in_place_writes_into_its_input() -> None:
    x = vkml.tensor([-1.0, 2.0])

    assert functional.relu(x, inplace=True) is x
    assert x.tolist() == [0, 2]


def test_dropout_in_place_writes_into_its_input() -> None:
    x = vkml.ones(100)

    assert functional.dropout(x, 0.5, inplace=True) is x
    assert set(x.tolist()) == {0.0, 2.0}
