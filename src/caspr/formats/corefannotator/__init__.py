"""CorefAnnotator: UIMA XMI with types of its own, plain or packed by gzip (.xmi, .xmi.gz, .ca2, .ca2z).

    <v1:Mention xmi:id="7" sofa="1" begin="0" end="4" Entity="9" Discontinuous="8"/>
    <v1:DetachedMentionPart xmi:id="8" sofa="1" begin="11" end="15" Mention="7"/>
    <v1:Entity xmi:id="9" Label="Anna" Color="-65536" Hidden="false"/>

1. Three versions of its types are read: `api.Mention` without a version, `api.v1`, and `api.v2`, in which a
   mention has any number of `MentionSurface` in place of begin and end. A file is written back in its own
   version, a new one as v1, which every version of the program opens.
2. A chain is what the mentions of one entity are; its name is the label of the entity, its type the flags of
   the entity. A group of entities with mentions of its own is an entity like others: who is in it is kept.
3. Flags of mentions are their labels, several joined by `+`.
4. What is not in the index (`cas:View`) was deleted in the program: it is not read.
5. Written back, mentions, entities, groups and all other layers stay as they are; only what changed is
   changed. A v1 mention has at most two pieces.
"""

from pathlib import Path

from caspr.formats.corefannotator.reading import read
from caspr.formats.corefannotator.writing import losses, write
from caspr.formats.format import Format, Forms


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether the beginning of a file looks like this format."""
    return "http:///de/unistuttgart/ims/coref/annotator/api" in head and "http://www.omg.org/XMI" in head


_FORMS = {".xmi.gz": ".xmi.gz", ".ca2z": ".ca2z", ".ca2": ".ca2", ".xmi": ".xmi"}
FORMAT = Format(
    name="corefannotator",
    suffixes=(".xmi.gz", ".ca2z", ".ca2"),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    vague_suffixes=(".xmi.gz",),
    shared_suffixes=(".xmi",),
    forms=Forms(_FORMS, write),
    packed=True,
)
