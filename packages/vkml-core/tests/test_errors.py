"""The error tree: each error is also the built-in one that fits, and the documentation shows it."""

from __future__ import annotations

import copy
import pickle
import re

import pytest

import vkml
from vkml import errors

BUILT_IN = {
    "ShapeError": ValueError,
    "ArgumentError": ValueError,
    "DTypeError": TypeError,
    "IndexOutOfRangeError": IndexError,
    "DeviceError": RuntimeError,
    "BackendError": RuntimeError,
    "UnsupportedOperationError": NotImplementedError,
    "AutogradError": RuntimeError,
}


@pytest.mark.parametrize(("name", "built_in"), BUILT_IN.items())
def test_error_is_vkml_s_and_a_built_in_one(name: str, built_in: type[Exception]) -> None:
    error = getattr(vkml, name)

    assert issubclass(error, vkml.VkmlError)
    assert issubclass(error, built_in)
    assert error.__module__ == "vkml.errors"


def test_the_list_is_complete() -> None:
    assert {"VkmlError", *BUILT_IN} == set(errors.__all__)


def test_the_documentation_draws_the_tree() -> None:
    assert errors.__doc__ is not None
    drawn = re.findall(r"(\w+Error) \((\w+)\)", errors.__doc__)

    assert {name for name, _ in drawn} == set(BUILT_IN)
    for name, parent in drawn:
        assert parent in {base.__name__ for base in getattr(errors, name).__mro__}


@pytest.mark.parametrize("name", BUILT_IN)
def test_error_survives_copies_and_pickles(name: str) -> None:
    error = getattr(errors, name)("what is wrong")

    for duplicate in (copy.copy(error), pickle.loads(pickle.dumps(error))):  # noqa: S301 - our own bytes
        assert type(duplicate) is type(error)
        assert str(duplicate) == "what is wrong"


def test_a_built_in_except_catches_it() -> None:
    with pytest.raises(ValueError, match="do not broadcast"):
        vkml.ones(2) + vkml.ones(3)
    with pytest.raises(TypeError, match="no sign"):
        -vkml.tensor([True])
    with pytest.raises(IndexError):
        vkml.ones(2)[2]
