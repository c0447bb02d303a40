from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vkml.backends.cpu_kernels.half import is_half, through_float32
from vkml.backends.cpu_kernels.linear import linear, matmul
from vkml.backends.cpu_kernels.normalization import layer_norm, layer_norm_backward
from vkml.backends.cpu_kernels.softmax import softmax


def _bfloat16() -> Any:
    return pytest.importorskip("ml_dtypes").bfloat16


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_half_operands_are_computed_in_float32(name: str) -> None:
    kind = np.float16 if name == "float16" else _bfloat16()
    seen: list[Any] = []

    @through_float32()
    def kernel(x: Any, y: Any, option: float) -> tuple[Any, Any]:
        seen.extend([x.dtype, y.dtype, option])
        return x + y, x

    result, auxiliary = kernel(np.ones(3, kind), np.ones(3, kind), 2.0)

    assert seen == [np.float32, np.float32, 2.0]
    assert result.dtype == kind
    assert auxiliary.dtype == np.float32


def test_integers_of_two_bytes_are_not_half_floats() -> None:
    assert not is_half(np.dtype(np.int16))
    assert not is_half(np.dtype(np.uint16))
    assert not is_half(np.dtype(np.float32))
    assert is_half(np.dtype(np.float16))


def test_missing_results_stay_none() -> None:
    @through_float32(cast_back=2)
    def kernel(x: Any) -> tuple[Any, None]:
        return x, None

    assert kernel(np.ones(3, np.float16))[1] is None


def test_bfloat16_keeps_its_type_through_the_kernels() -> None:
    x = np.linspace(-1, 1, 12).reshape(3, 4).astype(_bfloat16())

    y, mean, rstd = layer_norm(x, x[0], x[0], 1, 1e-5)
    gradients = layer_norm_backward(x, x, x[0], mean, rstd, 1, (True, True, True))

    results: list[Any] = [y, *gradients, softmax(x, 1), linear(x, x, None), matmul(x, x.T)]
    assert [result.dtype for result in results] == [x.dtype] * len(results)
    assert mean.dtype == np.float32
