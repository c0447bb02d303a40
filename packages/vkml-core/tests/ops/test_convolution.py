from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vkml
from vkml.errors import ArgumentError, DTypeError, ShapeError

torch = pytest.importorskip("torch")
F = torch.nn.functional


@pytest.fixture(params=["once", "twice"])
def agrees_with_torch(agrees_with_torch: Any, request: pytest.FixtureRequest) -> Any:
    """Compare by a plain backward pass (fused kernels), and by one that is differentiated again."""
    return partial(agrees_with_torch, second=request.param == "twice")


def normal(*shape: int, dtype: Any = np.float64) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


CASES: dict[str, tuple[Any, ...]] = {
    "plain": ((2, 3, 7, 5), (4, 3, 3, 2), {}),
    "pointwise": ((2, 3, 5, 4), (4, 3, 1, 1), {}),
    "pointwise with steps": ((2, 3, 5, 4), (4, 3, 1, 1), {"stride": 2}),
    "many channels": ((2, 20, 6, 5), (3, 20, 3, 3), {"padding": 1}),
    "steps and margins": ((2, 3, 9, 8), (2, 3, 3, 2), {"stride": (2, 3), "padding": (2, 1)}),
    "spread": ((1, 2, 9, 8), (3, 2, 3, 3), {"dilation": (2, 3), "padding": 3}),
    "groups": ((2, 4, 6, 6), (6, 2, 3, 3), {"groups": 2, "stride": 2, "padding": 1}),
    "depthwise": ((2, 3, 6, 5), (3, 1, 3, 3), {"groups": 3, "padding": 1}),
    "depthwise, two filters": ((2, 3, 6, 5), (6, 1, 3, 3), {"groups": 3}),
    "same": ((1, 2, 7, 6), (3, 2, 3, 5), {"padding": "same"}),
    "same, even kernel": ((1, 2, 7, 6), (3, 2, 2, 4), {"padding": "same", "dilation": (1, 3)}),
    "valid": ((1, 2, 7, 6), (3, 2, 3, 3), {"padding": "valid", "stride": 2}),
    "one image": ((2, 7, 6), (3, 2, 3, 3), {"padding": 1}),
}


@pytest.mark.filterwarnings("ignore:Using padding='same' with even:UserWarning")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("has_bias", [False, True])
def test_conv2d_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, case: str, has_bias: bool
) -> None:
    shape, weight, options = CASES[case]
    bias = normal(weight[0]) if has_bias else None

    agrees_with_torch(
        lambda *operands: vkml.conv2d(*operands, **options),
        lambda *operands: F.conv2d(*operands, **options),
        normal(*shape), normal(*weight), bias,
    )  # fmt: skip


def test_conv2d_in_float32_agrees_with_torch(agrees_with_torch: Any) -> None:
    x, weight = normal(2, 3, 8, 8, dtype=np.float32), normal(4, 3, 3, 3, dtype=np.float32)

    agrees_with_torch(vkml.conv2d, F.conv2d, x, weight, tolerance=4)


def test_conv2d_takes_strided_operands(agrees_with_torch: Any) -> None:
    x, weight = normal(8, 9, 3, 2), normal(5, 3, 3, 4)

    agrees_with_torch(
        lambda a, b: vkml.conv2d(a.T, b.permute(3, 1, 0, 2)[:, :, ::2]),
        lambda a, b: F.conv2d(a.permute(3, 2, 1, 0), b.permute(3, 1, 0, 2)[:, :, ::2]),
        x, weight,
    )  # fmt: skip


def test_conv2d_of_no_images_is_empty_and_its_weight_gradient_zero() -> None:
    x = vkml.zeros(0, 2, 4, 4, requires_grad=True)
    weight = vkml.ones(3, 2, 3, 3, requires_grad=True)

    y = vkml.conv2d(x, weight)
    y.sum().backward()

    assert y.shape == (0, 3, 2, 2)
    assert x.grad is not None
    assert x.grad.shape == (0, 2, 4, 4)
    assert weight.grad is not None
    assert not weight.grad.numpy().any()


def test_conv2d_spreads_nan_to_the_windows_that_hold_it() -> None:
    x = np.zeros((1, 1, 4, 4), np.float32)
    x[0, 0, 0, 0] = np.nan

    y = vkml.conv2d(vkml.tensor(x), vkml.ones(1, 1, 2, 2)).numpy()

    assert np.isnan(y).sum() == 1


def test_conv2d_computes_half_precision_in_float32() -> None:
    x, weight = normal(1, 8, 6, 6, dtype=np.float16), normal(4, 8, 3, 3, dtype=np.float16)

    y = vkml.conv2d(vkml.tensor(x), vkml.tensor(weight))

    expected = F.conv2d(torch.tensor(x).float(), torch.tensor(weight).float()).numpy()
    assert y.dtype is vkml.float16
    assert_allclose(y.numpy(), expected.astype(np.float16), rtol=1e-3, atol=1e-3)


def test_conv2d_gives_a_gradient_to_its_weight_alone() -> None:
    x, weight = vkml.tensor(normal(2, 3, 5, 5)), vkml.tensor(normal(4, 3, 3, 3), requires_grad=True)

    vkml.conv2d(x, weight).sum().backward()

    expected = torch.tensor(normal(4, 3, 3, 3), requires_grad=True)
    F.conv2d(torch.tensor(x.numpy()), expected).sum().backward()
    assert weight.grad is not None
    assert_allclose(weight.grad.numpy(), expected.grad.numpy())


@pytest.mark.parametrize(
    ("shape", "weight", "bias", "options", "error", "message"),
    [
        ((2, 3, 5, 5), (4, 2, 3, 3), None, {}, ShapeError, "takes 2 channels, the input"),
        ((2, 3, 2, 5), (4, 3, 3, 3), None, {}, ShapeError, "does not fit into planes of"),
        ((2, 3, 5, 5), (4, 3, 3, 3), (3,), {}, ShapeError, r"expected a bias of shape \(4,\)"),
        ((2, 3), (4, 3, 3, 3), None, {}, ShapeError, r"expected an input \(N, C, H, W\)"),
        ((2, 3, 5, 5), (4, 3, 3, 3), None, {"groups": 2}, ArgumentError, "2 groups do not divide"),
        ((2, 3, 5, 5), (4, 3, 3, 3), None, {"stride": 0}, ArgumentError, "stride is 0"),
        ((2, 3, 5, 5), (4, 3, 3, 3), None, {"padding": (1, 1, 1)}, ArgumentError, "padding is"),
        ((2, 3, 5, 5), (4, 3, 3, 3), None, {"padding": "full"}, ArgumentError, "'full'"),
        (
            (2, 3, 5, 5), (4, 3, 3, 3), None, {"padding": "same", "stride": 2}, ArgumentError,
            "needs stride 1",
        ),
    ],
)  # fmt: skip
def test_conv2d_says_what_does_not_fit(
    shape: Any, weight: Any, bias: Any, options: Any, error: Any, message: str
) -> None:
    bias = None if bias is None else vkml.zeros(bias)

    with pytest.raises(error, match=f"conv2d: .*{message}"):
        vkml.conv2d(vkml.zeros(shape), vkml.zeros(weight), bias, **options)


def test_conv2d_refuses_integers_and_mixed_dtypes() -> None:
    weight = vkml.zeros(1, 1, 2, 2)

    with pytest.raises(DTypeError, match="floating-point"):
        vkml.conv2d(vkml.ones(1, 1, 3, 3, dtype="int64"), weight)
    with pytest.raises(DTypeError, match="one dtype, got input float64, weight float32"):
        vkml.conv2d(vkml.ones(1, 1, 3, 3, dtype="float64"), weight)


@pytest.mark.filterwarnings("ignore:Using padding='same' with even:UserWarning")
@pytest.mark.parametrize(
    ("shape", "weight", "options"),
    [
        ((2, 3, 9), (4, 3, 3), {}),
        ((2, 4, 9), (4, 2, 3), {"stride": 2, "padding": 1, "dilation": 2, "groups": 2}),
        ((2, 3, 9), (4, 3, 4), {"padding": "same"}),
        ((3, 9), (4, 3, 3), {"padding": (2,), "stride": (3,)}),
    ],
)
def test_conv1d_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, shape: Any, weight: Any, options: Any
) -> None:
    agrees_with_torch(
        lambda *operands: vkml.conv1d(*operands, **options),
        lambda *operands: F.conv1d(*operands, **options),
        normal(*shape), normal(*weight), normal(weight[0]),
    )  # fmt: skip


def test_conv1d_says_what_it_expected() -> None:
    with pytest.raises(ShapeError, match=r"conv1d: expected an input \(N, C, L\)"):
        vkml.conv1d(vkml.zeros(2, 3, 4, 5), vkml.zeros(1, 3, 2))
