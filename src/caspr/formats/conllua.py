"""CoNLL-UA: the format of Universal Anaphora, with a column for each layer (ARRAU, Phrase Detectives 3).

    # global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC IDENTITY BRIDGING
    # newdoc id = d1
    1  The   _ _ _ _ _ _ _ _  (EntityID=1|MarkableID=markable_1|Min=2
    2  girl  _ _ _ _ _ _ _ _  )
    3  sang  _ _ _ _ _ _ _ _  (EntityID=2-Pseudo|MarkableID=markable_2)

1. `# global.columns` names the columns; mentions are in `IDENTITY`. All else stays to the byte: other columns
   and layers, comments, and the features of a mention that stays.
2. A mention opens with its features, of which `EntityID` is its chain. *Exclusive* brackets close with `)`
   what was opened last; *SemEval* brackets with the id of the markable, `markable_1)`. Both are read.
   Exclusive ones are written unless mentions cross, which only the others can say.
3. Markables of one id are the pieces of a mention with gaps. Rows such as `5.1` are zeros, words without
   characters.
4. What is not referring has an entity `2-Pseudo` of its own, and is read as a chain of one.
5. The feature `SemType` is the label of a mention.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path

from caspr.errors import FormatError
from caspr.formats.columns import GOLD_LINE, Line, entity_lines, is_gold, read_entities, with_entities
from caspr.formats.conllu import (
    called,
    finished,
    form,
    newdoc_line,
    read_documents,
    sentence_ends,
    sentence_prefix,
)
from caspr.formats.format import Each, Format, ReadOptions, lost_flags, quoted, removed_mentions, whole
from caspr.formats.naming import keep_ids, name_and_part
from caspr.formats.text_layer import Marked, assemble, hull, join, whole_words, widened
from caspr.text.document import Annotation, Chain, Document, Mark, Span
from caspr.text.findings import Finding, note, times

COLUMNS = re.compile(r"# *global\.columns\s*=\s*(.*?)\s*")
NAMES = ["ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC", "IDENTITY"]
"""The columns of a new file."""
LAYERS = ("SPLIT", "BRIDGING", "DISCOURSE_DEIXIS", "REFERENCE", "NOM_SEM")
"""Other layers of Universal Anaphora, which refer to mentions."""
_ITEM = re.compile(r"\(([^()]+)(\)?)|([^()]*)\)")
_ID = re.compile(r"[0-9]+(\.[0-9]+)?")
_RANGE = re.compile(r"[0-9]+-[0-9]+")
_SPELLED = {"entityid": "EntityID", "markableid": "MarkableID"}
"""Features that files spell in several ways."""
_WRITABLE = re.compile(r"[^()|=,\s]+")
Features = tuple[tuple[str, str], ...]
"""The features of a mention in order."""


@dataclass(frozen=True)
class UaMention:
    """One mention of a CoNLL-UA file."""

    features: Features
    pieces: tuple[Span, ...]

    def get(self, name: str) -> str:
        """Return a feature by its name, in which capitals do not matter; nothing where it has none."""
        return next((value for key, value in self.features if key.lower() == name.lower()), "")


@dataclass(frozen=True)
class UaLayout:
    """The lines of a document, and what they hold beyond the text."""

    title: str
    lines: tuple[str, ...]
    rows: tuple[int, ...]
    """For each token its place among the lines."""
    columns: tuple[str, ...]
    """The names of the columns."""
    mentions: tuple[UaMention, ...]


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:
    """Read one annotator's file."""
    return whole(read_each(path, annotator, options))


def read_each(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> Iterator[Each]:  # noqa: ARG001
    """Yield each document's name with its annotation, or with what is wrong with it."""
    who = path.stem if annotator is None else annotator
    return read_documents(path, _declared, partial(_annotation, source=str(path), who=who))


def _declared(lines: Sequence[Line], before: tuple[str, ...]) -> tuple[str, ...]:
    for line in lines:
        declared = COLUMNS.fullmatch(line.text)
        if declared:
            before = tuple(declared[1].split())
            if not {"ID", "FORM", "IDENTITY"} <= set(before):
                raise FormatError(
                    line.number, quoted(line.text), "the columns ID, FORM and IDENTITY among them"
                )
    if not before:
        raise FormatError(None, "no line `# global.columns`", "`# global.columns = ID FORM ... IDENTITY`")
    return before


def _annotation(
    name: str, lines: Sequence[Line], columns: tuple[str, ...], nameless: int, *, source: str, who: str
) -> Annotation:
    at, form, column = map(columns.index, ("ID", "FORM", "IDENTITY"))
    rows = [(index, _cells(line, columns)) for index, line in enumerate(lines) if _is_row(line)]
    kept = [(index, cells) for index, cells in rows if not _RANGE.fullmatch(cells[at])]
    for index, cells in kept:
        if not _ID.fullmatch(cells[at]):
            raise FormatError(lines[index].number, f"id {quoted(cells[at])}", "an id such as 3, 3.1 or 3-4")
    words = tuple("" if "." in cells[at] and cells[form] == "_" else cells[form] for _, cells in kept)
    numbers = tuple(lines[index].number for index, _ in kept)
    mentions = _mentions([cells[column] for _, cells in kept], numbers)
    texts = tuple(line.text for line in lines)
    layout = UaLayout(name, texts, tuple(index for index, _ in kept), columns, tuple(mentions))
    called, part = (name, None) if nameless else name_and_part(name)
    layers = tuple(layer for layer in LAYERS if layer in columns)
    ends = sentence_ends(texts, layout.rows)
    document = Document(
        called, words, part, source, numbers, layout, sentence_ends=ends, nameless=nameless, layers=layers
    )
    marked = [Marked(mention.get("EntityID"), (), mention.get("SemType")) for mention in mentions]
    annotation = assemble(document, who, marked, [join(mention.pieces) for mention in mentions])
    chains = with_entities(annotation.all_chains, read_entities(lines))
    return replace(annotation.with_chains(chains), adjudicated=is_gold(lines))


def _is_row(line: Line) -> bool:
    return bool(line.text.strip()) and not line.text.startswith("#")


def _cells(line: Line, columns: Sequence[str]) -> list[str]:
    """Split a row; columns at its end may be missing, as they are in many files, if mentions are there."""
    cells = [cell[0] for cell in _split(line.text)]
    if not columns.index("IDENTITY") < len(cells) <= len(columns):
        expected = f"{len(columns)} columns, as `# global.columns` says"
        raise FormatError(line.number, times(len(cells), "column"), expected)
    return cells


def _split(row: str) -> list[re.Match[str]]:
    """Find the cells of a row, which tabs or blanks separate."""
    return list(re.finditer(r"(?:^|(?<=\t))[^\t]*" if "\t" in row else r"\S+", row))


def _mentions(cells: Sequence[str], numbers: Sequence[int]) -> list[UaMention]:
    """Find the mentions in the cells of all tokens."""
    opened: list[tuple[str, Features, int]] = []
    pieces: dict[str, list[Span]] = defaultdict(list)
    features: dict[str, Features] = {}
    fresh = (f"\0{number}" for number in count())
    for token, cell in enumerate(cells, 1):
        for begun, ended, named in _items(cell, numbers[token - 1]):
            if begun:
                own = _features(begun, numbers[token - 1])
                id = dict(own).get("MarkableID") or next(fresh)
                opened.append((id, own, token))
            if ended:
                number = _closing(opened, "" if begun else named)
                if number is None:
                    found = f"{quoted(named + ')')}, which closes nothing"
                    raise FormatError(numbers[token - 1], found, "an opening bracket before it")
                id, own, start = opened.pop(number)
                features.setdefault(id, own)
                pieces[id].append(Span(start, token))
    if opened:
        _, own, start = opened[0]
        found = f"the mention of {quoted(dict(own)['EntityID'])}, which is never closed"
        raise FormatError(numbers[start - 1], found, "a closing bracket after it")
    return [UaMention(features[id], tuple(sorted(spans))) for id, spans in pieces.items()]


def _closing(opened: Sequence[tuple[str, Features, int]], named: str) -> int | None:
    """Return which open mention a bracket closes: the last one, or the last one of a name."""
    numbers = range(len(opened) - 1, -1, -1)
    return next((n for n in numbers if not named or opened[n][0] == named), None)


def _items(cell: str, line: int) -> Iterator[tuple[str, bool, str]]:
    """Yield the brackets of a cell: the features that open one, whether one is closed, and its name."""
    position = 0
    if cell in ("", "_", "-"):
        return
    while position < len(cell):
        item = _ITEM.match(cell, position)
        if item is None:
            expected = "brackets such as `(EntityID=1|MarkableID=markable_1` and `)`"
            raise FormatError(line, f"malformed {quoted(cell)}", expected)
        position = item.end()
        yield item[1] or "", bool(item[2]) or item[1] is None, (item[3] or "").strip()


def _features(text: str, line: int) -> Features:
    pairs = (part.partition("=") for part in text.split("|"))
    features = tuple((_SPELLED.get(name.lower(), name), value) for name, _, value in pairs)
    if not dict(features).get("EntityID"):
        raise FormatError(line, f"a mention {quoted(text)}", "a feature EntityID, as in `(EntityID=1`")
    return features


def write(annotations: Iterable[Annotation]) -> str:
    """Write annotations, each into the lines of the file it was read from."""
    written = []
    declared: tuple[str, ...] = ()
    for annotation in map(whole_words, annotations):
        layout = _layout(annotation.document)
        lines = called(annotation.document, layout.lines, layout.title)
        text = _write_one(annotation, layout, lines)
        if layout.columns != declared and not any(map(COLUMNS.fullmatch, lines)):
            text = f"# global.columns = {' '.join(layout.columns)}\n{text}"
        declared = layout.columns
        written.append(text)
    return "".join(written)


def _layout(document: Document) -> UaLayout:
    """Return the lines that a document was read from, or new ones."""
    known = document.layout
    if isinstance(known, UaLayout) and len(known.rows) == len(document.tokens):
        return known
    lines = [f"# global.columns = {' '.join(NAMES)}", newdoc_line(document)]
    rows: list[int] = []
    start = number = 0
    for sentence, end in enumerate(dict.fromkeys((*document.sentence_ends, len(document.tokens))), 1):
        if end <= start:
            continue
        lines.append(f"# sent_id = {sentence_prefix(document)}-s{sentence}")
        empty = 0
        for token in document.tokens[start:end]:
            word = form(token, document)
            number, empty = (number + 1, 0) if word else (number, empty + 1)
            rows.append(len(lines))
            id = str(number) if word else f"{number}.{empty}"
            lines.append("\t".join((id, word or "_", *["_"] * (len(NAMES) - 2))))
        lines.append("")
        start = end
    return UaLayout(document.title, tuple(lines), tuple(rows), tuple(NAMES), ())


def _write_one(annotation: Annotation, layout: UaLayout, texts: Sequence[str]) -> str:
    known = [(mention.get("EntityID"), hull(mention.pieces)) for mention in layout.mentions]
    fresh = (str(number) for number in count(1))
    chains = keep_ids(annotation.all_chains, known, fresh, lambda id: _WRITABLE.fullmatch(id) is not None)
    cells = _render(list(_marked(annotation, chains, layout)), len(annotation.document.tokens))
    lines = [line for line in texts if not line.startswith("# caspr ")]
    moved, column = len(layout.lines) - len(lines), layout.columns.index("IDENTITY")
    for row, cell in zip(layout.rows, cells, strict=True):
        line = lines[row - moved]
        old = _split(line)[column]
        lines[row - moved] = f"{line[: old.start()]}{cell}{line[old.end() :]}"
    gold = [GOLD_LINE] if annotation.adjudicated else []
    return finished(lines, [*gold, *entity_lines(chains)])


def _marked(annotation: Annotation, chains: Iterable[Chain], layout: UaLayout) -> Iterator[UaMention]:
    """Make the mentions to write, with the features that the file has for them."""
    known: dict[Span, list[UaMention]] = {}
    for mention in layout.mentions:
        known.setdefault(hull(mention.pieces), []).append(mention)
    taken = {mention.get("MarkableID") for mention in layout.mentions}
    fresh = (id for number in count(1) if (id := f"markable_{number}") not in taken)
    for chain in chains:
        for span in chain.mentions:
            same = known.get(span, [])
            own = next((old for old in same if old.get("EntityID") == chain.id), same[0] if same else None)
            if own is not None:
                same.remove(own)
                features = tuple(
                    (name, chain.id if name == "EntityID" else value) for name, value in own.features
                )
                pieces = own.pieces
            else:
                mark = annotation.marks.get(span, Mark())
                label = (("SemType", _plain(mark.label)),) if mark.label else ()
                features = (("EntityID", chain.id), *label)
                pieces = mark.pieces or (span,)
            if not dict(features).get("MarkableID"):
                features = (features[0], ("MarkableID", next(fresh)), *features[1:])
            yield UaMention(features, pieces)


def _plain(text: str) -> str:
    return re.sub(r"[()|\s]", "_", text)


def _render(mentions: Sequence[UaMention], length: int) -> list[str]:
    """Write the cells of all tokens: exclusive brackets, or those with ids where mentions cross."""
    runs = sorted(
        ((piece, mention) for mention in mentions for piece in mention.pieces),
        key=lambda run: (run[0].start, -run[0].end, run[1].get("MarkableID")),
    )
    named = _cross([piece for piece, _ in runs])
    closings: Mapping[int, list[str]] = defaultdict(list)
    openings: Mapping[int, list[str]] = defaultdict(list)
    for (start, end), mention in runs:
        text = "|".join(f"{name}={value}" for name, value in mention.features)
        openings[start].append(f"({text})" if start == end else f"({text}")
        if start < end:
            closings[end].insert(0, f"{mention.get('MarkableID')})" if named else ")")
    return ["".join((*closings[n], *openings[n])) or "_" for n in range(1, length + 1)]


def _cross(spans: Iterable[Span]) -> bool:
    """Return whether mentions overlap of which none lies in another, by more than a token at their edges."""
    opened: list[Span] = []
    for span in spans:
        while opened and opened[-1].end <= span.start:
            opened.pop()
        if opened and opened[-1].end < span.end:
            return True
        opened.append(span)
    return False


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    layout = annotation.document.layout
    known = {hull(mention.pieces) for mention in layout.mentions} if isinstance(layout, UaLayout) else set()
    gone = len(known - whole_words(annotation).mentions)
    stale = []
    if gone and annotation.document.layers:
        layers = ", ".join(annotation.document.layers)
        message = f"the layers {layers} are kept as they are, and may refer to mentions that are not written"
        stale = [
            note("stale-layers", message, count=len(annotation.document.layers), where=annotation.annotator)
        ]
    removed = removed_mentions(annotation, gone)
    return (*widened(annotation), *removed, *stale, *lost_flags(annotation, ()))


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether the beginning of a file looks like this format."""
    return bool(re.search(r"^# *global\.columns\s*=.*\bIDENTITY\b", head, re.MULTILINE))


FORMAT = Format(
    name="conllua",
    suffixes=(".conllua",),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    many_documents=True,
    read_each=read_each,
)
