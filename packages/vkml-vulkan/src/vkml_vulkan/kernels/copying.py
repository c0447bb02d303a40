"""Copies: `contiguous`, `cast` and what the device handle needs; all strided, all dtypes."""

from __future__ import annotations

from typing import Final

from vkml.backends.interface import Kernel
from vkml.errors import UnsupportedOperationError
from vkml_vulkan.engine import Engine
from vkml_vulkan.formats import RAW, Format, format_of
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.elementwise import Plan, plan
from vkml_vulkan.operand import Dtype, Form, Operand
from vkml_vulkan.plans import Plans

_CLASS_CODES: Final = {"f32": 0, "i32": 1, "u32": 2, "i64": 3, "u64": 4, "f64": 5}
"""Specialisation constants of ``cast.comp``."""


def build(device: Engine, name: str, _entry: Entry) -> Kernel:
    """Return the kernel of `contiguous` or of `cast`."""
    copies = Copies(device)

    def contiguous(x: Operand) -> Operand:
        return copies.made(x, x.dtype)

    return contiguous if name == "contiguous" else copies.made


class Copies:
    """Copies between any two forms, prepared once for each pair."""

    def __init__(self, device: Engine) -> None:
        self._device = device
        self._plans: Plans[Plan] = Plans(self._prepare)

    def made(self, x: Operand, dtype: Dtype) -> Operand:
        """Return a new operand with the values of `x` in C order, converted."""
        result = self._device.empty(x.shape, dtype)
        self.write(x, result)
        return result

    def write(self, source: Operand, target: Operand) -> None:
        """Write the values of `source`, converted and broadcast; the two must not overlap."""
        key = (source.form, target.form)
        found = self._plans[key]
        if found.launch is not None:
            self._device.recorder.launch(
                found.launch, (target.storage.chunk,), (source.storage.chunk,),
                target.address, source.address,
            )  # fmt: skip

    def _prepare(self, source: Form, target: Form) -> Plan:
        if source.dtype == target.dtype:
            return self._moving(source, target)
        return self._converting(source, target)

    def _moving(self, source: Form, target: Form) -> Plan:
        raw = RAW.get(source.dtype.itemsize)
        if raw is None:
            raise UnsupportedOperationError(
                f"copying {source.dtype} on {self._device.info.name}: elements of "
                f"{source.dtype.itemsize} bytes have no shader; use the CPU: x.cpu()."
            )
        module = f"unary_{raw.compute}"
        return plan(
            self._device, "copy", module, 0, target, (source,),
            result_format=raw, operand_format=raw,
        )  # fmt: skip

    def _converting(self, source: Form, target: Form) -> Plan:
        before, after = self._format(source.dtype), self._format(target.dtype)
        if after.compute == "f64" and before.compute != "f64":
            module = f"cast_{before.compute}_to_f64"
        else:
            module = f"cast_{before.compute}"
        code = _CLASS_CODES[after.compute]
        return plan(
            self._device, "cast", module, code, target, (source,),
            result_format=after, operand_format=before,
        )  # fmt: skip

    def _format(self, dtype: Dtype) -> Format:
        reason = self._device.why_not_dtype("cast", dtype)
        format = format_of(dtype)
        if reason is not None or format is None:
            raise UnsupportedOperationError(f"cast on {self._device.info.name}: {reason}")
        return format


def copy_into(device: Engine, source: Operand, target: Operand) -> None:
    """Write `source` into `target`; where they share memory, `source` counts as it was before."""
    copies = device.shared(Copies)
    if source.storage is target.storage and source.form.size:
        source = copies.made(source, source.dtype)
    copies.write(source, target)


def dense(device: Engine, x: Operand) -> Operand:
    """Return `x` if its elements lie in C order, else a copy where they do."""
    return x if x.form.is_dense else device.shared(Copies).made(x, x.dtype)
