from functools import partial
from typing import Any

import numpy as np
import pytest

import vkml
from vkml.errors import ArgumentError, ShapeError

torch = pytest.importorskip("torch")
F = torch.nn.functional


@pytest.fixture(params=["once", "twice"])
def agrees_with_torch(agrees_with_torch: Any, request: pytest.FixtureRequest) -> Any:
    """Compare by a plain backward pass (fused kernels), and by one that is differentiated again."""
    return partial(agrees_with_torch, second=request.param == "twice")


def normal(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


@pytest.mark.parametrize("shape", [(3, 6, 2), (2, 6, 5), (1, 6, 3, 4)])
@pytest.mark.parametrize("groups", [1, 3, 6])
def test_group_norm_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, shape: Any, groups: int
) -> None:
    agrees_with_torch(
        lambda x, weight, bias: vkml.group_norm(x, groups, weight, bias, 1e-2),
        lambda x, weight, bias: F.group_norm(x, groups, weight, bias, 1e-2),
        normal(*shape), normal(6), normal(6), tolerance=1000,
    )  # fmt: skip


def test_group_norm_of_an_input_without_positions_equals_torch(agrees_with_torch: Any) -> None:
    agrees_with_torch(
        lambda x: vkml.group_norm(x, 2), lambda x: F.group_norm(x, 2), normal(2, 6), tolerance=1000
    )


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: vkml.group_norm(vkml.ones(2, 4), 3), ArgumentError, "3 groups do not divide 4"),
        (lambda: vkml.group_norm(vkml.ones(4), 2), ShapeError, r"group_norm: expected an input"),
        (
            lambda: vkml.group_norm(vkml.ones(1, 4), 2, bias=vkml.ones(2)), ShapeError,
            r"group_norm: expected a bias of shape \(4,\), got \(2,\)",
        ),
    ],
)  # fmt: skip
def test_group_norm_says_what_does_not_fit(call: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        call()
