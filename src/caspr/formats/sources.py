"""Where annotations come from: files, folders and archives, each of one annotator or of several.

1. One file for each annotator, named after it.
2. One folder for each annotator, with the same file names inside.
3. One file with several annotators in it (annotation sets, levels, a project archive).

A document that is not named in its file is named after it. Where every annotator has just one such document,
all of them are taken as the same document whatever the files are called: their texts are compared anyway.
Where a file has several, the first is taken as the same as the first of the others, and so on.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from caspr.errors import CasprError, FormatError, InputError, reading
from caspr.formats.format import ReadOptions
from caspr.formats.naming import (
    annotator_names,
    bare_name,
    is_backup,
    is_of_a_desktop,
    name_and_part_of_file,
    refuse_inside_another,
    refuse_twice,
    with_number,
)
from caspr.formats.registry import (
    FORMATS,
    by_suffix,
    choose,
    companions,
    detect,
    folder_format,
    is_named_after_file,
    is_no_annotator,
    recognise,
    with_format,
)
from caspr.formats.review_file.project import NAME as PROJECT
from caspr.formats.review_file.project import is_project, read_project
from caspr.storage import read_bytes
from caspr.text.alignment import transfer
from caspr.text.document import Annotation, Chain, Document, Span, sharing
from caspr.text.findings import Finding, note, times, warning

_NAMED = 5
"""How many files a finding names."""
_DOCUMENTATION = ("readme*", "licen[cs]e*", "changelog*", "*.md", "*.html", "*.htm")
"""Files about annotations, in lower case: that they are not read needs no action."""


def read_one(
    path: Path, annotator: str | None = None, *, format: str | None = None, options: ReadOptions | None = None
) -> list[Annotation]:
    """Read a file or folder: an annotation for each document and annotator in it."""
    unpacked = folder_format(path) if path.is_dir() else None
    if path.is_dir() and unpacked is None:
        return _read_folder(path, annotator or path.name, format, options)
    name = unpacked or format or detect(path)
    with reading(path):
        annotations = choose(name).read(path, annotator, options)
    return [with_format(annotation, name) for annotation in annotations]


def is_gold(path: Path) -> bool:
    """Return whether a file is the gold standard of an adjudication; one that cannot be read is not."""
    try:
        return any(annotation.adjudicated for annotation in read_one(path))
    except CasprError:
        return False


def read_all(
    paths: Sequence[Path], *, format: str | None = None, options: ReadOptions | None = None
) -> list[list[Annotation]]:
    """Read the files or folders of all annotators, and return the annotations of each annotator."""
    for number, path in enumerate(paths):
        refuse_twice(path, paths[:number])
        refuse_inside_another(path, paths)
    # Patterns such as `annotation/text/*` match what is nobody's work, too.
    chosen = [path for path in paths if len(paths) == 1 or not _is_aside(path)]
    names = annotator_names(chosen)
    by_file, texts, spans = [], dict[tuple[str, str | None], Document](), dict[Span, Span]()
    for path, name in zip(chosen, names, strict=True):
        annotations = read_one(path, name, format=format, options=options)
        by_file.append([_with_known(annotation, texts, spans) for annotation in annotations])
    if len(chosen) < len(paths) and by_file and by_file[0]:
        by_file[0] = _with_left_out(by_file[0], [path for path in paths if path not in chosen])
    return by_annotator(by_file, names)


def _with_known(
    annotation: Annotation, texts: dict[tuple[str, str | None], Document], spans: dict[Span, Span]
) -> Annotation:
    """Return an annotation whose text and spans take no more memory where another file has the same.

    Dictionaries find a span at once if it is the same object, wherever it is counted who marked what.
    """
    document = annotation.document
    known = texts.setdefault(document.key, document)
    return replace(
        annotation,
        document=document if known is document else sharing(document, known),
        chains=tuple([_with_known_spans(chain, spans) for chain in annotation.chains]),
        singletons=tuple([_with_known_spans(chain, spans) for chain in annotation.singletons]),
    )


def _with_known_spans(chain: Chain, spans: dict[Span, Span]) -> Chain:
    mentions = tuple(map(spans.setdefault, chain.mentions, chain.mentions))
    return Chain(chain.id, mentions, chain.name, chain.type)


def _is_aside(path: Path) -> bool:
    """Return whether a file is nobody's work: of an archive, of a desktop, or an older version."""
    return is_backup(path) or is_of_a_desktop(path) or is_no_annotator(path)


def read_files(paths: Iterable[Path]) -> list[Path]:
    """Return all files that are read when these are given, so that none of them is written to."""
    files: list[Path] = []
    for path in paths:
        if is_project(path):  # what was exported into its folder is not read
            files += (path / PROJECT, *(path / document.file for document in read_project(path).documents))
            continue
        name = by_suffix(path)
        folder = path.parent if name and FORMATS[name].project_suffixes else path
        inside = [file for file in folder.rglob("*") if file.is_file()] if folder.is_dir() else []
        files += (path, *(inside or companions(path)))
    return files


def by_annotator(by_file: Sequence[Sequence[Annotation]], names: Sequence[str]) -> list[list[Annotation]]:
    """Return the annotations of each annotator, from what is in each file and what the files are called."""
    if len(by_file) > 1:
        by_file = [list(_called(annotations, name)) for annotations, name in zip(by_file, names, strict=True)]
    groups: dict[str, list[Annotation]] = defaultdict(list)
    every = [annotation for annotations in by_file for annotation in annotations]
    for annotation in _one_document(_known_parts(every)):
        groups[annotation.annotator].append(annotation)
    return list(groups.values())


def _called(annotations: Sequence[Annotation], name: str) -> Iterator[Annotation]:
    """Prefix the names of several annotators in one file with the name of the file."""
    several = len({annotation.annotator for annotation in annotations}) > 1
    for annotation in annotations:
        yield replace(annotation, annotator=f"{name}/{annotation.annotator}") if several else annotation


def _known_parts(annotations: Sequence[Annotation]) -> Sequence[Annotation]:
    """Take the file `x.part2` for part 2 of the document x where another file has that part."""
    parts = {annotation.document.key for annotation in annotations if annotation.document.part is not None}
    if not parts:
        return annotations
    renamed = []
    for annotation in annotations:
        name, part = name_and_part_of_file(annotation.document.name)
        parted = replace(annotation.document, name=name, part=part)
        known = parted.key in parts and is_named_after_file(annotation.document)
        renamed.append(replace(annotation, document=parted) if known else annotation)
    return renamed


def _one_document(annotations: Sequence[Annotation]) -> Sequence[Annotation]:
    """Give documents one name if no file names any and each annotator has one, or one of each number."""
    numbered = [(annotation.annotator, max(1, annotation.document.nameless)) for annotation in annotations]
    named = not all(is_named_after_file(annotation.document) for annotation in annotations)
    if named or len(set(numbered)) < len(numbered):
        return annotations
    names: dict[int, str] = {}
    for (_, number), annotation in zip(numbered, annotations, strict=True):
        names.setdefault(number, annotation.document.name)
    return [
        replace(annotation, document=replace(annotation.document, name=names[number]))
        for (_, number), annotation in zip(numbered, annotations, strict=True)
    ]


def _read_folder(
    folder: Path, annotator: str, format: str | None, options: ReadOptions | None
) -> list[Annotation]:
    """Read every file of a known format in a folder and below it."""
    annotations: list[Annotation] = []
    unread: list[Path] = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        if is_of_a_desktop(path):
            continue
        name = None if is_backup(path) else recognise(path)
        if name is None or format not in (None, name):
            unread.append(path)
            continue
        for annotation in read_one(path, annotator, format=format, options=options):
            if is_named_after_file(annotation.document):
                renamed = path.relative_to(folder).with_name(bare_name(path)).as_posix()
                named = with_number(renamed, annotation.document.nameless)
                annotations.append(replace(annotation, document=replace(annotation.document, name=named)))
            else:
                annotations.append(annotation)
    if not annotations:
        wanted = f"{format} files" if format else "files of a known format"
        listed = f" ({_listed(folder, unread)})" if unread else ""
        raise InputError(
            f"{folder}: no {wanted} in this folder{listed}: put those of an annotator there, or move the "
            "folder away"
        )
    return _with_unread(annotations, folder, unread, chosen=format is not None)


def _with_left_out(annotations: list[Annotation], paths: Sequence[Path]) -> list[Annotation]:
    """Add a finding about files that are nobody's work."""
    message = f"{times(len(paths), 'file')} that are nobody's work left out: {', '.join(map(str, paths))}"
    return with_findings(annotations, [note("no-annotator", message, count=len(paths))])


def _with_unread(
    annotations: list[Annotation], folder: Path, unread: Sequence[Path], *, chosen: bool
) -> list[Annotation]:
    """Add a finding about the files that were not read, except those that belong to files that were."""
    read = [
        (Path(annotation.document.source), FORMATS[annotation.document.format]) for annotation in annotations
    ]
    names = {path.with_suffix("") for path, _ in read}
    projects = {path.parent for path, format in read if format.project_suffixes}
    odd = [
        path
        for path in unread
        if (is_backup(path) or path.with_suffix("") not in names) and not projects.intersection(path.parents)
    ]
    return with_findings(annotations, unread_findings(folder, odd, chosen=chosen))


def with_findings(annotations: Sequence[Annotation], findings: Iterable[Finding]) -> list[Annotation]:
    """Add findings about files to the first annotation that was read with them."""
    if not annotations:
        return []
    first, *rest = annotations
    return [replace(first, findings=(*first.findings, *findings)), *rest]


def unread_findings(folder: Path, unread: Sequence[Path], *, chosen: bool = False) -> Iterator[Finding]:
    """Warn of files of a folder that are not read: each may be an annotator's work, whose votes are missing.

    Files about annotations, such as a README, or a table for `--weights`, and older versions that an editor
    keeps are only noted, and so are all if the user chose which to read.
    """
    known = [path for path in unread if chosen or _is_about_annotations(path)]
    odd = [path for path in unread if path not in known]
    misplaced = [path for path in odd if recognise(path) is not None]
    where = str(folder)
    for paths, remedy in (
        ([path for path in odd if path not in misplaced], "export {} in a known format beside the others"),
        (misplaced, "put {} where the files of the other annotators are"),
    ):
        if paths:
            them = "it" if len(paths) == 1 else "them"
            message = f"{_listed(folder, paths)}; {remedy.format(them)}, or move {them} away"
            yield warning("unread-files", message, count=len(paths), where=where)
    if known:
        yield note("files-set-aside", _listed(folder, known), count=len(known), where=where)


def _listed(folder: Path, unread: Sequence[Path]) -> str:
    names = ", ".join(_with_kind(folder, path) for path in unread[:_NAMED])
    more = f" and {len(unread) - _NAMED:,} more" if len(unread) > _NAMED else ""
    return f"{times(len(unread), 'file')} not read: {names}{more}"


def _is_about_annotations(path: Path) -> bool:
    name = path.name.lower()
    if is_backup(path):
        return True
    if name.endswith(".csv"):
        return read_bytes(path, 16).removeprefix(b"\xef\xbb\xbf").lower().startswith(b"annotator")
    return any(fnmatchcase(name, pattern) for pattern in _DOCUMENTATION)


def _with_kind(folder: Path, path: Path) -> str:
    """Return the name of a file, with what it is where that is recognised."""
    name = path.relative_to(folder).as_posix()
    try:
        detect(path)
    except FormatError as error:
        return f"{name} ({error.found})"
    except InputError:
        return name
    return name


def fill(annotations: Sequence[Annotation], template: Path, format: str | None) -> list[Annotation]:
    """Put annotations onto the documents of a template, found by name; a lone one needs no name."""
    documents = {filled.document.key: filled for filled in reversed(read_one(template, format=format))}
    if len(annotations) == 1 and len(documents) == 1:
        return [transfer(annotations[0], next(iter(documents.values())))]
    keys = [annotation.document.key for annotation in annotations]
    for annotation, key in zip(annotations, keys, strict=True):
        if key not in documents:
            raise InputError(
                f"{template}: there is no document '{annotation.document.title}' in this template"
            )
    return [transfer(annotation, documents[key]) for annotation, key in zip(annotations, keys, strict=True)]
