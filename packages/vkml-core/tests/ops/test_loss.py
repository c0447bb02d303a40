from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vkml
from vkml.ops.definition import OPERATIONS

torch = pytest.importorskip("torch")

REDUCTIONS = ["mean", "sum", "none"]


def numbers(*shape: int, dtype: Any = np.float32, seed: int = 7) -> Any:
    return np.asarray(2 * np.random.default_rng(seed).standard_normal(shape), dtype)


def probabilities(*shape: int, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(3).uniform(0, 1, shape).astype(dtype)


def pair(name: str, **options: Any) -> tuple[Any, Any]:
    theirs = getattr(torch.nn.functional, name)
    return (
        lambda *x: getattr(vkml, name)(*x, **options),
        lambda *x: theirs(*x, **options),
    )


# mse_loss, l1_loss, huber_loss, smooth_l1_loss -----------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mse_loss", {}),
        ("l1_loss", {}),
        ("huber_loss", {}),
        ("huber_loss", {"delta": 0.5}),
        ("smooth_l1_loss", {}),
        ("smooth_l1_loss", {"beta": 2.0}),
        ("smooth_l1_loss", {"beta": 0.0}),
    ],
)
@pytest.mark.parametrize("shape", [(3, 5), (), (2, 1, 3)])
def test_loss_of_a_difference_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, name: str, options: Any, shape: Any, reduction: str, dtype: Any
) -> None:
    x, y = numbers(*shape, dtype=dtype), numbers(*shape, dtype=dtype, seed=8)

    agrees_with_torch(*pair(name, reduction=reduction, **options), x, y)


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(("left", "right"), [((2, 3, 5), (3, 1)), ((5,), (2, 5)), ((3, 1), ())])
def test_mse_loss_broadcasts_as_torch_does(
    agrees_with_torch: Any, left: Any, right: Any, reduction: str
) -> None:
    agrees_with_torch(*pair("mse_loss", reduction=reduction), numbers(*left), numbers(*right))


def test_mse_loss_of_transposed_views_equals_torch(agrees_with_torch: Any) -> None:
    agrees_with_torch(*pair("mse_loss"), numbers(4, 3).T, numbers(3, 4))


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_mse_loss_equals_its_decomposition(reduction: str) -> None:
    x, y, k = numbers(3, 5), numbers(5), vkml.device("cpu").raw
    forward, backward = (
        OPERATIONS[name].decomposition for name in ("mse_loss", "mse_loss_backward")
    )
    assert forward is not None
    assert backward is not None
    upstream = x if reduction == "none" else np.float32(2)

    assert_allclose(forward(k, x, y, reduction), k.mse_loss(x, y, reduction), rtol=1e-6)
    expected = k.mse_loss_backward(upstream, x, y, reduction)
    assert_allclose(backward(k, upstream, x, y, reduction), expected, rtol=1e-6)


def test_mse_loss_of_no_elements_is_nan_in_the_mean() -> None:
    assert np.isnan(vkml.mse_loss(vkml.zeros(0), vkml.zeros(0)).item())


def test_mse_loss_promotes_to_the_wider_dtype() -> None:
    result = vkml.mse_loss(vkml.ones(2), vkml.zeros(2, dtype=vkml.float64))

    assert result.dtype is vkml.float64


def test_mse_loss_of_integers_is_an_error() -> None:
    with pytest.raises(vkml.DTypeError, match="mse_loss: expected floating-point numbers"):
        vkml.mse_loss(vkml.arange(3), vkml.arange(3))


def test_mse_loss_of_shapes_that_do_not_broadcast_is_an_error() -> None:
    with pytest.raises(vkml.ShapeError, match=r"mse_loss: shapes .* do not broadcast"):
        vkml.mse_loss(vkml.ones(3), vkml.ones(4))


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss", "kl_div"])
def test_loss_refuses_an_unknown_reduction(name: str) -> None:
    with pytest.raises(vkml.ArgumentError, match=f"{name}: reduction='avg' is unknown"):
        getattr(vkml, name)(vkml.ones(3), vkml.ones(3), reduction="avg")


def test_huber_loss_needs_a_positive_delta() -> None:
    with pytest.raises(vkml.ArgumentError, match="huber_loss: delta is 0"):
        vkml.huber_loss(vkml.ones(3), vkml.ones(3), delta=0)


def test_smooth_l1_loss_needs_a_beta_of_0_or_more() -> None:
    with pytest.raises(vkml.ArgumentError, match="smooth_l1_loss: beta is -1"):
        vkml.smooth_l1_loss(vkml.ones(3), vkml.ones(3), beta=-1)


# binary_cross_entropy_with_logits, kl_div ----------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weighted", [False, True])
def test_binary_cross_entropy_with_logits_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, weighted: bool, reduction: str, dtype: Any
) -> None:
    x, target = numbers(4, 3, dtype=dtype), probabilities(4, 3, dtype=dtype)
    weights = (probabilities(4, 1, dtype=dtype), probabilities(3, dtype=dtype)) if weighted else ()
    options: Any = {"reduction": reduction}

    def ours(x: Any, target: Any) -> Any:
        tensors: Any = [vkml.tensor(each) for each in weights] or [None, None]
        return vkml.binary_cross_entropy_with_logits(
            x, target, tensors[0], pos_weight=tensors[1], **options
        )

    def theirs(x: Any, target: Any) -> Any:
        tensors: Any = [torch.tensor(each) for each in weights] or [None, None]
        return torch.nn.functional.binary_cross_entropy_with_logits(
            x, target, tensors[0], pos_weight=tensors[1], **options
        )

    agrees_with_torch(ours, theirs, x, target)


def test_binary_cross_entropy_with_logits_of_extreme_logits_equals_torch() -> None:
    logits = np.array([0.0, 1000.0, -1000.0, 30.0, -30.0, np.inf, -np.inf])
    target = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0])
    x, y = vkml.tensor(logits, requires_grad=True), torch.tensor(logits, requires_grad=True)
    ours, theirs = pair("binary_cross_entropy_with_logits", reduction="none")

    result, expected = ours(x, vkml.tensor(target)), theirs(y, torch.tensor(target))
    result[:5].sum().backward()
    expected[:5].sum().backward()

    assert x.grad is not None
    assert_allclose(result.detach().numpy(), expected.detach().numpy(), rtol=1e-14)
    assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-14, atol=1e-15)


@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize("reduction", [*REDUCTIONS, "batchmean"])
@pytest.mark.parametrize("log_target", [False, True])
def test_kl_div_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, log_target: bool, reduction: str
) -> None:
    x, target = np.log(probabilities(4, 3)), numbers(4, 3) if log_target else probabilities(4, 3)

    agrees_with_torch(*pair("kl_div", reduction=reduction, log_target=log_target), x, target)


def test_kl_div_at_a_probability_of_0_is_0_and_so_is_the_gradient() -> None:
    x = vkml.tensor([-1.0, -2.0], requires_grad=True)

    result = vkml.kl_div(x, vkml.tensor([0.0, 1.0]), reduction="none")
    result.sum().backward()

    assert x.grad is not None
    assert result.tolist() == [0, 2]
    assert x.grad.tolist() == [0, -1]
