"""CaspR merges the coreference annotations of several annotators into one provably optimal gold standard.

>>> import caspr
>>> files = [caspr.read(path) for path in ("a.conll", "b.conll")]  # doctest: +SKIP
>>> results = caspr.adjudicate(files, objective="v")  # doctest: +SKIP
>>> caspr.write([result.gold for result in results], "gold.conll")  # doctest: +SKIP
"""

import signal
import sys

_STARTING = sys.argv[:1] and sys.argv[0].rpartition("/")[2] in ("-m", "caspr")
if _STARTING and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Ctrl-C ends the command at once and without a traceback, until its `main` takes over.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

if not _STARTING:  # The command imports what it needs itself, and `--help` needs little.
    from caspr.adjudication import adjudicate, adjudicate_document
    from caspr.errors import CasprError
    from caspr.formats import read, write
    from caspr.text.checks import check

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Import what few programs need when it is asked for."""
    if name == "score":
        from caspr.measures.scores import score

        return score
    raise AttributeError(f"module 'caspr' has no attribute '{name}'")


__all__ = ["CasprError", "adjudicate", "adjudicate_document", "check", "read", "score", "write"]
