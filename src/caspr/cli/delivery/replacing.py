"""Which files an output may replace: no decisions, and no annotations that CaspR did not write.

A command may be repeated, so that its outputs of an earlier call are replaced. What may be somebody's work is
refused:

    a review file       is replaced if it holds no decisions and no notes, or if the new one holds them, too;
    a gold standard     is replaced, and only such a file or a review file becomes one;
    other annotations   become a file that was converted, if they are in the format that is written;
    a companion         such as brat's text is replaced with the file it belongs to, if that was there;
    reports, tables     replace anything but review files with decisions, and annotations.

An empty file, and one that holds already what is to be written, are never refused.
"""

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path

from caspr.errors import CasprError, InputError
from caspr.files import is_stream, read_bytes
from caspr.formats import review_file
from caspr.formats.registry import STANDARD_OUTPUT, by_content
from caspr.formats.review_file.authors import number_of_acts
from caspr.formats.review_file.review import HEADER, Review
from caspr.formats.sources import is_gold
from caspr.text.findings import times

_GOLD = re.compile(rb"caspr[ _=-]?gold", re.IGNORECASE)
"""How formats mark a gold standard."""
_REVIEW = re.compile(rb"^(?:\xef\xbb\xbf)?" + re.escape(HEADER.encode()), re.MULTILINE)
_NOTE = "note"
"""What a note is called among decisions."""
_REMEDY = "choose another name, or move or delete that file first"


class Content(Enum):
    """What an output holds."""

    RESULT = "result"
    """A gold standard or a review file."""
    CONVERTED = "converted"
    """Annotations of any origin."""
    OTHER = "other"
    """Anything else: reports, tables, figures, proofs."""


def refuse_before(path: Path, content: Content, *, decided: bool) -> None:
    """Refuse a file that cannot be replaced, as far as that is known before there is anything to write.

    `decided` says that the new file may hold the decisions of the old one.
    """
    old = _old(path)
    if old is None:
        return
    if _REVIEW.search(old):
        if not decided:
            _refuse_losing(path, old, b"")
    elif content is Content.RESULT and not _is_gold(path, old):
        _refuse(path)


def refuse_replacing(files: Mapping[Path, str | bytes], content: Content) -> None:
    """Refuse files of one output that would replace what CaspR did not write, or what holds decisions."""
    new = {path: text.encode("utf-8") if isinstance(text, str) else text for path, text in files.items()}
    found = {path: old for path in new if (old := _old(path)) not in (None, new[path])}
    mains = [path for path, data in new.items() if by_content(path, data) is not None]
    result = any(_GOLD.search(data) or _REVIEW.search(data) for data in new.values())
    for path, old in found.items():
        assert old is not None
        if _REVIEW.search(old):
            _refuse_losing(path, old, new[path])
        elif content is Content.OTHER:
            if by_content(path, old) and not by_content(path, new[path]) and not _is_gold(path, old):
                _refuse(path)
        elif path not in mains and len(new) > 1:
            if not _has_owner(path, mains):
                _refuse(path, f", as a part of {_names(mains)}")
        elif not _is_gold(path, old) and (result or by_content(path, old) != by_content(path, new[path])):
            _refuse(path)


def _old(path: Path) -> bytes | None:
    """Return what a file holds that would be replaced; nothing for an empty one, or for no file."""
    if path == STANDARD_OUTPUT or not path.is_file() or is_stream(path):
        return None
    return read_bytes(path) or None


def _refuse(path: Path, part: str = "") -> None:
    raise InputError(
        f"{path}: found a file that is not known as one that CaspR wrote, and would be overwritten{part}: "
        f"{_REMEDY}"
    )


def _refuse_losing(path: Path, old: bytes, new: bytes) -> None:
    """Refuse to replace a review file by something that lacks its decisions or notes."""
    try:
        reviews = _parsed(old, path)
        held = _decided(reviews)
        kept = _decided(_parsed(new, path)) if _REVIEW.search(new) else frozenset()
        if held <= kept:
            return
        noted = sum(what == _NOTE for _, what, _ in held)
        made = sum(number_of_acts(one.decisions, one.authors) for one in reviews)
        counts = ((made, "decision"), (noted, "note"))
        found = f"with {' and '.join(times(*one) for one in counts if one[0])}, which"
    except CasprError:
        found = "that cannot be read, whose decisions"
    raise InputError(
        f"{path}: found a review file {found} would be lost: use "
        f"`caspr redo {path}` to re-optimise around them, `caspr review {path}` to resume it, or {_REMEDY}"
    )


def _parsed(data: bytes, path: Path) -> Sequence[Review]:
    return review_file.parse(data.decode("utf-8", "replace").removeprefix("\ufeff"), str(path))


def _decided(reviews: Sequence[Review]) -> frozenset[tuple[object, str, object]]:
    """Return everything that was decided or noted: in which document, what kind it is, and what it says."""
    found: set[tuple[object, str, object]] = set()
    for one in reviews:
        key, decisions = one.gold.document.key, one.decisions
        boundaries = {token for span in decisions.permitted for token in span}
        found.update((key, "cells", span) for span in decisions.permitted)
        found.update((key, "empty cell", token) for token in decisions.closed - boundaries)
        found.update((key, said.kind, said.mentions) for said in decisions.statements)
        found.update((key, "name", name) for name in decisions.names)
        found.update((key, _NOTE, note) for note in one.notes)
    return frozenset(found)


def _is_gold(path: Path, data: bytes) -> bool:
    """Return whether a file is a gold standard; the mark may be in another file, or packed."""
    return _GOLD.search(data) is not None or is_gold(path)


def _has_owner(path: Path, mains: Sequence[Path]) -> bool:
    """Return whether the file to which a companion belongs was there before."""
    named = [main for main in mains if main.stem == path.stem]
    return any(main.exists() for main in named or mains)


def _names(paths: Sequence[Path]) -> str:
    return ", ".join(str(path) for path in paths[:3])
