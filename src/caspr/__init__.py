"""CaspR merges the coreference annotations of several annotators into one provably optimal gold standard.

>>> import caspr
>>> files = [caspr.read(path) for path in ("a.conll", "b.conll")]  # doctest: +SKIP
>>> results = caspr.adjudicate(files, objective="v")  # doctest: +SKIP
>>> caspr.write([result.gold for result in results], "gold.conll")  # doctest: +SKIP
"""

from caspr.adjudicate import adjudicate, adjudicate_document
from caspr.checks import check
from caspr.errors import CasprError
from caspr.formats import read, write
from caspr.scores import score

__version__ = "0.1.0"

__all__ = ["CasprError", "adjudicate", "adjudicate_document", "check", "read", "score", "write"]
