"""Gradients of the weight and the bias of a normalization: sums over all rows, in two stages."""

from __future__ import annotations

from typing import Final, NamedTuple

from vkml_vulkan.engine import Engine
from vkml_vulkan.formats import format_of
from vkml_vulkan.kernels.copying import dense
from vkml_vulkan.launch import Launch
from vkml_vulkan.operand import Dtype, Operand
from vkml_vulkan.plans import Plans

_MOST_CHUNKS: Final = 64
_CHUNK_ROWS: Final = 32
"""Fewer rows are not worth an invocation on a GPU, which has thousands."""
_CHUNK_ROWS_ON_CPU: Final = 512


class _Plan(NamedTuple):
    chunks: int
    partial: Launch
    total: Launch


class ParameterGradients:
    """Launches of ``parameter_gradients.comp`` and ``parameter_totals.comp``."""

    def __init__(self, device: Engine, name: str) -> None:
        self._device, self._name = device, name
        self._plans: Plans[_Plan] = Plans(self._prepare)

    def run(
        self,
        g: Operand,
        x: Operand,
        mean: Operand | None,
        rstd: Operand,
        count: int,
        shape: tuple[int, ...],
    ) -> tuple[Operand, Operand]:
        """Return the gradients of weight and bias, of `shape`, for `count` rows."""
        device = self._device
        g, x, rstd = dense(device, g), dense(device, x), dense(device, rstd)
        mean = None if mean is None else dense(device, mean)
        length = x.form.size // count
        key = (count, length, x.dtype, mean is not None)
        found = self._plans[key]
        dweight, dbias = device.empty(shape, x.dtype), device.empty(shape, x.dtype)
        sums = device.empty((2, found.chunks, length), rstd.dtype)
        read = [each.storage.chunk for each in (g, x, mean, rstd) if each is not None]
        device.recorder.launch(
            found.partial, (sums.storage.chunk,), read,
            sums.address, g.address, x.address, 0 if mean is None else mean.address, rstd.address,
        )  # fmt: skip
        device.recorder.launch(
            found.total, (dweight.storage.chunk, dbias.storage.chunk), (sums.storage.chunk,),
            dweight.address, dbias.address, sums.address,
        )  # fmt: skip
        return dweight, dbias

    def _prepare(self, count: int, length: int, dtype: Dtype, centres: bool) -> _Plan:
        device, api = self._device, self._device.device.api
        format = format_of(dtype)
        assert format is not None  # noqa: S101 - the kernel has looked
        least = _CHUNK_ROWS_ON_CPU if device.profile.on_cpu else _CHUNK_ROWS
        chunk_rows = max(least, -(-count // _MOST_CHUNKS))
        chunks = -(-count // chunk_rows)
        workgroup = device.profile.independent_workgroup
        groups = -(-length // workgroup)
        partial = Launch(
            api, self._name,
            device.pipelines.get(
                f"parameter_gradients_{format.compute}", (workgroup, 0, format.code, int(centres))
            ),
            "QQQQQ", (count, length, chunk_rows, groups), device.grid(groups * chunks),
            count * length,
        )  # fmt: skip
        total = Launch(
            api, self._name,
            device.pipelines.get(f"parameter_totals_{format.compute}", (workgroup, 0, format.code)),
            "QQQ", (length, chunks), device.grid(-(-2 * length // workgroup)), chunks * length,
        )  # fmt: skip
        return _Plan(chunks, partial, total)
