"""Kernels of 2-D pooling.

Backwards, each element gathers from the windows that cover it: nothing is added atomically.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from vkml.backends.cpu_kernels.pooling import pooled_size
from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.copying import dense
from vkml_vulkan.kernels.index_sums import require_format
from vkml_vulkan.launch import Launch, is_long
from vkml_vulkan.layouts import divisor, require_countable
from vkml_vulkan.operand import Form, Operand, dense_form
from vkml_vulkan.plans import Plans

Pair: TypeAlias = tuple[int, int]
_INT64 = np.dtype(np.int64)


class _Windows(NamedTuple):
    """Planes and the windows over them; pairs are for rows and columns."""

    plane: Pair
    counts: Pair
    size: Pair
    step: Pair
    padding: Pair
    dilation: Pair


class _Plan(NamedTuple):
    """The form of the result, and a launch; None where there is nothing to compute."""

    result: Form
    launch: Launch | None


def build(device: Engine, name: str, _entry: Entry) -> Kernel:
    """Return the kernel of an operation of pooling."""
    kernels: dict[str, Callable[[Engine], Kernel]] = {
        "max_pool2d": _max_pool2d, "max_pool2d_backward": _max_pool2d_backward,
        "avg_pool2d": _avg_pool2d, "avg_pool2d_backward": _avg_pool2d_backward,
    }  # fmt: skip
    return kernels[name](device)


def _prepare(
    device: Engine,
    name: str,
    operand: Form,
    shape: tuple[int, ...],
    windows: _Windows,
    constants: tuple[int, ...] = (),
) -> _Plan:
    """Return a plan for a result of `shape`, which has the planes of `operand`."""
    module = device.module(name, operand.dtype)
    result = dense_form(shape, operand.dtype)
    require_countable(name, max(result.size, operand.size))
    if result.size == 0:
        return _Plan(result, None)
    channels = shape[-3]
    images = operand.strides[0] if len(shape) == 4 else 0
    tail = [result.size]
    for size in (shape[-1], shape[-2], channels):
        tail += [size, *divisor(size)]
    tail += [images, *operand.strides[-3:]]
    for pair in windows:
        tail += pair
    workgroup = device.profile.independent_workgroup
    code = require_format(operand.dtype).code
    pipeline = device.pipelines.get(
        module, (workgroup, int(is_long("QQQ", tail)), code, *constants)
    )
    groups = device.grid(-(-result.size // workgroup))
    work = result.size * max(math.prod(windows.size), 1)
    launch = Launch(device.device.api, name, pipeline, "QQQ", tail, groups, work)
    return _Plan(result, launch)


def _of_operand(
    x: Form, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair, ceil_mode: bool
) -> _Windows:
    plane = (x.shape[-2], x.shape[-1])
    count = pooled_size(plane, kernel, stride, padding, dilation, ceil_mode)
    return _Windows(plane, count, kernel, stride, padding, dilation)


# max_pool2d --------------------------------------------------------------------------


def _max_pool2d(device: Engine) -> Kernel:
    launch = device.recorder.launch

    def prepare(x: Form, *options: Any) -> _Plan:
        *window, with_positions = options
        windows = _of_operand(x, *window)
        shape = (*x.shape[:-2], *windows.counts)
        return _prepare(device, "max_pool2d", x, shape, windows, (int(with_positions),))

    plans: Plans[_Plan] = Plans(prepare)

    def run(x: Operand, *options: Any) -> tuple[Operand, Operand | None]:
        key = (x.form, *options)
        found = plans[key]
        result = device.empty(found.result.shape, x.dtype)
        positions = device.empty(found.result.shape, _INT64) if options[-1] else None
        if found.launch is not None:
            written = [result.storage.chunk]
            if positions is not None:
                written.append(positions.storage.chunk)
            place = (positions or result).address
            launch(found.launch, written, (x.storage.chunk,), result.address, x.address, place)
        return result, positions

    return run


def _max_pool2d_backward(device: Engine) -> Kernel:
    launch, find_positions = device.recorder.launch, _max_pool2d(device)

    def prepare(g: Form, shape: tuple[int, ...], *options: Any) -> _Plan:
        windows = _of_operand(dense_form(shape, g.dtype), *options)
        return _prepare(device, "max_pool2d_backward", g, shape, windows)

    plans: Plans[_Plan] = Plans(prepare)

    def run(
        g: Operand, x: Operand, _y: Operand, positions: Operand | None, *options: Any
    ) -> Operand:
        if positions is None:
            positions = find_positions(x, *options, True)[1]
        positions = dense(device, positions)
        key = (g.form, x.shape, *options)
        found = plans[key]
        result = device.empty(x.shape, g.dtype)
        if found.launch is not None:
            launch(
                found.launch, (result.storage.chunk,), (g.storage.chunk, positions.storage.chunk),
                result.address, g.address, positions.address,
            )  # fmt: skip
        return result

    return run


# avg_pool2d --------------------------------------------------------------------------


def _avg_pool2d(device: Engine) -> Kernel:
    def prepare(
        x: Form, kernel: Pair, stride: Pair, padding: Pair, ceil_mode: bool, counts_padding: bool
    ) -> _Plan:
        windows = _of_operand(x, kernel, stride, padding, (1, 1), ceil_mode)
        shape = (*x.shape[:-2], *windows.counts)
        return _prepare(device, "avg_pool2d", x, shape, windows, (int(counts_padding),))

    return _averaging(device, prepare)


def _avg_pool2d_backward(device: Engine) -> Kernel:
    def prepare(
        g: Form,
        shape: tuple[int, ...],
        kernel: Pair,
        stride: Pair,
        padding: Pair,
        ceil_mode: bool,
        counts_padding: bool,
    ) -> _Plan:
        x = dense_form(shape, g.dtype)
        windows = _of_operand(x, kernel, stride, padding, (1, 1), ceil_mode)
        return _prepare(device, "avg_pool2d_backward", g, shape, windows, (int(counts_padding),))

    return _averaging(device, prepare)


def _averaging(device: Engine, prepare: Callable[..., _Plan]) -> Kernel:
    allocate, launch = device.pool.allocate, device.recorder.launch

    plans: Plans[_Plan] = Plans(prepare)

    def run(x: Operand, *options: Any) -> Operand:
        key = (x.form, *options)
        found = plans[key]
        form, prepared = found
        storage = allocate(form.nbytes)
        if prepared is not None:
            address = storage.address
            launch(prepared, (storage.chunk,), (x.storage.chunk,), address, x.address, address)
        return Operand(storage, form, storage.address)

    return run
