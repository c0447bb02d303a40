from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vkml
from vkml.errors import DTypeError, ShapeError

torch = pytest.importorskip("torch")
F = torch.nn.functional


@pytest.fixture(params=["once", "twice"])
def agrees_with_torch(agrees_with_torch: Any, request: pytest.FixtureRequest) -> Any:
    """Compare by a plain backward pass (fused kernels), and by one that is differentiated again."""
    return partial(agrees_with_torch, second=request.param == "twice")


def normal(*shape: int, dtype: Any = np.float64) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def one_or(weight: Any, x: Any, shape: Any) -> Any:
    """Return the weight or ones: torch does not differentiate twice a bias without a weight."""
    return x.new_ones(shape) if weight is None else weight


SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((3, 5), (5,)),
    ((2, 3, 4, 5), (4, 5)),
    ((7,), (7,)),
    ((2, 1, 3), (3,)),
]


@pytest.mark.parametrize(("shape", "normalized"), SHAPES)
@pytest.mark.parametrize("given", [(True, True), (True, False), (False, True), (False, False)])
def test_layer_norm_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, shape: Any, normalized: Any, given: Any
) -> None:
    weight, bias = (normal(*normalized) if each else None for each in given)

    agrees_with_torch(
        lambda x, weight, bias: vkml.layer_norm(x, normalized, weight, bias, 1e-3),
        lambda x, weight, bias: F.layer_norm(
            x, normalized, one_or(weight, x, normalized), bias, 1e-3
        ),
        normal(*shape), weight, bias, tolerance=100,
    )  # fmt: skip


def test_layer_norm_without_a_fused_kernel_equals_torch(
    agrees_with_torch: Any, strided: vkml.Device
) -> None:
    agrees_with_torch(
        lambda *operands: vkml.layer_norm(
            operands[0].to(strided), (4, 5), *(each.to(strided) for each in operands[1:])
        ).cpu(),
        lambda *operands: F.layer_norm(operands[0], (4, 5), *operands[1:]),
        normal(3, 4, 5), normal(4, 5), normal(4, 5), tolerance=100,
    )  # fmt: skip


@pytest.mark.parametrize(("shape", "normalized"), SHAPES)
@pytest.mark.parametrize("has_weight", [True, False])
@pytest.mark.parametrize("eps", [None, 1e-3])
def test_rms_norm_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, shape: Any, normalized: Any, has_weight: bool, eps: Any
) -> None:
    weight = normal(*normalized) if has_weight else None

    agrees_with_torch(
        lambda *operands: vkml.rms_norm(operands[0], normalized, operands[1], eps),
        lambda *operands: F.rms_norm(operands[0], normalized, operands[1], eps),
        normal(*shape), weight, tolerance=100,
    )  # fmt: skip


def test_rms_norm_without_a_fused_kernel_equals_torch(
    agrees_with_torch: Any, strided: vkml.Device
) -> None:
    agrees_with_torch(
        lambda x, weight: vkml.rms_norm(x.to(strided), 5, weight.to(strided)).cpu(),
        lambda x, weight: F.rms_norm(x, (5,), weight),
        normal(3, 4, 5), normal(5), tolerance=100,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("mine", "other"),
    [
        (lambda x: vkml.layer_norm(x, 8), lambda x: F.layer_norm(x, (8,))),
        (lambda x: vkml.rms_norm(x, 8), lambda x: F.rms_norm(x, (8,))),
    ],
)
def test_norms_in_float32_of_strided_operands_equal_torch(
    agrees_with_torch: Any, mine: Any, other: Any
) -> None:
    agrees_with_torch(mine, other, normal(8, 3, 2, dtype=np.float32).T, tolerance=10)


def test_layer_norm_is_exact_at_a_large_mean() -> None:
    x = (normal(4, 64) + 1000).astype(np.float32)

    y = vkml.layer_norm(vkml.tensor(x), 64).numpy()

    assert_allclose(y, F.layer_norm(torch.tensor(x).double(), (64,)).numpy(), atol=1e-4)


@pytest.mark.parametrize("place", ["cpu", "strided"])
def test_norms_do_not_overflow_in_half_precision(place: str, strided: vkml.Device) -> None:
    x = np.array([[300.0, -300.0, 500.0, -500.0]], np.float16)
    wide = torch.tensor(x).float()
    tensor = vkml.tensor(x, device=strided if place == "strided" else "cpu")

    layer, rms = vkml.layer_norm(tensor, 4).cpu(), vkml.rms_norm(tensor, 4, eps=1e-5).cpu()

    assert layer.dtype is vkml.float16
    assert_allclose(layer.numpy(), F.layer_norm(wide, (4,)).numpy(), rtol=1e-3)
    assert_allclose(rms.numpy(), F.rms_norm(wide, (4,), eps=1e-5).numpy(), rtol=1e-3)


def test_layer_norm_of_a_row_with_nan_is_nan_in_that_row_only() -> None:
    x = normal(2, 4)
    x[0, 1] = np.nan

    y = vkml.layer_norm(vkml.tensor(x), 4).numpy()

    assert np.isnan(y[0]).all()
    assert np.isfinite(y[1]).all()


def test_norms_of_no_rows_are_empty_and_parameters_get_zero() -> None:
    weight = vkml.ones(3, requires_grad=True)

    y = vkml.layer_norm(vkml.zeros(0, 3), 3, weight) + vkml.rms_norm(vkml.zeros(0, 3), 3, weight)
    y.sum().backward()

    assert y.shape == (0, 3)
    assert weight.grad is not None
    assert weight.grad.tolist() == [0, 0, 0]


def test_layer_norm_of_frozen_parameters_gives_only_the_input_a_gradient() -> None:
    x, weight = vkml.tensor(normal(2, 3), requires_grad=True), vkml.ones(3, dtype="float64")

    vkml.layer_norm(x, 3, weight, weight)[:, 0].sum().backward()

    assert x.grad is not None
    assert weight.grad is None


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: vkml.layer_norm(vkml.ones(2, 3), 2), ShapeError, r"layer_norm: .*\(2,\), which"),
        (lambda: vkml.rms_norm(vkml.ones(3), (1, 3)), ShapeError, "rms_norm: normalized_shape"),
        (lambda: vkml.layer_norm(vkml.ones(3), ()), ShapeError, "layer_norm: normalized_shape"),
        (
            lambda: vkml.layer_norm(vkml.ones(2, 3), 3, vkml.ones(2)), ShapeError,
            r"layer_norm: expected a weight of shape \(3,\), got \(2,\)",
        ),
        (
            lambda: vkml.layer_norm(vkml.ones(3), 3, vkml.ones(3, dtype="float64")), DTypeError,
            "layer_norm: expected one dtype, got input float32, weight float64",
        ),
        (lambda: vkml.rms_norm(vkml.ones(3, dtype="int64"), 3), DTypeError, "floating-point"),
    ],
)  # fmt: skip
def test_norms_say_what_does_not_fit(call: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        call()
