from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import vkml
from vkml.errors import ArgumentError, AutogradError, DeviceError, DTypeError, ShapeError

torch = pytest.importorskip("torch")
F = torch.nn.functional


@pytest.fixture(params=["once", "twice"])
def agrees_with_torch(agrees_with_torch: Any, request: pytest.FixtureRequest) -> Any:
    """Compare by a plain backward pass (fused kernels), and by one that is differentiated again."""
    return partial(agrees_with_torch, second=request.param == "twice")


def normal(*shape: int, dtype: Any = np.float64) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def one_or(weight: Any, x: Any) -> Any:
    """Return the weight or ones: torch does not differentiate twice a bias without a weight."""
    return x.new_ones(3) if weight is None else weight


def statistics(dtype: Any = np.float64) -> tuple[Any, Any]:
    return normal(3, dtype=dtype), normal(3, dtype=dtype) ** 2 + 0.5


SHAPES = [(5, 3), (2, 3, 7), (2, 3, 4, 5), (1, 3, 2, 2, 2)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("given", [(True, True), (True, False), (False, True), (False, False)])
def test_batch_norm_in_training_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, shape: Any, given: Any
) -> None:
    weight, bias = (normal(3) if each else None for each in given)

    agrees_with_torch(
        lambda x, weight, bias: vkml.batch_norm(x, None, None, weight, bias, True, eps=1e-2),
        lambda x, weight, bias: F.batch_norm(
            x, None, None, one_or(weight, x), bias, True, eps=1e-2
        ),
        normal(*shape), weight, bias, tolerance=1000,
    )  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("given", [(True, True), (True, False), (False, True), (False, False)])
def test_batch_norm_by_running_statistics_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, shape: Any, given: Any
) -> None:
    weight, bias = (normal(3) if each else None for each in given)
    mean, var = statistics()

    agrees_with_torch(
        lambda *operands: vkml.batch_norm(
            operands[0], vkml.tensor(mean), vkml.tensor(var), *operands[1:]
        ),
        lambda x, weight, bias: F.batch_norm(
            x, torch.tensor(mean), torch.tensor(var), one_or(weight, x), bias
        ),
        normal(*shape), weight, bias, tolerance=100,
    )  # fmt: skip


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm_without_fused_kernels_equals_torch(
    agrees_with_torch: Any, strided: vkml.Device, training: bool
) -> None:
    mean, var = statistics()

    def mine(*operands: Any) -> Any:
        x, weight, bias, running_mean, running_var = (
            each.to(strided) for each in (*operands, vkml.tensor(mean), vkml.tensor(var))
        )
        return vkml.batch_norm(x, running_mean, running_var, weight, bias, training).cpu()

    agrees_with_torch(
        mine,
        lambda *operands: F.batch_norm(
            operands[0], torch.tensor(mean), torch.tensor(var), *operands[1:], training
        ),
        normal(4, 3, 2, 5), normal(3), normal(3), tolerance=1000,
    )  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("momentum", [0.1, 1.0, 0.0])
@pytest.mark.parametrize("place", ["cpu", "strided"])
def test_batch_norm_moves_the_running_statistics_as_torch_does(
    shape: Any, momentum: float, place: str, strided: vkml.Device
) -> None:
    device = strided if place == "strided" else vkml.device("cpu")
    x = normal(*shape, dtype=np.float32)
    mine = [vkml.tensor(each, device=device) for each in statistics(np.float32)]
    other = [torch.tensor(each) for each in statistics(np.float32)]

    for _ in range(2):
        operands = vkml.tensor(x, device=device), mine[0], mine[1]
        vkml.batch_norm(*operands, training=True, momentum=momentum)
        F.batch_norm(torch.tensor(x), *other, training=True, momentum=momentum)

    for found, expected in zip(mine, other, strict=True):
        assert_allclose(found.cpu().numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)


def test_batch_norm_counts_the_write_into_running_statistics() -> None:
    mean = vkml.zeros(3)
    factor = vkml.ones(3, requires_grad=True)
    product = (factor * mean).sum()

    vkml.batch_norm(vkml.tensor(normal(5, 3, dtype=np.float32)), mean, None, training=True)

    with pytest.raises(AutogradError, match="changed in place"):
        product.backward()


def test_batch_norm_by_running_statistics_leaves_them_alone() -> None:
    mean, var = (vkml.tensor(each) for each in statistics())

    vkml.batch_norm(vkml.tensor(normal(5, 3)), mean, var)

    assert_array_equal(mean.numpy(), statistics()[0])
    assert_array_equal(var.numpy(), statistics()[1])


def test_batch_norm_of_no_samples_leaves_running_statistics_alone() -> None:
    mean, var = vkml.zeros(3), vkml.ones(3)

    y = vkml.batch_norm(vkml.zeros(0, 3, 2), mean, var, training=True)

    assert y.shape == (0, 3, 2)
    assert mean.tolist() == [0, 0, 0]
    assert var.tolist() == [1, 1, 1]


def test_batch_norm_in_float32_of_strided_operands_equals_torch(agrees_with_torch: Any) -> None:
    agrees_with_torch(
        lambda x: vkml.batch_norm(x, None, None, training=True),
        lambda x: F.batch_norm(x, None, None, training=True),
        normal(4, 3, 8, dtype=np.float32).T,
        tolerance=10,
    )


@pytest.mark.parametrize("place", ["cpu", "strided"])
@pytest.mark.parametrize("training", [True, False])
def test_batch_norm_keeps_statistics_of_half_precision_in_float32(
    place: str, training: bool, strided: vkml.Device
) -> None:
    device = strided if place == "strided" else vkml.device("cpu")
    x = normal(6, 3, 4, dtype=np.float16) * np.float16(100) + np.float16(300)
    mean, var = (vkml.tensor(each, device=device) for each in statistics(np.float32))
    expected_mean, expected_var = (torch.tensor(each) for each in statistics(np.float32))

    y = vkml.batch_norm(vkml.tensor(x, device=device), mean, var, training=training).cpu()

    wide = torch.tensor(x).float()
    expected = F.batch_norm(wide, expected_mean, expected_var, training=training)
    assert y.dtype is vkml.float16
    assert_allclose(y.numpy(), expected.numpy(), rtol=2e-3, atol=2e-3)
    assert_allclose(var.cpu().numpy(), expected_var.numpy(), rtol=1e-4)


def test_batch_norm_spreads_nan_within_its_channel() -> None:
    x = normal(4, 3)
    x[1, 2] = np.nan

    y = vkml.batch_norm(vkml.tensor(x), None, None, training=True).numpy()

    assert np.isnan(y[:, 2]).all()
    assert np.isfinite(y[:, :2]).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: vkml.batch_norm(vkml.ones(2, 3), None, None), ArgumentError,
            "batch_norm: no running_mean or running_var",
        ),
        (
            lambda: vkml.batch_norm(vkml.ones(1, 3), None, None, training=True), ShapeError,
            "batch_norm: each channel of an input .* has one value",
        ),
        (
            lambda: vkml.batch_norm(vkml.ones(4), None, None, training=True), ShapeError,
            r"expected an input \(N, C, \*\)",
        ),
        (
            lambda: vkml.batch_norm(vkml.ones(2, 3), vkml.ones(2), vkml.ones(3)), ShapeError,
            "expected one running_mean for each of the 3 channels",
        ),
        (
            lambda: vkml.batch_norm(vkml.ones(2, 3), None, None, vkml.ones(2), training=True),
            ShapeError, "expected one weight for each of the 3 channels",
        ),
        (
            lambda: vkml.batch_norm(
                vkml.ones(2, 3), vkml.ones(3, dtype="float64"), vkml.ones(3)
            ),
            DTypeError, "expected a running_mean of float32, got float64",
        ),
        (
            lambda: vkml.batch_norm(vkml.ones(2, 3), vkml.ones(3), vkml.ones(1), training=True),
            ShapeError, r"batch_norm: expected a running_var of shape \(3,\)",
        ),
        (
            lambda: vkml.batch_norm(
                vkml.ones(2, 3), vkml.ones(3, dtype="int64"), None, training=True
            ),
            DTypeError, "expected a running_mean of vkml.float32, got vkml.int64",
        ),
        (
            lambda: vkml.batch_norm(
                vkml.ones(2, 3), vkml.ones(3, device="meta"), None, training=True
            ),
            DeviceError, "the running_mean lies on meta, the input on cpu",
        ),
        (
            lambda: vkml.batch_norm(vkml.ones(2, 3, dtype="int64"), None, None, training=True),
            DTypeError, "floating-point",
        ),
    ],
)  # fmt: skip
def test_batch_norm_says_what_does_not_fit(call: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        call()
