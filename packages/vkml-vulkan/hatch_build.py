"""Compile the shaders when an sdist, a wheel or an editable install is made.

The result has to be what the manifest says, so that every build of a version holds the same
modules. An editable install is where shaders are changed: there a difference is only a warning.
"""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


# The interface is generic over the configuration of the builder, which is not looked at.
class ShaderBuildHook(BuildHookInterface[Any]):
    """Put the SPIR-V modules into the source tree, from where hatchling collects them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Compile what has changed, before hatchling looks for files."""
        package = Path(self.root, "src", "vkml_vulkan")
        build = _load(package / "shader_build.py")
        try:
            digests = build.compile_all(package / "shaders", package / "spirv")
            differing = build.differences(package / "shaders", digests)
        except build.ShaderError as error:
            self.app.abort(str(error))
        if differing and version == "editable":
            self.app.display_warning(build.complaint(differing))
        elif differing:
            self.app.abort(build.complaint(differing))


def _load(path: Path) -> ModuleType:
    """Return a module of the package that is being built, which cannot be imported yet."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None, path  # noqa: S101, PT018
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
