"""The table of formats: which there are, which one a file has, and how to write it.

1. A file's format is the first in the table whose `detect` recognises its content; else the one whose
   suffix its name has; else the first format, CoNLL, whose messages say what is wrong.
2. An output's format is the one whose suffix its name has, else that of the first document's own file.

The table holds names, and a module is imported when its record is asked for. Questions go through the
table in order and stop at the first answer, so the most frequent format comes first and pays for no
other: CoNLL files are recognised, read and written without importing a parser of XML or zip.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path, PurePath

from caspr.errors import FormatError, InputError, reading
from caspr.formats.containers.gzip import beginning, is_gzip
from caspr.formats.foreign import Signs, refuse_foreign
from caspr.formats.format import Content, Each, Format, Forms, ReadOptions
from caspr.formats.naming import bare_name, named_after
from caspr.storage import read_bytes
from caspr.text.document import Annotation, Document
from caspr.text.findings import Finding

_HEAD = 1 << 16
"""How many bytes of a file are examined to find its format."""
_LONGEST = 1 << 26
"""How many bytes of JSON are examined: the field that shows its format may come after a whole text."""
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*[{\[]")
_JSON_LINE = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{[^\n]*\}[ \t\r]*\n")
"""An object on a line of its own, which shows the format of all lines."""
STANDARD_OUTPUT = Path("-")
"""The file name that stands for standard output."""


_SHARED = dict.fromkeys(("jsonlines", "wlcoref", "fastcoref", "preco", "rucoco"), "json_documents")
"""The formats that have no module of their own name, and the one that holds their records."""


class _Modules(Mapping[str, Format]):
    """The record of each format, made when its module is imported."""

    def __init__(self, *names: str) -> None:
        self._names = names
        self._records: dict[str, Format] = {}

    def __getitem__(self, name: str) -> Format:
        if name not in self._records:
            if name not in self._names:
                raise KeyError(name)
            module = import_module(f"caspr.formats.{_SHARED.get(name, name)}")
            self._records[name] = module.FORMATS[name] if name in _SHARED else module.FORMAT
        return self._records[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


FORMATS: Mapping[str, Format] = _Modules(
    "conll",
    "conllua",
    "corefud",
    "jsonlines",
    "wlcoref",
    "fastcoref",
    "preco",
    "brat",
    "gate",
    "mmax",
    "webanno",
    "potato",
    "inception",
    "corefannotator",
    "cas",
    "rucoco",
    "labelstudio",
    "sacr",
    "asp",
    "soft",
)
"""All formats by name, in the order in which they are tried."""


def _all_but(names: Iterable[str], left_out: str) -> tuple[str, ...]:
    return tuple(name for name in names if name != left_out)


READ = _all_but(FORMATS, "soft")
"""The formats that can be read; files of the other say what annotators do not."""
WRITTEN = _all_but(FORMATS, "potato")
"""The formats that can be written; golds of the other are CoNLL unless another is named."""
EXPORTED = _all_but(WRITTEN, "inception")
"""The formats that any document is written in; the other is written into the project that was read."""


def choose(name: str) -> Format:
    """Return a format, or refuse an unknown name."""
    if name not in FORMATS:
        raise InputError(f"unknown format {name!r}: choose one of {', '.join(FORMATS)}")
    return FORMATS[name]


def detect(path: Path) -> str:
    """Return the name of a file's format; refuse a file of another program, such as a Word document."""
    if not path.is_file():
        return recognise(path) or by_suffix(path) or next(iter(FORMATS))
    first = next(iter(FORMATS))
    head = _beginning(path)
    shown = by_content(path, head)
    if not is_gzip(head):
        refuse_foreign(path, head[:_HEAD], _signs(path, shown))
        return shown or by_suffix(path) or first
    name = shown or by_suffix(path) or first
    if not FORMATS[name].packed:
        expected = "the file that is packed in it: unpack it, for example with `gunzip`"
        raise FormatError(None, "a file packed by gzip", expected, str(path))
    return name


def _signs(path: Path, shown: str | None) -> Signs:
    """Return what shows the format of a file, of which `shown` is what its content shows."""
    first = next(iter(FORMATS))
    if shown is not None:
        return Signs.COLUMNS if shown == first else Signs.CONTENT
    if by_suffix(path) in (None, first):
        return Signs.NONE
    return Signs.VAGUE if _by_clear_suffix(path) is None else Signs.NAME


def recognise(path: Path) -> str | None:
    """Return the name of a file's format if its content or its name shows it.

    A pipe is not examined: it can be read only once.
    """
    if path.is_dir():
        return folder_format(path) or by_suffix(path)
    if path.exists() and not path.is_file():
        return by_suffix(path)
    return by_content(path, _beginning(path)) or _by_clear_suffix(path)


def _beginning(path: Path) -> bytes:
    """Read as much of a file as is examined to find its format."""
    head = read_bytes(path, _HEAD)
    is_longer = len(head) == _HEAD and _JSON.match(head) and not _JSON_LINE.match(head)
    return read_bytes(path, _LONGEST) if is_longer else head


def _examined(data: bytes) -> bytes:
    """Return what of a file shows its format; of JSON that is the first line, if it is an object, or all."""
    if not _JSON.match(data):
        return data[:_HEAD]
    line = _JSON_LINE.match(data)
    return data[: max(_HEAD, line.end())] if line else data[:_LONGEST]


def _by_clear_suffix(path: Path) -> str | None:
    """Return the format whose suffix a file's name has, unless files of other kinds have it, too."""
    named = by_suffix(path)
    vague = named is not None and path.name.lower().endswith(FORMATS[named].vague_suffixes)
    return None if vague else named


def by_content(path: Path, data: bytes) -> str | None:
    """Return the name of the format that recognises the beginning of a file."""
    data = beginning(data, _HEAD) if is_gzip(data) else _examined(data)
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    head = data.decode("utf-16" if wide else "utf-8", "replace").removeprefix("\ufeff")
    with reading(path):
        return next((name for name, format in FORMATS.items() if format.detect(path, head)), None)


def by_suffix(path: Path) -> str | None:
    """Return the format whose suffix a file's name has, if there is one."""
    name = path.name.lower()
    if "." not in name:
        return None
    for number, format in enumerate(FORMATS.values()):
        if name.endswith(format.suffixes):
            longer = _longer(name, format.name) if number else None
            return longer or format.name
    return None


def _longer(name: str, shorter: str) -> str | None:
    """Return the format of a longer suffix that a name has, such as `.fastcoref.jsonl`."""
    if name.count(".") < 2:
        return None
    every = ((suffix, format.name) for format in FORMATS.values() for suffix in format.suffixes)
    best = max((pair for pair in every if name.endswith(pair[0])), key=lambda pair: len(pair[0]))[1]
    return best if best != shorter else None


def is_named_after_file(document: Document) -> bool:
    """Return whether a document was read from a file that does not name it."""
    if document.nameless:
        return True
    return document.format in FORMATS and not FORMATS[document.format].many_documents


def output_format(annotations: Sequence[Annotation], path: Path) -> str:
    """Choose the format to write."""
    own = annotations[0].document.format if annotations else ""
    known = FORMATS[own] if own in WRITTEN else None
    if known is not None and _has_suffix(path, known):
        return known.name
    return by_suffix(path) or (known.name if known is not None else next(iter(FORMATS)))


def _has_suffix(path: Path, format: Format) -> bool:
    """Return whether files of a format may have the name of a file."""
    return path.name.lower().endswith((*format.suffixes, *format.shared_suffixes))


def render(annotations: Sequence[Annotation], path: Path, *, format: str) -> dict[Path, str | bytes]:
    """Return the files that hold some annotations, such as the golds of results.

    A format with one document in a file needs a folder for several documents.
    """
    chosen = choose(format)
    suffixed = _has_suffix(path, chosen)
    lone = len(annotations) == 1 and suffixed
    named = named_after(annotations, path) if lone and not chosen.many_documents else annotations
    content = _in_form(named, chosen, chosen.forms, path) if lone and chosen.forms else chosen.write(named)
    if isinstance(content, str):
        return {path: content}
    if len(content) == 1 and (path.suffix or path == STANDARD_OUTPUT) and not path.is_dir():
        return {path: next(iter(content.values()))}
    if path == STANDARD_OUTPUT:
        raise InputError(f"-o: give a file name: {format} makes {len(content)} files of this")
    if any(name.startswith("*") for name in content):
        return {path.parent / name.replace("*", path.stem, 1): text for name, text in content.items()}
    if not lone and suffixed:
        raise InputError(
            f"{path}: {format} has one document in a file: give a folder as output for {len(annotations)}"
        )
    folder = path.parent if lone else path
    return {folder / name: text for name, text in content.items()}


def gold_files(
    golds: Sequence[Annotation], name: str, *, format: str | None = None
) -> dict[str, str | bytes]:
    """Return the files that hold the golds of a document or several, by their place in a folder of results.

    They are called `name`, with the suffix of their format; unless one is given, it is that of the first
    gold's own document, so that each gold is the first annotator's file with the chains replaced. Several
    golds in a format with one document in a file come in a folder `name`, and so do the files of a project.
    Of a project archive each document is a file by itself, to upload.
    """
    chosen = choose(format or output_format(golds, Path()))
    if chosen.write_apart is not None:
        apart = chosen.write_apart(golds)
        return {f"{name}{Path(file).suffix}": content for file, content in apart.items()}
    suffix = _own_suffix(golds, chosen) or chosen.suffixes[0]
    whole = len(golds) == 1 or chosen.many_documents
    target = Path(name, Path(name).name) if chosen.project_suffixes and whole else Path(name)
    files = render(golds, target.with_name(f"{target.name}{suffix}") if whole else target, format=chosen.name)
    return {path.as_posix(): content for path, content in files.items()}


def _own_suffix(golds: Sequence[Annotation], format: Format) -> str:
    """Return the suffix of the first gold's own file, if it is one of the format."""
    if not golds or golds[0].document.format != format.name:
        return ""
    name = Path(golds[0].document.source).name.lower()
    shared = (suffix for suffix in format.shared_suffixes if suffix not in format.vague_suffixes)
    every = sorted((*format.suffixes, *shared), key=len, reverse=True)
    return next((suffix for suffix in every if name.endswith(suffix)), "")


def _in_form(annotations: Sequence[Annotation], format: Format, forms: Forms, path: Path) -> Content:
    """Write a file in the form that its name asks for, or refuse a name that asks for another."""
    name = path.name.lower()
    form = next(form for suffix, form in forms.by_suffix.items() if name.endswith(suffix))
    content = forms.write(annotations, form)
    first = next(iter(content))
    if not first.endswith(form):
        written = Path(first).suffix
        raise InputError(
            f"{path}: this is the name of another form of {format.name}: call it {path.stem}{written}: "
            "the chains go into a file of that form"
        )
    return content


def companions(path: Path) -> list[Path]:
    """Return the other files that are read with a file: a text beside it, the parts of a project."""
    name = by_suffix(path)
    return FORMATS[name].companions(path) if name else []


def folder_format(folder: Path) -> str | None:
    """Return the format of a folder that is one unpacked file, if it is any."""
    return next((name for name, format in FORMATS.items() if format.detect_folder(folder)), None)


def is_no_annotator(path: Path) -> bool:
    """Return whether a file was unpacked from an archive and is nobody's work."""
    named = by_suffix(path)
    if named == next(iter(FORMATS)):
        return False
    return any(format.is_no_annotator(path) for format in FORMATS.values())


def without_suffix(path: PurePath) -> str:
    """Return a file's name without its suffix, which for some formats has two parts.

    >>> without_suffix(Path("x/one.wlcoref.jsonlines")), without_suffix(Path("wsj.0001.conll"))
    ('one', 'wsj.0001')
    """
    name = path.name.lower()
    ending = next((suffix for suffix in _long_suffixes() if name.endswith(suffix)), None)
    return bare_name(path) if ending is None else path.name[: -len(ending)]


@cache
def _long_suffixes() -> tuple[str, ...]:
    """Return the suffixes that have several parts."""
    return tuple(suffix for format in FORMATS.values() for suffix in format.suffixes if suffix.count(".") > 1)


def project_suffixes() -> tuple[str, ...]:
    """Return the suffixes of files whose documents are projects, each in a folder."""
    return tuple(
        suffix for format in FORMATS.values() if format.project_suffixes for suffix in format.suffixes
    )


def read_each(path: Path, format: str, annotator: str, options: ReadOptions) -> Iterator[Each]:
    """Yield each document of a file that may hold many, with what is wrong with it if it is malformed."""
    chosen = choose(format)
    with reading(path):
        if chosen.read_each is None:
            documents: Iterable[Each] = [
                (annotation.document.name, annotation) for annotation in chosen.read(path, annotator, options)
            ]
        else:
            documents = chosen.read_each(path, annotator, options)
        for name, document in documents:
            if isinstance(document, FormatError):
                yield name, document.within(path)
            else:
                yield name, with_format(document, format)


def read_piece(
    format: str, path: Path, content: bytes, *, annotator: str, line: int, options: ReadOptions
) -> list[Annotation]:
    """Read one document that was cut out of a file, from the line where it begins there."""
    cutting = choose(format).cutting
    assert cutting is not None
    with reading(path):
        annotations = cutting.read(path, content, annotator, line, options)
    return [with_format(annotation, format) for annotation in annotations]


def with_format(annotation: Annotation, format: str) -> Annotation:
    """Note in a document which format it was read from."""
    return replace(annotation, document=replace(annotation.document, format=format))


def rehearse(annotations: Sequence[Annotation], path: Path, *, format: str) -> None:
    """Refuse, before any work is done, what could not be written in the end whatever the chains."""
    bare = [replace(annotation, chains=(), singletons=()) for annotation in annotations]
    render(bare, path, format=format)


def takes_a_folder(format: str) -> bool:
    """Return whether an output in this format may be a folder."""
    return not FORMATS[format].many_documents


def made_below(path: Path, files: Mapping[Path, str | bytes]) -> Path | None:
    """Return the folder below which folders may be made for some files; none for just one file."""
    return path.parent if files.keys() - {path} else None


def losses(annotations: Iterable[Annotation], format: str) -> tuple[Finding, ...]:
    """Return what of some annotations a format cannot carry."""
    chosen = choose(format)
    return tuple(finding for annotation in annotations for finding in chosen.losses(annotation))
