from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import vkml
from vkml.ops.definition import OPERATIONS

torch = pytest.importorskip("torch")

INF = float("inf")
SHAPES = [
    ((3, 5), 1),
    ((3, 5), 0),
    ((2, 7, 3), 1),
    ((2, 3, 4, 20), -2),
    ((100, 9), -1),
    ((), 0),
    ((4,), 0),
]
softmaxes = pytest.mark.parametrize("name", ["softmax", "log_softmax"])


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    return np.asarray(3 * np.random.default_rng(7).standard_normal(shape), dtype)


def pair(name: str, *options: Any) -> tuple[Any, Any]:
    return lambda x: getattr(vkml, name)(x, *options), lambda x: getattr(torch, name)(x, *options)


# softmax, log_softmax ----------------------------------------------------------------------


@softmaxes
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("shape", "dim"), SHAPES)
def test_softmax_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, name: str, shape: Any, dim: int, dtype: Any
) -> None:
    agrees_with_torch(*pair(name, dim), numbers(*shape, dtype=dtype))


@softmaxes
@pytest.mark.parametrize(("shape", "dim"), [((0, 3), 1), ((3, 0), 1), ((0, 3), 0)])
def test_softmax_without_elements_equals_torch(
    agrees_with_torch: Any, name: str, shape: Any, dim: int
) -> None:
    agrees_with_torch(*pair(name, dim), numbers(*shape), second=False)


@softmaxes
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_softmax_of_a_transposed_view_equals_torch(
    agrees_with_torch: Any, name: str, dim: int
) -> None:
    agrees_with_torch(*pair(name, dim), numbers(4, 3, 2).T)


@softmaxes
@pytest.mark.parametrize("row", [[-INF, -INF], [INF, 0.0], [float("nan"), 0.0], [1e4, -1e4]])
def test_softmax_of_extreme_rows_equals_torch(name: str, row: Any) -> None:
    ours, theirs = pair(name, 0)

    result = ours(vkml.tensor(row))

    assert_array_equal(result.numpy(), theirs(torch.tensor(row)).numpy())


@softmaxes
def test_softmax_with_one_axis_masked_has_torchs_gradient(name: str) -> None:
    values = np.array([[0.0, -INF, 1.0]], np.float32)
    x, y = vkml.tensor(values, requires_grad=True), torch.tensor(values, requires_grad=True)
    ours, theirs = pair(name, 1)

    ours(x)[:, 0].sum().backward()
    theirs(y)[:, 0].sum().backward()

    assert x.grad is not None
    assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-6)


@softmaxes
def test_softmax_of_integers_takes_a_dtype(name: str) -> None:
    x = vkml.tensor([0, 1])

    assert getattr(vkml, name)(x, 0, dtype=vkml.float64).dtype is vkml.float64
    with pytest.raises(vkml.DTypeError, match=f"{name}: expected floating-point numbers"):
        getattr(vkml, name)(x, 0)


@softmaxes
def test_softmax_refuses_an_axis_out_of_range(name: str) -> None:
    with pytest.raises(vkml.ShapeError, match="axis 2 is out of range"):
        getattr(vkml, name)(vkml.ones(2, 2), 2)


@softmaxes
def test_softmax_of_float16_stays_float16(name: str) -> None:
    x = vkml.tensor(numbers(3, 5), requires_grad=True)

    result = getattr(vkml, name)(x.half(), 1)
    result.sum().backward()

    assert result.dtype is vkml.float16
    assert x.grad is not None
    assert x.grad.dtype is vkml.float32


@softmaxes
@pytest.mark.parametrize(("shape", "dim"), [((3, 5), 1), ((2, 7, 3), 1), ((), 0), ((0, 3), 1)])
def test_softmax_equals_its_decomposition(name: str, shape: Any, dim: int) -> None:
    x, k = numbers(*shape), vkml.device("cpu").raw
    forward, backward = (OPERATIONS[each].decomposition for each in (name, f"{name}_backward"))
    assert forward is not None
    assert backward is not None

    output = getattr(k, name)(x, dim)

    assert_allclose(forward(k, x, dim), output, rtol=1e-5, atol=1e-6)
    expected = getattr(k, f"{name}_backward")(x, output, dim)
    assert_allclose(backward(k, x, output, dim), expected, rtol=1e-5, atol=1e-5)


# logsumexp ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize(
    ("shape", "dim"),
    [((3, 5), 1), ((2, 7, 3), (0, 2)), ((2, 3, 4), (0, 1, 2)), ((), 0), ((5,), -1)],
)
def test_logsumexp_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, shape: Any, dim: Any, keepdim: bool, dtype: Any
) -> None:
    agrees_with_torch(*pair("logsumexp", dim, keepdim), numbers(*shape, dtype=dtype))


@pytest.mark.parametrize(
    "row", [[-INF, -INF], [INF, 0.0], [INF, -INF], [1e4, 1e4], [float("nan"), 0]]
)
def test_logsumexp_of_extreme_rows_and_its_gradient_equal_torch(row: Any) -> None:
    x, y = vkml.tensor(row, requires_grad=True), torch.tensor(row, requires_grad=True)

    result, expected = vkml.logsumexp(x, 0), torch.logsumexp(y, 0)
    result.backward()
    expected.backward()

    assert x.grad is not None
    assert_allclose(result.item(), expected.item(), rtol=1e-6)
    assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-6)


def test_logsumexp_over_no_elements_is_minus_infinity() -> None:
    assert_array_equal(vkml.logsumexp(vkml.zeros(2, 0), 1).numpy(), [-INF, -INF])


def test_logsumexp_of_integers_is_floating() -> None:
    result = vkml.logsumexp(vkml.tensor([0, 0]), 0)

    assert result.item() == pytest.approx(np.log(2))


@pytest.mark.parametrize(
    ("shape", "axes"), [((3, 5), (1,)), ((2, 7, 3), (0, 2)), ((), ()), ((2, 0), (1,))]
)
@np.errstate(all="ignore")
def test_logsumexp_equals_its_decomposition(shape: Any, axes: Any) -> None:
    x, k = numbers(*shape), vkml.device("cpu").raw
    decomposition = OPERATIONS["logsumexp"].decomposition
    assert decomposition is not None

    composed = decomposition(k, x, axes, False)

    assert_allclose(composed, k.logsumexp(x, axes, False), rtol=1e-6)
    assert_allclose(decomposition(k, x - np.inf, axes, True), k.logsumexp(x - np.inf, axes, True))
