"""States that do not fit are refused as a whole: no value is copied before all are known to fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vkml
from vkml import nn


class Refusing:
    """An array of another library, which gives its values away to nobody."""

    shape = (1,)
    dtype = np.dtype("f4")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("call detach() first")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (np.array([None]), "object"),
        (np.array(["1"]), "expected numbers"),
        (np.array(["2026"], "M8[Y]"), "expected numbers"),
        (Refusing(), r"call detach\(\) first"),
        (vkml.empty(1, device="meta"), "no values"),
    ],
    ids=["object", "text", "date", "refusing", "meta"],
)
def test_what_cannot_be_copied_is_found_before_anything_is(value: Any, reason: str) -> None:
    layer = nn.Linear(2, 1)
    before = layer.weight.tolist()

    with pytest.raises(nn.StateDictError, match=f"bias: .*{reason}"):
        layer.load_state_dict({"weight": vkml.full((1, 2), 7.0), "bias": value})

    assert layer.weight.tolist() == before


def test_a_name_that_is_no_str_is_reported() -> None:
    state: dict[Any, Any] = {"weight": vkml.zeros(1, 2), "bias": vkml.zeros(1), 3: vkml.zeros(1)}

    with pytest.raises(nn.StateDictError, match="unexpected:\n    3"):
        nn.Linear(2, 1).load_state_dict(state)
