from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vkml
from vkml.errors import AutogradError, DTypeError, ShapeError
from vkml.ops.optimizer_steps import adam_step, sgd_step

torch = pytest.importorskip("torch")

SIZE = 11
STEPS = 3


def normal(seed: int, dtype: Any) -> Any:
    return np.random.default_rng(seed).standard_normal(SIZE).astype(dtype)


def torch_steps(kind: Any, options: dict[str, Any], dtype: Any) -> Any:
    """Return a parameter after some steps of an optimiser of torch."""
    param = torch.nn.Parameter(torch.tensor(normal(0, dtype)))
    optimizer = kind([param], **options, foreach=False)
    for step in range(STEPS):
        param.grad = torch.tensor(normal(step + 1, dtype))
        optimizer.step()
    return param.detach().numpy()


def devices(strided: vkml.Device, place: str) -> vkml.Device:
    return strided if place == "strided" else vkml.device("cpu")


SGD_CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "decay": {"weight_decay": 0.1},
    "momentum": {"momentum": 0.9},
    "damped": {"momentum": 0.9, "dampening": 0.3, "weight_decay": 0.01},
    "nesterov": {"momentum": 0.9, "nesterov": True},
    "uphill": {"momentum": 0.5, "weight_decay": 0.1, "maximize": True},
    "uphill without decay": {"maximize": True},
}


@pytest.mark.parametrize("case", SGD_CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("place", ["cpu", "strided"])
def test_sgd_step_equals_torch_with_and_without_a_fused_kernel(
    case: str, dtype: Any, place: str, strided: vkml.Device
) -> None:
    options, device = SGD_CASES[case], devices(strided, place)
    param = vkml.tensor(normal(0, dtype), device=device)
    buffer = None
    if "momentum" in options:
        buffer = vkml.full((SIZE,), np.nan, dtype=param.dtype, device=device)

    for step in range(STEPS):
        gradient = vkml.tensor(normal(step + 1, dtype), device=device)
        sgd_step(param, gradient, buffer, lr=0.1, first=step == 0, **options)

    expected = torch_steps(torch.optim.SGD, {"lr": 0.1, **options}, dtype)
    limit = 1e-6 if dtype is np.float32 else 1e-14
    assert_allclose(param.cpu().numpy(), expected, rtol=limit, atol=limit)


ADAM_CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "decay": {"weight_decay": 0.1},
    "decoupled": {"weight_decay": 0.1, "decoupled": True},
    "amsgrad": {"amsgrad": True},
    "uphill": {"maximize": True, "weight_decay": 0.1},
}


@pytest.mark.parametrize("case", ADAM_CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("place", ["cpu", "strided"])
def test_adam_step_equals_torch_with_and_without_a_fused_kernel(
    case: str, dtype: Any, place: str, strided: vkml.Device
) -> None:
    options = {"weight_decay": 0.0, "amsgrad": False, "maximize": False, **ADAM_CASES[case]}
    decoupled = options.pop("decoupled", False)
    device = devices(strided, place)
    param = vkml.tensor(normal(0, dtype), device=device)
    average, square, largest = (vkml.zeros_like(param) for _ in range(3))

    for step in range(STEPS):
        gradient = vkml.tensor(normal(step + 1, dtype), device=device)
        adam_step(
            param, gradient, average, square, largest if options["amsgrad"] else None,
            lr=0.1, beta1=0.8, beta2=0.95, eps=1e-6, step=step + 1, decoupled=decoupled, **options,
        )  # fmt: skip

    kind = torch.optim.AdamW if decoupled else torch.optim.Adam
    expected = torch_steps(kind, {"lr": 0.1, "betas": (0.8, 0.95), "eps": 1e-6, **options}, dtype)
    limit = 1e-6 if dtype is np.float32 else 1e-14
    assert_allclose(param.cpu().numpy(), expected, rtol=limit, atol=limit)


def test_step_is_seen_through_the_views_that_are_parameters() -> None:
    flat = vkml.zeros(4)
    weight = vkml.Parameter(flat[:2].detach())

    sgd_step(flat, vkml.ones(4), None, lr=0.5)

    assert weight.tolist() == [-0.5, -0.5]


def test_step_takes_a_leaf_and_leaves_it_one() -> None:
    param = vkml.zeros(2, requires_grad=True)

    sgd_step(param, vkml.ones(2), None, lr=0.5)

    assert param.is_leaf
    assert param.tolist() == [-0.5, -0.5]


def test_backward_refuses_a_parameter_that_a_step_has_changed() -> None:
    param = vkml.ones(2, requires_grad=True)
    loss = (param * param).sum()

    sgd_step(param, vkml.ones(2), None, lr=0.5)

    with pytest.raises(AutogradError, match="changed in place"):
        loss.backward()


def test_step_of_nothing_does_nothing() -> None:
    empty = vkml.zeros(0)

    sgd_step(empty, empty, None, lr=0.5)

    assert empty.shape == (0,)


def test_step_refuses_results_of_recorded_operations() -> None:
    param = vkml.ones(2, requires_grad=True) * 2

    with pytest.raises(AutogradError, match="sgd_step: a tensor to write into"):
        sgd_step(param, vkml.ones(2), None, lr=0.5)
    with pytest.raises(AutogradError, match="sgd_step: a tensor to write into"):
        sgd_step(param.reshape(2)[:], vkml.ones(2), None, lr=0.5)


def test_step_says_what_does_not_fit() -> None:
    with pytest.raises(ShapeError, match=r"sgd_step: .*param \(2,\) and grad \(3,\)"):
        sgd_step(vkml.ones(2), vkml.ones(3), None, lr=0.1)
    with pytest.raises(ShapeError, match="sgd_step: expected flat tensors"):
        sgd_step(vkml.ones(2, 2), vkml.ones(2, 2), None, lr=0.1)
    with pytest.raises(DTypeError, match="sgd_step: expected one dtype"):
        sgd_step(vkml.ones(2), vkml.ones(2, dtype="float64"), None, lr=0.1)
    with pytest.raises(DTypeError, match="sgd_step: expected floating-point numbers"):
        sgd_step(vkml.ones(2, dtype="int64"), vkml.ones(2, dtype="int64"), None, lr=0.1)
