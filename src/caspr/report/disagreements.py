"""Disagreements in words: sentences, names of kinds, and who says what about a mention.

Counts are those of `measures.typology`: mentions, each of exactly one kind. Between an annotator and the
gold standard a kind has a direction, too: what is missing on one side is extra on the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from caspr.measures.comparison import Comparison
from caspr.measures.typology import Disagreement, DisagreementCounts, DisagreementKind, Typology
from caspr.text.document import Document, Span
from caspr.text.findings import shorten, times

_KIND = DisagreementKind

TITLES = {
    _KIND.BOUNDARY: "different boundaries",
    _KIND.NESTED: "nested, marked by some only",
    _KIND.MENTION: "marked by some only",
    _KIND.SINGLETON: "singleton for some only",
    _KIND.SPLIT: "entity split or merged",
    _KIND.ENTITY: "put into different entities",
}
"""What each kind is called in tables."""
PHRASES = {
    _KIND.BOUNDARY: "with different boundaries",
    _KIND.NESTED: "nested and marked by some only",
    _KIND.MENTION: "marked by some only",
    _KIND.SINGLETON: "singletons for some only",
    _KIND.SPLIT: "in entities that some split and others merged",
    _KIND.ENTITY: "put into different entities",
}
"""What each kind is called after a number in a sentence."""
AGAINST_GOLD = {
    (_KIND.BOUNDARY, 0): "with other boundaries",
    (_KIND.NESTED, -1): "nested and not marked",
    (_KIND.NESTED, 1): "nested and marked additionally",
    (_KIND.MENTION, -1): "not marked",
    (_KIND.MENTION, 1): "marked additionally",
    (_KIND.SINGLETON, -1): "alone in the gold standard only",
    (_KIND.SINGLETON, 1): "alone in this annotation only",
    (_KIND.SPLIT, -1): "in merged entities",
    (_KIND.SPLIT, 1): "in a split entity",
    (_KIND.ENTITY, 0): "put in another entity",
}
"""What the kinds are called where an annotator differs from the gold standard."""
_SPOKEN = (_KIND.BOUNDARY, _KIND.MENTION, _KIND.NESTED)
"""Kinds of disagreement about which annotators say the words of the mention."""
_UNMARKED = "not marked"
EXAMPLES = 2
"""How many examples of a kind are shown."""


@dataclass(frozen=True)
class Example:
    """A disputed mention of some document."""

    document: Document
    disagreement: Disagreement
    says: tuple[tuple[str, tuple[str, ...]], ...]
    """What is said about it, and by whom, in the order of annotators; those who did not mark it come last."""

    @property
    def line(self) -> str:
        """The mention, and what annotators say about it, in one line."""
        said = named(self.says)
        if self.disagreement.kind in _SPOKEN:
            return said
        return f"“{shorten(self.document.text(self.disagreement.place))}” ({said})"


def share(part: int, whole: int) -> str:
    """Return a part and what it is part of, with the percentage.

    >>> share(1, 3), share(0, 0)
    ('1 of 3 mentions (33%)', '0 of 0 mentions')
    """
    of = f"{part:,} of {times(whole, 'mention')}"
    return f"{of} ({100 * part / whole:.0f}%)" if whole else of


def disagreement_sentence(counts: DisagreementCounts) -> str:
    """Return what annotators disagree about, in a sentence.

    >>> disagreement_sentence(DisagreementCounts(9, {(_KIND.BOUNDARY, 0): 2, (_KIND.ENTITY, 0): 1}))
    'They disagree about 3 of 9 mentions (33%): 2 with different boundaries, 1 put into different entities.'
    """
    if not counts.disputed:
        return f"They agree about all {times(counts.mentions, 'mention')}."
    kinds = [f"{count:,} {PHRASES[kind]}" for kind, count in counts.kinds.items() if count]
    return f"They disagree about {share(counts.disputed, counts.mentions)}: {', '.join(kinds)}."


def deviation_sentence(counts: DisagreementCounts, who: str = "You differ") -> str:
    """Return where an annotator differs from the gold standard, in a sentence.

    >>> deviation_sentence(DisagreementCounts(9, {(_KIND.MENTION, -1): 2, (_KIND.SPLIT, 1): 1}))
    'You differ from the gold standard in 3 of 9 mentions (33%): 2 not marked, 1 in a split entity.'
    """
    if not counts.disputed:
        return f"{who} from the gold standard in none of {times(counts.mentions, 'mention')}."
    kinds = [
        f"{counts.directed[key]:,} {name}" for key, name in AGAINST_GOLD.items() if counts.directed.get(key)
    ]
    return f"{who} from the gold standard in {share(counts.disputed, counts.mentions)}: {', '.join(kinds)}."


def examples(comparison: Comparison, kind: DisagreementKind, most: int = EXAMPLES) -> list[Example]:
    """Return some disagreements of a kind, from all over the documents."""
    disputed = [
        (document, typology, disagreement)
        for document, typology in comparison.typologies
        for disagreement in typology.disagreements
        if disagreement.kind is kind
    ]
    number = min(most, len(disputed))
    chosen = [disputed[len(disputed) * position // number] for position in range(number)]
    return [
        Example(document, disagreement, says(document, typology, disagreement))
        for document, typology, disagreement in chosen
    ]


def says(
    document: Document, typology: Typology, disagreement: Disagreement
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return what annotators say about a mention, each statement with those who say so.

    Those who did not mark it come last, so that the words of the mention come first.
    """
    statements: dict[str, list[str]] = {}
    for number, name in enumerate(typology.annotators):
        statements.setdefault(_statement(document, disagreement, number), []).append(name)
    unmarked = statements.pop(_UNMARKED, None)
    marked = tuple((words, tuple(names)) for words, names in statements.items())
    return marked if unmarked is None else (*marked, (_UNMARKED, tuple(unmarked)))


def _statement(document: Document, disagreement: Disagreement, number: int) -> str:
    span = disagreement.spans[number]
    if span is None:
        return _UNMARKED
    if disagreement.kind in _SPOKEN:
        return f"“{shorten(document.text(span))}”"
    if len(disagreement.entities[number]) == 1:
        return "alone"
    return f"with “{shorten(document.text(companion(disagreement, number)))}”"


def companion(disagreement: Disagreement, number: int) -> Span:
    """Return the mention by which an annotator's entity is best recognised.

    It is near; if possible, it is not in the entities of all others, and before the mention.
    """
    own = disagreement.spans[number]
    assert own is not None
    others = [span for span in disagreement.entities[number] if span != own]
    shared = frozenset.intersection(
        *(frozenset(entity) for entity in disagreement.entities if len(entity) > 1)
    )
    telling = [span for span in others if span not in shared] or others
    return min(telling, key=lambda span: (span > own, abs(span.start - own.start), span))


def named(says: Sequence[tuple[str, tuple[str, ...]]]) -> str:
    """Return what annotators say, in one line.

    >>> named([("“a king”", ("ann", "bob")), ("not marked", ("carl",))])
    '“a king”: ann, bob; not marked: carl'
    """
    return "; ".join(f"{words}: {', '.join(names)}" for words, names in says)
