from __future__ import annotations

import numpy as np
import pytest

import vkml
from vkml.nn import functional

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
@pytest.mark.parametrize("border", [(1, 2), (2, 0, 1, 3), (0, 0, 2, 1)])
def test_border_and_its_gradient_equal_torch(mode: str, border: tuple[int, ...]) -> None:
    values = np.random.default_rng(0).standard_normal((2, 3, 4, 5))
    shape = values.shape if len(border) == 4 else values.shape[1:]
    x = vkml.tensor(values.reshape(shape if len(border) == 4 else (6, 4, 5)), requires_grad=True)
    y = torch.tensor(x.detach().numpy(), requires_grad=True)

    result = functional.pad(x, border, mode)
    expected = torch.nn.functional.pad(y, border, mode)
    (result * result).sum().backward()
    (expected * expected).sum().backward()

    np.testing.assert_array_equal(result.detach().numpy(), expected.detach().numpy())
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy())


def test_constant_border_holds_the_value_and_negative_ones_cut() -> None:
    x = vkml.tensor([1.0, 2.0, 3.0])

    assert functional.pad(x, (1, 0), value=9).tolist() == [9, 1, 2, 3]
    assert functional.pad(x, (-1, 1)).tolist() == [2, 3, 0]


def test_borders_that_do_not_fit_are_refused() -> None:
    x = vkml.zeros(3)

    with pytest.raises(vkml.ShapeError, match="give 0 to 2"):
        functional.pad(x, (3, 0), "reflect")
    with pytest.raises(vkml.ShapeError, match="give 0 to 3"):
        functional.pad(x, (4, 0), "circular")
    with pytest.raises(vkml.ShapeError, match="does not fit"):
        functional.pad(x, (-1, 0), "replicate")
    with pytest.raises(vkml.ShapeError, match="last axis first"):
        functional.pad(x, (1, 1, 1, 1), "replicate")
    with pytest.raises(vkml.ArgumentError, match="mode is 'wrap'"):
        functional.pad(x, (1, 1), "wrap")
    with pytest.raises(vkml.ArgumentError, match="takes no value"):
        functional.pad(x, (1, 1), "reflect", 1.0)
