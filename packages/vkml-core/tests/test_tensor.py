"""What every tensor can say of itself, beside torch."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vkml

torch = pytest.importorskip("torch")

FACTS: dict[str, Callable[[Any], Any]] = {
    "shape": lambda x: tuple(x.shape),
    "size": lambda x: tuple(x.size()),
    "size of an axis": lambda x: x.size(-1),
    "ndim": lambda x: x.ndim,
    "dim": lambda x: x.dim(),
    "numel": lambda x: x.numel(),
    "len": len,
    "itemsize": lambda x: x.itemsize,
    "element_size": lambda x: x.element_size(),
    "nbytes": lambda x: x.nbytes,
    "stride": lambda x: x.stride(),
    "stride of an axis": lambda x: x.stride(0),
    "storage_offset": lambda x: x.storage_offset(),
    "is_contiguous": lambda x: x.is_contiguous(),
    "tolist": lambda x: x.tolist(),
    "requires_grad": lambda x: x.requires_grad,
    "is_leaf": lambda x: x.is_leaf,
}
SHOWN: dict[str, Callable[[Any], Any]] = {
    "whole": lambda x: x,
    "part": lambda x: x[1:, ::2],
    "transpose": lambda x: x.T,
    "expand": lambda x: x[:1].expand(5, 4),
    "row": lambda x: x[2],
}


@pytest.mark.parametrize("fact", FACTS.values(), ids=FACTS)
@pytest.mark.parametrize("show", SHOWN.values(), ids=SHOWN)
def test_fact_equals_that_of_torch(show: Callable[[Any], Any], fact: Callable[[Any], Any]) -> None:
    values = np.arange(12.0, dtype=np.float32).reshape(3, 4)

    assert fact(show(vkml.tensor(values))) == fact(show(torch.tensor(values)))


@pytest.mark.parametrize("dim", [2, -3, 10])
def test_an_axis_that_does_not_exist_is_named(dim: int) -> None:
    x = vkml.zeros(2, 3)

    for ask in (x.size, x.stride):
        with pytest.raises(vkml.ShapeError, match=f"axis {dim} is out of range for rank 2"):
            ask(dim)


def test_rank_0_has_no_axis_to_ask_for() -> None:
    for ask in (vkml.tensor(1).size, vkml.tensor(1).stride):
        with pytest.raises(vkml.ShapeError, match="a rank-0 tensor has no axes"):
            ask(0)


# its values -------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [1, 1.5, True, 1 + 2j, [1], [[1.5]], float("nan")])
def test_item_is_the_python_number_of_torch(data: Any) -> None:
    ours, theirs = vkml.tensor(data).item(), torch.tensor(data).item()

    assert type(ours) is type(theirs)
    assert ours == theirs or ours != ours


@pytest.mark.parametrize("convert", [int, float, bool, complex])
@pytest.mark.parametrize("data", [2, 2.7, -2.7, True, [3.0], 0])
def test_one_element_becomes_a_python_number(data: Any, convert: Any) -> None:
    assert convert(vkml.tensor(data)) == convert(torch.tensor(data))


@pytest.mark.parametrize("convert", [int, float, complex, lambda x: x.item()])
@pytest.mark.parametrize("data", [[], [1, 2], [[1], [2]]])
def test_other_numbers_of_elements_become_none(data: Any, convert: Any) -> None:
    with pytest.raises(vkml.ShapeError, match="only one element"):
        convert(vkml.tensor(data))


@pytest.mark.parametrize("data", [[], [1, 2]])
def test_the_truth_of_several_elements_is_an_error(data: Any) -> None:
    with pytest.raises(vkml.ShapeError, match=r"x\.any\(\) or x\.all\(\)"):
        bool(vkml.tensor(data))


def test_integers_are_indices_of_sequences_and_floats_are_not() -> None:
    assert [5, 6, 7][vkml.tensor(1)] == 6
    assert list(range(int(vkml.tensor([3])))) == [0, 1, 2]
    with pytest.raises(TypeError, match="cannot be an index"):
        _ = [5, 6, 7][vkml.tensor(1.0)]


@pytest.mark.parametrize("data", [1.5, [1, 2], [[True], [False]], [], [[]], [1j]])
def test_tolist_is_nested_python_numbers(data: Any) -> None:
    assert vkml.tensor(data).tolist() == torch.tensor(data).tolist()


def test_iterating_goes_along_the_first_axis() -> None:
    rows = list(vkml.arange(6).reshape(2, 3))

    assert [each.tolist() for each in rows] == [[0, 1, 2], [3, 4, 5]]


def test_a_rank_0_tensor_has_no_length_and_is_not_iterated() -> None:
    with pytest.raises(TypeError, match="no length"):
        len(vkml.tensor(1))
    with pytest.raises(vkml.ShapeError, match="rank-0"):
        list(vkml.tensor(1))


# NumPy ------------------------------------------------------------------------------------


def test_numpy_shares_memory_on_the_cpu() -> None:
    x = vkml.zeros(2, 3)

    x.T.numpy()[0, 1] = 5

    assert x.tolist() == [[0, 0, 0], [5, 0, 0]]


@pytest.mark.parametrize("make", [lambda x: x, lambda x: x * 2])
def test_numpy_of_a_tensor_with_a_gradient_asks_for_detach(make: Callable[[Any], Any]) -> None:
    x = make(vkml.ones(2, requires_grad=True))

    with pytest.raises(vkml.AutogradError, match=r"x\.detach\(\)\.numpy\(\)"):
        x.numpy()
    assert_array_equal(x.numpy(force=True), x.detach().numpy())


def test_numpy_of_another_device_asks_for_cpu(strided: vkml.Device) -> None:
    x = vkml.ones(2, device=strided)

    with pytest.raises(vkml.DeviceError, match=r"x\.cpu\(\)\.numpy\(\)"):
        x.numpy()
    assert_array_equal(x.numpy(force=True), [1, 1])


def test_numpy_functions_read_tensors() -> None:
    x = vkml.tensor([1.0, 4.0])

    assert_array_equal(np.sqrt(x), [1, 2])
    assert np.asarray(x).dtype == np.float32
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    assert np.shares_memory(np.asarray(x), x.numpy())
    assert not np.shares_memory(np.array(x), x.numpy())


def test_a_conversion_that_needs_a_copy_can_be_forbidden() -> None:
    with pytest.raises(ValueError, match="needs a copy"):
        np.asarray(vkml.ones(2), dtype=np.float64, copy=False)


@pytest.mark.parametrize("number", [np.float32(2), np.float64(2), np.int64(2), np.bool_(True)])
def test_numpy_numbers_are_numbers_on_either_side(number: Any) -> None:
    x = vkml.tensor([1.0, 3.0])

    assert (x * number).tolist() == (number * x).tolist() == [float(number), 3 * float(number)]
    assert isinstance(number * x, vkml.Tensor)
    assert (number * x).dtype is vkml.float32


@pytest.mark.parametrize("combine", [lambda a, x: a + x, lambda a, x: x + a, lambda a, x: a @ x])
def test_arrays_are_converted_by_hand(combine: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(vkml.DTypeError, match=r"vkml\.tensor\(data\)"):
        combine(np.ones(2), vkml.ones(2))


def test_dlpack_hands_memory_to_torch_and_back() -> None:
    x = vkml.arange(6.0).reshape(2, 3)

    shared = torch.from_dlpack(x)
    shared[0, 0] = 7

    assert x[0, 0].item() == 7
    assert np.from_dlpack(x).tolist() == x.tolist()


# identity, copies, history ------------------------------------------------------------------


def test_tensors_are_hashed_by_identity() -> None:
    x, y = vkml.ones(1), vkml.ones(1)

    assert len({x, y, x}) == 2
    assert {x: "x", y: "y"}[y] == "y"


def test_a_tensor_is_freed_with_its_last_name() -> None:
    x = vkml.ones(2, requires_grad=True)
    result = (x * x).sum()
    seen = weakref.ref(result)

    gc.disable()
    try:
        del result
    finally:
        gc.enable()

    assert seen() is None


def test_a_tensor_is_not_made_by_its_class() -> None:
    with pytest.raises(TypeError, match=r"vkml\.tensor\(data\)"):
        vkml.Tensor([1, 2])


def test_a_tensor_has_no_attributes_of_its_user() -> None:
    with pytest.raises(AttributeError):
        vkml.ones(1).name = "x"  # type: ignore[attr-defined]  # the mistake that is tested


@pytest.mark.parametrize("detached", [lambda x: x.detach(), lambda x: x.data])
def test_detached_shares_memory_and_version_but_not_history(detached: Any) -> None:
    x = vkml.ones(2, requires_grad=True)
    y = x * 2
    result = (y * y).sum()

    plain = detached(y)
    plain.zero_()

    assert not plain.requires_grad
    assert y.tolist() == [0, 0]
    with pytest.raises(vkml.AutogradError, match="mul"):
        result.backward()


def test_detach_in_place_forgets_the_history() -> None:
    y = vkml.ones(2, requires_grad=True) * 2

    assert y.detach_() is y
    assert not y.requires_grad


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))],  # noqa: S301 - our own bytes
)
def test_copies_and_pickles_have_values_dtype_and_wish_for_a_gradient(
    duplicate: Callable[[Any], Any], requires_grad: bool
) -> None:
    x = vkml.arange(6.0, dtype="float64").reshape(2, 3).T.requires_grad_(requires_grad)

    copied = duplicate(x)

    assert type(copied) is vkml.Tensor
    assert copied is not x
    assert copied.dtype is vkml.float64
    assert copied.requires_grad is requires_grad
    assert copied.tolist() == x.tolist()


@pytest.mark.parametrize("duplicate", [copy.deepcopy, pickle.dumps])
def test_a_result_is_neither_copied_deeply_nor_pickled(duplicate: Callable[[Any], Any]) -> None:
    with pytest.raises(vkml.AutogradError, match="detach"):
        duplicate(vkml.ones(2, requires_grad=True) * 2)


def test_set_shows_other_memory_under_the_same_identity() -> None:
    x, y = vkml.zeros(2), vkml.arange(3)
    seen = id(x)

    x.set_(y)
    y.add_(1)

    assert id(x) == seen
    assert x.tolist() == [1, 2, 3]
    assert x.storage() == y.storage()


def test_set_of_a_result_is_an_error() -> None:
    with pytest.raises(vkml.AutogradError, match=r"set_: .*detach"):
        (vkml.ones(2, requires_grad=True) * 2).set_(vkml.ones(2))


# views and versions -------------------------------------------------------------------------


def test_a_view_of_a_view_follows_a_write_to_the_base() -> None:
    x = vkml.zeros(3, 4, requires_grad=True) * 1
    inner = x[1:].T[::2]

    x[2] = vkml.ones(4, requires_grad=True)

    assert inner.tolist() == [[0, 1], [0, 1]]
    assert inner.requires_grad


def test_a_write_through_a_view_changes_the_gradient_of_the_base() -> None:
    x = vkml.ones(3, requires_grad=True)
    y = x * 2

    y[1:].mul_(5)
    y.sum().backward()

    assert x.grad is not None
    assert x.grad.tolist() == [2, 10, 10]


@pytest.mark.parametrize("data", [1.0, [1.0, 2.0]])
def test_results_of_rank_0_can_be_written(data: Any) -> None:
    total = vkml.tensor(data).sum()

    total.add_(1)
    total[...] = total * 2

    assert total.item() == 2 * (float(np.sum(data)) + 1)
