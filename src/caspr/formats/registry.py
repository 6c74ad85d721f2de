"""The table of formats: which there are, which one a file has, and how to write it.

1. A file's format is the first in the table whose `detect` recognises its content; else the one whose
   files have such a name; else CoNLL, whose messages say what is wrong.
2. An output's format is the one its name tells, else that of the first document's own file.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from caspr.errors import FormatError, InputError
from caspr.files import read_bytes
from caspr.formats.naming import Content, Each, named_after
from caspr.formats.options import ReadOptions
from caspr.text.document import Annotation
from caspr.text.findings import Finding

_HEAD = 1 << 16
"""How much of a file is looked at to tell its format."""
_VAGUE = (".xml", ".json", ".zip")
"""Names that say little: other files in a folder may be called so."""
STANDARD_OUTPUT = Path("-")
"""The file name that stands for standard output."""
SUFFIXES = {
    "conll": (".conll", ".v4_gold_conll", ".v4_auto_conll"),
    "corefud": (".conllu",),
    "jsonlines": (".jsonlines", ".jsonl"),
    "brat": (".ann",),
    "gate": (".xml", ".gate", ".bdocjs", ".bdocym", ".bdocmp"),
    "mmax": (".mmax",),
    "webanno": (".tsv",),
    "inception": (".zip",),
    "cas": (".xmi", ".json"),
}
"""All formats, in the order in which they are tried, with the usual names of their files."""
FORMS = {
    "cas": {".xmi": ".xmi", ".json": ".json"},
    "gate": {
        ".xml": ".xml",
        ".gate": ".xml",
        ".bdocjs": ".bdocjs",
        ".bdocym": ".bdocym",
        ".bdocmp": ".bdocmp",
    },
}
"""For formats with several forms of file, which one a name asks for."""
NAMED = frozenset(("conll", "corefud", "jsonlines", "inception"))
"""The formats in which documents have names; in the others they are named after their files."""


ACCOMPANIED = frozenset(("brat", "mmax"))
"""The formats that read more than one file for a document."""


class Format(Protocol):
    """What a format's module offers."""

    def detect(self, path: Path, head: str) -> bool:
        """Tell whether the beginning of a file looks like this format."""

    def read(
        self, path: Path, annotator: str | None = None, choices: ReadOptions | None = None
    ) -> list[Annotation]:
        """Read a file, usually of one annotator."""

    def write(self, annotations: Iterable[Annotation]) -> Content:
        """Return the text of a file that holds all documents, or several files by name."""

    def losses(self, annotation: Annotation) -> tuple[Finding, ...]:
        """Say what of an annotation this format cannot carry."""


class Formed(Protocol):
    """What the module of a format with several forms offers besides."""

    def write(self, annotations: Iterable[Annotation], *, form: str = "") -> Mapping[str, str | bytes]:
        """Return files by name, in the form asked for where that can be done."""


class Numerous(Protocol):
    """What the module of a format with many documents in a file offers besides."""

    def read_each(
        self, path: Path, annotator: str | None = None, choices: ReadOptions | None = None
    ) -> Iterator[Each]:
        """Yield each document's name with its annotation, or with what is wrong with it."""


class Archived(Protocol):
    """What the module of a format with whole projects in a file offers besides."""

    def merged_documents(self, annotations: Iterable[Annotation]) -> dict[str, bytes]:
        """Return a file for each document, by its name."""

    def split(self, path: Path, choices: ReadOptions | None = None) -> Iterator[tuple[str, bytes]]:
        """Yield the name of each document that there is work on with an archive of it alone."""

    def read_split(self, path: Path, data: bytes, choices: ReadOptions | None = None) -> list[Annotation]:
        """Read such an archive, cut out of a file."""


class Accompanied(Protocol):
    """What the module of a format with several files for a document offers besides."""

    def companions(self, path: Path) -> list[Path]:
        """Name the other files that are read with a file, as far as they are there."""


class _Modules(Mapping[str, Format]):
    """The module of each format, imported when it is asked for."""

    def __getitem__(self, name: str) -> Format:
        if name not in SUFFIXES:
            raise KeyError(name)
        return cast(Format, import_module(f"caspr.formats.{name}"))

    def __iter__(self) -> Iterator[str]:
        return iter(SUFFIXES)

    def __len__(self) -> int:
        return len(SUFFIXES)


FORMATS: Mapping[str, Format] = _Modules()
"""All formats by name."""


def choose(name: str) -> Format:
    """Return a format, or refuse an unknown name."""
    if name not in FORMATS:
        raise InputError(f"unknown format {name!r}: choose one of {', '.join(FORMATS)}")
    return FORMATS[name]


def detect(path: Path) -> str:
    """Return the name of a file's format."""
    return recognise(path) or by_suffix(path) or "conll"


def recognise(path: Path) -> str | None:
    """Return the name of a file's format if its content or its name tells.

    A pipe is not looked into: it can be read only once.
    """
    if path.exists() and not path.is_file():
        return by_suffix(path)
    data = read_bytes(path)[:_HEAD]
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    head = data.decode("utf-16" if wide else "utf-8", "replace").removeprefix("\ufeff")
    found = (name for name, format in FORMATS.items() if format.detect(path, head))
    return next(found, None) or (None if path.suffix.lower() in _VAGUE else by_suffix(path))


def by_suffix(path: Path) -> str | None:
    """Return the format that files of this name usually have, if only one has such names."""
    names = [name for name, suffixes in SUFFIXES.items() if path.name.lower().endswith(suffixes)]
    return names[0] if len(names) == 1 else None


def output_format(annotations: Sequence[Annotation], path: Path) -> str:
    """Choose the format to write."""
    own = annotations[0].document.format if annotations else ""
    return by_suffix(path) or (own if own in FORMATS else "conll")


def render(annotations: Sequence[Annotation], path: Path, *, format: str) -> dict[Path, str | bytes]:
    """Return the files that hold some annotations, such as the golds of results.

    A format with one document in a file needs a folder for several documents.
    """
    chosen = choose(format)
    lone = len(annotations) == 1 and path.name.lower().endswith(SUFFIXES[format])
    given = named_after(annotations, path) if lone and format not in NAMED else annotations
    form = FORMS.get(format, {}).get(path.suffix.lower(), "") if lone else ""
    content = _in_form(given, format, form, path) if form else chosen.write(given)
    if isinstance(content, str):
        return {path: content}
    if len(content) == 1 and (path.suffix or path == STANDARD_OUTPUT) and not path.is_dir():
        return {path: next(iter(content.values()))}
    if path == STANDARD_OUTPUT:
        raise InputError(f"-o: found no file name, expected one: this is {len(content)} files of {format}")
    if any(name.startswith("*") for name in content):
        return {path.parent / name.replace("*", path.stem, 1): text for name, text in content.items()}
    if not lone and path.name.lower().endswith(SUFFIXES[format]):
        found = f"{len(annotations)} documents"
        raise InputError(f"{path}: found {found}, expected a folder as output: {format} has one in a file")
    folder = path.parent if lone else path
    return {folder / name: text for name, text in content.items()}


def gold_files(
    golds: Sequence[Annotation], name: str, *, format: str | None = None
) -> dict[str, str | bytes]:
    """Return the files that hold the golds of a document or several, by their place in a folder of results.

    They are called `name`, with the ending of their format; unless one is given, it is that of the first
    gold's own document, so that each gold is the first annotator's file with the chains replaced. Several
    golds in a format with one document in a file come in a folder `name`, and so do the files of a project.
    Of a project archive each document is a file by itself, to upload.
    """
    chosen = format or output_format(golds, Path())
    if chosen == "inception":
        documents = cast(Archived, choose(chosen)).merged_documents(golds).values()
        return {f"{name}.xmi": content for content in documents}
    own = Path(golds[0].document.source).suffix.lower() if golds else ""
    endings = SUFFIXES.get(chosen, ("",))
    ending = own if own in endings and golds[0].document.format == chosen else endings[0]
    whole = len(golds) == 1 or chosen in NAMED
    place = Path(name, Path(name).name) if chosen == "mmax" and whole else Path(name)
    files = render(golds, place.with_name(f"{place.name}{ending}") if whole else place, format=chosen)
    return {path.as_posix(): content for path, content in files.items()}


def _in_form(annotations: Sequence[Annotation], format: str, form: str, path: Path) -> Content:
    """Write a file in the form that its name asks for, or refuse a name that asks for another."""
    content = cast(Formed, choose(format)).write(annotations, form=form)
    written = Path(next(iter(content))).suffix
    if written != form:
        expected = f"{path.stem}{written}, the form of what the chains go into"
        raise InputError(f"{path}: found a name for another form of {format}, expected {expected}")
    return content


def companions(path: Path) -> list[Path]:
    """Name the other files that are read with a file: a text beside it, the parts of a project."""
    name = by_suffix(path)
    return cast(Accompanied, choose(name)).companions(path) if name in ACCOMPANIED else []


def read_each(path: Path, format: str, annotator: str, choices: ReadOptions | None = None) -> Iterator[Each]:
    """Yield each document of a file that may hold many, with what is wrong with it if it is malformed."""
    for name, one in cast(Numerous, choose(format)).read_each(path, annotator, choices):
        if isinstance(one, FormatError):
            yield name, one
        else:
            yield name, replace(one, document=replace(one.document, format=format))


def split_project(path: Path, choices: ReadOptions | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield the name of each document of a project that there is work on with an archive of it alone."""
    return cast(Archived, choose("inception")).split(path, choices)


def read_project(path: Path, data: bytes, choices: ReadOptions | None = None) -> list[Annotation]:
    """Read an archive of one document that was cut out of a file, with the format noted."""
    found = cast(Archived, choose("inception")).read_split(path, data, choices)
    return [replace(one, document=replace(one.document, format="inception")) for one in found]


def rehearse(annotations: Sequence[Annotation], path: Path, *, format: str) -> None:
    """Refuse, before any work is done, what could not be written in the end whatever the chains."""
    bare = [replace(annotation, chains=(), singletons=()) for annotation in annotations]
    render(bare, path, format=format)


def takes_a_folder(format: str) -> bool:
    """Tell whether an output in this format may be a folder."""
    return format not in NAMED


def made_below(path: Path, files: Mapping[Path, str | bytes]) -> Path | None:
    """Return the folder below which folders may be made for some files; none for just one file."""
    return path.parent if files.keys() - {path} else None


def losses(annotations: Iterable[Annotation], format: str) -> tuple[Finding, ...]:
    """Say what of some annotations a format cannot carry."""
    chosen = choose(format)
    return tuple(finding for annotation in annotations for finding in chosen.losses(annotation))
