"""Sphinx settings: MyST pages, the reference from docstrings, every warning an error (`sphinx-build -W`)."""

from __future__ import annotations

import re
from importlib.metadata import version as version_of
from typing import TYPE_CHECKING

import singletable
from singletable import errors

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "singletable"
author = "the singletable authors"
copyright = author
release = version = version_of("singletable")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "sphinx_copybutton"]
exclude_patterns = ["_build", "changes/*"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

default_role = "code"  # docstrings are plain text: `name` is code, not a reference
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
add_module_names = False

nitpicky = True
nitpick_ignore_regex = [("py:(class|obj|data)", ".*")]  # annotations name private and outside types too

html_theme = "furo"
html_title = "singletable"
html_copy_source = False
copybutton_exclude = ".linenos, .gp, .go"

ERROR = re.compile(rf"(`[^`]*`)|\b({'|'.join(name for name in errors.__all__ if name in singletable.__all__)})\b")
LIST_ITEM = re.compile(r"[-*] |\d+\. |>>> ")


def show_drawings(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Mark indented blocks of a docstring as literal text: they are drawings, tables and examples.

    A block counts where it is set off by a blank line and follows a paragraph, not a list or a doctest.
    """
    paragraph = ""
    for number in range(len(lines) - 1, 0, -1):
        before = [line for line in lines[:number] if line.strip()]
        paragraph = before[-1] if before else ""
        plain = not paragraph.startswith(" ") and not LIST_ITEM.match(paragraph) and not paragraph.endswith("::")
        if lines[number].startswith("    ") and not lines[number - 1].strip() and plain:
            lines[number:number] = ["::", ""]


def link_errors(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Make a link of each error that a docstring names in its sentences; code and drawings stay as they are."""
    for number, line in enumerate(lines):
        if not line.startswith(("    ", ">>>")) and name.rpartition(".")[2] not in errors.__all__:
            lines[number] = ERROR.sub(_linked, line)


def _linked(found: re.Match[str]) -> str:
    return found[1] or f":py:exc:`{found[2]} <singletable.{found[2]}>`"


def setup(app: Sphinx) -> None:
    """Connect the docstring readers."""
    app.connect("autodoc-process-docstring", show_drawings)
    app.connect("autodoc-process-docstring", link_errors)
