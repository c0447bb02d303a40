"""Devices: names, the choice among them, operations on each."""

from __future__ import annotations

import copy
import importlib
import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest

import vkml
from vkml.device import Device
from vkml.errors import BackendError, DeviceError, UnsupportedOperationError


def test_devices_are_interned() -> None:
    assert vkml.device("cpu") is vkml.device("cpu:0")
    assert vkml.device("cpu", 0) is vkml.device("cpu")
    assert vkml.device(vkml.device("cpu")) is vkml.device("cpu")


def test_a_device_equals_its_name() -> None:
    assert vkml.device("cpu") == "cpu"
    assert vkml.device("cpu") != "meta"
    assert vkml.device("cpu") != "no such device"


def test_devices_print_their_names(strided: Device) -> None:
    found = [str(vkml.device("cpu")), str(vkml.device("meta")), str(strided)]

    assert found == ["cpu", "meta", "strided:0"]
    assert repr(strided) == "device('strided:0')"


def test_devices_survive_copies_and_pickles(strided: Device) -> None:
    assert copy.deepcopy(strided) is strided
    assert pickle.loads(pickle.dumps(strided)) is strided  # noqa: S301 - our own bytes


@pytest.mark.parametrize("name", ["", "CPU", "cpu:-1", "cpu:01", "cpu:x", "cpu 0", None, 3])
def test_names_that_mean_nothing_are_refused(name: Any) -> None:
    with pytest.raises(DeviceError, match="names no device"):
        vkml.device(name)


def test_a_number_is_given_once() -> None:
    with pytest.raises(DeviceError, match="names no device"):
        vkml.device("cpu:0", 0)


def test_a_number_that_does_not_exist_says_how_many_there_are() -> None:
    with pytest.raises(DeviceError, match=r"'cpu:3': cpu has 1, numbered from 0"):
        vkml.device("cpu:3")


def test_available_devices_begin_with_the_cpu_and_leave_meta_out(strided: Device) -> None:
    found = vkml.available_devices()

    assert found[0] == "cpu"
    assert strided in found
    assert all(each.type != "meta" for each in found)


def test_best_device_gives_a_reason(strided: Device) -> None:
    chosen, reason = vkml.best_device()

    assert isinstance(chosen, Device)
    assert reason


def test_best_device_prefers_a_gpu(strided: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("vkml.device")
    monkeypatch.setattr(module, "backend_names", lambda: ["cpu", "strided"])

    chosen, reason = vkml.best_device()

    assert chosen is strided
    assert reason == "strided bytes, a virtual GPU"


def test_devices_know_facts_and_wait() -> None:
    cpu = vkml.device("cpu")

    assert cpu.info.kind == "cpu"
    assert cpu.info.details["cores"]
    cpu.synchronize()


def test_tensors_of_two_devices_do_not_mix(strided: Device) -> None:
    x, y = vkml.ones(2), vkml.ones(2, device=strided)

    mixes: list[Callable[[], Any]] = [
        lambda: x + y, lambda: vkml.maximum(x, y), lambda: vkml.cat([x, y])
    ]  # fmt: skip
    for mix in mixes:
        with pytest.raises(DeviceError, match=r"lie on .*strided:0.*Move one"):
            mix()


def test_tensors_move_between_devices(strided: Device) -> None:
    x = vkml.tensor([[1.0, 2.0], [3.0, 4.0]])

    moved = x.T.to(strided)

    assert moved.device is strided
    assert moved.tolist() == [[1, 3], [2, 4]]
    assert moved.cpu().tolist() == moved.tolist()
    assert moved.to("strided") is moved


def test_numpy_asks_for_the_cpu_first(strided: Device) -> None:
    with pytest.raises(DeviceError, match=r"call x\.cpu\(\)\.numpy\(\)"):
        vkml.ones(2, device=strided).numpy()
    assert vkml.ones(2, device=strided).numpy(force=True).tolist() == [1, 1]


def test_a_missing_kernel_says_why_and_what_to_do(
    strided: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = type(strided.handle)
    kernel = handle.kernel
    monkeypatch.setattr(
        handle, "kernel", lambda self, name: None if name == "tan" else kernel(self, name)
    )
    monkeypatch.setattr(handle, "why_not", lambda *_: "tan needs an angle.")
    strided.kernels.pop("tan", None)

    with pytest.raises(UnsupportedOperationError) as found:
        vkml.tan(vkml.ones(2, device=strided))
    strided.kernels.pop("tan", None)

    assert str(found.value) == "tan: tan needs an angle. Move the tensors first: x.to('cpu')."


def test_a_fused_kernel_may_decline(strided: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    handle = type(strided.handle)
    kernel = handle.kernel
    asked = []

    def decline(*_: Any) -> Any:
        asked.append("softmax")
        return NotImplemented

    monkeypatch.setattr(
        handle, "kernel", lambda self, name: decline if name == "softmax" else kernel(self, name)
    )
    strided.kernels.pop("softmax", None)

    found = vkml.softmax(vkml.zeros(4, device=strided), 0)
    strided.kernels.pop("softmax", None)

    assert asked == ["softmax"]
    assert found.tolist() == [0.25] * 4


def test_the_package_opens_nothing_when_imported() -> None:
    import subprocess
    import sys

    code = (
        "import sys, vkml; from vkml.device import _devices; "
        "assert all(each._handle is None for each in _devices.values()); "
        "assert 'vulkan' not in sys.modules and 'torch' not in sys.modules"
    )

    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_backend_is_a_device_error() -> None:
    assert issubclass(BackendError, DeviceError)


def test_threads_that_come_at_once_open_a_device_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    others_wait = threading.Event()

    class SlowBackend:
        def open_device(self, _index: int) -> object:
            others_wait.wait(0.1)  # long enough for the other threads to come to the same place
            opened.append(object())
            return opened[-1]

    module = importlib.import_module("vkml.device")
    monkeypatch.setattr(module, "find_backend", lambda _name: SlowBackend())
    place = vkml.Device("slow", 0)
    handles: list[object] = []
    threads = [threading.Thread(target=lambda: handles.append(place.handle)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(opened) == 1
    assert handles == opened * 8
