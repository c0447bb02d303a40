from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vkml

torch = pytest.importorskip("torch")

SHAPES = [
    ((3, 4), (4, 5)),
    ((4,), (4,)),
    ((3, 4), (4,)),
    ((4,), (4, 5)),
    ((2, 3, 4), (4, 5)),
    ((2, 3, 4), (4,)),
    ((4,), (2, 4, 5)),
    ((3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (5, 4, 2)),
    ((1, 3, 1), (2, 1, 1)),
    ((1,), (1, 1)),
]
EMPTY_SHAPES = [
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
    ((0,), (0,)),
    ((2, 0, 3), (3, 4)),
    ((0, 2, 3), (3,)),
]


def numbers(*shape: int, dtype: Any = np.float32, seed: int = 7) -> Any:
    return np.asarray(np.random.default_rng(seed).standard_normal(shape), dtype)


# matmul ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_matmul_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, left: Any, right: Any, dtype: Any
) -> None:
    a, b = numbers(*left, dtype=dtype), numbers(*right, dtype=dtype, seed=8)

    agrees_with_torch(vkml.matmul, torch.matmul, a, b)


@pytest.mark.parametrize(("left", "right"), EMPTY_SHAPES)
def test_matmul_without_elements_equals_torch(
    agrees_with_torch: Any, left: Any, right: Any
) -> None:
    agrees_with_torch(vkml.matmul, torch.matmul, numbers(*left), numbers(*right), second=False)


def test_matmul_of_transposed_views_equals_torch(agrees_with_torch: Any) -> None:
    a, b = numbers(4, 3, 2).T, numbers(5, 4).T

    agrees_with_torch(vkml.matmul, torch.matmul, a.transpose(0, 1, 2)[..., :4], b)


def test_matmul_with_an_expanded_gradient_equals_torch() -> None:
    a, b = vkml.tensor(numbers(3, 4), requires_grad=True), vkml.tensor(numbers(4, 5))

    (a @ b).sum().backward()

    assert a.grad is not None
    np.testing.assert_allclose(a.grad.numpy()[0], numbers(4, 5).sum(1), rtol=1e-5)


def test_matmul_of_integers_is_exact() -> None:
    a, b = vkml.arange(6).reshape(2, 3), vkml.arange(3)

    assert_array_equal((a @ b).numpy(), [5, 14])


def test_matmul_passes_nan_through() -> None:
    result = vkml.matmul(vkml.tensor([[0.0, float("nan")]]), vkml.ones(2, 2))

    assert np.isnan(result.numpy()).all()


def test_matmul_computes_no_gradient_for_an_operand_that_needs_none() -> None:
    a, b = vkml.ones(2, 3, requires_grad=True), vkml.ones(3, 2)

    (a @ b).sum().backward()

    assert b.grad is None


def test_matmul_of_unequal_inner_sizes_suggests_the_transpose() -> None:
    with pytest.raises(vkml.ShapeError) as caught:
        vkml.ones(32, 8) @ vkml.ones(4, 8)

    assert str(caught.value) == (
        "matmul: the inner sizes differ: (32, 8) @ (4, 8). The last size of the left tensor (8) "
        "must equal the second to last of the right (4). Did you mean b.T?"
    )


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ((8, 32), (8, 4), r"\(32\) must equal the second to last of the right \(8\). .* a.T\?"),
        ((2, 3, 4), (2, 5, 4), r"Did you mean b.mT\?"),
        ((3, 4), (5,), r"\(4\) must equal the size of the right \(5\)\.$"),
        ((2, 3, 4), (3, 4, 5), "do not broadcast"),
        ((), (3,), "rank 1 or more"),
    ],
)
def test_matmul_says_what_does_not_fit(left: Any, right: Any, message: str) -> None:
    with pytest.raises(vkml.ShapeError, match=message):
        vkml.matmul(vkml.ones(*left), vkml.ones(*right))


def test_matmul_with_a_number_is_an_error() -> None:
    with pytest.raises(vkml.ShapeError, match="numbers multiply by"):
        vkml.ones(2, 2) @ 3


def test_matmul_of_two_dtypes_names_both() -> None:
    with pytest.raises(vkml.DTypeError, match="float32 @ float64"):
        vkml.matmul(vkml.ones(2, 2), vkml.ones(2, 2, dtype=vkml.float64))


# mm, mv, bmm, dot, outer, addmm ------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "left", "right"),
    [
        ("mm", (3, 4), (4, 2)),
        ("mv", (3, 4), (4,)),
        ("bmm", (2, 3, 4), (2, 4, 5)),
        ("dot", (5,), (5,)),
        ("outer", (3,), (4,)),
    ],
)
def test_product_of_fixed_ranks_equals_torch(
    agrees_with_torch: Any, name: str, left: Any, right: Any
) -> None:
    operands = numbers(*left), numbers(*right, seed=8)

    agrees_with_torch(getattr(vkml, name), getattr(torch, name), *operands)


@pytest.mark.parametrize("name", ["mm", "mv", "bmm", "dot", "outer"])
def test_product_of_fixed_ranks_refuses_others(name: str) -> None:
    with pytest.raises(vkml.ShapeError, match=f"^{name}: expected ranks"):
        getattr(vkml, name)(vkml.ones(1, 1, 1, 1), vkml.ones(1, 1, 1, 1))


def test_bmm_refuses_batches_that_differ() -> None:
    with pytest.raises(vkml.ShapeError, match="bmm: the batches differ: 1 and 2"):
        vkml.bmm(vkml.ones(1, 2, 3), vkml.ones(2, 3, 2))


@pytest.mark.parametrize("shape", [(3, 5), (5,), (3, 1), ()])
def test_addmm_equals_torch(agrees_with_torch: Any, shape: Any) -> None:
    agrees_with_torch(
        lambda *x: vkml.addmm(*x, beta=0.5, alpha=2),
        lambda *x: torch.addmm(*x, beta=0.5, alpha=2),
        numbers(*shape), numbers(3, 4), numbers(4, 5),
    )  # fmt: skip


def test_addmm_with_beta_0_ignores_the_input() -> None:
    nan = vkml.full((1, 1), float("nan"))

    assert vkml.addmm(nan, vkml.ones(1, 2), vkml.ones(2, 1), beta=0).item() == 2


# linear ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("leading", [(5,), (), (2, 3), (2, 1, 3), (0,), (2, 0)])
def test_linear_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, leading: Any, with_bias: bool, dtype: Any
) -> None:
    x, weight = numbers(*leading, 4, dtype=dtype), numbers(3, 4, dtype=dtype)
    bias = numbers(3, dtype=dtype) if with_bias else None

    agrees_with_torch(vkml.linear, torch.nn.functional.linear, x, weight, bias)


def test_linear_of_transposed_views_equals_torch(agrees_with_torch: Any) -> None:
    x, weight = numbers(4, 3, 2).T, numbers(4, 5).T

    agrees_with_torch(vkml.linear, torch.nn.functional.linear, x, weight, numbers(5))


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((2, 3), (5, 4), (5,)), r"linear: input \(2, 3\) and weight \(5, 4\) do not fit"),
        (((2, 4), (5, 4), (4,)), r"linear: expected a bias of shape \(5,\)"),
        (((), (5, 4), (5,)), "do not fit"),
        (((2, 4), (4,), (5,)), "do not fit"),
    ],
)
def test_linear_says_what_does_not_fit(shapes: Any, message: str) -> None:
    with pytest.raises(vkml.ShapeError, match=message):
        vkml.linear(*(vkml.ones(*shape) for shape in shapes))


def test_linear_of_two_dtypes_names_both() -> None:
    with pytest.raises(vkml.DTypeError, match="input float32, weight float64"):
        vkml.linear(vkml.ones(2, 2), vkml.ones(2, 2, dtype=vkml.float64))
