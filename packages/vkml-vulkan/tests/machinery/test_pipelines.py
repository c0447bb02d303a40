"""Pipelines: made once, from the modules that the manifest lists and from no others."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vkml_vulkan import pipelines
from vkml_vulkan.errors import VulkanError
from vkml_vulkan.handle import VulkanDevice
from vkml_vulkan.pipelines import read_module

_COPY = (64, 0, 0, 7, 7, 0, 0, 0)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the package's shaders, which is read instead of them."""
    source = Path(str(files("vkml_vulkan")))
    for folder in ("spirv", "shaders"):
        shutil.copytree(source / folder, tmp_path / folder)
    monkeypatch.setattr(pipelines, "files", lambda _: tmp_path)
    monkeypatch.setattr(pipelines, "_manifest", {})
    return tmp_path


def test_a_module_of_the_manifest_is_read(package: Path) -> None:
    assert read_module("unary_u32") == (package / "spirv" / "unary_u32.spv").read_bytes()


@pytest.mark.parametrize("change", [lambda code: code[:-4], lambda code: code[:-1] + b"x"])
def test_an_altered_module_is_refused(package: Path, change: Callable[[bytes], bytes]) -> None:
    path = package / "spirv" / "unary_u32.spv"
    path.write_bytes(change(path.read_bytes()))

    with pytest.raises(VulkanError, match="unary_u32 is not what the manifest lists") as caught:
        read_module("unary_u32")

    assert "python -m vkml_vulkan.shader_build" in str(caught.value)


def test_a_module_that_the_manifest_does_not_list_is_refused(package: Path) -> None:
    shutil.copy(package / "spirv" / "unary_u32.spv", package / "spirv" / "foreign.spv")

    with pytest.raises(VulkanError, match="foreign is not what the manifest lists"):
        read_module("foreign")


def test_a_missing_module_is_an_error_with_a_remedy(package: Path) -> None:
    (package / "spirv" / "unary_u32.spv").unlink()

    with pytest.raises(VulkanError, match=r"unary_u32 is missing.*Reinstall"):
        read_module("unary_u32")


def test_a_device_uses_no_altered_module(package: Path, handle: VulkanDevice) -> None:
    path = package / "spirv" / "unary_f32.spv"
    path.write_bytes(path.read_bytes()[:-4])
    exp = handle.kernel("exp")
    assert exp is not None
    operand = handle.upload(np.ones(2, np.float32))

    with pytest.raises(VulkanError, match="unary_f32 is not what the manifest lists"):
        exp(operand)


def test_a_pipeline_is_made_once(handle: VulkanDevice) -> None:
    first = handle.pipelines.get("unary_u32", _COPY)

    assert handle.pipelines.get("unary_u32", _COPY) is first


def test_pipelines_of_one_module_share_it(handle: VulkanDevice) -> None:
    real, made = handle.device.functions.vkCreateShaderModule, []

    def creating(*arguments: Any) -> Any:
        made.append(arguments)
        return real(*arguments)

    handle.device.functions.vkCreateShaderModule = creating
    for workgroup in (64, 32):
        handle.pipelines.get("unary_u32", (workgroup, *_COPY[1:]))

    assert len(made) == 1


@pytest.mark.parametrize("name", ["vkCreateShaderModule", "vkCreateComputePipelines"])
def test_a_pipeline_that_fails_is_tried_again_the_next_time(
    handle: VulkanDevice, name: str
) -> None:
    functions = handle.device.functions
    real = getattr(functions, name)
    setattr(functions, name, lambda *_: -3)
    with pytest.raises(VulkanError, match=f"{name} of unary_u32"):
        handle.pipelines.get("unary_u32", _COPY)
    setattr(functions, name, real)

    assert handle.pipelines.get("unary_u32", _COPY).handle


def test_an_interrupt_while_a_pipeline_is_made_leaves_nothing_behind(
    handle: VulkanDevice,
) -> None:
    real = handle.device.functions.vkCreateComputePipelines

    def interrupted(*arguments: Any) -> Any:
        real(*arguments)
        raise KeyboardInterrupt

    handle.device.functions.vkCreateComputePipelines = interrupted

    with pytest.raises(KeyboardInterrupt):
        handle.pipelines.get("unary_u32", _COPY)

    handle.close()  # the validation layer would name the pipeline
