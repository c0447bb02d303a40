"""How tensors print, compared with torch character by character."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vkml

torch = pytest.importorskip("torch")

rng = np.random.default_rng(5)


def floats(*values: float) -> Any:
    return np.array(values, np.float32)


CASES: dict[str, Any] = {
    "decimals": floats(1, 2.5, -3),
    "whole": floats(1, 2, 3),
    "large whole": floats(1e7, 2e7),
    "largest without exponent": floats(1e8),
    "larger": floats(123456789),
    "large beside small": floats(1e8, 1),
    "whole of very different size": floats(1, 1001),
    "at the ratio of 1000": floats(1, 1000),
    "decimals over the ratio of 1000": floats(1.5, 1501),
    "small": floats(1e-5, 1),
    "just under 1e-4": floats(9.9999e-5),
    "smallest": floats(1e-45),
    "zeros of both signs": floats(-0.0, 0.0),
    "zero beside small": floats(0, 1e-5),
    "nan": floats(np.nan, 1),
    "only nan": floats(np.nan, np.nan),
    "infinities": floats(np.inf, -np.inf, 1.5),
    "infinity beside whole": floats(1, 2, np.nan, np.inf),
    "rank 0": np.float32(3.14159),
    "whole rank 0": np.float32(5),
    "large rank 0": np.float32(1e10),
    "empty": floats(),
    "empty matrix": np.zeros((0, 3), np.float32),
    "empty integers": np.zeros((2, 0), np.int64),
    "empty truth values": np.array([], bool),
    "truth values": np.array([True, False]),
    "integers": np.array([[1, -200], [3, 4]]),
    "int8": np.array(5, np.int8),
    "uint8": np.array([0, 255], np.uint8),
    "float16": np.array([1, 2.5], np.float16),
    "float64": rng.standard_normal((2, 2, 2)),
    "complex": np.array([1 + 2j, 3.5 - 1j, -0.5], np.complex64),
    "complex128": np.array(1 - 2j),
    "matrix": rng.standard_normal((2, 3)).astype(np.float32),
    "four axes": np.ones((1, 2, 1, 3), np.float32),
    "several lines": rng.standard_normal(60).astype(np.float32),
    "several lines of integers": np.arange(60),
    "several lines with dtype": np.ones(60, np.float64),
    "1000 elements": np.full(1000, 0.1, np.float32),
    "summary": np.arange(1001, dtype=np.float32),
    "summary of decimals": rng.standard_normal(2000).astype(np.float32),
    "summary without what is far from it": np.r_[np.ones(999), 1e9, np.ones(9)].astype(np.float32),
    "summary of truth values": np.full(1001, True),
    "summary of a matrix": np.arange(2000).reshape(40, 50),
    "summary of a wide matrix": np.ones((4, 300), np.float32),
    "summary of a long batch": (1e4 * rng.standard_normal((30, 40, 2))).astype(np.float32),
    "summary of four axes": np.ones((3, 3, 3, 50), np.float64),
    "summary of complex numbers": np.arange(1001) * (1 - 1j),
}


@pytest.mark.parametrize("values", CASES.values(), ids=CASES)
def test_tensor_prints_as_in_torch(values: Any) -> None:
    ours, theirs = repr(vkml.tensor(values)), repr(torch.tensor(values))

    assert ours.replace("vkml.", "torch.") == theirs


@pytest.mark.parametrize("size", [3, 8, 9, 60])
def test_a_leaf_that_requires_a_gradient_prints_as_in_torch(size: int) -> None:
    values = rng.standard_normal(size).astype(np.float32)

    ours = repr(vkml.tensor(values, requires_grad=True))

    assert ours == repr(torch.tensor(values, requires_grad=True))


def test_a_result_names_the_operation() -> None:
    result = 2 * vkml.ones(2, requires_grad=True)

    assert repr(result) == "tensor([2., 2.], grad_fn=<mul gradient>)"


def test_a_transposed_view_prints_its_own_order() -> None:
    x = vkml.arange(6).reshape(2, 3)

    assert repr(x.T) == repr(vkml.tensor([[0, 3], [1, 4], [2, 5]]))


def test_bfloat16_prints_as_in_torch() -> None:
    ours = repr(vkml.tensor([1.0, 2.5]).to("bfloat16"))

    assert ours.replace("vkml.", "torch.") == repr(torch.tensor([1.0, 2.5]).bfloat16())


def test_a_tensor_without_data_prints_as_in_torch() -> None:
    ours = repr(vkml.zeros(2, 3, dtype="float64", device="meta"))

    assert ours.replace("vkml.", "torch.") == repr(
        torch.zeros(2, 3, dtype=torch.float64, device="meta")
    )


def test_the_default_dtype_is_not_printed() -> None:
    vkml.set_default_dtype("float64")
    try:
        assert repr(vkml.ones(1)) == "tensor([1.])"
        assert repr(vkml.ones(1, dtype="float32")) == "tensor([1.], dtype=vkml.float32)"
    finally:
        vkml.set_default_dtype("float32")


@pytest.mark.parametrize("value", [1.5, 0.1, 3, True, 1 + 2j, float("nan")])
@pytest.mark.parametrize("spec", ["", ">12"])
def test_a_formatted_rank_0_tensor_is_its_number(value: Any, spec: str) -> None:
    assert format(vkml.tensor(value), spec) == format(torch.tensor(value), spec)


def test_a_formatted_loss_is_its_number() -> None:
    loss = (vkml.tensor(0.25, requires_grad=True) * 2).sum()

    assert f"{loss}, {loss:.3f}" == "0.5, 0.500"


def test_a_formatted_tensor_with_axes_is_its_text() -> None:
    assert f"{vkml.tensor([1.5])}" == "tensor([1.5000])"


def test_a_formatted_tensor_without_data_is_its_text() -> None:
    x = vkml.zeros((), device="meta")

    assert f"{x}" == repr(x)
