"""Conversion: dtypes against torch, gradients, identity, devices."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vkml

torch = pytest.importorskip("torch")

DTYPES = ["bool", "uint8", "int8", "int32", "int64", "float16", "float32", "float64", "complex64"]


def test_conversion_between_all_dtypes_equals_torch() -> None:
    for first, second in itertools.product(DTYPES, DTYPES):
        if first == "complex64" and second not in ("bool", first):
            continue
        x = np.array([0, 1, 2, 5]).astype(first)

        ours = vkml.tensor(x).to(getattr(vkml, second))

        theirs = torch.tensor(x).to(getattr(torch, second))
        assert ours.dtype.name == second
        assert_array_equal(ours.numpy(), theirs.numpy())


def test_a_real_dtype_keeps_the_real_part_and_warns() -> None:
    with pytest.warns(np.exceptions.ComplexWarning, match="discards the imaginary part"):
        result = vkml.tensor([1 + 2j]).to("float32")

    assert result.tolist() == [1]


@pytest.mark.parametrize("dtype", ["int32", "int64", "bool", "float16", "float64"])
def test_edges_convert_as_in_torch(dtype: str) -> None:
    x = np.array([1.7, -1.7, 0.0, -0.0, 65504, 1e-30], np.float32)

    ours = vkml.tensor(x).to(getattr(vkml, dtype))

    assert_array_equal(ours.numpy(), torch.tensor(x).to(getattr(torch, dtype)).numpy())


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_nan_and_infinity_stay(dtype: str) -> None:
    x = vkml.tensor([float("nan"), float("inf"), float("-inf")]).to(dtype)

    assert_array_equal(x.numpy(), [np.nan, np.inf, -np.inf])


def test_nan_is_true() -> None:
    assert vkml.tensor([float("nan"), 0.0]).bool().tolist() == [True, False]


@pytest.mark.parametrize("target", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(3, 4), (), (0, 2)])
def test_conversion_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, shape: Any, target: Any
) -> None:
    name = np.dtype(target).name

    def converted(library: Any) -> Any:
        return lambda x: (x * x).to(getattr(library, name))

    x = np.asarray(np.random.default_rng(3).standard_normal(shape), np.float32)

    agrees_with_torch(converted(vkml), converted(torch), x)


def test_gradient_comes_back_in_the_dtype_of_the_leaf() -> None:
    x = vkml.ones(2, dtype="float64", requires_grad=True)

    (x.float() * 3).sum().backward()

    assert x.grad is not None
    assert x.grad.dtype is vkml.float64
    assert x.grad.tolist() == [3, 3]


@pytest.mark.parametrize("dtype", ["int64", "bool"])
def test_integers_want_no_gradient(dtype: str) -> None:
    assert not vkml.ones(2, requires_grad=True).to(dtype).requires_grad


@pytest.mark.parametrize(
    "target", ["float32", vkml.float32, np.float32, np.dtype("f4"), float, "cpu"]
)
def test_what_is_already_so_comes_back_itself(target: Any) -> None:
    x = vkml.ones(2)

    assert x.to(target) is x


def test_a_copy_can_be_asked_for() -> None:
    x = vkml.ones(2)

    assert x.to("float32", copy=True).storage() != x.storage()


@pytest.mark.parametrize(
    ("method", "dtype"),
    [("float", "float32"), ("double", "float64"), ("half", "float16"), ("int", "int32"),
     ("long", "int64"), ("bool", "bool"), ("bfloat16", "bfloat16")],
)  # fmt: skip
def test_shorthand_converts(method: str, dtype: str) -> None:
    assert getattr(vkml.arange(2), method)().dtype.name == dtype


def test_a_tensor_gives_dtype_and_device() -> None:
    model = vkml.zeros(1, dtype="float64")

    assert vkml.arange(2).to(model).dtype is vkml.float64
    assert vkml.arange(2).type_as(model).dtype is vkml.float64


@pytest.mark.parametrize(
    "view", [lambda x: x.T, lambda x: x[::-1], lambda x: x[:, :1].expand(2, 3)]
)
def test_views_convert_to_their_own_elements(view: Any) -> None:
    x = vkml.arange(6).reshape(2, 3)

    result = view(x).to("float64")

    assert_array_equal(result.numpy(), view(x).numpy())


def test_to_meta_keeps_shape_and_dtype() -> None:
    result = vkml.arange(6).reshape(2, 3).to("meta", dtype="float16")

    assert result.shape == (2, 3)
    assert result.dtype is vkml.float16
    assert result.device.type == "meta"


def test_to_another_device_and_its_gradient(strided: vkml.Device) -> None:
    x = vkml.tensor([1.0, 2.0], requires_grad=True)

    moved = x.to(strided)
    (moved * moved).sum().backward()

    assert moved.device == strided
    assert moved.cpu().tolist() == [1, 2]
    assert x.grad is not None
    assert x.grad.device.type == "cpu"
    assert x.grad.tolist() == [2, 4]


@pytest.mark.parametrize(
    ("target", "error"),
    [(5, vkml.ArgumentError), (object(), vkml.ArgumentError), ("nope", vkml.BackendError),
     (str, vkml.DTypeError)],
    ids=["number", "object", "unknown name", "type"],
)  # fmt: skip
def test_what_is_no_target_is_an_error(target: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        vkml.ones(2).to(target)
