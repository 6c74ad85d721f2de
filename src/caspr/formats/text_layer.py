"""Between the characters of a text and its tokens: what formats with standoff annotations share.

A reader lists what its file marks (`Marked`); `annotate` makes tokens, chains and marks of it:

1. Where a file has words, they are kept; what lies outside all words and is not a blank becomes a word too.
2. Where it has none, a text whose punctuation stands alone is taken as tokenised at blanks; any other is
   cut into words, and each sign is a word of its own.
3. Words are cut at the boundaries of mentions, so that every mention is a run of tokens. A mention that
   is empty or consists of blanks gets a token of its own.
4. A mention starts and ends with its first and last token: blanks at its ends do not count.
5. Java counts UTF-16 units, so that a character beyond U+FFFF counts twice; see `Units`.

A writer asks `plan` for the mentions of each chain in terms of characters, with the key of the annotation in
the file that marks the same, so that ids, types and everything else about it survive.

Words are also cut where annotators disagree about their ends (see `caspr.text.alignment`). What is written
needs only the cuts at which one of its own mentions begins or ends: `mend` undoes the others. A format whose
words cannot be cut at all, because a tree or other files refer to them, takes `whole_words`.

Which relations between mentions mean that they are of one entity is decided here, too, by their names.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise

from caspr.formats.format import quoted
from caspr.text.document import Annotation, Chain, Document, Mark, Span
from caspr.text.findings import Finding, note, times, warning

Extent = tuple[int, int]
"""Where something begins and ends in a text, in code points, the end excluded."""

_GLUED = re.compile(r"\w[,;!?](?=\s|$)|\w\.(?=\s*(?:\n|$))")
_CHUNK = re.compile(r"\S+")
_WIDE = re.compile("[\U00010000-\U0010ffff]")


class Units:
    """Convert places in a text between code points and UTF-16 units.

    >>> units = Units("a\\U0001f600b")
    >>> units.of(3), units.point(3), units.point(2)
    (4, 2, None)
    """

    def __init__(self, text: str) -> None:
        """Remember the characters that count twice."""
        self._length = len(text)
        self._wide = [sign.start() for sign in _WIDE.finditer(text)]
        self._after = [point + number + 2 for number, point in enumerate(self._wide)]

    def of(self, point: int) -> int:
        """Return how many units come before a code point."""
        return point + bisect_left(self._wide, point) if self._wide else point

    def point(self, unit: int) -> int | None:
        """Return how many code points come before a unit; `None` outside the text or inside a character."""
        if not self._wide:
            return unit if 0 <= unit <= self._length else None
        wide = bisect_left(self._after, unit + 1)
        point = unit - wide
        return point if 0 <= point <= self._length and self.of(point) == unit else None


def core(text: str, extent: Extent) -> Extent:
    """Leave out the blanks at both ends, unless there is nothing else.

    >>> core("a b  c", (1, 4)), core("a b  c", (3, 5))
    ((2, 3), (3, 5))
    """
    start, end = extent
    solid = text[start:end]
    bare = solid.strip()
    if not bare or len(bare) == len(solid):
        return extent
    return start + len(solid) - len(solid.lstrip()), end - len(solid) + len(solid.rstrip())


def find_words(text: str) -> list[Extent]:
    """Cut a text without tokens into words.

    >>> [text[a:b] for text in ["It's a girl."] for a, b in find_words(text)]
    ['It', "'", 's', 'a', 'girl', '.']
    >>> [text[a:b] for text in ["It 's a girl ."] for a, b in find_words(text)]
    ['It', "'s", 'a', 'girl', '.']
    """
    if not _GLUED.search(text):
        return [chunk.span() for chunk in _CHUNK.finditer(text)]
    return list(_runs(text, 0, len(text)))


def tokenise(text: str, words: Iterable[Extent] | None, mentions: Iterable[Extent]) -> list[Extent]:
    """Return the tokens of a text, cut so that each mention is a run of them."""
    known = sorted(find_words(text) if words is None else words)
    marked = list(mentions)
    cuts = {0, len(text)}.union(*known, *marked, *_uncovered(text, known))
    hollow = [extent for extent in marked if not text[extent[0] : extent[1]].strip()]
    blanks = {at for start, end in hollow for at in range(start, end)}
    empty = {extent for extent in hollow if extent[0] == extent[1]}
    pieces = {
        core(text, piece)
        for piece in pairwise(sorted(cuts))
        if text[piece[0] : piece[1]].strip() or piece[0] in blanks
    }
    return sorted(pieces | empty)


def spans(text: str, tokens: Sequence[Extent], extents: Iterable[Extent]) -> Iterator[Span]:
    """Find the tokens of mentions that `tokenise` knew."""
    starts = {start: number for number, (start, end) in enumerate(tokens, 1) if start < end}
    ends = {end: number for number, (start, end) in enumerate(tokens, 1) if start < end}
    empty = {start: number for number, (start, end) in enumerate(tokens, 1) if start == end}
    for extent in extents:
        start, end = core(text, extent)
        yield Span(starts[start], ends[end]) if start < end else Span(empty[start], empty[start])


def spell(document: Document) -> tuple[str, tuple[Extent, ...]]:
    """Return the text of a document and its tokens in it; without characters, words are joined by blanks.

    >>> spell(Document("d", ("A", "girl", "sang"), sentence_ends=(2,)))
    ('A girl\\nsang', ((0, 1), (2, 6), (7, 11)))
    """
    if document.characters is not None:
        return document.characters, document.offsets
    ends = set(document.sentence_ends)
    parts: list[str] = []
    offsets: list[Extent] = []
    position = 0
    for number, token in enumerate(document.tokens, 1):
        offsets.append((position, position + len(token)))
        gap = "" if number == len(document.tokens) else "\n" if number in ends else " "
        parts += (token, gap)
        position += len(token) + len(gap)
    return "".join(parts), tuple(offsets)


def sentence_ends(tokens: Sequence[Extent], points: Iterable[int]) -> tuple[int, ...]:
    """Return the last token before each place where a sentence ends."""
    ends = [end for _, end in tokens]
    numbers = {number for point in points if (number := bisect_left(ends, point + 1)) > 0}
    return tuple(sorted(numbers))


def sentences(ends: Iterable[int], tokens: Sequence[Extent]) -> list[Extent]:
    """Return the characters of sentences, given the last token of each; what remains is one too.

    >>> sentences((2,), [(0, 1), (2, 6), (7, 11)])
    [(0, 6), (7, 11)]
    """
    bounds = sorted({0, *ends, len(tokens)})
    return [(tokens[first][0], tokens[last - 1][1]) for first, last in pairwise(bounds)]


def whole_sentences(document: Document, mentions: Iterable[Span]) -> list[int]:
    """Return the last token of each sentence, leaving out those inside a mention.

    >>> whole_sentences(Document("d", ("a", "b", "c"), sentence_ends=(1, 2, 3)), [Span(1, 2)])
    [2, 3]
    """
    crossed = {end for start, last in mentions for end in document.sentence_ends if start <= end < last}
    return sorted({*document.sentence_ends, len(document.tokens)} - crossed - {0})


def _uncovered(text: str, words: Sequence[Extent]) -> Iterator[Extent]:
    """Cut what lies outside all words."""
    position = 0
    for start, end in [*words, (len(text), len(text))]:
        if text[position:start].strip():
            yield from _runs(text, position, start)
        position = max(position, end)


def _runs(text: str, start: int, end: int) -> Iterator[Extent]:
    """Cut a stretch of text into words and single signs."""
    begun = start
    for position in range(start, end + 1):
        kind = _kind(text[position]) if position < end else " "
        if begun < position and (kind != "w" or _kind(text[begun]) != "w"):
            yield begun, position
            begun = position
        if kind == " ":
            begun = position + 1


@lru_cache(maxsize=4096)
def _kind(character: str) -> str:
    """Classify a character: a blank, part of a word, or another sign."""
    if character.isspace():
        return " "
    category = unicodedata.category(character)
    return "w" if category[0] in "LMN" or category in ("Pc", "Cf") else "s"


@dataclass(frozen=True)
class Marked:
    """One mention as a file has it."""

    chain: str
    pieces: tuple[Extent, ...]
    """Its characters, in one piece or several."""
    label: str = ""
    key: str = ""
    """Its id in the file; empty for a mention that the file does not have."""


@dataclass(frozen=True)
class EntityFacts:
    """What a file says of the entities of its chains."""

    names: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    labels_are_types: bool = False
    """Whether labels of mentions are types of entities: a chain has the label that all its mentions have."""


@dataclass(frozen=True)
class Text:
    """The text of a file, with its words and sentences."""

    characters: str
    words: Sequence[Extent] | None = None
    ends: Iterable[int] = ()
    """The characters at which sentences end."""

    @classmethod
    def of_lines(cls, characters: str) -> "Text":
        """Take each line of a text without words as a sentence."""
        return cls(characters, None, [end.start() for end in re.finditer("\n", characters)])


def annotate(
    document: Document,
    annotator: str,
    text: Text,
    mentions: Sequence[Marked],
    findings: Iterable[Finding] = (),
    *,
    facts: EntityFacts | None = None,
) -> Annotation:
    """Make tokens, chains and marks of what a file marks; the document needs only its name."""
    characters = text.characters
    mentions = [replace(mention, pieces=_closed(characters, mention.pieces)) for mention in mentions]
    pieces = [extent for mention in mentions for extent in mention.pieces]
    tokens = tokenise(characters, text.words, pieces)
    whole = replace(
        document,
        tokens=tuple(characters[start:end] for start, end in tokens),
        characters=characters,
        offsets=tuple(tokens),
        sentence_ends=sentence_ends(tokens, text.ends),
    )
    located = spans(characters, tokens, pieces)
    runs = [join([next(located) for _ in mention.pieces]) for mention in mentions]
    return assemble(whole, annotator, mentions, runs, findings, facts=facts)


def _closed(text: str, pieces: Sequence[Extent]) -> tuple[Extent, ...]:
    """Join pieces that only blanks separate, such as the parts of a mention across lines.

    >>> _closed("a b\\nc d", [(0, 3), (4, 5), (6, 7)]), _closed("a b c", [(0, 1), (4, 5)])
    (((0, 7),), ((0, 1), (4, 5)))
    """
    joined: list[Extent] = []
    for start, end in pieces:
        if joined and start >= joined[-1][1] and not text[joined[-1][1] : start].strip():
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return tuple(joined)


def assemble(
    document: Document,
    annotator: str,
    mentions: Sequence[Marked],
    runs: Sequence[tuple[Span, ...]],
    findings: Iterable[Finding] = (),
    *,
    facts: EntityFacts | None = None,
) -> Annotation:
    """Make an annotation of mentions given as runs of tokens, with findings about what was simplified."""
    chains: dict[str, list[Span]] = defaultdict(list)
    marks: dict[Span, Mark] = {}
    for mention, pieces in zip(mentions, runs, strict=True):
        span = Span(pieces[0].start, pieces[-1].end)
        chains[mention.chain].append(span)
        mark = Mark(mention.label, pieces if len(pieces) > 1 else ())
        if mark != Mark():
            marks.setdefault(span, mark)
    known = facts or EntityFacts()
    types = {**(_shared_labels(mentions) if known.labels_are_types else {}), **known.types}
    made = [
        replace(Chain.of(id, members), name=known.names.get(id, ""), type=types.get(id, ""))
        for id, members in chains.items()
    ]
    repeated = len(mentions) - sum(len(chain.mentions) for chain in made)
    gaps = sum(len(pieces) > 1 for pieces in runs)
    odd = _placed([*findings, *_odd(document.title, repeated, gaps)], document)
    return Annotation.of(annotator, document, made, odd, marks=marks)


def _shared_labels(mentions: Iterable[Marked]) -> dict[str, str]:
    """Return for each chain the label that all its labelled mentions have."""
    labels: dict[str, set[str]] = defaultdict(set)
    for mention in mentions:
        if mention.label:
            labels[mention.chain].add(mention.label)
    return {chain: next(iter(own)) for chain, own in labels.items() if len(own) == 1}


def _placed(findings: Iterable[Finding], document: Document) -> Iterator[Finding]:
    """Put the file before what a reader says of a place in it: nothing, `:line`, or `, document`."""
    for finding in findings:
        inside = not finding.where or finding.where.startswith((":", ","))
        yield replace(finding, where=f"{document.source}{finding.where}") if inside else finding


def _odd(title: str, repeated: int, gaps: int) -> Iterator[Finding]:
    if repeated:
        message = f"{times(repeated, 'mention')} given more than once in the same chain, counted once"
        yield warning("repeated-mention", message, count=repeated, where=f", {title}")
    if gaps:
        message = f"{times(gaps, 'mention')} with gaps adjudicated as the span from its first to last token"
        yield warning("discontinuous-mention", message, count=gaps, where=f", {title}")


def hull(pieces: Sequence[Span]) -> Span:
    """Return the span from the first to the last token of some pieces."""
    return Span(min(piece.start for piece in pieces), max(piece.end for piece in pieces))


def join(pieces: Iterable[Span]) -> tuple[Span, ...]:
    """Sort runs of tokens and join those without a token between them.

    >>> join([Span(5, 6), Span(1, 2), Span(3, 3)])
    (Span(start=1, end=3), Span(start=5, end=6))
    """
    joined: list[Span] = []
    for piece in sorted(pieces):
        if joined and piece.start <= joined[-1].end + 1:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, piece.end))
        else:
            joined.append(piece)
    return tuple(joined)


def plan(
    annotation: Annotation, known: Iterable[Marked], *, types: bool = False
) -> list[tuple[Chain, list[Marked]]]:
    """Express every chain in characters, reusing what the file has.

    A mention of the file is used once. The one in the chain of the same id is preferred; any other must
    have the same pieces. With `types`, a mention without a label gets the type of its entity.
    """
    text, offsets = spell(annotation.document)
    free: dict[Extent, list[Marked]] = defaultdict(list)
    for mention in known:
        free[_hull(text, mention.pieces)].append(mention)
    planned = []
    taken: set[int] = set()
    for chain in annotation.all_chains:
        mentions = []
        for span in chain.mentions:
            wanted = _wanted(span, chain.id, annotation.marks, offsets)
            if types and not wanted.label:
                wanted = replace(wanted, label=chain.type)
            choice = _choose(
                text,
                wanted,
                [mention for mention in free[_hull(text, wanted.pieces)] if id(mention) not in taken],
            )
            taken.add(id(choice))
            mentions.append(choice)
        planned.append((chain, mentions))
    return planned


def count_unused(annotation: Annotation, known: Sequence[Marked]) -> int:
    """Count the mentions of a file that an annotation does not have."""
    used = {mention.key for _, mentions in plan(annotation, known) for mention in mentions}
    return sum(mention.key not in used for mention in known)


def _wanted(span: Span, chain: str, marks: Mapping[Span, Mark], offsets: Sequence[Extent]) -> Marked:
    mark = marks.get(span, Mark())
    runs = mark.pieces or (span,)
    pieces = tuple((offsets[run.start - 1][0], offsets[run.end - 1][1]) for run in runs)
    return Marked(chain, pieces, mark.label)


def _choose(text: str, wanted: Marked, free: Sequence[Marked]) -> Marked:
    """Return the mention of the file that marks the same as the wanted one, or else the wanted one."""
    for known in free:
        if known.chain == wanted.chain:
            return known
    for known in free:
        if _solid(text, known.pieces) == _solid(text, wanted.pieces):
            return known
    return wanted


def _hull(text: str, pieces: Sequence[Extent]) -> Extent:
    """Return where a mention begins and ends, without blanks."""
    return core(text, (min(start for start, _ in pieces), max(end for _, end in pieces)))


def _solid(text: str, pieces: Iterable[Extent]) -> set[int]:
    """Return the characters of a mention that are not blanks."""
    return {at for start, end in pieces for at in range(start, end) if not text[at].isspace()}


def wide_pieces(mentions: Iterable[Marked]) -> Iterator[Marked]:
    """Replace mentions with gaps by what covers them, for formats without gaps."""
    for mention in mentions:
        if len(mention.pieces) > 1:
            starts, ends = zip(*mention.pieces, strict=True)
            yield replace(mention, pieces=((min(starts), max(ends)),))
        else:
            yield mention


def mend(annotation: Annotation) -> Annotation:
    """Join the pieces of words between which no mention begins or ends, and drop needless empty tokens."""
    if not annotation.document.origin:
        return annotation
    spans = [
        span
        for chain in annotation.all_chains
        for mention in chain.mentions
        for span in (mention, *annotation.marks.get(mention, Mark()).pieces)
    ]
    return _joined(annotation, {start for start, _ in spans}, {end for _, end in spans})


def whole_words(annotation: Annotation) -> Annotation:
    """Widen mentions to the words of the file; tokens that the file lacks go with a word beside them."""
    if not annotation.document.origin:
        return annotation
    return _joined(annotation, set(), set())


def widened(annotation: Annotation) -> tuple[Finding, ...]:
    """Warn about mentions that begin or end inside a word, for formats that cannot express that."""
    mended = mend(annotation).document
    if not mended.origin:
        return ()
    counts = Counter(mended.origin)
    pieces = sum(counts[token] > 1 or not token for token in mended.origin)
    message = (
        f"words cut into {times(pieces, 'piece')} by mentions that begin or end inside them; such "
        "mentions are written as whole words"
    )
    return (warning("widened-mention", message, count=pieces, where=annotation.annotator),)


def _joined(annotation: Annotation, starts: set[int], ends: set[int]) -> Annotation:
    document = annotation.document
    groups = _groups(document.origin, starts, ends)
    number = {token: new for new, group in enumerate(groups, 1) for token in group}

    def moved(span: Span) -> Span:
        return Span(number[span.start], number[span.end])

    chains = [chain.over(map(moved, chain.mentions)) for chain in annotation.all_chains]
    marks = {
        moved(span): replace(mark, pieces=tuple(map(moved, mark.pieces)))
        for span, mark in annotation.marks.items()
        if span in annotation.mentions
    }
    changed = _document(document, groups, number)
    return annotation.with_chains(chains, document=changed, marks=marks)


def _groups(origin: Sequence[int], starts: set[int], ends: set[int]) -> list[list[int]]:
    """Sort tokens into those that become one."""
    groups: list[list[int]] = []
    owner = -1
    for token, word in enumerate(origin, 1):
        bound = token in starts or token - 1 in ends
        # What the file lacks has no characters: unless a mention is there, it may go with any word.
        hollow = not owner and not (starts | ends).intersection(groups[-1])
        if groups and (hollow or (not bound and word in (owner, 0))):
            groups[-1].append(token)
            owner = owner or word
        else:
            groups.append([token])
            owner = word
    return groups


def _document(document: Document, groups: Sequence[Sequence[int]], number: dict[int, int]) -> Document:
    origin = tuple(next((word for word in _of(document.origin, group) if word), 0) for group in groups)
    offsets = document.offsets
    return replace(
        document,
        tokens=tuple("".join(_of(document.tokens, group)) for group in groups),
        rows=(),
        lines=tuple(document.lines[group[0] - 1] for group in groups) if document.lines else (),
        offsets=tuple((offsets[group[0] - 1][0], offsets[group[-1] - 1][1]) for group in groups)
        if offsets
        else (),
        sentence_ends=tuple(sorted({number[token] for token in document.sentence_ends})),
        origin=() if origin == tuple(range(1, len(origin) + 1)) else origin,
    )


def _of(values: Sequence[str] | Sequence[int], group: Iterable[int]) -> list:  # type: ignore[type-arg]
    return [values[token - 1] for token in group]


_COREFERENCE = re.compile(r"coref|identi|ident$|equiv|same|anaph|antecedent", re.IGNORECASE)
_OTHER = re.compile(r"bridg|split", re.IGNORECASE)


def means_coreference(names: Iterable[str], wanted: Sequence[str] = ()) -> bool:
    """Return whether a relation is one of those that the user names, or else is named like coreference.

    >>> means_coreference(["Coref"]), means_coreference(["part of"])
    (True, False)
    >>> means_coreference(["Part of"], wanted=["part of"])
    True
    """
    if wanted:
        return bool({name.lower() for name in names} & {name.lower() for name in wanted})
    return any(_COREFERENCE.search(name) for name in names)


def means_something_else(name: str) -> bool:
    """Return whether a relation is named like one that links mentions of different entities."""
    return bool(_OTHER.search(name))


def unread_relations(
    unread: Iterable[str], read: Iterable[str], wanted: Sequence[str], where: str = ""
) -> Iterator[Finding]:
    """Report the relations of an annotator's file that are not read, by type, and the option that reads them.

    An annotator whose relations have another name would vote against every link. It is a warning,
    therefore, unless their name means something else, or the user named other types that the file has.

    >>> for finding in unread_relations(["Verweis", "Verweis"], ["Coref"], []):
    ...     print(finding.message.partition(": ")[2])
    if they link mentions of one entity, use --relation Coref --relation Verweis
    """
    types, known = Counter(unread), list(dict.fromkeys(filter(None, read)))
    if not types:
        return
    meant = all(map(means_something_else, types)) or (wanted and known)
    message = _unread_message(types, known or wanted)
    if meant:
        yield note("other-relations", message, count=types.total(), where=where)
    else:
        yield warning("unread-relations", message, count=types.total(), where=where)


def _unread_message(types: Counter[str], known: Sequence[str]) -> str:
    """Name the types and the option that reads them, which must name again what is read now."""
    total = times(types.total(), "relation")
    named = [name for name, _ in types.most_common() if name]
    if not named:
        return f"{total} without a type not read"
    option = " ".join(f"--relation {_argument(name)}" for name in (*known, *named))
    others = "" if known else ", and also the type that the other annotators use, if it differs"
    if len(types) > 1:
        listed = ", ".join(f"{quoted(name)} ({types[name]:,})" for name in named)
        remedy = f"name those that link mentions of one entity, as in {option}{others}"
        return f"{total} not read, of type {listed}: {remedy}"
    they = "it links" if types.total() == 1 else "they link"
    remedy = f"if {they} mentions of one entity, use {option}{others}"
    return f"{total} of type {quoted(named[0])} not read: {remedy}"


def _argument(name: str) -> str:
    return f'"{name}"' if re.search(r"\s", name) else name
