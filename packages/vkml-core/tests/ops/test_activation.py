from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import vkml
from vkml.ops.definition import OPERATIONS

torch = pytest.importorskip("torch")

CASES: list[tuple[str, dict[str, Any]]] = [
    ("relu", {}),
    ("leaky_relu", {}),
    ("leaky_relu", {"negative_slope": 0.3}),
    ("leaky_relu", {"negative_slope": -0.5}),
    ("elu", {}),
    ("elu", {"alpha": 0.5}),
    ("sigmoid", {}),
    ("silu", {}),
    ("gelu", {}),
    ("gelu", {"approximate": "tanh"}),
    ("softplus", {}),
    ("softplus", {"beta": 2.0, "threshold": 3.0}),
]
every_activation = pytest.mark.parametrize(
    ("name", "options"),
    CASES,
    ids=[f"{name}{[*options.values()] or ''}" for name, options in CASES],
)


def ours(name: str, options: dict[str, Any]) -> Any:
    return lambda x: getattr(vkml, name)(x, **options)


def theirs(name: str, options: dict[str, Any]) -> Any:
    return lambda x: getattr(torch.nn.functional, name)(x, **options)


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    return np.asarray(3 * np.random.default_rng(7).standard_normal(shape), dtype)


@every_activation
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(7, 11), (), (0, 3), (2, 1, 5)])
def test_activation_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, name: str, options: Any, shape: Any, dtype: Any
) -> None:
    agrees_with_torch(ours(name, options), theirs(name, options), numbers(*shape, dtype=dtype))


@every_activation
def test_activation_of_a_transposed_view_equals_torch(
    agrees_with_torch: Any, name: str, options: Any
) -> None:
    agrees_with_torch(ours(name, options), theirs(name, options), numbers(4, 3).T)


@every_activation
def test_activation_and_its_gradient_at_the_edges_equal_torch(name: str, options: Any) -> None:
    edges = np.array([0, -0.0, 30, -30, 100, -100, np.inf, -np.inf], np.float32)
    if name == "gelu":
        edges = edges[:-2]  # torch returns NaN for gelu of infinity
    x, y = vkml.tensor(edges, requires_grad=True), torch.tensor(edges, requires_grad=True)

    result, expected = ours(name, options)(x), theirs(name, options)(y)
    result.sum().backward()
    expected.sum().backward()

    assert x.grad is not None
    assert_allclose(result.detach().numpy(), expected.detach().numpy(), rtol=1e-6, atol=1e-30)
    assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-6, atol=1e-30)


@every_activation
def test_activation_and_its_gradient_pass_nan_through(name: str, options: Any) -> None:
    x = vkml.tensor([float("nan")], requires_grad=True)

    result = ours(name, options)(x)
    result.backward()

    assert x.grad is not None
    assert np.isnan(result.item())
    assert np.isnan(x.grad.item()) or name in ("relu", "leaky_relu")


def test_relu_gradient_of_nan_is_1() -> None:
    x = vkml.tensor([float("nan")], requires_grad=True)

    vkml.relu(x).backward()

    assert x.grad is not None
    assert x.grad.item() == 1


def test_gelu_of_infinity_is_infinite() -> None:
    assert vkml.gelu(vkml.tensor([float("inf")])).item() == float("inf")


@every_activation
def test_second_derivative_of_large_numbers_is_finite(name: str, options: Any) -> None:
    x = vkml.tensor([200.0, 50.0, 0.5, -50.0], requires_grad=True)

    (first,) = vkml.autograd.grad(ours(name, options)(x).sum(), x, create_graph=True)
    assert first is not None
    second = vkml.autograd.grad(first.sum(), x)[0] if first.requires_grad else None

    assert second is None or np.isfinite(second.numpy()).all()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("relu", ()),
        ("leaky_relu", (0.3,)),
        ("elu", (0.5,)),
        ("silu", ()),
        ("gelu", ("none",)),
        ("gelu", ("tanh",)),
        ("softplus", (2.0, 3.0)),
    ],
)
def test_fused_gradient_of_activation_equals_its_decomposition(name: str, options: Any) -> None:
    x, k = numbers(5, 7), vkml.device("cpu").raw
    decomposition = OPERATIONS[f"{name}_backward"].decomposition
    assert decomposition is not None

    composed = decomposition(k, x, x, *options)

    fused = getattr(k, f"{name}_backward")(x, x, *options)
    assert_allclose(composed, fused, rtol=1e-5, atol=1e-6)


@every_activation
def test_activation_of_float16_stays_float16(name: str, options: Any) -> None:
    x = numbers(9).astype(np.float16)
    tensor = vkml.tensor(x, requires_grad=True)

    result = ours(name, options)(tensor)
    result.sum().backward()

    expected = theirs(name, options)(torch.tensor(x)).numpy()
    assert result.dtype is vkml.float16
    assert tensor.grad is not None
    assert tensor.grad.dtype is vkml.float16
    assert_allclose(result.detach().numpy(), expected, rtol=2e-3, atol=2e-3)


def test_relu_of_integers_keeps_their_dtype() -> None:
    result = vkml.relu(vkml.tensor([-1, 2]))

    assert result.dtype is vkml.int64
    assert_array_equal(result.numpy(), [0, 2])


def test_relu_of_truth_values_is_an_error() -> None:
    with pytest.raises(vkml.DTypeError, match="relu: truth values"):
        vkml.relu(vkml.tensor([True]))


def test_relu_in_place_writes_into_the_tensor() -> None:
    x = vkml.tensor([-1.0, 2.0])

    x.relu_()

    assert_array_equal(x.numpy(), [0, 2])


def test_sigmoid_of_integers_is_floating() -> None:
    assert vkml.sigmoid(vkml.tensor([0])).numpy() == 0.5


@pytest.mark.parametrize("name", ["leaky_relu", "elu", "silu", "gelu", "softplus"])
def test_activation_of_integers_says_to_convert(name: str) -> None:
    with pytest.raises(vkml.DTypeError, match=rf"{name}: expected .* got int64; use x.to\("):
        getattr(vkml, name)(vkml.tensor([1]))


def test_gelu_refuses_an_unknown_approximation() -> None:
    with pytest.raises(vkml.ArgumentError, match=r"gelu: approximate='exact' is unknown"):
        vkml.gelu(vkml.ones(1), "exact")
