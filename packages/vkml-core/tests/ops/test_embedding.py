from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import vkml
from vkml.ops.definition import OPERATIONS

torch = pytest.importorskip("torch")


def table(entries: int, size: int, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(5).standard_normal((entries, size)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("padding", [None, 2, -1])
@pytest.mark.parametrize("shape", [(3, 5), (4,), (), (2, 0)])
def test_embedding_and_its_gradient_equal_torch(shape: Any, padding: Any, dtype: Any) -> None:
    weight, indices = table(7, 3, dtype), np.random.default_rng(2).integers(0, 7, shape)
    mine = vkml.tensor(weight, requires_grad=True)
    other = torch.tensor(weight, requires_grad=True)

    result = vkml.embedding(vkml.tensor(indices), mine, padding)
    expected = torch.nn.functional.embedding(torch.tensor(indices), other, padding)
    (result**2).sum().backward()
    (expected**2).sum().backward()

    assert_array_equal(result.detach().numpy(), expected.detach().numpy())
    assert mine.grad is not None
    assert_allclose(mine.grad.numpy(), other.grad.numpy(), rtol=1e-5)


def test_embedding_takes_indices_of_int32() -> None:
    weight = vkml.tensor(table(4, 2))

    result = vkml.embedding(vkml.tensor([3, 0], dtype="int32"), weight)

    assert_array_equal(result.numpy(), weight.numpy()[[3, 0]])


def test_embedding_differentiates_twice() -> None:
    weight, indices = table(5, 3, np.float64), np.array([1, 1, 4])
    mine = vkml.tensor(weight, requires_grad=True)
    other = torch.tensor(weight, requires_grad=True)

    def second(library: Any, function: Any, table: Any) -> Any:
        result = (function(table) ** 3).sum()
        (first,) = library.autograd.grad(result, table, create_graph=True)
        (found,) = library.autograd.grad((first**2).sum(), table)
        return found

    found = second(vkml, lambda table: vkml.embedding(vkml.tensor(indices), table, 4), mine)
    expected = second(
        torch, lambda table: torch.nn.functional.embedding(torch.tensor(indices), table, 4), other
    )

    assert_allclose(found.numpy(), expected.numpy(), rtol=1e-10)


@pytest.mark.parametrize("padding", [None, 1])
def test_the_fused_gradient_equals_its_decomposition(padding: Any) -> None:
    operation = OPERATIONS["embedding_backward"]
    upstream, indices = table(6, 3), np.array([1, 0, 1, 4, 4, 1])
    raw = vkml.device("cpu").raw

    assert operation.cpu is not None
    assert operation.decomposition is not None
    fused = operation.cpu(upstream, indices, 5, padding)
    composed = operation.decomposition(raw, upstream, indices, 5, padding)

    assert_allclose(fused, composed, rtol=1e-6)


@pytest.mark.parametrize("size", [3, 64, 256])
def test_infinite_gradients_stay_in_the_rows_of_their_indices(size: int) -> None:
    weight = vkml.zeros(3, size, requires_grad=True)

    vkml.embedding(vkml.tensor([0, 1]), weight).backward(
        vkml.tensor([[np.inf], [1.0]], dtype="float32").expand(2, size)
    )

    assert weight.grad is not None
    expected = np.repeat(np.array([[np.inf], [1], [0]]), size, 1)
    assert_array_equal(weight.grad.numpy(), expected)


@pytest.mark.parametrize("wrong", [-1, 4])
def test_embedding_names_an_index_outside_the_table(wrong: int) -> None:
    with pytest.raises(
        vkml.IndexOutOfRangeError, match=rf"embedding: index {wrong} .* 4 embeddings"
    ):
        vkml.embedding(vkml.tensor([0, wrong]), vkml.zeros(4, 2))


def test_embedding_refuses_indices_of_floats() -> None:
    with pytest.raises(vkml.DTypeError, match=r"embedding: expected indices of int64 or int32"):
        vkml.embedding(vkml.zeros(2), vkml.zeros(4, 2))


def test_embedding_refuses_a_weight_without_two_axes() -> None:
    with pytest.raises(vkml.ShapeError, match=r"embedding: expected a weight of shape"):
        vkml.embedding(vkml.tensor([0]), vkml.zeros(4))


def test_embedding_refuses_a_padding_outside_the_table() -> None:
    with pytest.raises(vkml.ArgumentError, match=r"padding_idx 4 names none of the 4 entries"):
        vkml.embedding(vkml.tensor([0]), vkml.zeros(4, 2), 4)


# one_hot ---------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(5,), (2, 3), ()])
@pytest.mark.parametrize("classes", [-1, 4, 9])
def test_one_hot_equals_torch(shape: Any, classes: int) -> None:
    x = np.random.default_rng(1).integers(0, 4, shape)

    result = vkml.one_hot(vkml.tensor(x), classes)

    assert result.dtype is vkml.int64
    assert_array_equal(result.numpy(), torch.nn.functional.one_hot(torch.tensor(x), classes))


def test_one_hot_of_nothing_needs_the_number_of_classes() -> None:
    empty = vkml.zeros(0, dtype="int64")

    assert vkml.one_hot(empty, 3).shape == (0, 3)
    with pytest.raises(vkml.ArgumentError, match="give num_classes"):
        vkml.one_hot(empty)


@pytest.mark.parametrize("wrong", [-1, 3])
def test_one_hot_names_a_class_out_of_range(wrong: int) -> None:
    with pytest.raises(vkml.IndexOutOfRangeError, match=rf"class {wrong} .* 3 classes"):
        vkml.one_hot(vkml.tensor([0, wrong]), 3)


def test_one_hot_refuses_floats() -> None:
    with pytest.raises(vkml.DTypeError, match=r"one_hot: expected int64 or int32"):
        vkml.one_hot(vkml.zeros(2))


def test_one_hot_of_a_meta_tensor_has_a_shape() -> None:
    assert vkml.one_hot(vkml.zeros(2, dtype="int64", device="meta"), 3).shape == (2, 3)
