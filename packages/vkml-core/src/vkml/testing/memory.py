"""Cases about memory: what goes up and comes down, layouts, views, copies, closing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import vkml
from vkml import dtypes
from vkml.backends.registry import find_backend
from vkml.device import Device
from vkml.errors import DeviceError, DTypeError, ShapeError, UnsupportedOperationError
from vkml.shapes import contiguous_strides
from vkml.tensor import wrap
from vkml.testing.case import Case, Refused, require, require_equal

_DTYPES: Final = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
_SHAPES: Final = ((), (1,), (7,), (3, 5), (2, 1, 3), (0,), (2, 0, 3), (1, 2, 1, 3, 1))
_LARGE: Final = (257, 1031)
"""More elements than one workgroup or page holds, and no multiple of either."""


def memory_cases() -> Iterator[Case]:
    """Yield all cases of this module."""
    for dtype, shape in itertools.product(_DTYPES, (*_SHAPES, _LARGE)):
        yield Case(
            f"memory: {dtype} of shape {shape} goes up and comes down", _round_trip(dtype, shape)
        )
    for function in (
        info_is_complete, upload_takes_any_layout, upload_copies, empty_owns_its_memory,
        layout_of_a_new_operand, view_shows_an_offset, view_repeats_with_stride_zero,
        view_runs_backwards, view_overlaps_itself, view_of_a_view_counts_from_the_storage,
        view_may_be_empty_or_of_rank_zero, view_as_another_dtype, view_as_bytes,
        views_share_the_storage, views_do_not_own, write_through_a_view_is_seen,
        place_gives_storage, copy_converts, copy_broadcasts, copy_between_layouts,
        copy_into_overlapping_memory, in_place_operations_reach_views, errors_come_before_work,
        kernels_refuse_wrong_shapes, work_can_be_waited_for, closes_twice,
    ):  # fmt: skip
        yield Case(f"memory: {function.__name__.replace('_', ' ')}", function)


def _values(dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    count = math.prod(shape)
    numbers = np.random.default_rng(3).integers(-100, 100, count)
    found = dtypes.as_numpy(dtype)
    if dtypes.category(found) == 1 and found.kind == "u":
        numbers = np.abs(numbers)
    values = numbers.astype(found)
    if dtypes.category(found) >= 2 and count > 2:
        values[:3] = (math.nan, math.inf, -0.0)
    return values.reshape(shape)


def _bits(array: NDArray[Any]) -> bytes:
    return np.ascontiguousarray(array).tobytes()


def _upload(device: Device, array: NDArray[Any]) -> Any:
    """Return an operand, or raise Refused if the device lacks the dtype."""
    try:
        return device.handle.upload(array)
    except (UnsupportedOperationError, DTypeError) as error:
        raise Refused(str(error)) from None


def _round_trip(dtype: str, shape: tuple[int, ...]) -> Callable[[Device], None]:
    def run(device: Device) -> None:
        try:
            values = _values(dtype, shape)
        except DTypeError as error:  # bfloat16 needs a package
            raise Refused(str(error)) from None
        operand = _upload(device, values)
        require_equal(tuple(operand.shape), shape, "shape")
        require_equal(operand.dtype, values.dtype, "dtype")
        found = device.handle.download(operand)
        require_equal((found.shape, found.dtype), (shape, values.dtype), "downloaded")
        require(_bits(found) == _bits(values), "the bits changed on the way.")

    return run


def info_is_complete(device: Device) -> None:
    """Check that the device has a name and a kind."""
    info = device.handle.info
    require(bool(info.name) and isinstance(info.name, str), f"info.name is {info.name!r}.")
    kinds = ("cpu", "integrated", "discrete", "virtual", "meta")
    require(info.kind in kinds, f"info.kind is {info.kind!r}, none of {kinds}.")


def upload_takes_any_layout(device: Device) -> None:
    """Transposed, reversed, strided, read-only and byte-swapped arrays arrive with their values."""
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    fixed = base.copy()
    fixed.flags.writeable = False
    for array in (base.T, base[::-1], base[:, ::2], base.astype(">f4"), fixed):
        found = device.handle.download(device.handle.upload(array))
        np.testing.assert_array_equal(found, array)
        require(found.dtype.isnative, "the byte order is foreign after upload.")


def upload_copies(device: Device) -> None:
    """Check that a later change of the array is not seen by the operand."""
    array = np.arange(4, dtype=np.float32)
    operand = device.handle.upload(array)
    array[:] = -1
    np.testing.assert_array_equal(device.handle.download(operand), [0, 1, 2, 3])


def empty_owns_its_memory(device: Device) -> None:
    """Two new operands share nothing."""
    first, second = (device.handle.empty((2, 3), np.dtype(np.float32)) for _ in range(2))
    require_equal(tuple(first.shape), (2, 3), "shape")
    require(device.handle.owns(first), "a new operand does not own its memory.")
    tokens = [device.handle.layout(each).storage for each in (first, second)]
    require(tokens[0] != tokens[1], "two new operands share a storage.")


def layout_of_a_new_operand(device: Device) -> None:
    """C order from offset 0, in a storage that is large enough."""
    for shape in _SHAPES:
        operand = device.handle.upload(np.zeros(shape, np.float32))
        layout = device.handle.layout(operand)
        require_equal(layout.offset, 0, "offset")
        if math.prod(shape):
            expected = contiguous_strides(shape)
            for size, found, wanted in zip(shape, layout.strides, expected, strict=True):
                require(size == 1 or found == wanted, f"strides are {layout.strides}.")
        require(layout.storage_nbytes >= 4 * math.prod(shape), "the storage is too small.")
        hash(layout.storage)


def _view(device: Device, shape: Any, strides: Any, offset: int) -> NDArray[Any]:
    base = device.handle.upload(np.arange(24, dtype=np.float32))
    return device.handle.download(device.handle.view(base, shape, strides, offset))


def view_shows_an_offset(device: Device) -> None:
    """Show a block in the middle of a larger storage."""
    np.testing.assert_array_equal(_view(device, (2, 3), (6, 1), 7), [[7, 8, 9], [13, 14, 15]])


def view_repeats_with_stride_zero(device: Device) -> None:
    """One element at several places."""
    np.testing.assert_array_equal(_view(device, (2, 3), (1, 0), 4), [[4, 4, 4], [5, 5, 5]])


def view_runs_backwards(device: Device) -> None:
    """Negative strides, alone and with positive ones."""
    np.testing.assert_array_equal(_view(device, (3,), (-2,), 9), [9, 7, 5])
    np.testing.assert_array_equal(_view(device, (2, 2), (6, -1), 5), [[5, 4], [11, 10]])


def view_overlaps_itself(device: Device) -> None:
    """Windows that share elements."""
    np.testing.assert_array_equal(_view(device, (3, 2), (1, 1), 0), [[0, 1], [1, 2], [2, 3]])


def view_of_a_view_counts_from_the_storage(device: Device) -> None:
    """Check that offsets are absolute, also when a view is taken of a view."""
    base = device.handle.upload(np.arange(10, dtype=np.float32))
    first = device.handle.view(base, (4,), (1,), 5)
    second = device.handle.view(first, (2,), (1,), 1)
    np.testing.assert_array_equal(device.handle.download(second), [1, 2])
    layout = device.handle.layout(device.handle.view(base, (2, 2), (4, -1), 3))
    require_equal((layout.strides, layout.offset), ((4, -1), 3), "layout of a view")


def view_may_be_empty_or_of_rank_zero(device: Device) -> None:
    """No elements; one element without axes."""
    require_equal(_view(device, (0, 3), (3, 1), 24).shape, (0, 3), "empty view")
    found = _view(device, (), (), 6)
    require_equal((found.shape, float(found)), ((), 6.0), "view of rank 0")


def view_as_another_dtype(device: Device) -> None:
    """Show the same bits under a dtype of the same size."""
    values = np.array([1.0, -2.0, 0.5], np.float32)
    operand = device.handle.upload(values)
    view = device.handle.view(operand, (2,), (1,), 1, np.dtype(np.int32))
    np.testing.assert_array_equal(device.handle.download(view), values[1:].view(np.int32))


def view_as_bytes(device: Device) -> None:
    """Show a whole storage as uint8: how checkpoints read it."""
    values = np.array([1.0, -2.0, 0.5], np.float32)
    operand = device.handle.upload(values)
    view = device.handle.view(operand, (12,), (1,), 0, np.dtype(np.uint8))
    np.testing.assert_array_equal(device.handle.download(view), values.view(np.uint8))


def views_share_the_storage(device: Device) -> None:
    """Equal tokens for an operand and its views, also of another dtype."""
    base = device.handle.upload(np.arange(6, dtype=np.float32))
    view = device.handle.view(base, (2,), (2,), 1)
    bits = device.handle.view(base, (6,), (1,), 0, np.dtype(np.int32))
    tokens = {device.handle.layout(each).storage for each in (base, view, bits)}
    require_equal(len(tokens), 1, "storages of an operand and its views")


def views_do_not_own(device: Device) -> None:
    """`owns` is true of new operands, and false where another one shows the memory."""
    base = device.handle.upload(np.arange(6, dtype=np.float32).reshape(2, 3))
    require(device.handle.owns(base), "an uploaded operand does not own its memory.")
    for shape, strides, offset in (((3, 2), (1, 3), 0), ((2,), (1,), 1), ((6,), (1,), 0)):
        view = device.handle.view(base, shape, strides, offset)
        require(not device.handle.owns(view), f"a view of shape {shape} claims to own its memory.")


def write_through_a_view_is_seen(device: Device) -> None:
    """`copy` into a view changes the storage, and nothing beside the view."""
    base = device.handle.upload(np.zeros((3, 4), np.float32))
    column = device.handle.view(base, (3,), (4,), 1)
    device.handle.copy(device.handle.upload(np.arange(1, 4, dtype=np.float32)), column)
    expected = np.zeros((3, 4), np.float32)
    expected[:, 1] = (1, 2, 3)
    np.testing.assert_array_equal(device.handle.download(base), expected)


def place_gives_storage(device: Device) -> None:
    """Check that `place` gives a result of rank 0 storage, and changes nothing the second time."""
    total = device.kernels["add"](device.handle.upload(np.array(2, np.float32)), 3.0)
    placed = device.handle.place(total)
    require(device.handle.place(placed) is placed, "place made a second operand.")
    require_equal(device.handle.layout(placed).strides, (), "strides")
    found = device.handle.download(placed)
    require_equal((found.shape, float(found)), ((), 5.0), "value")


def copy_converts(device: Device) -> None:
    """`copy` converts between dtypes as a cast does."""
    source = device.handle.upload(np.array([1.75, -2.5, 0.0], np.float32))
    for dtype in (np.int32, np.bool_, np.float16):
        target = device.handle.upload(np.zeros(3, dtype))
        device.handle.copy(source, target)
        expected = np.array([1.75, -2.5, 0.0], np.float32).astype(dtype)
        np.testing.assert_array_equal(device.handle.download(target), expected)


def copy_broadcasts(device: Device) -> None:
    """`copy` repeats axes of size 1 and missing ones."""
    for shape in ((), (1,), (3,), (2, 1), (1, 3)):
        source = np.arange(math.prod(shape), dtype=np.float32).reshape(shape)
        target = device.handle.empty((2, 3), np.dtype(np.float32))
        device.handle.copy(device.handle.upload(source), target)
        found = device.handle.download(target)
        np.testing.assert_array_equal(found, np.broadcast_to(source, (2, 3)))


def copy_between_layouts(device: Device) -> None:
    """`copy` from a transposed operand into a strided, reversed one."""
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    source = device.handle.view(device.handle.upload(values), (3, 2), (1, 3), 0)
    target = device.handle.view(device.handle.upload(np.zeros(20, np.float32)), (3, 2), (-4, 2), 10)
    device.handle.copy(source, target)
    np.testing.assert_array_equal(device.handle.download(target), values.T)


def copy_into_overlapping_memory(device: Device) -> None:
    """Check that a copy between overlapping views reads the old values everywhere."""
    for shift in (1, -1):
        x = vkml.tensor(np.arange(2000, dtype=np.float32), device=device)
        low, high = x.as_strided((1999,), (1,), 0), x.as_strided((1999,), (1,), 1)
        target, source = (high, low) if shift == 1 else (low, high)
        target.copy_(source)
        expected = np.arange(2000, dtype=np.float32)
        expected[max(shift, 0) : 2000 + min(shift, 0)] = np.arange(2000)[max(-shift, 0) :][:1999]
        np.testing.assert_array_equal(x._download(), expected)


def in_place_operations_reach_views(device: Device) -> None:
    """Check that a view sees what is written to its base, and the other way round."""
    x = vkml.zeros(2, 3, device=device)
    column = x.as_strided((2,), (3,), 1)
    x.add_(1)
    np.testing.assert_array_equal(column._download(), [1, 1])
    column.mul_(5)
    x.T.add_(vkml.tensor([[1.0], [2.0], [3.0]], device=device))
    np.testing.assert_array_equal(x._download(), [[2, 7, 4], [2, 7, 4]])
    require(x.storage() == column.storage(), "a view lies on another storage.")


def errors_come_before_work(device: Device) -> None:
    """Wrong shapes raise ShapeError, tensors of two devices DeviceError."""
    first, second = vkml.zeros(2, device=device), vkml.zeros(3, device=device)
    _require_raises(ShapeError, lambda: first + second)
    other = vkml.zeros(2, device="cpu" if device.type != "cpu" else "meta")
    _require_raises(DeviceError, lambda: first + other)


def kernels_refuse_wrong_shapes(device: Device) -> None:
    """Elementwise kernels raise ValueError themselves: core relies on it."""
    first, second = (device.handle.upload(np.zeros(n, np.float32)) for n in (2, 3))
    _require_raises(ValueError, lambda: device.handle.kernel("add")(first, second))  # type: ignore[misc]  # add is a primitive


def _require_raises(kind: type[Exception], action: Callable[[], object]) -> None:
    try:
        action()
    except kind:
        return
    raise AssertionError(f"nothing raised {kind.__name__}.")


def work_can_be_waited_for(device: Device) -> None:
    """`synchronize` returns, and `memory` counts bytes."""
    x = wrap(device.handle.upload(np.ones(1000, np.float32)), device)
    for _ in range(10):
        x = x * 1.5
    device.synchronize()
    for name, count in device.handle.memory().items():
        require(count >= 0, f"memory()[{name!r}] is {count!r}.")


def closes_twice(device: Device) -> None:
    """Open a second handle, use it, and close it twice."""
    handle = find_backend(device.type).open_device(device.index)
    np.testing.assert_array_equal(handle.download(handle.upload(np.ones(3))), np.ones(3))
    handle.close()
    handle.close()
