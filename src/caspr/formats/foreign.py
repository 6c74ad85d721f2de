"""Files that are not read: what they are, which format is nearest, and how to get there.

A message about a NUL character helps nobody who gave a Word document; one that names it, and says what to
export instead, does. Most files that are not read come from a program that has another export, or differ from
a format that is read only in the names of fields. Each `Kind` of text is recognised by a sign of its own in
the beginning of the file, binary files by their first bytes; what has no sign is named by its shape: JSON,
XML, a table or plain text.

    {"text": "Anna slept.", "_input_hash": 1, ...}     an export of Prodigy; fastcoref is near
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from caspr.errors import FormatError, InputError

Named = tuple[str, str]
"""What a file is, and what is expected in its place."""
_WORDS = 'a line {"doc_key": "a", "sentences": [["A", "girl"]], "clusters": [[[0, 1]]]} for each document'
_CHARACTERS = 'a line {"doc_key": "a", "text": "A girl", "clusters": [[[0, 6]]]} for each document'
_ROWS = 20
"""How many rows of a table are examined."""
_WORDS_OF_A_TEXT = 3


def near(format: str, how: str) -> str:
    """Say what to do, and which format is nearest."""
    return f"{how} (the nearest format is {format}, see docs/formats/{format}.md)"


class Signs(Enum):
    """What shows that a file has a format that is read."""

    NONE = "nothing"
    VAGUE = "a name that other files have, too"
    NAME = "its name"
    CONTENT = "its content"
    COLUMNS = "its content, as columns of text"


@dataclass(frozen=True)
class Kind:
    """A kind of file that is not read."""

    name: str
    sign: str
    """A pattern that only such files have."""
    expected: str
    always: bool = False
    """Whether the sign decides even if the file looks like a format that is read."""


_KINDS = (
    Kind("an export of Prodigy", r'"_(?:input|task)_hash"\s*:', near("fastcoref", _CHARACTERS)),
    Kind("an export of doccano", r'"(?:start_offset|end_offset)"\s*:', near("fastcoref", _CHARACTERS)),
    Kind(
        "an export of doccano, without relations",
        r'"label"\s*:\s*\[\s*\[\s*\d+\s*,\s*\d+\s*,\s*"',
        near("fastcoref", _CHARACTERS),
    ),
    Kind(
        "the output of AllenNLP",
        r'"(?:top_spans|predicted_antecedents)"\s*:',
        near("jsonlines", f"{_WORDS}: its `document` is one long sentence"),
    ),
    Kind("the output of CoreNLP", r'"corefs"\s*:\s*\{', near("jsonlines", _WORDS), always=True),
    Kind("a file of coref-data", r'"coref_chains"\s*:\s*\[', near("jsonlines", _WORDS), always=True),
    Kind(
        "the export JSON-MIN of Label Studio, which has no relations",
        r'"label"\s*:\s*\[\s*\{[^}]*"labels"',
        near("labelstudio", "the export JSON: choose it in Label Studio"),
    ),
    Kind(
        "an export of Potato, which has no links",
        r'"instance_id"\s*:[^{]*"user_id"\s*:|"displayed_text"\s*:.*"span_annotations"\s*:',
        near("potato", "Potato's own files: the folder annotation_output of the project"),
    ),
    Kind(
        "LitBank's table of mentions",
        r"\A(?:MENTION|COREF|COP|APPOS)\tT[0-9]",
        near("brat", "the file of the same name in coref/brat or coref/conll of LitBank"),
        always=True,
    ),
    Kind(
        "WebAnno TSV without its header",
        r"\A\s*[0-9]+-[0-9]+\t[0-9]+-[0-9]+\t\S",
        near("webanno", "the line `#FORMAT=WebAnno TSV 3.3` and those of the layers first: export it again"),
    ),
    Kind(
        "a type system of UIMA",
        r"<(?:\w+:)?typeSystemDescription\b",
        near("cas", "the .xmi file beside it, with the annotations"),
    ),
    Kind(
        "a part of an MMAX2 project",
        r"\A\s*(?:<[?!][^>]*>\s*)*<(?:words|markables|common_paths)\b",
        near("mmax", "the .mmax file of the project"),
    ),
    Kind(
        "a TEI document",
        r"<(?:\w+:)?(?:TEI|TEI\.2|teiCorpus)\b",
        near("brat", "its text in a file .txt, and its mentions and links in a file .ann"),
    ),
    Kind("a NAF or KAF document", r"<(?:NAF|KAF)\b", near("jsonlines", _WORDS)),
    Kind("the output of CoreNLP", r"<coreference>\s*<coreference\b", near("jsonlines", _WORDS)),
    Kind("a file of Glozz", r"<annotations>[\s\S]*<unit id=", near("brat", "a file .txt and a file .ann")),
    Kind("a file of ECB+ or CAT", r"<token t_id=", near("jsonlines", _WORDS)),
    Kind(
        "a schema of SACR, which has no text",
        r"\APROP:name=",
        near("sacr", "the files with the texts: move the schema away"),
        always=True,
    ),
    Kind(
        "a web page",
        r"(?i)\A\s*(?:<!doctype html|<html\b)",
        near("brat", "a plain text and its annotations; a download may have failed"),
        always=True,
    ),
)
"""Kinds of text, by what they have in them."""
_ROOT = re.compile(r"\A\s*(?:<\?[^>]*\?>\s*|<!--[\s\S]*?-->\s*|<![^>]*>\s*)*<([A-Za-z_][\w.:-]*)")
_PLACE = re.compile(r"start|begin|from|first|offset|token|sentence", re.IGNORECASE)
_ENTITY = re.compile(r"cluster|chain|entity|coref|eid|referent", re.IGNORECASE)
_CELL = re.compile(r"[\w .#/-]{0,40}")
_TAG = re.compile(r"O|[BIESLU]-\S+")


def nearest(text: str, signs: Signs = Signs.NONE) -> Named | None:
    """Recognise a text of which no format is known; `None` if it may be columns.

    >>> nearest('{"x": 1}')[0], nearest("<book>A girl</book>")[0], nearest("Anna - (1)")
    ('JSON of an unknown kind', 'XML of an unknown kind (<book>)', None)
    """
    if signs in (Signs.CONTENT, Signs.COLUMNS):
        return _kind(text, [kind for kind in _KINDS if kind.always])
    shapes: Sequence[Callable[[str], Named | None]] = (_json, _xml, _mentions, _tags, _prose)
    if signs is Signs.NAME:
        shapes = (_mentions,)
    return _kind(text, _KINDS) or next((named for shape in shapes if (named := shape(text))), None)


def _kind(text: str, kinds: Sequence[Kind]) -> Named | None:
    return next(((kind.name, kind.expected) for kind in kinds if re.search(kind.sign, text)), None)


def _json(text: str) -> Named | None:
    if not re.match(r'\s*(?:\{\s*["}]|\[\s*[\[{"\d\]])', text):
        return None
    return "JSON of an unknown kind", near("jsonlines", f"{_WORDS}; with characters, {_CHARACTERS}")


def _xml(text: str) -> Named | None:
    root = _ROOT.match(text)
    if root is None:
        return None
    how = "XML of GATE, a CAS as XMI, CorefAnnotator's XMI or an MMAX2 project: export one of them, or brat"
    return f"XML of an unknown kind (<{root[1][:40]}>)", near("brat", how)


def rows(text: str) -> list[str]:
    """Return the first rows of a table, without comments."""
    return [row for row in text.splitlines()[:_ROWS] if row.strip(";, \t") and not row.startswith("#")]


def _mentions(text: str) -> Named | None:
    """Recognise a table with a row for each mention, by its first row."""
    head = re.split(r"[\t;,]", rows(text)[0]) if rows(text) else []
    if len(head) < 3 or not all(map(_CELL.fullmatch, head)):
        return None
    if not any(map(_PLACE.search, head)) or not any(map(_ENTITY.search, head)):
        return None
    return "a table with a row for each mention", near("fastcoref", f"{_CHARACTERS}; with words, {_WORDS}")


def _tags(text: str) -> Named | None:
    """Recognise words with the labels of named entities."""
    last = [row.split()[-1] for row in rows(text) if len(row.split()) > 1]
    if not last or not all(map(_TAG.fullmatch, last)) or set(last) == {"O"}:
        return None
    found = "named entities in columns (BIO), which have no chains"
    return found, near("conll", "the chains in the last column, `(1`, `1)` or `(1)`")


def _prose(text: str) -> Named | None:
    """Recognise a text without annotations: sentences or words, and no column in which chains could be."""
    lines = rows(text)
    columns = any("\t" in row or re.search(r"\(\d|\d\)|(?:^|\s)[-_*]$", row) for row in lines)
    words = [word for row in lines for word in row.split() if re.search(r"[^\W\d_]{2}", word)]
    if columns or len(words) < _WORDS_OF_A_TEXT:
        return None
    return "a text without annotations", near("brat", "the file that the annotation tool exported")


_EXPORT = "annotations in a format of docs/formats.md: export them from the tool they were made in"
_PYTHON = near("jsonlines", "a text file: write one from Python, see docs/python.md")
_FETCH = "the file that it stands for: fetch it with {}, or download it from the web page of the repository"
_TABS = "tabs or spaces between columns: save it as text with tabs, in UTF-8"
_MAGIC: Mapping[bytes, tuple[str, str]] = {
    b"%PDF-": ("a PDF file", _EXPORT),
    b"{\\rtf": ("a text with layout (RTF)", _EXPORT),
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": ("an old Word or Excel file", _EXPORT),
    b"PAR1": ("a Parquet file", _PYTHON),
    b"ARROW1": ("an Arrow file", _PYTHON),
    b"\x80\x04\x95": ("a pickle of Python, which is never opened", _PYTHON),
    b"\x80\x05\x95": ("a pickle of Python, which is never opened", _PYTHON),
    b"SQLite format 3\0": ("a database (SQLite)", _EXPORT),
    b"\xac\xed\0\x05": ("a file that Java alone can read (.ser)", _EXPORT),
    b"\x89PNG": ("a picture", _EXPORT),
    b"\xff\xd8\xff": ("a picture", _EXPORT),
    b"version https://git-lfs": (
        "a pointer of Git LFS, not the file itself",
        _FETCH.format("`git lfs pull`"),
    ),
    b"/annex/objects/": ("a pointer of git-annex, not the file itself", _FETCH.format("`git annex get`")),
    b"HBEGIN:oc_encryption_module": (
        "a file that Nextcloud or ownCloud encrypted",
        "the file itself: download it again from that server",
    ),
    b"x\x9c": ("a file packed by zlib, such as a DocBin of spaCy", _PYTHON),
}
"""How files of other programs begin."""
_PARTS: Mapping[bytes, tuple[str, str]] = {
    b"word/": ("a Word document", _EXPORT),
    b"xl/": ("an Excel workbook", f"annotations as text, not a workbook, with {_TABS}"),
    b"ppt/": ("a PowerPoint presentation", _EXPORT),
    b"mimetypeapplication/vnd.oasis.opendocument": ("an OpenDocument file", _EXPORT),
}
"""What the archives of office programs have in them."""
_WRITTEN = (".md", ".html", ".htm")
"""How names of files end that are about annotations."""
_OFFICE = (".doc", ".docx", ".odt", ".rtf", ".pdf", ".xls", ".xlsx", ".ods", ".ppt", ".pptx")
"""How names of files end that hold no annotations."""
_SEPARATORS = {";": "semicolons", ",": "commas"}


def has_foreign_name(path: str) -> bool:
    """Return whether a file has the name of one that holds no annotations.

    >>> has_foreign_name("anna/Guidelines.DOCX"), has_foreign_name("anna/d1.conll")
    (True, False)
    """
    return path.lower().endswith((*_OFFICE, *_WRITTEN))


def refuse_foreign_name(output: Path) -> None:
    """Refuse to write annotations under a name that another program would open, such as `gold.docx`."""
    if output.suffix.lower() in _OFFICE:
        raise InputError(
            f"{output}: this is the name of a file of another program: end it in .conll, .conllu or another "
            "suffix of docs/formats.md, or choose a format with --to"
        )


def refuse_foreign(path: Path, head: bytes, signs: Signs) -> None:
    """Raise `FormatError` if a file begins like one of another program."""
    kind = foreign(head, signs)
    if kind is not None:
        raise FormatError(1, *kind, str(path))


def foreign(head: bytes, signs: Signs = Signs.NONE) -> tuple[str, str] | None:
    """Return what kind of foreign file begins so, and what is expected instead; `None` for any other.

    >>> foreign(b"%PDF-1.7")[0], foreign(b"1\\tJohn\\t(1)\\n")
    ('a PDF file', None)
    """
    for magic, words in _MAGIC.items():
        if head.startswith(magic):
            return words
    if head.startswith(b"PK\x03\x04"):
        office = b"[Content_Types].xml" in head or b"mimetypeapplication/vnd.oasis" in head[:200]
        return next((words for part, words in _PARTS.items() if office and part in head), None)
    text = head.decode("utf-8", "replace").removeprefix("\ufeff")
    kind = nearest(text, signs)
    if kind is None and signs in (Signs.NONE, Signs.VAGUE, Signs.COLUMNS):
        kind = _table(text)
    if kind is None and signs is Signs.VAGUE:
        return "a file of an unknown kind" if text.strip() else "an empty file", _EXPORT
    return kind


def _table(text: str) -> tuple[str, str] | None:
    """Recognise rows whose cells are separated by semicolons or commas, each with as many cells."""
    lines = rows(text)
    for separator, name in _SEPARATORS.items():
        cells = {len(row.split(separator)) for row in lines}
        if len(lines) > 1 and len(cells) == 1 and cells.pop() > 2 and not any(map(_BLANK.search, lines)):
            return f"a table with {name} between its columns", _TABS
    return None


_BLANK = re.compile(r"[\t<{]|\S {2,}\S")
"""What rows of other formats have: tabs, several spaces, markup."""
