"""INCEpTION projects: the archive that "Export backup archive" makes, read as it is and written for import.

    exportedproject.json   source/<document>   annotation/<document>/<user>.{zip,json,tsv}   ...

1. Annotations are read from `annotation/`, which is there only if a secondary format was chosen at export:
   UIMA CAS XMI (a zip in the zip), UIMA CAS JSON or WebAnno TSV. The `.ser` files are Java's own.
2. `INITIAL_CAS`, `CURATION_USER` and `CORRECTION_USER` are no annotators. Of the others those who finished
   the document are taken; those in progress only if asked for, with a warning; the rest never.
3. Each chain layer is a task by itself: with several, the layer is the part of the document.
4. An archive that was unpacked is read like the archive: see `inception.folder`.
5. Written is (a) a new archive that INCEpTION imports as a new project, in which each merged document is an
   XMI source document, so that the chains are there for everybody, with layers and tag sets as they were,
   and (b) a folder of `.xmi` files for upload or for the remote API. Both start from `INITIAL_CAS`, so that
   tokens and sentences are those of the project. Links have the label that most annotators gave; arcs too,
   in layers whose chains are lists.
"""

from pathlib import Path

from caspr.formats.containers.zip import is_archive, open_archive
from caspr.formats.format import Cutting, Format
from caspr.formats.inception.folder import is_no_annotator, is_project_folder
from caspr.formats.inception.reading import cut, read, read_extract
from caspr.formats.inception.writing import losses, write, write_apart


def detect(path: Path, head: str) -> bool:
    """Return whether a file is a project archive."""
    if not head.startswith("PK") or not is_archive(path):
        return False
    names = open_archive(path).names
    return any(name.rpartition("/")[2].startswith("exportedproject") for name in names)


FORMAT = Format(
    name="inception",
    suffixes=(".zip",),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    many_documents=True,
    many_annotators=True,
    writes_any=False,
    vague_suffixes=(".zip",),
    detect_folder=is_project_folder,
    is_no_annotator=is_no_annotator,
    cutting=Cutting(cut, read_extract),
    write_apart=write_apart,
)
