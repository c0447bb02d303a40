"""Copies, pickles and prints of tensors and generators."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vkml


def test_a_deep_copy_of_a_leaf_has_a_copy_of_its_gradient() -> None:
    x = vkml.Parameter(vkml.ones(2))
    (x * 3).sum().backward()

    copied = copy.deepcopy(x)

    assert copied.grad is not None
    assert copied.grad is not x.grad
    assert_array_equal(copied.grad.numpy(), [3, 3])


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])  # noqa: S301 - our own bytes
def test_a_copied_generator_draws_what_the_first_would(duplicate: object) -> None:
    generator = vkml.Generator(5)
    vkml.rand(3, generator=generator)

    copied = duplicate(generator)  # type: ignore[operator]

    assert vkml.equal(vkml.rand(3, generator=copied), vkml.rand(3, generator=generator))


@pytest.mark.parametrize("seed", [1.5, "abc", None, vkml.ones(2)])
def test_a_seed_is_an_integer(seed: object) -> None:
    with pytest.raises(vkml.ArgumentError, match="a seed is an integer"):
        vkml.manual_seed(seed)  # type: ignore[arg-type]


def test_a_parameter_is_made_of_a_tensor() -> None:
    with pytest.raises(vkml.DTypeError, match="Parameter: expected a tensor, got list"):
        vkml.Parameter([1.0])  # type: ignore[arg-type]


def test_a_read_only_array_is_not_written() -> None:
    array = np.ones(3, np.float32)
    array.flags.writeable = False
    x = vkml.from_numpy(array)

    for write in (lambda: x.add_(1), lambda: x.fill_(2), lambda: x.__setitem__([0], 3)):
        with pytest.raises(vkml.ArgumentError, match="read-only"):
            write()


@pytest.mark.parametrize(
    ("shape", "dtype", "text"),
    [
        ((0,), "float32", "tensor([])"),
        ((0,), "int64", "tensor([], dtype=vkml.int64)"),
        ((0, 3), "bool", "tensor([], size=(0, 3), dtype=vkml.bool)"),
        ((0, 3), "float32", "tensor([], size=(0, 3))"),
    ],
)
def test_a_tensor_without_elements_prints_its_dtype(
    shape: tuple[int, ...], dtype: str, text: str
) -> None:
    assert repr(vkml.zeros(shape, dtype=dtype)) == text
