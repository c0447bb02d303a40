"""How kernels are shaped for a device: the geometry that shaders are specialised with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from vkml_vulkan.capabilities import Capabilities

# What every Vulkan 1.3 device has.
_MIN_INVOCATIONS: Final = 128
_MIN_SHARED_BYTES: Final = 16 * 1024
PUSH_BYTES: Final = 128
_GPU_WORKGROUP: Final = 256
_MIN_GROUP_COUNT: Final = 65535
_CPU_INDEPENDENT: Final = 64
"""Starting a workgroup costs a CPU driver 0.2 µs, as much as 32 sums; without barriers it may be
large."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The shape of kernels on one device.

    Attributes
    ----------
    on_cpu : bool
        Kernels use no barriers and no shared memory; a workgroup is one subgroup. A driver that
        runs on a CPU turns each barrier into a change of coroutines.
    workgroup : int
        Invocations of a workgroup.
    independent_workgroup : int
        Invocations of a workgroup in kernels whose invocations do not work together.
    subgroup : int
        Invocations of a subgroup; 1 where nothing may be assumed.
    subgroup_arithmetic : bool
        Whether modules named ``*_subgroup`` run.
    float64 : bool
        Whether modules named ``*_f64`` run.
    shared_bytes : int
        Shared memory of a workgroup.
    max_groups : int
        The most workgroups along one axis of a dispatch.
    """

    on_cpu: bool
    workgroup: int
    independent_workgroup: int
    subgroup: int
    subgroup_arithmetic: bool
    float64: bool
    shared_bytes: int
    max_groups: int


def profile_of(capabilities: Capabilities, *, min_spec: bool) -> Profile:
    """Return the profile for a device; with `min_spec` the one that fits them all."""
    if min_spec:
        return Profile(
            on_cpu=False, workgroup=_MIN_INVOCATIONS,
            independent_workgroup=_MIN_INVOCATIONS, subgroup=1, subgroup_arithmetic=False,
            float64=False, shared_bytes=_MIN_SHARED_BYTES, max_groups=_MIN_GROUP_COUNT,
        )  # fmt: skip
    on_cpu = capabilities.kind == "cpu"
    known = capabilities.full_subgroups
    most = min(_GPU_WORKGROUP, capabilities.max_invocations)
    return Profile(
        on_cpu=on_cpu,
        workgroup=capabilities.subgroup_size if on_cpu else most,
        independent_workgroup=_CPU_INDEPENDENT if on_cpu else most,
        subgroup=capabilities.subgroup_size if known or on_cpu else 1,
        subgroup_arithmetic=capabilities.subgroup_arithmetic,
        float64=capabilities.float64,
        shared_bytes=capabilities.max_shared_bytes,
        max_groups=min(capabilities.max_group_counts),
    )
