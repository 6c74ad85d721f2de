"""Methods of public classes that need what lies above them: frames and HTML for notebooks.

Imports point downwards. But in a notebook one writes `result.to_frame()`, and Jupyter asks a value for its
`_repr_html_`: these are methods of classes that know nothing of pandas or of reports. They find their
function here, by name, when they are called. This is the only way up, and `ABOVE` is the whole list of what
can be reached; nothing that decides, solves or writes a result is in it.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

ABOVE = {
    "result_frame": "caspr.notebook.frames",
    "annotation_frame": "caspr.notebook.frames",
    "comparison_frame": "caspr.notebook.frames",
    "scores_frame": "caspr.notebook.frames",
    "result_html": "caspr.notebook.frames",
    "annotation_html": "caspr.notebook.frames",
    "comparison_html": "caspr.notebook.frames",
}
"""The functions that classes below may call, with their modules."""


def above(name: str) -> Callable[..., Any]:
    """Import and return a function of `ABOVE`."""
    function: Callable[..., Any] = getattr(import_module(ABOVE[name]), name)
    return function
