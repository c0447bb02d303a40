"""Numbers that do not fit a dtype are errors, not other numbers; limits that bind nothing bind."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import vkml
from vkml.errors import VkmlError


def small(gpu: vkml.Device, *values: int) -> vkml.Tensor:
    return vkml.tensor(values, dtype=vkml.uint8).to(gpu)


def test_a_lower_limit_below_all_numbers_changes_nothing(gpu: vkml.Device) -> None:
    assert vkml.clamp(small(gpu, 1, 200), -1, 100).tolist() == [1, 100]


def test_an_upper_limit_above_all_numbers_changes_nothing(gpu: vkml.Device) -> None:
    assert vkml.clamp(small(gpu, 1, 200), None, 2**40).tolist() == [1, 200]


@pytest.mark.parametrize(
    "call",
    [
        lambda gpu: vkml.clamp(small(gpu, 1, 200), 300, None),
        lambda gpu: vkml.clamp(small(gpu, 1, 200), None, -1),
        lambda gpu: vkml.pad(small(gpu, 1), (1, 0), value=-1),
        lambda gpu: vkml.pad(small(gpu, 1), (1, 0), value=256),
        lambda gpu: vkml.tril(vkml.ones(3, 3, device=gpu), 1.5),  # type: ignore[arg-type]
    ],
)
def test_what_does_not_fit_is_an_error_of_vkml(
    call: Callable[[vkml.Device], vkml.Tensor], gpu: vkml.Device
) -> None:
    with pytest.raises(VkmlError):
        call(gpu)
