"""The interface: what a backend has to have, and that those at hand have it."""

from __future__ import annotations

import inspect

import pytest

import vkml
from vkml.backends import interface
from vkml.backends.registry import find_backend

BACKENDS = ["cpu", "meta", "strided"]


def members(protocol: type) -> dict[str, object]:
    return {name: value for name, value in vars(protocol).items() if not name.startswith("_")}


@pytest.fixture(params=BACKENDS)
def backend_name(request: pytest.FixtureRequest, strided: vkml.Device) -> str:
    return str(request.param)


def test_backends_have_every_member(backend_name: str) -> None:
    backend = find_backend(backend_name)

    assert [name for name in members(interface.Backend) if not hasattr(backend, name)] == []


def test_handles_have_every_member(backend_name: str) -> None:
    handle = vkml.device(backend_name).handle

    assert [name for name in members(interface.DeviceHandle) if not hasattr(handle, name)] == []


def test_methods_take_what_the_interface_passes(backend_name: str) -> None:
    handle = vkml.device(backend_name).handle
    for name, promised in members(interface.DeviceHandle).items():
        if not inspect.isfunction(promised):
            continue
        wanted = list(inspect.signature(promised).parameters)[1:]
        found = list(inspect.signature(getattr(handle, name)).parameters)

        assert len(found) == len(wanted), name


def test_backends_speak_this_version(backend_name: str) -> None:
    assert find_backend(backend_name).interface_version == interface.INTERFACE_VERSION


def test_operands_have_shape_and_dtype(backend_name: str) -> None:
    operand = vkml.zeros(2, 3, device=backend_name).operand

    assert operand.shape == (2, 3)
    assert operand.dtype.name == "float32"


def test_a_device_that_does_not_exist_is_not_opened(backend_name: str) -> None:
    with pytest.raises(vkml.DeviceError):
        find_backend(backend_name).open_device(5)


def test_every_member_says_what_it_does() -> None:
    for protocol in (interface.Backend, interface.DeviceHandle):
        for name, member in members(protocol).items():
            assert inspect.getdoc(member), name
