"""Mentions as characters of a text, for all formats with standoff annotations.

A reader lists what its file marks; `annotate` makes tokens, chains and marks of it. A writer asks `plan`
for the mentions of each chain in terms of characters, with the key of the annotation in the file that
marks the same, so that ids, types and everything else about it survive.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from caspr.formats.text_layer.characters import Extent, core, sentence_ends, spans, spell, tokenise
from caspr.text.document import Annotation, Chain, Document, Mark, Span
from caspr.text.findings import Finding, times, warning


@dataclass(frozen=True)
class Marked:
    """One mention as a file has it."""

    chain: str
    """The chain it belongs to."""
    pieces: tuple[Extent, ...]
    """Its characters, in one piece or several."""
    label: str = ""
    """Its type, where it has one."""
    key: str = ""
    """Its id in the file; empty for a mention that the file does not have."""


@dataclass(frozen=True)
class EntityFacts:
    """What a file says of the entities of its chains."""

    names: Mapping[str, str] = field(default_factory=dict)
    """For each chain what its entity is called."""
    types: Mapping[str, str] = field(default_factory=dict)
    """For each chain what kind of entity it is."""
    labels_are_types: bool = False
    """Whether labels of mentions are types of entities: a chain has the label that all its mentions have."""


@dataclass(frozen=True)
class Text:
    """The text of a file, with its words and sentences."""

    characters: str
    """The text."""
    words: Sequence[Extent] | None = None
    """Its words, where the file has them."""
    ends: Iterable[int] = ()
    """The characters at which sentences end."""


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
    mentions = [replace(one, pieces=_closed(characters, one.pieces)) for one in mentions]
    pieces = [extent for mention in mentions for extent in mention.pieces]
    tokens = tokenise(characters, text.words, pieces)
    whole = replace(
        document,
        tokens=tuple(characters[start:end] for start, end in tokens),
        characters=characters,
        offsets=tuple(tokens),
        sentence_ends=sentence_ends(tokens, text.ends),
    )
    found = spans(characters, tokens, pieces)
    runs = [join([next(found) for _ in mention.pieces]) for mention in mentions]
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
        replace(Chain.of(id, found), name=known.names.get(id, ""), type=types.get(id, ""))
        for id, found in chains.items()
    ]
    repeated = len(mentions) - sum(len(chain.mentions) for chain in made)
    gaps = sum(len(pieces) > 1 for pieces in runs)
    odd = [*findings, *_odd(f"{document.source}, {document.title}", repeated, gaps)]
    return Annotation.of(annotator, document, made, odd, marks=marks)


def _shared_labels(mentions: Iterable[Marked]) -> dict[str, str]:
    """Return for each chain the label that all its labelled mentions have."""
    labels: dict[str, set[str]] = defaultdict(set)
    for mention in mentions:
        if mention.label:
            labels[mention.chain].add(mention.label)
    return {chain: next(iter(found)) for chain, found in labels.items() if len(found) == 1}


def _odd(where: str, repeated: int, gaps: int) -> Iterator[Finding]:
    if repeated:
        message = f"{times(repeated, 'mention')} given more than once in the same chain, counted once"
        yield warning("repeated-mention", message, count=repeated, where=where)
    if gaps:
        message = f"{times(gaps, 'mention')} with gaps adjudicated as the span from its first to last token"
        yield warning("discontinuous-mention", message, count=gaps, where=where)


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
                text, wanted, [one for one in free[_hull(text, wanted.pieces)] if id(one) not in taken]
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
    """Return the characters of a mention that are no blanks."""
    return {place for start, end in pieces for place in range(start, end) if not text[place].isspace()}


def wide_pieces(mentions: Iterable[Marked]) -> Iterator[Marked]:
    """Replace mentions with gaps by what covers them, for formats without gaps."""
    for mention in mentions:
        if len(mention.pieces) > 1:
            starts, ends = zip(*mention.pieces, strict=True)
            yield replace(mention, pieces=((min(starts), max(ends)),))
        else:
            yield mention
