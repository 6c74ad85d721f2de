"""Label Studio: the JSON export of a project, with regions and relations, and several annotators in one file.

    [{"id": 7, "data": {"text": "Anna slept. She ..."}, "annotations": [{"completed_by": 2, "result": [
      {"id": "a", "type": "labels", "value": {"start": 0, "end": 4, "text": "Anna", "labels": ["Person"]}},
      {"type": "relation", "from_id": "b", "to_id": "a", "labels": ["Coreference"]}]}]}]

1. A task is a document, called as its data say (`doc_key`, `name`, `title`, `filename`), or by its number.
   Its text is the field `text` of its data, or the one that regions are in, or the only text there.
2. Who completed an annotation is the annotator; `--layer predictions` reads what models predicted instead.
   Cancelled annotations are left out, and of several by one person the last counts.
3. A region with a start and an end is a mention; relations link mentions: those of the types that
   `--relation` names, else those without a type and those named like coreference. A mention that is linked
   to nothing is a chain of one.
4. Offsets count code points or UTF-16 units, whichever fits the texts that regions repeat.
5. Written back into the file of one annotator, regions and relations that still hold keep their ids and all
   else; of several annotators, the result becomes one more annotation of each task.
"""

from pathlib import Path

from caspr.formats.containers.json import has_fields
from caspr.formats.format import Format
from caspr.formats.labelstudio.reading import read
from caspr.formats.labelstudio.writing import losses, write


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether the beginning of a file looks like this format."""
    works = ("annotations", "completions", "predictions")
    return any(has_fields(head, "result", name, begin="[{") for name in works)


FORMAT = Format(
    name="labelstudio",
    suffixes=(".labelstudio.json",),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    many_documents=True,
    many_annotators=True,
    shared_suffixes=(".json",),
)
