from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vkml

torch = pytest.importorskip("torch")

AgreesWithTorch = Callable[..., None]

DTYPES = [np.float32, np.float64]


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    return np.asarray(np.random.default_rng(sum(shape)).standard_normal(shape), dtype)


# cat, stack ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("axis", "sizes"), [(0, (1, 3, 2)), (1, (4, 0, 1)), (-1, (2,))])
def test_cat_and_its_derivatives_equal_torch(
    axis: int, sizes: Any, dtype: Any, agrees_with_torch: AgreesWithTorch
) -> None:
    shapes = [[3, 4, 5] for _ in sizes]
    for shape, size in zip(shapes, sizes, strict=True):
        shape[axis] = size
    operands = [numbers(*shape, dtype=dtype) for shape in shapes]

    agrees_with_torch(
        lambda *tensors: vkml.cat(tensors, axis) ** 2,
        lambda *tensors: torch.cat(tensors, axis) ** 2,
        *operands,
    )


def test_cat_of_transposed_tensors_equals_torch(agrees_with_torch: AgreesWithTorch) -> None:
    agrees_with_torch(
        lambda *tensors: vkml.cat(tensors, 1),
        lambda *tensors: torch.cat(tensors, 1),
        numbers(2, 3).T,
        numbers(4, 3).T,
        second=False,
    )


def test_cat_of_one_tensor_with_itself_sums_the_gradients() -> None:
    x = vkml.tensor([1.0, 2.0], requires_grad=True)

    (vkml.cat([x, x]) * vkml.tensor([1.0, 2.0, 10.0, 20.0])).sum().backward()

    assert x.grad is not None
    assert x.grad.tolist() == [11, 22]


def test_cat_gives_no_gradient_to_constants() -> None:
    x = vkml.ones(2, requires_grad=True)
    constant = vkml.ones(1)

    vkml.cat([constant, x]).sum().backward()

    assert x.grad is not None
    assert x.grad.tolist() == [1, 1]
    assert constant.grad is None


def test_cat_promotes_dtypes() -> None:
    assert vkml.cat([vkml.ones(1, dtype="int64"), vkml.ones(1)]).dtype is vkml.float32


def test_cat_copies() -> None:
    x = vkml.zeros(2)

    vkml.cat([x]).zero_().add_(1)

    assert x.tolist() == [0, 0]


def test_cat_names_the_tensor_that_does_not_fit() -> None:
    with pytest.raises(vkml.ShapeError, match=r"cat: tensor 1 has shape \(2, 4\).*axis 0"):
        vkml.cat([vkml.zeros(2, 3), vkml.zeros(2, 4)])


def test_cat_of_rank_0_says_what_to_use() -> None:
    with pytest.raises(vkml.ShapeError, match=r"use stack"):
        vkml.cat([vkml.tensor(1.0)])


@pytest.mark.parametrize("name", ["cat", "stack"])
def test_joining_nothing_is_refused(name: str) -> None:
    with pytest.raises(vkml.ArgumentError, match=rf"{name}: there is no tensor"):
        getattr(vkml, name)([])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shape", "dim"), [((3, 4), 0), ((3, 4), 1), ((3, 4), -1), ((), 0), ((0, 2), 1)]
)
def test_stack_and_its_derivatives_equal_torch(
    shape: Any, dim: int, dtype: Any, agrees_with_torch: AgreesWithTorch
) -> None:
    agrees_with_torch(
        lambda *tensors: vkml.stack(tensors, dim) ** 2,
        lambda *tensors: torch.stack(tensors, dim) ** 2,
        numbers(*shape, dtype=dtype),
        numbers(*shape, dtype=dtype),
    )


def test_stack_names_the_tensor_that_does_not_fit() -> None:
    with pytest.raises(vkml.ShapeError, match=r"stack: tensor 1 has shape \(3,\)"):
        vkml.stack([vkml.zeros(2), vkml.zeros(3)])


# split, chunk, unbind --------------------------------------------------------------------


def same_parts(parts: Any, expected: Any) -> None:
    assert len(parts) == len(expected)
    for part, other in zip(parts, expected, strict=True):
        assert_array_equal(part.numpy(), other.numpy())


@pytest.mark.parametrize("size", [1, 2, 4, 9, (3, 0, 4)])
@pytest.mark.parametrize("dim", [0, -2])
def test_split_equals_torch(size: Any, dim: int) -> None:
    x = numbers(7, 7, 2)

    same_parts(vkml.split(vkml.tensor(x), size, dim), torch.split(torch.tensor(x), size, dim))


@pytest.mark.parametrize("chunks", [1, 2, 3, 4, 6, 9])
@pytest.mark.parametrize("size", [0, 1, 5, 6])
def test_chunk_equals_torch(chunks: int, size: int) -> None:
    x = numbers(2, size)

    same_parts(vkml.chunk(vkml.tensor(x), chunks, 1), torch.chunk(torch.tensor(x), chunks, 1))


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_unbind_equals_torch(dim: int) -> None:
    x = numbers(2, 3, 4)

    same_parts(vkml.unbind(vkml.tensor(x), dim), torch.unbind(torch.tensor(x), dim))


@pytest.mark.parametrize(
    ("name", "arguments"), [("split", (2, 1)), ("chunk", (2, 1)), ("unbind", (1,))]
)
def test_derivatives_of_parts_equal_torch(
    name: str, arguments: Any, agrees_with_torch: AgreesWithTorch
) -> None:
    def weighted(library: Any) -> Callable[[Any], Any]:
        def function(x: Any) -> Any:
            parts = getattr(library, name)(x, *arguments)
            return sum((part**2).sum() * (n + 1) for n, part in enumerate(parts))

        return function

    agrees_with_torch(weighted(vkml), weighted(torch), numbers(3, 5, dtype=np.float64))


def test_parts_are_views() -> None:
    x = vkml.zeros(4)

    vkml.split(x, 2)[1].add_(1)
    vkml.unbind(x)[0].add_(5)

    assert x.tolist() == [5, 0, 1, 1]


def test_iterating_over_a_tensor_gives_its_parts() -> None:
    assert [part.tolist() for part in vkml.tensor([[1, 2], [3, 4]])] == [[1, 2], [3, 4]]


def test_split_refuses_sizes_that_do_not_add_up() -> None:
    with pytest.raises(vkml.ArgumentError, match=r"split: sizes \(1, 2\) do not add up to 4"):
        vkml.split(vkml.zeros(4), (1, 2))


@pytest.mark.parametrize("size", [0, -1])
def test_split_refuses_a_size_below_1(size: int) -> None:
    with pytest.raises(vkml.ArgumentError, match=rf"split: parts of {size} elements"):
        vkml.split(vkml.zeros(4), size)


def test_chunk_refuses_no_chunks() -> None:
    with pytest.raises(vkml.ArgumentError, match=r"chunk: chunks is 0"):
        vkml.chunk(vkml.zeros(4), 0)


@pytest.mark.parametrize(("name", "arguments"), [("split", (1,)), ("chunk", (1,)), ("unbind", ())])
def test_rank_0_has_no_parts(name: str, arguments: Any) -> None:
    with pytest.raises(vkml.ShapeError, match=rf"{name}: a rank-0 tensor has no axis"):
        getattr(vkml, name)(vkml.tensor(1.0), *arguments)
