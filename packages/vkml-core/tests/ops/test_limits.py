"""Clamping in bfloat16, which NumPy would widen."""

import pytest
from numpy.testing import assert_array_equal

import vkml

pytest.importorskip("ml_dtypes")


@pytest.mark.parametrize(("low", "high"), [(-1, 1), (-1.0, None), (None, 0.5)])
def test_clamping_bfloat16_stays_in_it(low: float | None, high: float | None) -> None:
    x = vkml.tensor([-2.0, 0.25, 3.0], dtype="bfloat16", requires_grad=True)

    result = vkml.clamp(x, low, high)
    (gradient,) = vkml.autograd.grad(result.sum(), x)

    assert gradient is not None
    assert result.dtype is gradient.dtype is vkml.bfloat16
    wide = vkml.clamp(x.detach().float(), low, high)
    assert_array_equal(result.detach().float().numpy(), wide.numpy())


@pytest.mark.parametrize("function", [vkml.tanh, vkml.sqrt, vkml.mean, vkml.var, vkml.sigmoid])
@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_of_bfloat16_are_bfloat16(function: object, create_graph: bool) -> None:
    x = vkml.tensor([2.0, 0.25, 3.0], dtype="bfloat16", requires_grad=True)
    y = x * 1
    seen = []
    x.register_hook(lambda gradient: seen.append(gradient.dtype))

    result = function(y).sum()  # type: ignore[operator]
    gradients = vkml.autograd.grad(result, (x, y), create_graph=create_graph)

    assert [each.dtype for each in gradients if each is not None] == [vkml.bfloat16] * 2
    assert seen == [vkml.bfloat16]
