"""CaspR merges the coreference annotations of several annotators into one provably optimal gold standard.

>>> import caspr
>>> files = [caspr.read(path) for path in ("a.conll", "b.conll")]  # doctest: +SKIP
>>> results = caspr.adjudicate(files, objective="v")  # doctest: +SKIP
>>> caspr.write([result.gold for result in results], "gold.conll")  # doctest: +SKIP

Importing this package imports nothing else: each public name is looked up when it is first used, so that the
command line starts fast and `caspr.read` loads no solver.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from caspr.adjudication import adjudicate, adjudicate_document, redo
    from caspr.errors import CasprError
    from caspr.formats import read, write
    from caspr.formats.folders import read_folder
    from caspr.formats.review_file.project import read_review
    from caspr.formats.review_file.review import Review
    from caspr.measures.scores import score
    from caspr.notebook.frames import agreement
    from caspr.notebook.rows import from_rows, to_rows
    from caspr.notebook.spacy_docs import from_spacy, to_spacy
    from caspr.result import Result
    from caspr.task.decisions import Decisions
    from caspr.task.objectives import Objective
    from caspr.task.settings import Settings
    from caspr.text.checks import check
    from caspr.text.document import Annotation, Chain, Document, Span
    from caspr.text.findings import Finding

__version__ = "1.0.0"

__all__ = [
    "Annotation",
    "CasprError",
    "Chain",
    "Decisions",
    "Document",
    "Finding",
    "Objective",
    "Result",
    "Review",
    "Settings",
    "Span",
    "adjudicate",
    "adjudicate_document",
    "agreement",
    "check",
    "from_rows",
    "from_spacy",
    "read",
    "read_folder",
    "read_review",
    "redo",
    "score",
    "to_rows",
    "to_spacy",
    "write",
]

_HOMES = {
    "Annotation": "caspr.text.document",
    "CasprError": "caspr.errors",
    "Chain": "caspr.text.document",
    "Decisions": "caspr.task.decisions",
    "Document": "caspr.text.document",
    "Finding": "caspr.text.findings",
    "Objective": "caspr.task.objectives",
    "Result": "caspr.result",
    "Review": "caspr.formats.review_file.review",
    "Settings": "caspr.task.settings",
    "Span": "caspr.text.document",
    "adjudicate": "caspr.adjudication",
    "adjudicate_document": "caspr.adjudication",
    "agreement": "caspr.notebook.frames",
    "check": "caspr.text.checks",
    "from_rows": "caspr.notebook.rows",
    "from_spacy": "caspr.notebook.spacy_docs",
    "read": "caspr.formats",
    "read_folder": "caspr.formats.folders",
    "read_review": "caspr.formats.review_file.project",
    "redo": "caspr.adjudication",
    "score": "caspr.measures.scores",
    "to_rows": "caspr.notebook.rows",
    "to_spacy": "caspr.notebook.spacy_docs",
    "write": "caspr.formats",
}
"""The module that defines each public name; no submodule of this package has such a name."""

if not TYPE_CHECKING:  # A checker sees the imports above, and reports names that are not public.

    def __getattr__(name: str) -> object:
        """Import the module of a public name."""
        if name not in _HOMES:
            raise AttributeError(f"module 'caspr' has no attribute '{name}'")
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return sorted({*globals(), *__all__})
