"""Sphinx settings; nox session `docs` builds with warnings as errors."""

from importlib import metadata

project = "vkML"
author = "The vkML developers"
project_copyright = author
release = metadata.version("vkml-core")
version = ".".join(release.split(".")[:2])

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_ivar = True  # attributes of dataclasses are members already

html_theme = "pydata_sphinx_theme"
html_title = f"vkML {release}"
html_theme_options = {"show_toc_level": 2}
html_show_sphinx = False
