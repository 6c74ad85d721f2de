"""SACR: a text with mentions in braces, as the annotation script of that name writes it.

    {Anna:EN="p PER" Anna Meier} slept . {Anna:EN="p PER" She} snored .

    #COLOR:Anna=hsl(50, 100%, 80%)

1. Behind the opening brace stand the chain and a blank, or the chain, a colon, properties separated by commas
   or semicolons, and a blank. Lines that start with `#` say something of the document or of the lines that
   follow, such as `#speaker: Anna`: they are no text, and are kept in their places.
2. The value of the first property is the label of a mention. A chain whose name is more than a number has
   that as the name of its entity.
3. Braces are nested, so that mentions that cross others, and those without characters, cannot be written:
   lines `#CASPR-MENTION:` hold them, which other programs pass over.
4. A brace or a backslash of the text, and a `#` at the beginning of a line, is written behind a backslash.
"""

import re
from pathlib import Path

from caspr.formats.format import Format
from caspr.formats.sacr.reading import read
from caspr.formats.sacr.writing import losses, write

_BRACE = re.compile(r"(?<!\\)\{")
_SURE = re.compile(r'\{(?:[A-Z]+[0-9]+\s|[^\s:{}]+:[A-Za-z_][\w.-]*=")')
"""An opening brace that no other text has: behind it a letter and a number, or a property."""


def detect(path: Path, head: str) -> bool:
    """Return whether a file is one of SACR's, by its name or because every brace in it begins a mention.

    The converter of SACR's author calls files after documents, without `.sacr`.
    """
    if path.suffix == ".sacr":
        return True
    closed = head.rpartition("}")[0]
    braces = [brace.start() for brace in _BRACE.finditer(closed)]
    return bool(braces) and all(_SURE.match(closed, place) for place in braces)


FORMAT = Format(name="sacr", suffixes=(".sacr",), detect=detect, read=read, write=write, losses=losses)
