from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
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


RANDOM = np.random.default_rng(0)
VECTORS = RANDOM.standard_normal((3, 4, 5))
VECTORS[1, :3] = 0


@pytest.mark.parametrize(
    "options",
    [{}, {"dim": -1}, {"p": 1.0}, {"p": math.inf, "dim": -1}, {"dim": (1, 2)}, {"eps": 2.0}],
)
def test_normalize_equals_torch(options: Any) -> None:
    def run(library: Any) -> list[Any]:
        x = library.tensor(VECTORS, requires_grad=True)
        result = library.nn.functional.normalize(x, **options)
        (result * library.tensor(VECTORS.cumsum(2))).sum().backward()
        return [result.detach().numpy(), x.grad.numpy()]

    for found, expected in zip(run(vkml), run(torch), strict=True):
        np.testing.assert_allclose(found, expected, 1e-10, 1e-12)


@pytest.mark.parametrize("options", [{}, {"dim": 0}, {"dim": -1}])
def test_cosine_similarity_equals_torch(options: Any) -> None:
    def run(library: Any) -> list[Any]:
        x = library.tensor(VECTORS + 1, requires_grad=True)
        y = library.tensor(VECTORS[:, :1] * 2 - 0.5, requires_grad=True)
        result = library.nn.functional.cosine_similarity(x, y, **options)
        (result**2).sum().backward()
        return [result.detach().numpy(), x.grad.numpy(), y.grad.numpy()]

    for found, expected in zip(run(vkml), run(torch), strict=True):
        np.testing.assert_allclose(found, expected, 1e-10, 1e-12)


def test_cosine_similarity_with_a_vector_of_zeros_is_0() -> None:
    zeros, ones = vkml.zeros(1, 3), vkml.ones(1, 3)

    assert functional.cosine_similarity(zeros, ones).tolist() == [0]
