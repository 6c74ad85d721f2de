"""Files of other programs: Word, Excel, PDF and tables with other separators, recognised to be named.

People try what they have. A message about a NUL character helps nobody who gave a Word document; one that
names it, and says what to export instead, does.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from caspr.errors import FormatError

_EXPORT = "annotations in a format of docs/formats.md: export them from the tool they were made in"
_TABS = "tabs or spaces between columns: save it as text with tabs, in UTF-8"
_MAGIC: Mapping[bytes, tuple[str, str]] = {
    b"%PDF-": ("a PDF file", _EXPORT),
    b"{\\rtf": ("a text with layout (RTF)", _EXPORT),
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": ("an old Word or Excel file", _EXPORT),
}
"""How files of other programs begin."""
_PARTS: Mapping[bytes, tuple[str, str]] = {
    b"word/": ("a Word document", _EXPORT),
    b"xl/": ("an Excel workbook", f"annotations as text, not a workbook, with {_TABS}"),
    b"ppt/": ("a PowerPoint presentation", _EXPORT),
    b"mimetypeapplication/vnd.oasis.opendocument": ("an OpenDocument file", _EXPORT),
}
"""What the archives of office programs have in them."""
_SEPARATORS = {";": "semicolons", ",": "commas"}
_ROWS = 20
"""How many rows of a table are examined."""


def refuse_foreign(path: Path, head: bytes) -> None:
    """Raise `FormatError` if a file begins like one of another program, or like a table."""
    found = foreign(head)
    if found is not None:
        raise FormatError(str(path), 1, *found)


def foreign(head: bytes) -> tuple[str, str] | None:
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
    return _table(head.decode("utf-8", "replace").removeprefix("\ufeff"))


def _table(text: str) -> tuple[str, str] | None:
    """Recognise rows whose cells are separated by semicolons or commas, each with as many cells."""
    rows = [row for row in text.splitlines()[:_ROWS] if row.strip(";, \t") and not row.startswith("#")]
    for separator, name in _SEPARATORS.items():
        cells = {len(row.split(separator)) for row in rows}
        if len(rows) > 1 and len(cells) == 1 and cells.pop() > 2 and not any(map(_BLANK.search, rows)):
            return f"a table with {name} between its columns", _TABS
    return None


_BLANK = re.compile(r"[\t<{]|\S {2,}\S")
"""What rows of other formats have: tabs, several spaces, markup."""
