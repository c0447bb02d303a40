from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vkml.backends.cpu_kernels.optimizer_steps import adam_step, sgd_step

torch = pytest.importorskip("torch")
STEPS = 20


def _gradients(size: int, dtype: Any) -> list[Any]:
    rng = np.random.default_rng(3)
    return [rng.normal(size=size).astype(dtype) for _ in range(STEPS)]


def _train(optimizer: Any, parameter: Any, gradients: list[Any]) -> Any:
    for gradient in gradients:
        parameter.grad = torch.tensor(gradient)
        optimizer.step()
    return parameter


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weight_decay": 0.1},
        {"maximize": True},
        {"momentum": 0.9},
        {"momentum": 0.9, "dampening": 0.2, "weight_decay": 0.1},
        {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1, "maximize": True},
        {"momentum": 0.9, "nesterov": True},
    ],
)
@pytest.mark.parametrize("size", [0, 5, 70001])
def test_sgd_of_20_steps_equals_torch(options: Any, size: int, dtype: Any, close: Any) -> None:
    gradients = _gradients(size, dtype)
    start = np.linspace(-1, 1, size).astype(dtype)
    get = options.get
    param, buffer = start.copy(), np.zeros_like(start) if get("momentum") else None

    for number, gradient in enumerate(gradients):
        kept = gradient.copy()
        sgd_step(
            param,
            gradient,
            buffer,
            0.05,
            get("momentum", 0.0),
            get("dampening", 0.0),
            get("weight_decay", 0.0),
            get("nesterov", False),
            number == 0,
            get("maximize", False),
        )
        assert np.array_equal(gradient, kept)

    parameter = torch.nn.Parameter(torch.tensor(start))
    expected = _train(torch.optim.SGD([parameter], 0.05, **options), parameter, gradients)
    close(param, expected)


@pytest.mark.parametrize("decoupled", [True, False])
@pytest.mark.parametrize("amsgrad", [True, False])
@pytest.mark.parametrize("maximize", [True, False])
@pytest.mark.parametrize("decay", [0.0, 0.1])
@pytest.mark.parametrize("size", [0, 5, 70001])
def test_adam_of_20_steps_equals_torch(
    decoupled: bool, amsgrad: bool, maximize: bool, decay: float, size: int, dtype: Any, close: Any
) -> None:
    gradients = _gradients(size, dtype)
    start = np.linspace(-1, 1, size).astype(dtype)
    param, average, square = start.copy(), np.zeros_like(start), np.zeros_like(start)
    largest = np.zeros_like(start) if amsgrad else None

    for step, gradient in enumerate(gradients, 1):
        kept = gradient.copy()
        adam_step(
            param, gradient, average, square, largest,
            0.01, 0.9, 0.99, 1e-8, decay, decoupled, step, amsgrad, maximize,
        )  # fmt: skip
        assert np.array_equal(gradient, kept)

    parameter = torch.nn.Parameter(torch.tensor(start))
    kind = torch.optim.AdamW if decoupled else torch.optim.Adam
    optimizer = kind(
        [parameter], 0.01, (0.9, 0.99), 1e-8, decay, amsgrad=amsgrad, maximize=maximize
    )
    expected = _train(optimizer, parameter, gradients)
    close(param, expected)
    close(average, optimizer.state[parameter]["exp_avg"])
    close(square, optimizer.state[parameter]["exp_avg_sq"])
    if largest is not None:
        close(largest, optimizer.state[parameter]["max_exp_avg_sq"])
