"""brat: a text in .txt and standoff annotations in .ann, usually in one folder for each annotator.

1. Offsets count code points of the .txt file, line ends as they are; the end is excluded.
2. Chains are expressed in one of these ways (*conventions*), and several may be mixed:
   relations   `R1 Coref Arg1:T1 Arg2:T2`, of a type that `--relation` names, else of one such as `Coref`
   sets        `* Equiv T1 T2 T3`, of any type
   events      `E1 CoreferenceLink:T1 next:E2`, as DKPro writes
   types       a second mention of the same text whose type is the entity's name, `Anna-12`, as in LitBank;
               only where none of the others is used, and a mention without such a second is a chain of one
3. A mention that is linked to nothing is a chain of one, unless it triggers an event.
4. Written back, mentions keep ids, types and all that refers to them; links that still hold are kept. A
   mention that is in no chain any more is removed, with its attributes, unless events or other relations
   need it.
5. brat cannot mark a line end: a mention across lines is written in several pieces, and read as one.
"""

from pathlib import Path

from caspr.formats.brat.reading import companions, read
from caspr.formats.brat.writing import losses, write
from caspr.formats.format import Format


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether a file is one of brat's, which only its name shows."""
    return path.suffix == ".ann"


FORMAT = Format(
    name="brat",
    suffixes=(".ann",),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    companions=companions,
    companion_suffixes=(".txt",),
    settings_files=("annotation.conf", "visual.conf", "tools.conf", "kb_shortcuts.conf"),
)
