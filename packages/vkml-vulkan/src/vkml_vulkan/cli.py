"""The command `vkml-vulkan`.

Exit codes: 0 a device works, 1 none does, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import dataclasses
import io
import json
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Final

from vkml.errors import VkmlError
from vkml_vulkan.backend import VULKAN_BACKEND, all_devices
from vkml_vulkan.capabilities import Capabilities, version_text
from vkml_vulkan.doctor import diagnose
from vkml_vulkan.instance import the_instance
from vkml_vulkan.profile import Profile, profile_of
from vkml_vulkan.settings import read_settings

WORKS, NOTHING_WORKS = 0, 1  # 2 is argparse's own
_GIBIBYTE: Final = 2**30


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a device may have any name
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except VkmlError as error:
        sys.stderr.write(f"{error}\n")
        return NOTHING_WORKS
    return code


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


# info ------------------------------------------------------------------------------------


def _info(options: argparse.Namespace) -> int:
    reason = VULKAN_BACKEND.why_unavailable()
    found = _facts()
    if options.json:
        _say(json.dumps(found, indent=2))
    else:
        for each in found:
            _say(_as_text(each))
    if reason is None:
        return WORKS
    sys.stderr.write(f"{reason}\n")
    return NOTHING_WORKS


def _facts() -> list[dict[str, Any]]:
    """Return what is known of each device; usable ones have a name for ``vkml.device``."""
    try:
        found = [capabilities for _, capabilities in all_devices(the_instance())]
    except VkmlError:  # `why_unavailable` tells
        return []
    usable = [each for each in found if each.why_unusable() is None]
    names = {id(each): f"vulkan:{index}" for index, each in enumerate(usable)}
    return [_facts_of(each, names.get(id(each))) for each in found]


def _facts_of(capabilities: Capabilities, device: str | None) -> dict[str, Any]:
    profile = profile_of(capabilities, min_spec=read_settings().min_spec)
    return {
        "device": device,
        "unusable": capabilities.why_unusable(),
        "name": capabilities.name,
        "kind": capabilities.kind,
        "driver": capabilities.driver,
        "vulkan": version_text(capabilities.api_version),
        "memory_bytes": capabilities.memory_bytes,
        "float64": profile.float64,
        "subgroup": {
            "size": capabilities.subgroup_size,
            "arithmetic": capabilities.subgroup_arithmetic,
        },
        "profile": dataclasses.asdict(profile),
    }


def _as_text(facts: dict[str, Any]) -> str:
    subgroup, profile = facts["subgroup"], Profile(**facts["profile"])
    rows = {
        "unusable": facts["unusable"],
        "kind": facts["kind"],
        "driver": facts["driver"],
        "Vulkan": facts["vulkan"],
        "memory": f"{facts['memory_bytes'] / _GIBIBYTE:.1f} GiB",
        "float64": "yes" if facts["float64"] else "no",
        "subgroup": f"{subgroup['size']}, {'with' if subgroup['arithmetic'] else 'no'} arithmetic",
        "profile": f"workgroups of {profile.workgroup}, "
        + ("without barriers" if profile.on_cpu else f"{profile.shared_bytes} bytes shared"),
    }
    lines = [f"{facts['device'] or '(unusable)'}  {facts['name']}"]
    lines += [f"  {name:<9} {value}" for name, value in rows.items() if value is not None]
    return "\n".join(lines)


# doctor ----------------------------------------------------------------------------------


def _doctor(_options: argparse.Namespace) -> int:
    remedy = diagnose(_say)
    _say("A device works; there is nothing to do." if remedy is None else f"NEXT: {remedy}")
    return WORKS if remedy is None else NOTHING_WORKS


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="vkml-vulkan",
        description="Look at the Vulkan devices of this machine.",
        epilog="Exit codes: 0 a device works, 1 none does, 2 wrong usage.",
    )
    parser.add_argument(
        "--version", action="version", version=f"vkml-vulkan {version('vkml-vulkan')}"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    info = commands.add_parser("info", help="list the devices and what they can do")
    info.add_argument("--json", action="store_true", help="write JSON")
    info.set_defaults(run=_info)

    doctor = commands.add_parser("doctor", help="find what keeps Vulkan from working")
    doctor.set_defaults(run=_doctor)
    return parser
