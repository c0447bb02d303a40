from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

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


MAX_CASES: dict[str, tuple[Any, ...]] = {
    "pairs": ((2, 3, 6, 8), 2, {}),
    "pairs, odd sizes": ((2, 3, 7, 5), 2, {}),
    "overlap": ((2, 3, 7, 6), 3, {"stride": 1}),
    "margins": ((1, 2, 7, 6), (3, 2), {"stride": (2, 1), "padding": 1}),
    "spread": ((1, 2, 9, 8), (2, 3), {"dilation": (3, 2), "stride": 1}),
    "ceil": ((1, 2, 7, 6), 3, {"stride": 2, "ceil_mode": True, "padding": 1}),
    "one image": ((2, 6, 6), 2, {}),
}


@pytest.mark.parametrize("case", MAX_CASES)
def test_max_pool2d_and_its_derivatives_equal_torch(agrees_with_torch: Any, case: str) -> None:
    shape, kernel, options = MAX_CASES[case]

    agrees_with_torch(
        lambda x: vkml.max_pool2d(x, kernel, **options),
        lambda x: F.max_pool2d(x, kernel, **options),
        normal(*shape),
    )


def test_max_pool2d_with_indices_and_its_derivatives_equal_torch(agrees_with_torch: Any) -> None:
    agrees_with_torch(
        lambda x: vkml.max_pool2d(x, 3, 2, return_indices=True)[0],
        lambda x: F.max_pool2d(x, 3, 2, return_indices=True)[0],
        normal(2, 3, 7, 6),
    )


def test_max_pool2d_without_a_kernel_for_its_gradient_agrees_with_torch(
    agrees_with_torch: Any, strided: vkml.Device
) -> None:
    agrees_with_torch(
        lambda x: vkml.max_pool2d(x.to(strided), 3, 2, 1).cpu(),
        lambda x: F.max_pool2d(x, 3, 2, 1),
        normal(2, 3, 7, 6),
    )


@pytest.mark.parametrize("case", MAX_CASES)
def test_max_pool2d_finds_the_indices_of_torch(case: str) -> None:
    shape, kernel, options = MAX_CASES[case]
    x = np.round(normal(*shape), 1)  # some are equal
    x[..., 1, 1] = np.nan

    y, indices = vkml.max_pool2d(vkml.tensor(x), kernel, **options, return_indices=True)

    expected = F.max_pool2d(torch.tensor(x), kernel, **options, return_indices=True)
    assert_array_equal(y.numpy(), expected[0].numpy())
    assert_array_equal(indices.numpy(), expected[1].numpy())


def test_max_pool2d_takes_strided_integers() -> None:
    x = np.random.default_rng(1).integers(-9, 9, (6, 8, 3))

    y = vkml.max_pool2d(vkml.tensor(x).permute(2, 1, 0), 2)

    expected = F.max_pool2d(torch.tensor(x).permute(2, 1, 0), 2)
    assert_array_equal(y.numpy(), expected.numpy())


def test_max_pool2d_of_no_images_is_empty() -> None:
    x = vkml.zeros(0, 3, 4, 4, requires_grad=True)

    vkml.max_pool2d(x, 2).sum().backward()

    assert x.grad is not None
    assert x.grad.shape == (0, 3, 4, 4)


AVG_CASES: dict[str, tuple[Any, ...]] = {
    "pairs": ((2, 3, 6, 8), 2, {}),
    "overlap": ((2, 3, 7, 6), 3, {"stride": 1}),
    "margins": ((1, 2, 7, 6), (3, 2), {"stride": (2, 1), "padding": 1}),
    "margins do not count": ((1, 2, 7, 6), 3, {"padding": 1, "count_include_pad": False}),
    "ceil": ((1, 2, 7, 6), 3, {"stride": 2, "ceil_mode": True, "padding": 1}),
    "ceil, margins do not count": (
        (1, 2, 8, 6), 3,
        {"stride": 2, "ceil_mode": True, "padding": 1, "count_include_pad": False},
    ),
    "one image": ((2, 6, 6), 2, {}),
}  # fmt: skip


@pytest.mark.parametrize("case", AVG_CASES)
def test_avg_pool2d_and_its_derivatives_equal_torch(agrees_with_torch: Any, case: str) -> None:
    shape, kernel, options = AVG_CASES[case]

    agrees_with_torch(
        lambda x: vkml.avg_pool2d(x, kernel, **options),
        lambda x: F.avg_pool2d(x, kernel, **options),
        normal(*shape),
    )


def test_avg_pool2d_in_float32_agrees_with_torch(agrees_with_torch: Any) -> None:
    x = normal(2, 3, 6, 6, dtype=np.float32)

    agrees_with_torch(lambda x: vkml.avg_pool2d(x, 3), lambda x: F.avg_pool2d(x, 3), x)


@pytest.mark.parametrize("size", [1, (1, 1), (2, 3), (None, 2), 6])
@pytest.mark.parametrize("shape", [(2, 3, 6, 6), (3, 6, 6)])
def test_adaptive_avg_pool2d_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, size: Any, shape: Any
) -> None:
    agrees_with_torch(
        lambda x: vkml.adaptive_avg_pool2d(x, size),
        lambda x: F.adaptive_avg_pool2d(x, size),
        normal(*shape),
    )


@pytest.mark.parametrize("function", [vkml.max_pool2d, vkml.avg_pool2d])
@pytest.mark.parametrize(
    ("shape", "options", "error", "message"),
    [
        ((1, 1, 2, 5), {"kernel_size": 3}, ShapeError, "does not fit into planes of"),
        ((1, 1, 5, 5), {"kernel_size": 3, "padding": 2}, ShapeError, "more than half"),
        ((5, 5), {"kernel_size": 3}, ShapeError, "expected images"),
        ((1, 1, 5, 5), {"kernel_size": 0}, ArgumentError, "kernel_size is 0"),
        ((1, 1, 5, 5), {"kernel_size": 2, "stride": (1, 2, 3)}, ArgumentError, "stride is"),
        ((1, 1, 5, 5), {"kernel_size": 2, "padding": -1}, ArgumentError, "padding is -1"),
    ],
)
def test_pooling_says_what_does_not_fit(
    function: Any, shape: Any, options: Any, error: Any, message: str
) -> None:
    with pytest.raises(error, match=f"{function.__name__}: .*{message}"):
        function(vkml.zeros(shape), **options)


def test_avg_pool2d_refuses_integers_and_max_pool2d_truth_values() -> None:
    with pytest.raises(DTypeError, match="avg_pool2d: expected floating-point numbers"):
        vkml.avg_pool2d(vkml.zeros(1, 2, 2, dtype="int64"), 2)
    with pytest.raises(DTypeError, match="max_pool2d: expected real numbers, got bool"):
        vkml.max_pool2d(vkml.zeros(1, 2, 2, dtype="bool"), 2)


def test_adaptive_avg_pool2d_refuses_sizes_that_do_not_divide() -> None:
    with pytest.raises(ArgumentError, match=r"adaptive_avg_pool2d: \(4, 3\) windows do not divide"):
        vkml.adaptive_avg_pool2d(vkml.zeros(1, 6, 6), (4, 3))
    with pytest.raises(ShapeError, match="adaptive_avg_pool2d: expected images"):
        vkml.adaptive_avg_pool2d(vkml.zeros(6), 1)
