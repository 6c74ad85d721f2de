"""WebAnno TSV 3: chains in a chain layer, or in a span layer with relations; from INCEpTION and WebAnno.

1. A chain layer has two columns, in either order. `referenceType` holds `label[chain]`, `referenceRelation`
   holds `label->chain-link`; every row of a mention repeats them.
2. Without a chain layer, the annotations of a span layer are the mentions, and a relation layer on it
   links them (`webanno.relations`).
3. Where a file has several such layers, `--layer` chooses one, by its name or part of it.
4. A mention that covers part of a token has rows of its own, `1-1.1`.
5. Written back, only the columns of the layer change.
"""

from pathlib import Path

from caspr.formats.format import Format
from caspr.formats.webanno.reading import read
from caspr.formats.webanno.writing import losses, write


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether the beginning of a file looks like this format."""
    return head.startswith("#FORMAT=WebAnno TSV")


FORMAT = Format(
    name="webanno",
    suffixes=(".tsv",),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
)
