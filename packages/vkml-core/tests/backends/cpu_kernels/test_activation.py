from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from vkml.backends.cpu_kernels import activation

if TYPE_CHECKING:
    from collections.abc import Callable

torch = pytest.importorskip("torch")
F = torch.nn.functional

# name, options, torch's function
CASES: list[tuple[str, tuple[Any, ...], Callable[..., Any]]] = [
    ("relu", (), torch.relu),
    ("sigmoid", (), torch.sigmoid),
    ("silu", (), F.silu),
    ("gelu", ("none",), F.gelu),
    ("gelu", ("tanh",), lambda x: F.gelu(x, approximate="tanh")),
    ("softplus", (1.0, 20.0), F.softplus),
    ("softplus", (0.5, 2.0), lambda x: F.softplus(x, 0.5, 2.0)),
    ("leaky_relu", (0.01,), F.leaky_relu),
    ("leaky_relu", (-2.0,), lambda x: F.leaky_relu(x, -2.0)),
    ("elu", (1.0,), F.elu),
    ("elu", (0.3,), lambda x: F.elu(x, 0.3)),
]
EDGES = [np.inf, -np.inf, np.nan, 0.0, -0.0, 100.0, -100.0, 20.0, 20.5, 1e30, -1e30, 1e-30]


@pytest.mark.parametrize("shape", [(), (0, 3), (7,), (3, 5), (70001,)])
@pytest.mark.parametrize(("name", "options", "reference"), CASES)
def test_activation_and_its_gradient_equal_torch(
    name: str,
    options: Any,
    reference: Any,
    shape: Any,
    dtype: Any,
    layout: Any,
    close: Any,
    rng: Any,
) -> None:
    x, g = (layout(np.asarray(3 * rng.normal(size=shape), dtype)) for _ in range(2))

    y = getattr(activation, name)(x, *options)

    tx = torch.tensor(x, requires_grad=True)
    ty = reference(tx)
    ty.backward(torch.tensor(g))
    close(y, ty)
    if name not in ("relu", "sigmoid"):
        close(getattr(activation, f"{name}_backward")(g, x, *options), tx.grad, 3)


@pytest.mark.parametrize(("name", "options", "reference"), CASES)
def test_activation_at_the_edges_equals_torch(
    name: str, options: Any, reference: Any, dtype: Any, close: Any
) -> None:
    # Repeated: torch's vector code and its code for the rest may differ at infinity.
    x = np.repeat(np.array(EDGES, dtype), 16)
    if options == ("none",):
        x = x[
            x != np.inf
        ]  # gelu: torch's vector code gives NaN for infinity, its scalar code does not

    tx = torch.tensor(x, requires_grad=True)
    ty = reference(tx)
    ty.sum().backward()
    close(getattr(activation, name)(x, *options), ty)
    if name not in ("relu", "sigmoid"):
        g = np.broadcast_to(np.ones((), dtype), x.shape)
        close(getattr(activation, f"{name}_backward")(g, x, *options), tx.grad, 3)


@pytest.mark.parametrize("shape", [(), (0,), (3, 5), (70001,)])
def test_relu_backward_equals_torch(
    shape: Any, dtype: Any, layout: Any, close: Any, rng: Any
) -> None:
    x, g = (layout(np.asarray(rng.normal(size=shape), dtype)) for _ in range(2))

    dx = activation.relu_backward(g, np.maximum(x, 0))

    tx = torch.tensor(x, requires_grad=True)
    torch.relu(tx).backward(torch.tensor(g))
    close(dx, tx.grad)


def test_relu_backward_stops_infinity_and_passes_nan() -> None:
    inf, nan = np.inf, np.nan
    y = np.array([0, 0, 1, nan, inf], "f4")

    dx = activation.relu_backward(np.array([inf, nan, inf, 2, 3], "f4"), y)

    assert dx.tolist() == [0, 0, inf, 2, 3]


def test_sigmoid_keeps_its_relative_accuracy_far_below_zero() -> None:
    x = np.linspace(-80, -10, 100, dtype=np.float32)

    exact = 1 / (1 + np.exp(-x.astype(np.float64)))
    np.testing.assert_allclose(activation.sigmoid(x), exact, rtol=1e-6)


@pytest.mark.parametrize(("name", "options", "_reference"), CASES)
def test_activation_of_float16_is_float16(name: str, options: Any, _reference: Any) -> None:
    x = np.linspace(-2, 2, 5).astype(np.float16)

    assert getattr(activation, name)(x, *options).dtype == np.float16


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_of_infinity_is_infinity(approximate: str, dtype: Any) -> None:
    assert activation.gelu(np.array([np.inf], dtype), approximate)[0] == np.inf


def test_relu_of_integers_keeps_their_type() -> None:
    y = activation.relu(np.array([-2, 0, 3]))

    assert y.tolist() == [0, 0, 3]
    assert y.dtype == np.int64
