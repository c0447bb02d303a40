"""The codes of elementwise operations, read from the shaders' own list."""

from __future__ import annotations

import functools
import re
from importlib.resources import files


@functools.cache
def operation_codes() -> dict[str, int]:
    """Return the code of each operation that ``operation_codes.glsl`` defines."""
    source = (files("vkml_vulkan") / "shaders" / "operation_codes.glsl").read_text()
    return {name.lower(): int(code) for name, code in re.findall(r"#define OP_(\w+) (\d+)", source)}
