"""Random programs give what NumPy gives, and the checking recorder finds nothing.

The checking recorder is the brute-force model: it compares the bytes that each dispatch may touch
with those of all others since the last barrier, and the memory before and after.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from vkml_vulkan.errors import AccessError
from vkml_vulkan.handle import VulkanDevice
from vkml_vulkan.operand import Operand
from vkml_vulkan.recorder import Recorder

_DTYPES = ("float32", "int32", "int8", "uint16", "int64", "bool")
_STEPS = 120


class Machine:
    """Tensors on a device, and the same arrays in NumPy."""

    def __init__(self, handle: VulkanDevice, seed: int) -> None:
        self.handle = handle
        self.random = np.random.default_rng(seed)
        self.pairs: list[tuple[Operand, NDArray[Any]]] = []
        self.steps: list[Callable[[], None]] = [
            self.upload, self.add, self.add_in_place, self.add_out, self.view, self.cast,
            self.copy, self.fill, self.forget, self.compare, self.choose,
        ]  # fmt: skip

    def run(self) -> None:
        self.upload()
        for _ in range(_STEPS):
            self.steps[int(self.random.integers(len(self.steps)))]()
        for index in range(len(self.pairs)):
            self.check(index)

    def upload(self) -> None:
        shape = tuple(self.random.integers(1, 6, int(self.random.integers(0, 4))).tolist())
        dtype = _DTYPES[int(self.random.integers(len(_DTYPES)))]
        array = np.asarray(self.random.integers(0, 5, shape)).astype(dtype)
        self.pairs.append((self.handle.upload(array), array.copy()))

    def add(self) -> None:
        (x, a), (y, b) = self.alike()
        if a.dtype != bool:
            self.keep(self.kernel("add")(x, y), np.add(a, b))

    def add_in_place(self) -> None:
        x, a = self.pick()
        if a.dtype != bool:
            self.kernel("add")(x, 1, x)
            a += a.dtype.type(1)

    def add_out(self) -> None:
        (x, a), (y, b) = self.alike()
        if a.dtype != bool and not np.shares_memory(a, b) and a.shape == b.shape:
            self.kernel("add")(x, x, y)
            np.add(a, a, out=b)

    def view(self) -> None:
        x, a = self.pick()
        if a.ndim == 0:
            return
        axis = int(self.random.integers(a.ndim))
        step = int(self.random.choice([-1, 1, 2]))
        b = np.swapaxes(a[(slice(None),) * axis + (slice(None, None, step),)], 0, axis)
        base = x.offset + (b.ctypes.data - a.ctypes.data) // a.itemsize
        strides = tuple(stride // a.itemsize for stride in b.strides)
        self.pairs.append((self.handle.view(x, b.shape, strides, base), b))

    def cast(self) -> None:
        x, a = self.pick()
        dtype = np.dtype(_DTYPES[int(self.random.integers(len(_DTYPES)))])
        self.keep(self.kernel("cast")(x, dtype), a.astype(dtype))

    def copy(self) -> None:
        (x, a), (y, b) = self.alike(same_dtype=False)
        if a.shape == b.shape:
            self.handle.copy(x, y)
            b[...] = a.copy()

    def fill(self) -> None:
        _, a = self.pick()
        value = int(self.random.integers(2))
        made = self.kernel("full")(a.shape, value, a.dtype)
        self.pairs.append((made, np.full(a.shape, value, a.dtype)))

    def choose(self) -> None:
        (x, a), (y, b) = self.alike()
        if a.shape == b.shape:
            chosen = self.kernel("where")(self.kernel("lt")(x, y), x, y)
            self.keep(chosen, np.where(np.less(a, b), a, b))

    def forget(self) -> None:
        if len(self.pairs) > 5:
            del self.pairs[int(self.random.integers(len(self.pairs)))]

    def compare(self) -> None:
        self.check(int(self.random.integers(len(self.pairs))))

    def check(self, index: int) -> None:
        operand, array = self.pairs[index]
        found = self.handle.download(operand)
        assert found.dtype == array.dtype
        assert np.array_equal(found, array)

    def keep(self, operand: Operand, array: Any) -> None:
        self.pairs.append((operand, np.asarray(array)))  # NumPy makes numbers of rank 0

    def kernel(self, name: str) -> Callable[..., Operand]:
        found = self.handle.kernel(name)
        assert found is not None
        return found

    def pick(self) -> tuple[Operand, NDArray[Any]]:
        return self.pairs[int(self.random.integers(len(self.pairs)))]

    def alike(
        self, *, same_dtype: bool = True
    ) -> tuple[tuple[Operand, NDArray[Any]], tuple[Operand, NDArray[Any]]]:
        """Return two pairs of one shape, and dtype; of a shape that broadcasts where none is."""
        first = self.pick()
        others = [
            each
            for each in self.pairs
            if each[1].shape == first[1].shape
            and (not same_dtype or each[1].dtype == first[1].dtype)
        ]
        return first, others[int(self.random.integers(len(others)))]


_MODES = {
    "plain": {},
    "access": {"VKML_VULKAN_DEBUG": "access"},
    "access with guards": {"VKML_VULKAN_DEBUG": "access,canaries"},
    "separate": {"VKML_VULKAN_DEBUG": "separate"},
    "staging": {"VKML_VULKAN_FORCE_STAGING": "1"},
    "little memory": {"VKML_VULKAN_MEMORY_LIMIT": "24K"},
    "base profile": {"VKML_MIN_SPEC": "1"},
}


@pytest.mark.parametrize("mode", _MODES.values(), ids=_MODES.keys())
def test_random_programs_give_what_numpy_gives(
    open_device: Callable[..., VulkanDevice], mode: dict[str, str]
) -> None:
    handle = open_device(**mode)

    _run_some(handle)

    handle.synchronize()  # which checks the guards


def _run_some(handle: VulkanDevice) -> None:
    for seed in range(4):
        Machine(handle, seed).run()


def _never_reads(recorder: Recorder, written: Any, read: Any) -> None:
    recorder_order(recorder, written, ())


def _never_writes(recorder: Recorder, written: Any, read: Any) -> None:
    recorder_order(recorder, (), read)
    for chunk in written:  # downloads still wait
        chunk.busy_until = recorder._ring.value + 1


def _never_after_reading(recorder: Recorder, written: Any, read: Any) -> None:
    for chunk in written:
        chunk.read = -1
    recorder_order(recorder, written, read)


recorder_order = Recorder._order


@pytest.mark.parametrize("broken", [_never_reads, _never_writes, _never_after_reading])
def test_the_checking_recorder_finds_a_rule_that_is_missing(
    open_device: Callable[..., VulkanDevice],
    monkeypatch: pytest.MonkeyPatch,
    broken: Callable[[Recorder, Any, Any], None],
) -> None:
    handle = open_device(VKML_VULKAN_DEBUG="access")
    monkeypatch.setattr(Recorder, "_order", broken)

    with pytest.raises(AccessError, match="no barrier between two uses"):
        _run_some(handle)


def test_the_checking_recorder_finds_a_barrier_that_is_not_recorded(
    open_device: Callable[..., VulkanDevice], monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = open_device(VKML_VULKAN_DEBUG="access")
    monkeypatch.setattr(type(handle.recorder), "_next_epoch", lambda recorder: recorder._epoch)

    with pytest.raises(AccessError, match="no barrier between two uses"):
        Machine(handle, 0).run()
