"""Finding questions: mentions on which annotators disagree, one question for each, and where they are now.

    link       some annotators, but not all, link the mention with an earlier one: which entity is it?
    mention    some annotators, but not all, marked it: is it a mention?
    boundary   annotators marked it with different boundaries: which one is right?

A mention's *doubts* are earlier mentions: for every annotator who has it in a chain after others, the one of
that chain with which most annotators link it, the nearest of these; there is no doubt where all link it with
some earlier mention of the chain. So a disputed chain of two mentions is one question, about the second.
Nor is there one where everybody links it with some mention, so that all agree on the entity, and those who do
not link it with the earlier one did not mark that one: the earlier one is disputed, and has a question.

Spans of different annotators that are one mention with different boundaries are one mention here, whatever
the settings say: variants (`text.variants`), and spans that share less but overlap and are in the same entity
(`measures.typology`), such as *the captain* and *the captain of the ship*. Annotators who gave it different
boundaries agree on all else if they link it with the same. Questions depend on annotations alone and stay the
same whatever is decided.

`Placing` says where mentions are at one moment, and so which questions decisions leave open. The *place* of a
mention is the boundary that the result has in a chain, or else that of most annotators which decisions allow.
Decisions about any boundary are about the mention. What an annotator *says* about a mention is the chain of
the result that holds most of the other mentions of the annotator's chain; if the result has none of them, it
is an entity that the result lacks.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from caspr.confidence import Confidence, Stance, Stances, VoteWeights, by_stances, by_votes
from caspr.measures.marks import Marks
from caspr.measures.typology import align_mentions
from caspr.review.solver import Snapshot, Solver
from caspr.task.decisions import Decisions, spelled
from caspr.task.instance import Singletons
from caspr.task.votes import Evidence, Signature, Votes, count_votes, meet
from caspr.text.document import Annotation, Chain, Span
from caspr.text.variants import Variants, find_variants, joined, unify


class QuestionKind(StrEnum):
    """What a question is about."""

    LINK = "link"
    MENTION = "mention"
    BOUNDARY = "boundary"


@dataclass(frozen=True)
class Question:
    """A mention on which annotators disagree, and what they disagree on."""

    id: str
    """The same in every snapshot of a document."""
    kind: QuestionKind
    mention: Span
    """The mention, with the boundary of most annotators."""
    spans: tuple[Span, ...]
    """All its boundaries, in text order."""
    doubts: tuple[Span, ...]
    """Earlier mentions that some annotators link it with and some do not, with the boundaries of most."""
    marked: int
    seen: int
    distance: int
    """How far the votes that are in doubt are from being equally divided, the closest of them."""
    near: frozenset[Span]
    """All boundaries of the mention and of the doubts: what decisions that answer it are about."""


@dataclass(frozen=True)
class UnitedMentions:
    """The annotations of a document with one boundary for each mention."""

    annotations: tuple[Annotation, ...]
    """The annotations, with the boundary of most annotators instead of each variant."""
    variants: Variants
    votes: Votes

    @classmethod
    def of(cls, solver: Solver) -> "UnitedMentions":
        """Unite the boundaries of each mention."""
        annotations = solver.annotations
        weights = solver.incremental.instance.label_weights
        names = [annotation.annotator for annotation in annotations]
        by_name = dict(zip(names, weights, strict=False))
        variants = find_variants(annotations, weights=by_name)
        mentions = align_mentions(Marks.of(unify(annotations, variants)), only_known=True)
        rows = ({span for span in row if span is not None} for row in mentions)
        variants = joined(variants, (row for row in rows if len(row) > 1), annotations, by_name)
        united = unify(annotations, variants)
        return cls(united, variants, count_votes(united, seen=solver.incremental.instance.seen))

    @cached_property
    def spans_of(self) -> Mapping[Span, tuple[Span, ...]]:
        """All boundaries of each mention that has several."""
        return {group.boundary: group.spans for group in self.variants.groups}

    def spans(self, mention: Span) -> tuple[Span, ...]:
        """Return all boundaries of a mention."""
        return self.spans_of.get(mention, (mention,))

    def mention(self, span: Span) -> Span:
        """Return the mention that a span is a boundary of."""
        return self.variants.boundaries.get(span, span)


def find_questions(united: UnitedMentions) -> list[Question]:
    """Return everything annotators disagree on, in the order of the text."""
    votes = united.votes
    placed = _AgreedEntities(votes)
    doubts: dict[Span, set[Span]] = {}
    for annotation in united.annotations:
        for chain in annotation.chains:
            for earlier, mention in _doubtful(chain.mentions, votes):
                if not _asked_there(earlier, mention, votes, placed):
                    doubts.setdefault(mention, set()).add(earlier)
    questions = []
    for mention, markers in votes.marks.items():
        marked, seen = markers.bit_count(), votes.viewers(mention).bit_count()
        spans, before = united.spans(mention), tuple(sorted(doubts.get(mention, ())))
        near = frozenset(span for other in (mention, *before) for span in united.spans(other))
        about = (mention, spans, before, marked, seen, _distance(votes, mention, before), near)
        if len(spans) > 1:
            questions.append(Question(f"b{spelled(mention)}", QuestionKind.BOUNDARY, *about))
        if before:
            questions.append(Question(f"q{spelled(mention)}", QuestionKind.LINK, *about))
        elif marked < seen:
            questions.append(Question(f"q{spelled(mention)}", QuestionKind.MENTION, *about))
    return sorted(questions, key=lambda question: (question.mention, question.id))


def _doubtful(mentions: Sequence[Span], votes: Votes) -> Iterator[tuple[Span, Span]]:
    """Yield for every mention of a chain its best earlier one, unless all annotators agree on some."""
    last: dict[Signature, Span] = {}
    for mention in mentions:
        signature = votes.signatures[mention]
        best = _best_earlier(signature, last, whole=not votes.seen)
        if best is not None and best[0].givers != best[0].viewers:
            yield best[1], mention
        # Those that were seen last stand last.
        last.pop(signature, None)
        last[signature] = mention


def _best_earlier(
    signature: Signature, last: dict[Signature, Span], *, whole: bool
) -> tuple[Evidence, Span] | None:
    """Return the earlier mention that all link with one, else that most do, the nearest of them.

    `last` has the last mention of each kind, the nearest last. Where all annotators saw the whole text,
    no more can link a mention than linked it at all, so that the nearest with that many votes is the best.
    """
    most = len({annotator for annotator, _ in signature.chains})
    best, best_rank = None, (False, -1)
    for kind, span in reversed(last.items()):
        evidence = meet(signature, kind)
        votes = evidence.k
        rank = evidence.givers == evidence.viewers, votes
        if rank > best_rank:
            best, best_rank = (evidence, span), rank
            if whole and votes == most:
                break
    return best


class _AgreedEntities:
    """Of which mentions all annotators agree on the entity: they all link them with some same mention."""

    def __init__(self, votes: Votes) -> None:
        self._kinds: dict[tuple[int, int], Counter[Signature]] = {}
        for signature in votes.signatures.values():
            for chain in signature.chains:
                self._kinds.setdefault(chain, Counter())[signature] += 1
        self._known: dict[Signature, bool] = {}

    def __contains__(self, signature: Signature) -> bool:
        """Return whether there is another mention that everybody links with one of this signature."""
        if signature not in self._known:
            near = {kind: count for chain in signature.chains for kind, count in self._kinds[chain].items()}
            # With one of its own kind only if there are two.
            links = (meet(signature, kind) for kind, count in near.items() if kind != signature or count > 1)
            self._known[signature] = any(link.givers == link.viewers for link in links)
        return self._known[signature]


def _asked_there(earlier: Span, mention: Span, votes: Votes, placed: _AgreedEntities) -> bool:
    """Return whether a doubt is only about the earlier mention, which has a question of its own.

    So it is where whoever does not link the two did not mark the earlier one, and all agree on the entity of
    the later one: there is some mention that everybody links it with.
    """
    evidence = votes.evidence(mention, earlier)
    if evidence.viewers & ~evidence.givers & votes.marks.get(earlier, 0):
        return False
    return votes.signature(mention) in placed


def _distance(votes: Votes, mention: Span, earlier: Sequence[Span]) -> int:
    """Return how far the closest vote about a mention is from being equally divided."""
    links = [votes.evidence(mention, other) for other in earlier]
    viewers, markers = votes.viewers(mention), votes.marks[mention]
    closest = [abs(2 * link.k - link.n) for link in links]
    if markers != viewers:
        closest.append(abs(2 * markers.bit_count() - viewers.bit_count()))
    return min(closest, default=0)


@dataclass(frozen=True)
class Placing:
    """The mentions of a document under some decisions, and in a result if there is one."""

    solver: Solver
    united: UnitedMentions
    decided: Decisions
    """All that is decided, what holds entities included."""
    snapshot: Snapshot | None = None
    """The result; without one, questions can only be counted."""

    @property
    def decisions(self) -> Decisions:
        """What answers questions: what only holds an entity answers nothing about its mentions."""
        return self.decided.answers

    @cached_property
    def ruled_out(self) -> frozenset[Span]:
        """The annotators' spans that decisions forbid."""
        return self.solver.ruled_out(self.decisions)

    @cached_property
    def chain_of(self) -> Mapping[Span, str]:
        """The chain of each span of the result."""
        return {} if self.snapshot is None else self.snapshot.chain_of

    @cached_property
    def chains(self) -> Mapping[str, Chain]:
        """The chains of the result by id."""
        return {} if self.snapshot is None else {chain.id: chain for chain in self.snapshot.chains}

    @cached_property
    def fixed(self) -> frozenset[Span]:
        """The spans that decisions say are mentions."""
        return self.decisions.standing.union(self.decisions.group_of)

    @cached_property
    def _decided(self) -> frozenset[Span]:
        """The spans that some decision is about."""
        return self.ruled_out | self.fixed | self._kept_apart | self.decisions.alone

    def _is_untouched(self, question: Question) -> bool:
        """Return whether no decision is about a mention, or about any of its doubts: it can be with these."""
        return bool(question.doubts) and self._decided.isdisjoint(question.near)

    @cached_property
    def _kept_apart(self) -> frozenset[Span]:
        return frozenset(span for pair in self.decisions.apart for span in pair)

    @cached_property
    def _rivals(self) -> Mapping[Span, Set[Span]]:
        """The entities that each mention is decided to be different from, each named by its first mention."""
        rivals: dict[Span, set[Span]] = defaultdict(set)
        for span, other in self.decisions.apart:
            rivals[span].add(self._entity(other))
            rivals[other].add(self._entity(span))
        return rivals

    @cached_property
    def _rivals_of_entity(self) -> Mapping[Span, Set[Span]]:
        """The entities that each entity is decided to be different from, each named by its first mention."""
        rivals: dict[Span, set[Span]] = defaultdict(set)
        for span, others in self._rivals.items():
            rivals[self._entity(span)] |= others
        return rivals

    def _entity(self, span: Span) -> Span:
        """Return the first mention that decisions put into one entity with a mention."""
        group = self.decided.group_of.get(span)
        return span if group is None else group.mentions[0]

    def _rivals_of(self, span: Span) -> Set[Span]:
        """Return the entities that a mention cannot be of, each named by its first mention.

        What only holds a mention in its entity lets it go when its own question is answered.
        """
        if span in self.decisions.group_of:
            return self._rivals_of_entity.get(self._entity(span), frozenset())
        return self._rivals.get(span, frozenset())

    def are_different(self, span: Span, other: Span) -> bool:
        """Return whether decisions keep a mention apart from another one, or from what that is with."""
        return self.decisions.separates(span, other) or self._entity(other) in self._rivals_of(span)

    def _closed_to(self, span: Span) -> Set[str]:
        """Return the chains of the result of which decisions keep more than half apart from a mention."""
        groups = self.decided.group_of
        apart = Counter(
            self.chain_of[member]
            for rival in self._rivals_of(span)
            for member in (groups[rival].mentions if rival in groups else (rival,))
            if member in self.chain_of
        )
        return {id for id, count in apart.items() if 2 * count > len(self.chains[id].mentions)}

    def span(self, mention: Span) -> Span | None:
        """Return the boundary that a mention has now; `None` if decisions forbid all."""
        if mention not in self.united.spans_of:
            return None if mention in self.ruled_out else mention
        left = [span for span in (mention, *self.united.spans(mention)) if span not in self.ruled_out]
        placed = [span for span in left if span in self.fixed] or [
            span for span in left if span in self.chain_of
        ]
        return next(iter(placed or left), None)

    def drew_others(self, question: Question) -> frozenset[str]:
        """Return the annotators whose boundary of a mention is decided to be a mention of its own."""
        group = self.united.variants.group(question.mention)
        if group is None or question.kind is QuestionKind.BOUNDARY:
            return frozenset()
        span = self.span(question.mention)
        return frozenset(
            annotator for annotator, own in group.marked.items() if own != span and own in self.fixed
        )

    def home(self, mention: Span) -> str | None:
        """Return the id of the chain of the result that a mention is in."""
        span = self.span(mention)
        return None if span is None else self.chain_of.get(span)

    def partners(self, mention: Span, span: Span) -> Iterator[tuple[Span, Span]]:
        """Yield the mentions that annotators link with one and that decisions allow, with their places."""
        closed = self._closed_to(span)
        for other in self.united.votes.neighbours(mention):
            place = self.span(other)
            if place is None or self.chain_of.get(place) in closed or self.are_different(span, place):
                continue
            yield other, place

    def kind(self, question: Question) -> QuestionKind:
        """Return what a question asks now: where no entity is left to choose, whether it is a mention."""
        span = self.span(question.mention)
        if question.kind is not QuestionKind.LINK or self._is_untouched(question) or span is None:
            return question.kind
        left = next(self.partners(question.mention, span), None)
        return QuestionKind.MENTION if left is None else QuestionKind.LINK

    def is_open(self, question: Question) -> bool:
        """Return whether no decision answers a question."""
        if self._is_untouched(question):
            return True
        if question.kind is QuestionKind.BOUNDARY:
            return self._boundary_open(question)
        span = self.span(question.mention)
        if span is None or span in self.decisions.alone:
            return False
        if question.kind is QuestionKind.LINK and self._link_open(question, span):
            return not self._is_placed(question, span)
        return question.marked < question.seen and self._mention_open(question.mention, span)

    def is_clear(self, question: Question) -> bool:
        """Return whether a question is about a boundary that need not be asked: most annotators drew it.

        That is more than two thirds of those who marked the mention; the result has this boundary alone.
        """
        if question.kind is not QuestionKind.BOUNDARY:
            return False
        group = self.united.variants.group(question.mention)
        if group is None:
            return False
        drawn = list(group.marked.values())
        same = drawn.count(self.span(question.mention) or question.mention)
        return 3 * same > 2 * len(drawn) and sum(span in self.chain_of for span in group.spans) < 2

    def _boundary_open(self, question: Question) -> bool:
        """Return whether several boundaries are left.

        Where one is decided to be a mention, another can only be one besides: that is asked if it is in the
        result, too.
        """
        left = [span for span in question.spans if span not in self.ruled_out]
        if any(span in self.fixed for span in left):
            besides = (span for span in left if span not in self.fixed and span in self.chain_of)
            return any(besides)
        return len(left) > 1

    def _link_open(self, question: Question, span: Span) -> bool:
        """Return whether some doubt is left: neither decided to be the same, nor to be different."""
        places = (self.span(doubt) for doubt in question.doubts)
        return not all(place is None or self._is_settled(span, place) for place in places)

    def _is_placed(self, question: Question, span: Span) -> bool:
        """Return whether decisions say of which entity a mention is: by its chain, or by an earlier mention.

        With an earlier mention the question stays open where the result has a doubt in the entity, too, that
        most annotators do not link with that mention: it is not decided whether two entities are one.
        """
        group = self.decisions.group_of.get(span)
        if group is None or len(group.mentions) < 2:
            return False
        if group.ids:
            return True
        home, earlier = self.chain_of.get(span), [member for member in group.mentions if member < span]
        if home is None or not earlier:
            return False
        return all(
            place is None
            or self.chain_of.get(place) != home
            or self._is_settled(span, place)
            or any(self._agreed(doubt, member) for member in earlier)
            for doubt, place in ((doubt, self.span(doubt)) for doubt in question.doubts)
        )

    def _agreed(self, mention: Span, span: Span) -> bool:
        """Return whether more than half of the annotators link a mention with a span."""
        evidence = self.united.votes.evidence(mention, self.united.mention(span))
        return 2 * evidence.k > evidence.n

    def _is_settled(self, span: Span, other: Span) -> bool:
        return self.are_different(span, other) or self.decisions.joins(span, other)

    def settled(self, span: Span, others: Iterable[Span], question: Question) -> bool:
        """Return whether decisions say about all doubts among some mentions if they are the same as one."""
        doubts = {self.span(doubt) for doubt in question.doubts}
        return all(self._is_settled(span, other) for other in others if other in doubts)

    def _mention_open(self, mention: Span, span: Span) -> bool:
        """Return whether a mention is undecided, and can be in the result."""
        if span in self.fixed:
            return False
        if self.solver.settings.singletons is not Singletons.DROP:
            return True
        return next(self.partners(mention, span), None) is not None

    @cached_property
    def _stances(self) -> Stances:
        known = self.united.votes.signatures.keys() | self.united.votes.marks.keys()
        spans = ((mention, self.span(mention)) for mention in known)
        homes = {mention: self.chain_of.get(span) for mention, span in spans if span is not None}
        return Stances(self.united.votes, homes)

    def stances(self, mention: Span) -> Sequence[Stance]:
        """Return what each annotator says about a mention, in the order of the annotations."""
        return self._stances.of(mention)

    def now(self, mention: Span) -> Stance:
        """Return what the result says about a mention."""
        home = self.home(mention)
        if home is None:
            return Stance("absent")
        return Stance("entity", home) if len(self.chains[home].mentions) > 1 else Stance("alone")

    def confidence(self, question: Question) -> Confidence:
        """Return how sure the result is about what a question asks, by the votes."""
        if self.counts_boundaries(question):
            return self._of_boundary(question)
        return by_stances(self.stances(question.mention), self.now(question.mention), self._weights)

    def counts_boundaries(self, question: Question) -> bool:
        """Return whether only those who marked a mention count: the result has a boundary of it."""
        return question.kind is QuestionKind.BOUNDARY and self.home(question.mention) is not None

    def _of_boundary(self, question: Question) -> Confidence:
        """Count the annotators who marked a mention with the boundary that the result has, and others."""
        group, span = self.united.variants.group(question.mention), self.span(question.mention)
        marked = {} if group is None else group.marked
        sides: dict[bool, list[float]] = {True: [], False: []}
        for number, annotation in enumerate(self.united.annotations):
            if annotation.annotator in marked:
                sides[marked[annotation.annotator] == span].append(self._weights.linking[number])
        return by_votes(sides[True], sides[False])

    @cached_property
    def _weights(self) -> VoteWeights:
        return VoteWeights(self.solver.incremental.instance)

    def is_missed(self, question: Question) -> bool:
        """Return whether an annotator says that a mention is of an entity that the result lacks."""
        return Stance("entity") in self.stances(question.mention)

    @cached_property
    def _chains_of_words(self) -> Mapping[str, Set[str]]:
        """The chains of the result that have a mention with some words."""
        found: dict[str, set[str]] = defaultdict(set)
        for span, id in self.chain_of.items():
            found[self._words(span)].add(id)
        return found

    def _words(self, span: Span) -> str:
        return self.solver.document.phrase(span).casefold()

    def telling(self, near: Span, mentions: Sequence[Span], chain: str | None) -> Span | None:
        """Return the mention that tells an entity from all others, unlike pronouns: no other has its words.

        Of several words the most frequent and longest, and of several mentions with them the nearest to one.
        """
        own = [] if chain is None else [chain]
        words = {span: self._words(span) for span in mentions}
        count = Counter(said for said in words.values() if self._chains_of_words.get(said, set()) <= {*own})
        return min(
            (span for span, said in words.items() if said in count),
            key=lambda span: (-count[words[span]] * len(words[span]), abs(span.start - near.start), span),
            default=None,
        )

    def reachable(self, question: Question) -> Iterator[Chain]:
        """Yield the chains of the result that annotators put a mention into and that decisions allow."""
        span = self.span(question.mention)
        for id in self._stances.reachable(question.mention):
            chain = self.chains[id]
            if span in self._kept_apart and any(self.are_different(span, other) for other in chain.mentions):
                continue
            yield chain
