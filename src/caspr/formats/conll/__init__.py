"""CoNLL: the paper's format and CoNLL-2012, one token a line with coreference in the last column.

    #begin document (wsj_0001); part 000
    1    The      (7
    2    girl     7)
    3    sang     -

    #end document

`columns.blocks` describes documents, `columns.rows` rows and `columns.cells` cells.
Inside a document, blank lines are kept and mean nothing. A line starting with `#` is a row if it has as
many columns as the first row and ends in a coreference cell; otherwise it is a comment, which is counted
in a finding and not written, because the reference scorer takes comments there for tokens.

Two crossing mentions of one chain cannot be written. The later is written under a new id, and a comment
before the document (`# caspr same-chain: 57 3`) makes our reader join the two again.
"""

import re
from pathlib import Path

from caspr.formats.conll.cutting import cut, read_stretch
from caspr.formats.conll.reading import parse, read
from caspr.formats.conll.writing import crossing_findings, losses, write
from caspr.formats.format import Cutting, Format

__all__ = ["FORMAT", "crossing_findings", "detect", "losses", "parse", "read", "write"]


_BEGINS = re.compile(r"^# *begin +document\b", re.IGNORECASE | re.MULTILINE)


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether the beginning of a file looks like this format."""
    return _BEGINS.search(head) is not None


FORMAT = Format(
    name="conll",
    suffixes=(".conll", ".v4_gold_conll", ".v4_auto_conll"),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    many_documents=True,
    cutting=Cutting(cut, read_stretch),
)
