"""State dictionaries: the tensors of a module by name, and how values get into them."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

import vkml
from vkml import DTypeError, Tensor
from vkml_nn.errors import StateDictError
from vkml_nn.module_tree import ModuleTree

_SHOWN_AT_MOST: Final = 50  # names of one kind in one message

# Any in this module: states hold tensors, NumPy arrays or the arrays of another library.


class IncompatibleKeys(NamedTuple):
    """Which names did not fit in a state that was loaded with ``strict=False``."""

    missing_keys: list[str]
    unexpected_keys: list[str]


def named_state(module: ModuleTree, prefix: str = "") -> Iterator[tuple[str, Tensor]]:
    """Yield the parameters and persistent buffers, as often as they are named."""
    for path, each in module.named_modules(prefix=prefix.rstrip("."), remove_duplicate=False):
        start = f"{path}." if path else ""
        for name, parameter in each._parameters.items():
            if parameter is not None:
                yield start + name, parameter
        for name, buffer in each._buffers.items():
            if buffer is not None and name not in each._transient_buffers:
                yield start + name, buffer


def state_of(module: ModuleTree, prefix: str, keep_vars: bool) -> OrderedDict[str, Tensor]:
    """Return the state of `module`; see `Module.state_dict`."""
    return OrderedDict(
        (name, tensor if keep_vars else tensor.detach())
        for name, tensor in named_state(module, prefix)
    )


def load_state(module: ModuleTree, state: Mapping[str, Any], strict: bool) -> IncompatibleKeys:
    """Copy `state` into the tensors of `module`; see `Module.load_state_dict`."""
    if not isinstance(state, Mapping):
        raise DTypeError(_no_mapping(module, state))
    targets = dict(named_state(module))
    missing = [name for name in targets if name not in state]
    unexpected = [name for name in state if name not in targets]
    shared = [name for name in targets if name in state]
    unfit = [line for name in shared for line in _misfits(name, targets[name], state[name])]
    if unfit or (strict and (missing or unexpected)):
        raise StateDictError(_report(module, missing, unexpected, unfit, strict))
    with vkml.no_grad():
        for name in shared:
            targets[name].copy_(state[name])
    return IncompatibleKeys(missing, unexpected)


def _no_mapping(module: ModuleTree, state: object) -> str:
    if isinstance(state, str | os.PathLike):
        remedy = f"to load a file, write vkml.load_module({state!r}, module)"
    elif hasattr(state, "tensors"):
        remedy = "its arrays are in .tensors: pass those"
    else:
        remedy = "give what state_dict() of a module returned"
    return (
        f"{type(module).__name__}: expected a dict of tensors by name, got a "
        f"{type(state).__name__}; {remedy}."
    )


def _misfits(name: str, target: Tensor, value: Any) -> Iterator[str]:
    """Yield what keeps `value` from being copied into `target`."""
    shape = getattr(value, "shape", None)
    if shape is None or not hasattr(value, "dtype"):
        yield f"{name}: a {type(value).__name__} is neither a tensor nor an array"
        return
    if tuple(shape) != target.shape:
        yield f"{name}: shape {tuple(shape)}, expected {target.shape}"
    if "complex" in str(value.dtype) and not target.dtype.is_complex:
        yield f"{name}: {value.dtype} does not fit into {target.dtype}"
    reason = _why_unreadable(value)
    if reason is not None:
        yield f"{name}: {reason}"


def _why_unreadable(value: Any) -> str | None:
    """Return why the values cannot be had, which must not come out halfway."""
    if isinstance(value, Tensor):
        return "a tensor on 'meta' has no values" if value.device.type == "meta" else None
    try:
        vkml.tensor(np.empty(0, np.asarray(value).dtype))
    except (TypeError, ValueError, RuntimeError) as error:
        return str(error)
    return None


def _report(
    module: ModuleTree, missing: list[str], unexpected: list[str], unfit: list[str], strict: bool
) -> str:
    parts = [f"{type(module).__name__}: the state does not fit the module, which was not changed."]
    groups = {"wrong shape or dtype": unfit}
    if strict:
        groups = {"missing": missing, "unexpected": unexpected} | groups
    for title, names in groups.items():
        if names:
            shown = list(map(str, names[:_SHOWN_AT_MOST]))
            more = [f"and {len(names) - len(shown)} more"] if len(names) > len(shown) else []
            parts.append("\n    ".join([f"  {title}:", *shown, *more]))
    if strict and not unfit:
        parts.append("  Pass strict=False to load the names that both have.")
    return "\n".join(parts)
