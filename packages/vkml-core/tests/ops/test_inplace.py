"""In-place methods: PyTorch's values and gradients, into the tensor's own memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vkml
from vkml.ops.inplace import METHODS

torch = pytest.importorskip("torch")

VALUES = np.array([[0.3, 1.5], [2.0, 0.7]], np.float64)
OTHER = np.array([[1.2, 0.4], [0.9, 3.0]], np.float64)
MASK = np.array([[True, False], [False, True]])
PLACES = np.array([1, 0])

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "add_": (OTHER,),
    "sub_": (OTHER,),
    "mul_": (OTHER,),
    "div_": (OTHER,),
    "pow_": (3.0,),
    "clamp_": (0.5, 1.6),
    "lerp_": (OTHER, 0.25),
    "masked_fill_": (MASK, 7.0),
    "index_add_": (0, PLACES, OTHER),
    "copy_": (OTHER,),
    "fill_": (4.0,),
}
"""What the methods take that take something."""


def arguments_for(name: str, library: Any) -> list[Any]:
    given = ARGUMENTS.get(name, ())
    return [
        library.from_numpy(each.copy()) if isinstance(each, np.ndarray) else each for each in given
    ]


def test_every_method_with_arguments_is_known_here() -> None:
    assert set(ARGUMENTS) <= set(METHODS)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_method_writes_torchs_values_into_the_tensors_memory(name: str) -> None:
    array = VALUES.copy()
    expected = torch.from_numpy(VALUES.copy())
    getattr(expected, name)(*arguments_for(name, torch))
    x = vkml.from_numpy(array)

    result = getattr(x, name)(*arguments_for(name, vkml))

    assert result is x
    np.testing.assert_allclose(array, expected.numpy(), rtol=1e-6)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_recorded_method_has_torchs_gradient(name: str) -> None:
    gradients = []
    for library in (vkml, torch):
        leaf = library.from_numpy(VALUES.copy()).requires_grad_()
        x = leaf * 2
        getattr(x, name)(*arguments_for(name, library))
        (x * x + 0 * leaf).sum().backward()
        gradients.append(leaf.grad.numpy())

    np.testing.assert_allclose(gradients[0], gradients[1], rtol=1e-5)
