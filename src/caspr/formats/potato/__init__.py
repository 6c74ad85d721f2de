"""Potato: the file `user_state.json` of each annotator, with spans and the links between them; only read.

    config.yaml   data/items.json   annotation_output/anna/user_state.json   annotation_output/ben/...

    {"user_id": "anna", "instance_id_to_span_to_value": {"one": [[{"schema": "mentions", "name": "PERSON",
       "start": 0, "end": 4, "id": "mentions_PERSON_0_4"}, 1], ...]},
     "instance_id_to_link_to_value": {"one": {"link_1": {"schema": "chains", "link_type": "coreference",
       "span_ids": ["mentions_PERSON_0_4", "mentions_PERSON_12_15"]}}}}

1. An item is a document. The file has no text: it is that of the data files which the project's
   configuration names, in a folder above; without one, of data files in the folders above.
2. A span is a mention, in one piece or several. Links join mentions: those of the types that `--relation`
   names, else those whose type or schema is named like coreference, and those of a schema that the
   configuration calls `annotation_type: coreference`, whose types are types of entities. A span in no link
   is a chain of one. `--layer` chooses a span schema.
3. Offsets count UTF-16 units or code points of what the browser shows, by the version of Potato, and that
   differs from the data in blanks and line ends: see `potato.texts`.
4. Items that the annotator passed without marking anything are documents without chains.
5. The folder of a project, or its folder `annotation_output`, is the work of all its annotators; what else
   is in the folder of an annotator, such as a history, is passed over.
6. Nothing is written: the state of Potato's server is no file to be edited, and it has no place for a gold.
"""

from collections.abc import Iterable
from pathlib import Path

from caspr.errors import OutputError
from caspr.formats.containers.json import has_fields
from caspr.formats.format import Format
from caspr.formats.potato.reading import read, states
from caspr.formats.potato.texts import project_files
from caspr.text.document import Annotation
from caspr.text.findings import Finding


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether the beginning of a file looks like this format."""
    return has_fields(head, "user_id", "instance_id_ordering")


def write(annotations: Iterable[Annotation]) -> str:  # noqa: ARG001
    """Refuse to write."""
    raise OutputError("potato is only read: choose another output format, such as conll")


def losses(annotation: Annotation) -> tuple[Finding, ...]:  # noqa: ARG001
    """Return nothing, because nothing is written."""
    return ()


FORMAT = Format(
    name="potato",
    suffixes=("user_state.json",),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    many_documents=True,
    many_annotators=True,
    writes_any=False,
    read_only=True,
    companions=project_files,
    settings_files=("potato.log", "device_visits.json"),
    detect_folder=lambda folder: bool(states(folder)),
)
