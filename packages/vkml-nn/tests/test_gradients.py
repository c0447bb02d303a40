from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import vkml
from vkml.nn import utils

torch = pytest.importorskip("torch")

GRADIENTS = [np.random.default_rng(n).standard_normal(s).astype(np.float32) for n, s in
             enumerate([(3, 4), (5,), ()])]  # fmt: skip


def parameters(library: Any) -> Any:
    made = []
    for gradient in GRADIENTS:
        each = library.zeros(gradient.shape, requires_grad=True)
        each.grad = library.tensor(gradient)
        made.append(each)
    return [*made, library.zeros(2, requires_grad=True)]  # one without a gradient


@pytest.mark.parametrize("norm_type", [1.0, 2.0, 3.0, math.inf])
@pytest.mark.parametrize("max_norm", [0.5, 100.0])
def test_clipping_the_norm_equals_torch(norm_type: float, max_norm: float) -> None:
    ours, theirs = parameters(vkml), parameters(torch)

    total = utils.clip_grad_norm_(ours, max_norm, norm_type)
    expected = torch.nn.utils.clip_grad_norm_(theirs, max_norm, norm_type)

    assert total.item() == pytest.approx(expected.item(), rel=1e-5)
    for mine, other in zip(ours[:-1], theirs[:-1], strict=True):
        np.testing.assert_allclose(mine.grad.numpy(), other.grad.numpy(), 1e-5)


def test_clipping_values_equals_torch() -> None:
    ours, theirs = parameters(vkml), parameters(torch)

    utils.clip_grad_value_(ours, 0.3)
    torch.nn.utils.clip_grad_value_(theirs, 0.3)

    for mine, other in zip(ours[:-1], theirs[:-1], strict=True):
        np.testing.assert_array_equal(mine.grad.numpy(), other.grad.numpy())


def test_norm_of_no_gradients_is_zero() -> None:
    assert utils.clip_grad_norm_([vkml.zeros(2, requires_grad=True)], 1.0).item() == 0


def test_norm_that_is_not_finite_raises_if_asked_to() -> None:
    x = vkml.zeros(2, requires_grad=True)
    x.grad = vkml.tensor([1.0, math.nan])

    with pytest.raises(vkml.AutogradError, match="is nan"):
        utils.clip_grad_norm_(x, 1.0, error_if_nonfinite=True)
    assert x.grad[0].item() == 1


def test_parameters_go_into_a_vector_and_back() -> None:
    first, second = vkml.zeros(2, 2, requires_grad=True), vkml.zeros(3, requires_grad=True)

    utils.vector_to_parameters(vkml.arange(7).float(), [first, second])

    assert first.tolist() == [[0, 1], [2, 3]]
    assert utils.parameters_to_vector([first, second]).tolist() == [0, 1, 2, 3, 4, 5, 6]
    with pytest.raises(vkml.ShapeError, match=r"expected shape \(7,\), got \(8,\)"):
        utils.vector_to_parameters(vkml.ones(8), [first, second])
    assert second.tolist() == [4, 5, 6]
