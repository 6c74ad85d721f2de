"""CorefUD: CoNLL-U with coreference in the last column, as in the CorefUD collection and in GUM.

    # newdoc id = d1
    # global.Entity = eid-etype-head-other
    # text = The girl sang
    1   The    the   DET   _  _  2  det    _  Entity=(e1-person-2
    2   girl   girl  NOUN  _  _  3  nsubj  _  Entity=e1)

1. `# newdoc id = name`, or `name; part 000`, begins a document; a file without one is a document named after
   the file.
2. `corefud.entities` describes the cells of `Entity=`; `# global.Entity` gives the order of their fields.
3. Empty nodes (`3.1`) are tokens like others, so that zero mentions are adjudicated too; `_` as their form
   is no character. Ranges of multi-word tokens (`3-4`) are no tokens.
4. All else is kept to the byte: columns, comments, other items of MISC. A mention that stays keeps its
   fields. A gold chain takes the id of the chain with which it shares most mentions, so that `Bridge=` and
   `SplitAnte=` still lead somewhere.
5. Two crossing mentions of one chain cannot be distinguished: see `formats.conll` for what is done.
"""

import re
from pathlib import Path

from caspr.formats.corefud.reading import read, read_each
from caspr.formats.corefud.writing import losses, write
from caspr.formats.format import Format


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether the beginning of a file looks like this format."""
    return bool(re.search(r"^# *(global\.Entity|newdoc|sent_id)\b", head, re.MULTILINE)) and "\t" in head


FORMAT = Format(
    name="corefud",
    suffixes=(".conllu",),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    many_documents=True,
    read_each=read_each,
)
