"""Sphinx extension: the pages of operations, written from their records when the docs are built.

Each family of `vkml.ops.catalog` gets a page: its functions, and under each one a table that says
where its kernel, gradient rule and tests are. An overview lists all functions. The pages go to
``docs/reference/generated`` and are never edited or committed.
"""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Protocol

from record_facts import (
    FACTS,
    NONE,
    called_by,
    count_tests,
    cpu_kernel,
    is_differentiable,
    kind,
    records_of,
    short,
    vulkan_kernel,
)

from vkml.ops.catalog import FAMILIES, FAMILIES_FOR_LIBRARIES
from vkml.ops.definition import OPERATIONS

LONGEST_TITLE = 40  # characters that fit into one line of the sidebar, roughly


class Application(Protocol):
    """What this extension uses of Sphinx, so that type checks need no Sphinx."""

    srcdir: Path

    def connect(self, event: str, callback: Callable[["Application"], None]) -> int:
        """Call `callback` at `event`."""


def setup(app: Application) -> dict[str, bool]:
    """Tell Sphinx to write the pages before it reads any."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}


def write_pages(app: Application) -> None:
    """Write one page for each family, and the overview; leave what is right already alone."""
    families = (*FAMILIES, *FAMILIES_FOR_LIBRARIES)
    pages = {f"{short(family)}.md": family_page(family) for family in families}
    pages["index.md"] = overview(families)
    folder = Path(app.srcdir) / "reference" / "generated"
    folder.mkdir(exist_ok=True)
    for stale in {path.name for path in folder.iterdir()} - set(pages):
        (folder / stale).unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


# Pages -----------------------------------------------------------------------------------


def family_page(family: ModuleType) -> str:
    """Return the page of a family: its docstring, then its functions with their tables."""
    lines = [f"# {title(family)}", "", "```{eval-rst}", *inspect.getdoc(family).splitlines(), ""]  # type: ignore[union-attr]  # ruff sees to docstrings
    for name in family.__all__:
        path = f"vkml.{name}" if family in FAMILIES else f"{family.__name__}.{name}"
        lines += [f".. autofunction:: {path}", ""]
        lines += [f"   {line}".rstrip() for line in table(family, name)]
    return "\n".join([*lines, "```", ""])


def table(family: ModuleType, name: str) -> list[str]:
    """Return the Implementation table of a function, as lines of reStructuredText."""
    records = records_of(family, name)
    rows = [["Implementation", *(f"``{each.name}``" for each in records)]]
    if records:
        rows += [[label, *map(describe, records)] for label, describe in FACTS.items()]
        rows = [row for row in rows if set(row[1:]) != {NONE}]
    else:
        called = ", ".join(f":py:func:`~vkml.{each}`" for each in called_by(family, name))
        rows[0].append("no operation of its own")
        rows.append(["composed from", called or "the device's memory, without a kernel"])
    rows.append(["tests that name it", str(count_tests(family, name)), *[""] * (len(records) - 1)])
    lines = [".. list-table::", "   :header-rows: 1", "   :class: implementation", ""]
    for row in rows:
        lines += [f"   {'*' if not n else ' '} - {cell}" for n, cell in enumerate(row)]
    return [*lines, ""]


def overview(families: tuple[ModuleType, ...]) -> str:
    """Return the page that lists all functions, and holds the table of contents."""
    lines = [
        "# Operations", "",
        f"{len(OPERATIONS)} operation records stand behind the functions below. A *primitive* "
        "needs a kernel on every device. A *composite* is written with others, and may have a "
        "fused kernel besides. A *view* shows the same memory in another layout. A function "
        "without a record is *composed* from others, and differentiated through them.", "",
        "Under each function stands where its kernel, gradient rule and tests are. The generated "
        "tests take the samples of the record: the result has the shape and dtype that the rule "
        "says, first and second derivatives are those of central differences, a fused kernel "
        "equals the decomposition, and every backend agrees with the CPU.", "",
        "| function | family | kind | gradient | CPU | Vulkan |", "|---|---|---|---|---|---|",
    ]  # fmt: skip
    for family in families:
        link = f"[{short(family)}]({short(family)}.md)"
        for name in family.__all__:
            path = f"vkml.{name}" if family in FAMILIES else f"{family.__name__}.{name}"
            cells = [f"{{py:func}}`~{path}`", link, *summary(family, name)]
            lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "```{toctree}", ":hidden:", "", *map(short, families), "```", ""]
    return "\n".join(lines)


def summary(family: ModuleType, name: str) -> list[str]:
    """Return kind, gradient, CPU kernel and Vulkan shader of a function, for the overview."""
    records = records_of(family, name)
    gradient = "yes" if is_differentiable(family, name) else "no"
    if not records:
        place = "of others" if called_by(family, name) else "no kernel"
        return ["composed", gradient, place, place]
    kinds, kernels, shaders = (
        dict.fromkeys(map(fact, records)) for fact in (kind, cpu_kernel, vulkan_kernel)
    )
    places = (kernel.rpartition(" in ")[2].replace("``", "`") for kernel in kernels)
    shown = dict.fromkeys(shader.partition(" by ")[0].replace("``", "`") for shader in shaders)
    return [", ".join(kinds), gradient, ", ".join(places), ", ".join(shown)]


def title(family: ModuleType) -> str:
    """Return the beginning of the docstring, or the module's name where that is long."""
    beginning = re.split(r"[:.]", inspect.getdoc(family) or "")[0]
    named = short(family).replace("_", " ").capitalize()
    return beginning if len(beginning) <= LONGEST_TITLE else named
