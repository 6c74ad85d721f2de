"""How Sphinx makes the documentation site; CONTRIBUTING.md says how to build it.

The source folder is the whole repository, so that links between docs/, README and CONTRIBUTING lead to the
same places on the site and in the repository. A link or an anchor that leads nowhere is a warning, and the
site is built with warnings as errors.
"""

import shutil
from pathlib import Path

from sphinx.application import Sphinx

import caspr
from bench import demo

project = "CaspR"
author = "The CaspR developers"
copyright = author
version = release = caspr.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "docs/index"
include_patterns = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**"]
exclude_patterns = [".*", "build", "dist", "node_modules", "src", "tests", "bench", "examples", "docs/site"]
source_suffix = {".md": "markdown"}

myst_heading_anchors = 4
highlight_language = "none"
smartquotes = False  # options and messages are to be copied as they are
default_role = "code"
"""Docstrings put code between single backticks."""

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_class_signature = "separated"
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = "CaspR"
html_extra_path = ["top"]
html_static_path = ["style"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).with_name("scorer.js"))
html_copy_source = False
html_show_sphinx = False

API = "docs/api"
"""The page below whose text the public names are listed."""
DEMO, TUTORIAL = "docs/demo", "docs/tutorial"
LINKS = {
    DEMO: '<p><a class="demo" href="../demo.html">Open the demo</a></p>',
    TUTORIAL: '<p><a href="../examples.zip">Download the examples</a> and unpack them.</p>',
}
"""What pages have below their title, to files that are made with the site."""
PARTS = {"docs/formats": "formats/*", "docs/decisions/README": "[0-9]*"}
"""Pages with others below them in the navigation."""


def entry(name: str) -> str:
    """Return the directive that documents a public name of the package."""
    if not isinstance(getattr(caspr, name), type):
        return f".. autofunction:: caspr.{name}\n"
    return f".. autoclass:: caspr.{name}\n   :members:\n"


def section(title: str, names: list[str]) -> str:
    """Return a section of the API reference."""
    return f"\n## {title}\n\n```{{eval-rst}}\n" + "\n".join(map(entry, names)) + "```\n"


def append(_app: Sphinx, page: str, source: list[str]) -> None:
    """Append to some pages what only the site has: pages below them, the API reference from docstrings."""
    if page in PARTS:
        source[0] += f"\n```{{toctree}}\n:hidden:\n:glob:\n\n{PARTS[page]}\n```\n"
    if page in LINKS:
        source[0] = source[0].replace("\n\n", f"\n\n{LINKS[page]}\n\n", 1)
    if page == API:
        functions = [name for name in caspr.__all__ if name[0].islower()]
        classes = [name for name in caspr.__all__ if name not in functions]
        source[0] += section("Functions", functions) + section("Classes", classes)


def add_files(app: Sphinx, error: Exception | None) -> None:
    """Put the demo and the examples beside the pages, if this is the documentation of CaspR."""
    if error is None and (app.srcdir / f"{DEMO}.md").exists():
        demo.make(app.outdir / "demo.html")
        shutil.make_archive(str(app.outdir / "examples"), "zip", app.srcdir, "examples")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register what is done while the site is built."""
    app.connect("source-read", append)
    app.connect("build-finished", add_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
