"""Sphinx settings; nox session `docs` builds with warnings as errors."""

import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # the extensions below

project = "vkML"
author = "The vkML developers"
project_copyright = author
release = metadata.version("vkml-core")
version = ".".join(release.split(".")[:2])

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "record_tables",
    "completeness",
    "docstring_marks",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]

# Docstrings put names between single backticks: links where the name is documented.
default_role = "py:obj"
add_module_names = False
add_function_parentheses = False
toc_object_entries_show_parents = "hide"

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_ivar = True  # attributes of dataclasses are members already

html_theme = "pydata_sphinx_theme"
html_title = f"vkML {release}"
html_theme_options = {"show_toc_level": 2, "header_links_before_dropdown": 4}
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["tables.css"]
