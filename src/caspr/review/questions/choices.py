"""The choices of a question: where annotators and the result put its mention, and what else costs least.

An entity is a chain of the result, or mentions that annotators put into one chain and the result into none.
It is represented by its *anchor*: an earlier mention if there is one, of these the one that most annotators
link with the asked one, the nearest of these. Answering with an entity says that the mention, the anchor and
the doubts in the entity are the same, and that those of all other entities are different, so that no doubt
about the mention is left; see `session.operations.answers`.

Beside what annotators and the result say, the cheapest other entity is offered, and entities with doubts that
no decision settles: some annotators say so in part.

For a question about boundaries the choices are the boundaries.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from caspr.review.questions.finding import Question, QuestionKind
from caspr.review.questions.moving import Moves
from caspr.review.questions.placing import Placing, Stance
from caspr.task.votes import Evidence
from caspr.text.document import Span
from caspr.text.grouping import Groups


@dataclass(frozen=True)
class Choice:
    """One answer: an entity, or a boundary."""

    id: str
    """The same as long as the entity has the same chain or anchor."""
    anchor: Span
    """The mention that represents the entity; the boundary itself."""
    chain: str | None
    """The chain of the result; `None` for an entity that it lacks and for a boundary."""
    mentions: tuple[Span, ...]
    """The other mentions of the entity."""
    doubts: tuple[Span, ...]
    """Mentions of the entity that are known to be different if another entity is chosen; the anchor first."""
    says: tuple[str, ...]
    """The annotators who say so."""
    partly: tuple[str, ...]
    """The annotators who link the mention with some of the entity: those who say so without a link with any
    of the doubts, and those who say that it is of another entity, where most of their chain is."""
    now: bool
    """Whether the result says so."""
    estimate: int
    """What it costs to move this mention alone."""


@dataclass(frozen=True)
class Partner:
    """A mention that annotators link with the asked one."""

    mention: Span
    """With the boundary of most annotators."""
    place: Span
    """With the boundary it has now."""
    evidence: Evidence
    """Who links the two."""


def find_choices(placing: Placing, moves: Moves, question: Question) -> list[Choice]:
    """Return the choices of a question: what the result says first, then what most annotators say."""
    span = placing.span(question.mention)
    if span is None:
        return []
    if question.kind is QuestionKind.BOUNDARY:
        return _boundaries(placing, moves, question, span)
    entities = [
        _entity(placing, moves, question, span, partners) for partners in _entities(placing, question, span)
    ]
    cheapest = min((one for one in entities if not one.now), key=lambda one: one.estimate, default=None)
    offered = [
        one
        for one in entities
        if one.now or one.says or one is cheapest or not placing.settled(span, one.doubts, question)
    ]
    return sorted(offered, key=lambda one: (not one.now, -len(one.says), one.estimate, one.anchor))


def _entities(placing: Placing, question: Question, span: Span) -> Iterable[list[Partner]]:
    """Return the partners of a mention by entity."""
    votes = placing.united.votes
    partners = [
        Partner(other, place, votes.evidence(question.mention, other))
        for other, place in placing.partners(question.mention, span)
    ]
    by_chain: dict[Hashable, list[Partner]] = defaultdict(list)
    loose = Groups(one.place for one in partners if one.place not in placing.chain_of)
    chains: dict[tuple[int, int], Span] = {}
    for one in partners:
        if one.place not in placing.chain_of:
            for chain in votes.signature(one.mention).chains & votes.signature(question.mention).chains:
                loose.join(chains.setdefault(chain, one.place), one.place)
    for one in partners:
        id = placing.chain_of.get(one.place)
        by_chain[loose.first(one.place) if id is None else id].append(one)
    return by_chain.values()


def _entity(
    placing: Placing, moves: Moves, question: Question, span: Span, partners: Sequence[Partner]
) -> Choice:
    """Make the choice of one entity."""
    anchor = max(partners, key=lambda one: _closeness(one, span, question.doubts)).place
    id = placing.chain_of.get(anchor)
    home = placing.chain_of.get(span)
    chain = None if id is None else placing.chains[id]
    mentions = chain.mentions if chain is not None else tuple(one.place for one in partners)
    given = [one.place for one in partners if one.mention in question.doubts and one.place != anchor]
    here = moves.gain(span, placing.chains.get(home or ""))
    there = moves.joining(span, anchor) if chain is None else moves.entering(span, chain)
    now = id is not None and id == home
    return Choice(
        f"c{id}" if id is not None else f"m{anchor.start}-{anchor.end}",
        anchor,
        id,
        tuple(other for other in mentions if other != span),
        (anchor, *given),
        *_supporters(placing, question, id, partners, {anchor, *given}),
        now=now,
        estimate=0 if now else here + there,
    )


def _closeness(partner: Partner, span: Span, doubts: Sequence[Span]) -> tuple[bool, int, bool, int]:
    earlier = partner.place < span
    return earlier, partner.evidence.k, partner.mention in doubts, -abs(partner.place.start - span.start)


def _supporters(
    placing: Placing, question: Question, id: str | None, partners: Sequence[Partner], doubts: Set[Span]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return who says that the mention is of an entity, and who says so in part."""
    linking = asked = 0
    for one in partners:
        linking |= one.evidence.givers
        asked |= one.evidence.givers if one.place in doubts else 0
    says, partly = [], []
    stances = zip(placing.united.annotations, placing.stances(question.mention), strict=True)
    for number, (annotation, stance) in enumerate(stances):
        if linking >> number & 1:
            is_meant = stance == Stance("entity", id)
            if is_meant:
                says.append(annotation.annotator)
            if not (is_meant and asked >> number & 1):
                partly.append(annotation.annotator)
    return tuple(says), tuple(partly)


def _boundaries(placing: Placing, moves: Moves, question: Question, span: Span) -> list[Choice]:
    """Return the boundaries that decisions leave, those of most annotators first."""
    home = placing.chains.get(placing.home(question.mention) or "")
    markers = _markers(placing, question)
    left = [one for one in question.spans if one not in placing.ruled_out]
    return sorted(
        (
            Choice(
                f"b{one.start}-{one.end}",
                one,
                None,
                (),
                (),
                markers[one],
                (),
                now=one in placing.chain_of,
                estimate=moves.exchange(span, one, home, united=placing.solver.settings.variants),
            )
            for one in left
        ),
        key=lambda one: (not one.now, -len(one.says), one.estimate, one.anchor),
    )


def _markers(placing: Placing, question: Question) -> Mapping[Span, tuple[str, ...]]:
    group = placing.united.variants.group(question.mention)
    assert group is not None
    return dict(zip(group.spans, group.annotators, strict=True))


def agreed_anchor(placing: Placing, question: Question) -> Span | None:
    """Return a mention with which all annotators link one, whatever boundary they gave it."""
    span, votes = placing.span(question.mention), placing.united.votes
    if span is None or question.doubts:
        return None
    for other, place in placing.partners(question.mention, span):
        evidence = votes.evidence(question.mention, other)
        if evidence.givers == evidence.viewers:
            return place
    return None


def entity_of(placing: Placing, question: Question) -> str | None:
    """Return the chain under which a question is listed: its mention's, or what most annotators say."""
    home = placing.home(question.mention)
    if home is not None:
        return home
    named = [stance.entity for stance in placing.stances(question.mention) if stance.entity is not None]
    return max(sorted(set(named)), key=named.count, default=None)
