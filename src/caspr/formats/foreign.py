"""Files of other programs: Word, Excel, PDF, databases and tables with other separators, to be named.

A message about a NUL character helps nobody who gave a Word document; one that names it, and says what to
export instead, does. Texts of unknown formats are named by `nearest`.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from caspr.errors import FormatError, InputError
from caspr.formats.nearest import Signs, near, nearest, rows

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
    """Return whether a file is called like one that holds no annotations.

    >>> has_foreign_name("anna/Guidelines.DOCX"), has_foreign_name("anna/d1.conll")
    (True, False)
    """
    return path.lower().endswith((*_OFFICE, *_WRITTEN))


def refuse_foreign_name(output: Path) -> None:
    """Refuse to write annotations under a name that another program would open, such as `gold.docx`."""
    if output.suffix.lower() in _OFFICE:
        raise InputError(
            f"{output}: found the name of a file of another program, expected a format of docs/formats.md: "
            "end the name in .conll, .conllu or another of these, or choose one with --to"
        )


def refuse_foreign(path: Path, head: bytes, signs: Signs) -> None:
    """Raise `FormatError` if a file begins like one of another program."""
    found = foreign(head, signs)
    if found is not None:
        raise FormatError(str(path), 1, *found)


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
    found = nearest(text, signs)
    if found is None and signs in (Signs.NONE, Signs.VAGUE, Signs.COLUMNS):
        found = _table(text)
    if found is None and signs is Signs.VAGUE:
        return "a file of an unknown kind" if text.strip() else "an empty file", _EXPORT
    return found


def _table(text: str) -> tuple[str, str] | None:
    """Recognise rows whose cells are separated by semicolons or commas, each with as many cells."""
    given = rows(text)
    for separator, name in _SEPARATORS.items():
        cells = {len(row.split(separator)) for row in given}
        if len(given) > 1 and len(cells) == 1 and cells.pop() > 2 and not any(map(_BLANK.search, given)):
            return f"a table with {name} between its columns", _TABS
    return None


_BLANK = re.compile(r"[\t<{]|\S {2,}\S")
"""What rows of other formats have: tabs, several spaces, markup."""
