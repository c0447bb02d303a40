from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import vkml

torch = pytest.importorskip("torch")

DTYPES = [np.float32, np.float64]


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(7).standard_normal(shape).astype(dtype)


def places(size: int, *shape: int, dtype: Any = np.int64) -> Any:
    return np.random.default_rng(3).integers(0, size, shape).astype(dtype)


def same_as_torch(name: str, x: Any, *arguments: Any, **options: Any) -> None:
    """Compare values and the gradients of all floating-point arrays with torch."""
    ours = [x, *arguments]
    theirs = [x, *arguments]
    for position, each in enumerate(ours):
        if isinstance(each, np.ndarray):
            wanted = each.dtype.kind == "f"
            ours[position] = vkml.tensor(each, requires_grad=wanted)
            theirs[position] = torch.tensor(each, requires_grad=wanted)
            if each.dtype == np.int32:
                theirs[position] = theirs[position].long()
    result = getattr(vkml, name)(*ours, **options)
    expected = getattr(torch, name)(*theirs, **options)
    assert result.shape == tuple(expected.shape)
    assert_allclose(result.detach().numpy(), expected.detach().numpy(), rtol=1e-5)

    upstream = numbers(*result.shape, dtype=x.dtype)
    result.backward(vkml.tensor(upstream))
    expected.backward(torch.tensor(upstream))
    for mine, other in zip(ours, theirs, strict=True):
        if isinstance(mine, vkml.Tensor) and mine.requires_grad:
            assert mine.grad is not None
            assert_allclose(mine.grad.numpy(), other.grad.numpy(), rtol=1e-5, atol=1e-6)


# gather ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("dim", "shape"), [(0, (7, 4, 5)), (1, (3, 2, 5)), (-1, (2, 4, 9))])
def test_gather_and_its_gradient_equal_torch(dim: int, shape: Any, dtype: Any) -> None:
    x = numbers(3, 4, 5, dtype=dtype)

    same_as_torch("gather", x, dim, places(x.shape[dim], *shape))


def test_gather_takes_an_index_of_int32() -> None:
    same_as_torch("gather", numbers(3, 4), 1, places(4, 3, 2, dtype=np.int32))


def test_gather_of_a_transposed_tensor_equals_torch() -> None:
    x, index = numbers(3, 4), places(4, 5, 3)

    result = vkml.gather(vkml.tensor(x).T, 0, vkml.tensor(index))

    assert_array_equal(result.numpy(), torch.gather(torch.tensor(x).T, 0, torch.tensor(index)))


def test_gather_of_rank_0_returns_the_one_element() -> None:
    x = vkml.tensor(5.0, requires_grad=True)

    result = vkml.gather(x, 0, vkml.tensor(0))
    result.backward()

    assert result.shape == ()
    assert x.grad is not None
    assert x.grad.item() == 1


def test_gather_with_an_empty_index_is_empty() -> None:
    same_as_torch("gather", numbers(3, 4), 1, places(4, 3, 0))


def test_gather_keeps_nan_and_infinity() -> None:
    x = vkml.tensor([np.nan, np.inf, 1.0])

    assert_array_equal(vkml.gather(x, 0, vkml.tensor([1, 0])).numpy(), [np.inf, np.nan])


@pytest.mark.parametrize("wrong", [-1, 4])
def test_gather_names_the_index_the_axis_and_its_size(wrong: int) -> None:
    with pytest.raises(
        vkml.IndexOutOfRangeError,
        match=rf"gather: index {wrong} is out of range for axis 1 of size 4; give 0 to 3",
    ):
        vkml.gather(vkml.zeros(3, 4), 1, vkml.tensor([[0], [wrong]]))


def test_gather_refuses_an_index_of_floats() -> None:
    with pytest.raises(vkml.DTypeError, match=r"gather: .*int64 or int32, got float32"):
        vkml.gather(vkml.zeros(3), 0, vkml.zeros(3))


@pytest.mark.parametrize("shape", [(3,), (4, 1), (2, 2, 2)])
def test_gather_refuses_an_index_that_does_not_fit(shape: Any) -> None:
    with pytest.raises(vkml.ShapeError, match=r"gather: an index of shape"):
        vkml.gather(vkml.zeros(3, 4), 1, vkml.zeros(*shape, dtype="int64"))


def test_gather_differentiates_twice() -> None:
    x = vkml.tensor(numbers(4), requires_grad=True)
    (first,) = vkml.autograd.grad(
        (vkml.gather(x, 0, vkml.tensor([1, 1, 3])) ** 3).sum(), x, create_graph=True
    )

    assert first is not None
    (second,) = vkml.autograd.grad(first.sum(), x)

    assert second is not None
    assert_allclose(second.numpy(), 6 * x.detach().numpy() * [0, 2, 0, 1], rtol=1e-5)


# scatter_add -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("dim", "shape"), [(0, (7, 4, 5)), (1, (3, 2, 5)), (2, (2, 4, 9))])
def test_scatter_add_and_its_gradients_equal_torch(dim: int, shape: Any, dtype: Any) -> None:
    x = numbers(3, 4, 5, dtype=dtype)

    same_as_torch(
        "scatter_add", x, dim, places(x.shape[dim], *shape), numbers(*shape, dtype=dtype) + 1
    )


def test_scatter_add_uses_only_the_part_of_the_source_that_is_indexed() -> None:
    x, index, source = numbers(3, 4), places(3, 2, 3), numbers(5, 4)
    given = vkml.tensor(source, requires_grad=True)

    result = vkml.scatter_add(vkml.tensor(x), 0, vkml.tensor(index), given)
    result.sum().backward()

    expected = torch.scatter_add(torch.tensor(x), 0, torch.tensor(index), torch.tensor(source))
    assert_allclose(result.detach().numpy(), expected, rtol=1e-6)
    gradient = np.zeros((5, 4))
    gradient[:2, :3] = 1
    assert given.grad is not None
    assert_array_equal(given.grad.numpy(), gradient)


def test_scatter_add_of_integers_is_exact() -> None:
    x = vkml.zeros(2, dtype="int64")

    result = vkml.scatter_add(x, 0, vkml.tensor([1, 1]), vkml.tensor([2**62, 1]))

    assert result.tolist() == [0, 2**62 + 1]


def test_scatter_add_of_halves_sums_in_float32() -> None:
    count = 4096
    index = vkml.zeros(count, dtype="int64")
    source = vkml.ones(count, dtype="float16")

    assert vkml.scatter_add(vkml.zeros(1, dtype="float16"), 0, index, source).item() == count


def test_scatter_add_of_rank_0_adds() -> None:
    result = vkml.scatter_add(vkml.tensor(1.0), 0, vkml.tensor(0), vkml.tensor(2.0))

    assert result.item() == 3


def test_scatter_add_refuses_an_index_larger_than_the_source() -> None:
    with pytest.raises(vkml.ShapeError, match=r"scatter_add: the source has shape \(2,\)"):
        vkml.scatter_add(vkml.zeros(3), 0, vkml.tensor([0, 1, 2]), vkml.ones(2))


def test_scatter_add_refuses_two_dtypes() -> None:
    with pytest.raises(vkml.DTypeError, match=r"scatter_add: the tensors hold"):
        vkml.scatter_add(vkml.zeros(3), 0, vkml.tensor([0]), vkml.ones(1, dtype="float64"))


def test_scatter_add_refuses_an_index_outside_the_axis() -> None:
    with pytest.raises(vkml.IndexOutOfRangeError, match=r"index 3 .* axis 0 of size 3"):
        vkml.scatter_add(vkml.zeros(3), 0, vkml.tensor([3]), vkml.ones(1))


# index_select ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_index_select_and_its_gradient_equal_torch(dim: int, dtype: Any) -> None:
    x = numbers(3, 4, 5, dtype=dtype)

    same_as_torch("index_select", x, dim, places(x.shape[dim], 11))


@pytest.mark.parametrize("index", [[], [2], [0, 1, 2], [2, 1, 0], [1, 1]])
@pytest.mark.parametrize("dim", [0, 1])
def test_index_select_differentiates_for_sorted_and_repeated_indices(index: Any, dim: int) -> None:
    same_as_torch("index_select", numbers(3, 3), dim, np.array(index, np.int64))


def test_index_select_out_of_range_names_the_index_the_axis_and_its_size() -> None:
    with pytest.raises(vkml.IndexOutOfRangeError, match=r"index -1 .* axis 1 of size 4"):
        vkml.index_select(vkml.zeros(3, 4), 1, vkml.tensor([0, -1]))


def test_index_select_from_an_empty_axis_says_so() -> None:
    with pytest.raises(vkml.IndexOutOfRangeError, match=r"size 0; the axis is empty"):
        vkml.index_select(vkml.zeros(0), 0, vkml.tensor([0]))


def test_index_select_refuses_an_index_with_two_axes() -> None:
    with pytest.raises(vkml.ShapeError, match=r"index_select: expected an index of rank 1"):
        vkml.index_select(vkml.zeros(3), 0, vkml.tensor([[0]]))


def test_index_select_refuses_rank_0() -> None:
    with pytest.raises(vkml.ShapeError, match=r"index_select: a rank-0 tensor has no axis"):
        vkml.index_select(vkml.tensor(1.0), 0, vkml.tensor([0]))


def test_infinite_gradients_of_index_select_stay_in_their_slices() -> None:
    x = vkml.zeros(3, 2, requires_grad=True)

    vkml.index_select(x, 0, vkml.tensor([1, 0, 1])).backward(
        vkml.tensor([[np.inf, 1], [1, 1], [1, np.nan]], dtype="float32")
    )

    assert x.grad is not None
    assert_array_equal(x.grad.numpy(), [[1, 1], [np.inf, np.nan], [0, 0]])


# index_add -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_index_add_and_its_gradients_equal_torch(dim: int, dtype: Any) -> None:
    x = numbers(3, 4, 5, dtype=dtype)
    shape = list(x.shape)
    shape[dim] = 9

    same_as_torch(
        "index_add", x, dim, places(x.shape[dim], 9), numbers(*shape, dtype=dtype) + 1, alpha=2
    )


def test_index_add_refuses_a_source_of_another_shape() -> None:
    with pytest.raises(vkml.ShapeError, match=r"index_add: the source has shape \(2, 5\)"):
        vkml.index_add(vkml.zeros(3, 4), 0, vkml.tensor([0, 1]), vkml.zeros(2, 5))


def test_index_add_refuses_an_index_of_another_length() -> None:
    with pytest.raises(vkml.ShapeError, match=r"2 slices along axis 0, the index 3"):
        vkml.index_add(vkml.zeros(3, 4), 0, vkml.tensor([0, 1, 2]), vkml.zeros(2, 4))


def test_index_add_in_place_writes_into_the_tensor() -> None:
    x = vkml.zeros(3)

    result = x.index_add_(0, vkml.tensor([2, 2]), vkml.ones(2))

    assert result is x
    assert x.tolist() == [0, 0, 2]


# take_along_dim, nonzero -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "index", "dim"),
    [((3, 4), (3, 2), 1), ((3, 4), (1, 2), 1), ((1, 4), (3, 4), 1), ((2, 1, 4), (1, 3, 4), 0)],
)
def test_take_along_dim_broadcasts_as_torch_does(shape: Any, index: Any, dim: int) -> None:
    same_as_torch("take_along_dim", numbers(*shape), places(shape[dim], *index), dim)


def test_take_along_dim_without_an_axis_flattens() -> None:
    same_as_torch("take_along_dim", numbers(3, 4), places(12, 5))


def test_take_along_dim_refuses_another_rank() -> None:
    with pytest.raises(vkml.ShapeError, match=r"take_along_dim: the tensor has rank 2"):
        vkml.take_along_dim(vkml.zeros(3, 4), vkml.tensor([0]), 1)


@pytest.mark.parametrize("shape", [(3, 4), (5,), (), (0, 2)])
def test_nonzero_equals_torch(shape: Any) -> None:
    x = places(2, *shape)

    result = vkml.nonzero(vkml.tensor(x))

    assert result.dtype is vkml.int64
    assert_array_equal(result.numpy(), torch.nonzero(torch.tensor(x)))


def test_nonzero_as_a_tuple_indexes_the_tensor() -> None:
    x = vkml.tensor([[0.0, 2.0], [np.nan, 0.0]])

    found = vkml.nonzero(x, as_tuple=True)

    assert_array_equal(x[found].numpy(), [2, np.nan])
