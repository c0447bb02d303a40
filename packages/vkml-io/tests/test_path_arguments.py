"""The path comes first; who puts it last, as in torch, is told."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vkml_io


class Scale:
    def state_dict(self) -> dict[str, Any]:  # Any: arrays
        return {"factor": np.ones(1)}


@pytest.mark.parametrize("path", ["a.vkml", Path("a.vkml")])
@pytest.mark.parametrize(
    ("function", "value", "call"),
    [
        (vkml_io.save, {"w": np.ones(1)}, "tensors"),
        (vkml_io.save_module, Scale(), "module"),
        (vkml_io.load_module, Scale(), "module"),
    ],
)
def test_the_order_of_torch_is_answered_with_the_right_call(
    function: Callable[..., object], value: object, call: str, path: str | Path
) -> None:
    with pytest.raises(TypeError) as caught:
        function(value, path)

    name = function.__name__
    assert f"Write {name}({path!r}, {call})." in str(caught.value)
    assert f"first argument is a {type(value).__name__}" in str(caught.value)


@pytest.mark.parametrize(
    ("call", "part"),
    [
        (lambda: vkml_io.save(io.BytesIO(), {}), "save: the path must be a str"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: vkml_io.save("a.vkml", Scale()), "use save_module"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: vkml_io.save_module("a.vkml", {}), "a dict has no state_dict"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: vkml_io.load_module("a.vkml", {}), "a dict has no state_dict"),  # type: ignore[arg-type]  # wrong on purpose
    ],
)
def test_another_wrong_argument_is_named_with_what_fits(
    call: Callable[[], object], part: str
) -> None:
    with pytest.raises(TypeError, match=part):
        call()
