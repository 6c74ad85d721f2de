"""The choices of a question and what they cost: where annotators and the result put its mention.

An entity is a chain of the result, or mentions that annotators put into one chain and the result into none.
It is represented by its *anchor*: an earlier mention if there is one, of these the one that most annotators
link with the asked one, the nearest of these. Answering with an entity says that the mention, the anchor and
the doubts in the entity are the same, and that those of all other entities are different, so that no doubt
about the mention is left (`operations.mentions.place`). Beside what annotators and the result say, the
cheapest other entity is offered, and entities with doubts that no decision settles: some annotators say so in
part. For a question about boundaries the choices are the boundaries.

**Estimates** (`Moves`) order the questions: what it costs to move one mention alone. Moving a mention out of
its chain loses what it gains with the others there, and moving it into another chain wins what it gains with
those. One link with them must be used, and members of that chain that the rule on nesting keeps apart from it
must leave. Mentions of equal signature gain the same, so a chain counts as its signatures. A mention that
annotators put into the same chain as others that are all in no chain of the result may be joined with one of
these. Another boundary costs what its votes differ in from those for the boundary now; where variants
are one mention, votes count for all boundaries alike, and another one costs nothing: that is a tie. The exact
price may be lower, since the best solution with another answer may move more than one mention. The estimate
is there at once and does not change while exact prices are computed.

**Exact prices** (`PriceList`): how much more the best result costs with a mention where a choice puts it.
The engine solves once more with the mention joined with what makes up the entity (`review.entities`), or
left out; parts that the mention does not touch are remembered. That solution also shows which mentions of the
entity would leave it with this answer, so that a card can say so before. *Alone*, *not a mention* and *a new
entity* all leave it without the others, so they have one price. Each price gets its share of the time that is
left, so that one that is hard to prove does not keep the others from being computed; the hard ones then get
what is left of it. What is not proven in that time is a lower bound, or not known, and stays so in this
snapshot.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic

from caspr.confidence import Stance
from caspr.errors import EngineError
from caspr.review.entities import hold, keep
from caspr.review.questions.question import Placing, Question, QuestionKind
from caspr.review.solver import Snapshot, Solver
from caspr.task.contradictions import ContradictionError
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.instance import Instance, Nesting
from caspr.task.limits import Limits
from caspr.task.solution import Solution, Status
from caspr.task.votes import Evidence, Signature, meet
from caspr.text.document import Chain, Span
from caspr.text.grouping import Groups
from caspr.text.variants import overlap_by_half

FORBIDDEN = 1_000_000
"""What a pair that must not share a chain counts as."""


@dataclass
class _ChainGains:
    """The signatures of a chain, and what mentions gain with all of it."""

    chain: Chain
    members: frozenset[Span]
    signatures: Counter[Signature]
    longest: int
    known: dict[Signature, tuple[int, int]] = field(default_factory=dict)
    """What a mention of a signature gains with all members, and the least that a first used link costs."""

    def near(self, span: Span) -> Iterator[Span]:
        """Yield the members that may be nested with a span."""
        mentions = self.chain.mentions
        first = bisect_left(mentions, (span.end - self.longest, 0))
        yield from mentions[first : bisect_left(mentions, (span.end + 1, 0))]


@dataclass
class Moves:
    """What mentions gain in chains, computed once for each signature and chain."""

    instance: Instance
    _known: dict[int, _ChainGains] = field(default_factory=dict, repr=False)
    """By the identity of a chain, which is the same object in the next snapshot unless it changed."""

    def forget_others(self, chains: Iterable[Chain]) -> None:
        """Forget all chains but some."""
        kept = {id(chain) for chain in chains}
        # A copy, since other threads may add chains meanwhile.
        self._known = {key: known for key, known in self._known.copy().items() if key in kept}

    def gain(self, span: Span, chain: Chain | None) -> int:
        """Return what a mention gains with the other mentions of a chain; 0 if there is none."""
        if chain is None:
            return 0
        known, own = self._gains(chain), self.instance.votes.signature(span)
        gained, _ = self._with_all(own, known)
        return gained - (self._pair(own, own) if span in known.members else 0)

    def _with_all(self, own: Signature, chain: _ChainGains) -> tuple[int, int]:
        """Return what a signature gains with all members of a chain, and the least that a used link costs."""
        if own not in chain.known:
            gained, extras = 0, []
            for other, count in chain.signatures.items():
                price = self.instance.prices.of(meet(own, other))
                gained += count * (price.gain if price.allowed else -FORBIDDEN)
                if price.extra is not None:
                    extras.append(price.extra)
            chain.known[own] = gained, min(extras, default=0)
        return chain.known[own]

    def _gains(self, chain: Chain) -> _ChainGains:
        known = self._known.get(id(chain))
        if known is None:
            signatures = Counter(map(self.instance.votes.signature, chain.mentions))
            longest = max(span.end - span.start for span in chain.mentions)
            known = _ChainGains(chain, frozenset(chain.mentions), signatures, longest)
            self._known[id(chain)] = known
        return known

    def entering(self, span: Span, chain: Chain) -> int:
        """Return what it costs that a mention joins a chain of which it is not a member.

        One of their links must be used, and members that the rule on nesting keeps apart from it must leave.
        """
        known, own = self._gains(chain), self.instance.votes.signature(span)
        _, extra = self._with_all(own, known)
        leaving = [other for other in known.near(span) if self.instance.forbids_nesting(span, other)]
        lost = sum(self.gain(other, chain) + self.pair_gain(span, other) for other in leaving)
        return extra + lost - self.gain(span, chain)

    def pair_gain(self, span: Span, other: Span) -> int:
        """Return what two mentions gain in one chain."""
        votes = self.instance.votes
        return self._pair(votes.signature(span), votes.signature(other))

    def joining(self, span: Span, other: Span) -> int:
        """Return what a chain of two mentions costs, whose link must be used."""
        votes = self.instance.votes
        extra = self.instance.prices.of(meet(votes.signature(span), votes.signature(other))).extra
        return (extra or 0) - self.pair_gain(span, other)

    def _pair(self, own: Signature, other: Signature) -> int:
        price = self.instance.prices.of(meet(own, other))
        return price.gain if price.allowed else -FORBIDDEN

    def price(self, placing: Placing, question: Question) -> int:
        """Estimate what the cheapest other answer to a question costs; 0 or less is a tie."""
        span = placing.span(question.mention)
        home = placing.chains.get(placing.home(question.mention) or "")
        if span is None:
            return 0
        here = self.gain(span, home)
        if question.kind is QuestionKind.BOUNDARY:
            others = [
                variant for variant in question.spans if variant not in placing.ruled_out and variant != span
            ]
            variants = placing.solver.settings.variants
            return min((self.exchange(span, other, home, variants=variants) for other in others), default=0)
        moved = [
            here + self.entering(span, chain) for chain in placing.reachable(question) if chain is not home
        ]
        if home is not None and len(home.mentions) > 1:
            return min((here, *moved))
        if moved and not placing.is_missed(question):
            return min(moved)
        unplaced = (target for _, target in placing.partners(question.mention, span))
        loose = (self.joining(span, target) for target in unplaced if target not in placing.chain_of)
        return min((*moved, *loose), default=0)

    def exchange(self, span: Span, other: Span, home: Chain | None, *, variants: bool) -> int:
        """Estimate what it costs to replace a boundary by another; 0 for a mention in no chain.

        If `variants` are one mention, the votes are the same for two, and only nesting can make a difference.
        """
        if home is None or other == span:
            return 0
        if not (variants and overlap_by_half(span, other)):
            return self.gain(span, home) - self.gain(other, home) + self.pair_gain(other, span)
        if self.instance.nested is Nesting.ALWAYS:
            return 0
        inside = (
            inner for inner in self._gains(home).near(other) if inner != span and inner.nests_with(other)
        )
        return sum(max(0, self.gain(inner, home)) for inner in inside if not inner.nests_with(span))


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
    doubts: tuple[Span, ...]
    """Mentions of the entity that are known to be different if another entity is chosen; the anchor first."""
    says: tuple[str, ...]
    partly: tuple[str, ...]
    """The annotators who link the mention with some of the entity: those who say so without a link with any
    of the doubts, and those who say that it is of another entity, where most of their chain is."""
    now: bool
    estimate: int
    """What it costs to move this mention alone."""

    def same(self, span: Span) -> tuple[Span, ...]:
        """Return the mentions that one is the same as if it is of this entity.

        Of an entity that the result lacks these are more than half, since there is no chain to be held.
        """
        if self.chain is not None or not self.mentions:
            return self.doubts
        nearest = sorted(self.mentions, key=lambda other: (abs(other.start - span.start), other))
        return tuple(dict.fromkeys((*self.doubts, *nearest[: len(nearest) // 2 + 1])))


@dataclass(frozen=True)
class Partner:
    """A mention that annotators link with the asked one."""

    mention: Span
    """With the boundary of most annotators."""
    place: Span
    """With the boundary it has now."""
    evidence: Evidence


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
    cheapest = min(
        (choice for choice in entities if not choice.now), key=lambda choice: choice.estimate, default=None
    )
    offered = [
        choice
        for choice in entities
        if choice.now
        or choice.says
        or choice is cheapest
        or not placing.settled(span, choice.doubts, question)
    ]
    return sorted(
        offered, key=lambda choice: (not choice.now, -len(choice.says), choice.estimate, choice.anchor)
    )


def _entities(placing: Placing, question: Question, span: Span) -> Iterable[list[Partner]]:
    """Return the partners of a mention by entity."""
    votes = placing.united.votes
    partners = [
        Partner(other, place, votes.evidence(question.mention, other))
        for other, place in placing.partners(question.mention, span)
    ]
    by_chain: dict[Hashable, list[Partner]] = defaultdict(list)
    loose = Groups(partner.place for partner in partners if partner.place not in placing.chain_of)
    chains: dict[tuple[int, int], Span] = {}
    for partner in partners:
        if partner.place not in placing.chain_of:
            for chain in votes.signature(partner.mention).chains & votes.signature(question.mention).chains:
                loose.join(chains.setdefault(chain, partner.place), partner.place)
    for partner in partners:
        id = placing.chain_of.get(partner.place)
        by_chain[loose.first(partner.place) if id is None else id].append(partner)
    return by_chain.values()


def _entity(
    placing: Placing, moves: Moves, question: Question, span: Span, partners: Sequence[Partner]
) -> Choice:
    """Make the choice of one entity."""
    anchor = max(partners, key=lambda partner: _closeness(partner, span, question.doubts)).place
    id = placing.chain_of.get(anchor)
    home = placing.chain_of.get(span)
    chain = None if id is None else placing.chains[id]
    mentions = chain.mentions if chain is not None else tuple(partner.place for partner in partners)
    doubted = [
        partner.place
        for partner in partners
        if partner.mention in question.doubts and partner.place != anchor
    ]
    here = moves.gain(span, placing.chains.get(home or ""))
    there = moves.joining(span, anchor) if chain is None else moves.entering(span, chain)
    now = id is not None and id == home
    return Choice(
        f"c{id}" if id is not None else f"m{anchor.start}-{anchor.end}",
        anchor,
        id,
        tuple(other for other in mentions if other != span),
        (anchor, *doubted),
        *_supporters(placing, question, id, partners, {anchor, *doubted}),
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
    for partner in partners:
        linking |= partner.evidence.givers
        asked |= partner.evidence.givers if partner.place in doubts else 0
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
    left = [variant for variant in question.spans if variant not in placing.ruled_out]
    return sorted(
        (
            Choice(
                f"b{variant.start}-{variant.end}",
                variant,
                None,
                (),
                (),
                markers[variant],
                (),
                now=variant in placing.chain_of,
                estimate=moves.exchange(span, variant, home, variants=placing.solver.settings.variants),
            )
            for variant in left
        ),
        key=lambda choice: (not choice.now, -len(choice.says), choice.estimate, choice.anchor),
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


LEAVE = "leave"
"""The id of what *alone*, *not a mention* and *a new entity* cost."""


@dataclass(frozen=True)
class ChoicePrice:
    """What a choice costs more than the result."""

    price: int | None
    """The price, at least; `None` if the choice is not possible, or if nothing is known."""
    exact: bool = True
    """Whether the price is proven, or that the choice is not possible; otherwise it is a lower bound."""
    leaving: tuple[Span, ...] = ()
    """The mentions of the entity that leave it with this choice, where the price is proven."""

    @property
    def least(self) -> int:
        """What it costs at least."""
        return self.price or 0


NOT_KNOWN = ChoicePrice(None, exact=False)
"""The price of what no time was left for."""


@dataclass(frozen=True)
class PriceList:
    """Prices the choices of questions in one snapshot, one solve for each."""

    placing: Placing
    snapshot: Snapshot
    """Decisions and result, which is proven optimal."""

    @property
    def _solver(self) -> Solver:
        return self.placing.solver

    def prices(
        self, question: Question, choices: Sequence[Choice], seconds: float, cancelled: Callable[[], bool]
    ) -> Iterator[tuple[str, ChoicePrice]]:
        """Yield the price of each choice by its id, and of leaving all, as exact as there is time for."""
        span = self.placing.span(question.mention)
        if span is None or not self.snapshot.optimal:
            return
        give_up = monotonic() + seconds
        tasks = list(self._tasks(question, choices, span))
        hard = []
        for number, (id, price) in enumerate(tasks):
            share = (give_up - monotonic()) / (len(tasks) - number)
            computed = _within(share, price, cancelled)
            if cancelled():
                return
            if not computed.exact:
                hard.append((id, price, computed))
            yield id, computed
        for id, price, computed in hard:
            again = _within(give_up - monotonic(), price, cancelled)
            if cancelled():
                return
            yield id, again if again.exact or again.least > computed.least else computed

    def _tasks(
        self, question: Question, choices: Sequence[Choice], span: Span
    ) -> Iterator[tuple[str, Callable[[Limits], ChoicePrice]]]:
        spans = [choice.anchor for choice in choices]
        for choice in choices:
            if question.kind is QuestionKind.BOUNDARY:
                yield choice.id, partial(self._with_boundary, choice, spans)
            elif choice.now:
                yield choice.id, _nothing
            else:
                yield choice.id, partial(self._joined, span, choice, choices)
        yield LEAVE, partial(self._without, spans if question.kind is QuestionKind.BOUNDARY else [span])

    def _joined(self, span: Span, choice: Choice, choices: Sequence[Choice], limits: Limits) -> ChoicePrice:
        decisions = self.snapshot.decisions.releasing(span)
        instance = self._solver.instance(decisions)
        joined = {span, *choice.same(span), *self._held(instance, span, choice)}
        if not joined <= set(instance.mentions):
            return NOT_KNOWN
        value = self._value(decisions, limits)
        apart = list(self._different(span, choice, choices, joined))
        # That two are different takes the place of an answer that just these two are the same.
        opposite = {replace(statement, kind=StatementKind.TOGETHER) for statement in apart}
        kept = [statement for statement in decisions.statements if statement not in opposite]
        said = (*kept, *apart, *self._nested(span, joined))
        instance = self._solver.instance(replace(decisions, statements=said))
        solution = self._solver.incremental.joining(instance, joined, limits)
        if solution.status is Status.INFEASIBLE:
            return self._enforced(choice, joined, instance.decisions, value, limits)
        price = max(0, solution.bound - value)
        if solution.status is Status.FEASIBLE or instance.rules.partial:
            return ChoicePrice(price, exact=False)
        return ChoicePrice(price, leaving=_leaving(choice, joined, solution))

    def _enforced(
        self, choice: Choice, joined: Set[Span], decisions: Decisions, value: int, limits: Limits
    ) -> ChoicePrice:
        """Return the least price of links that only a decision allows, as what it enforces is free."""
        together = Statement.of(StatementKind.TOGETHER, joined)
        instance = self._solver.instance(replace(decisions, statements=(*decisions.statements, together)))
        try:
            solution = self._solver.incremental.answer(instance, limits)
        except ContradictionError:
            return ChoicePrice(None)
        if solution.status is Status.INFEASIBLE:
            return ChoicePrice(None)
        leaving = _leaving(choice, joined, solution) if solution.status is not Status.FEASIBLE else ()
        return ChoicePrice(max(0, solution.bound - value), exact=False, leaving=leaving)

    def _different(
        self, span: Span, choice: Choice, choices: Sequence[Choice], joined: Set[Span]
    ) -> Iterator[Statement]:
        """Yield that a mention is different from those of the other choices, unless that is decided."""
        decisions = self.snapshot.decisions
        for other in (doubt for rival in choices if rival is not choice for doubt in rival.doubts):
            if not decisions.separates(span, other) and not any(
                decisions.joins(other, own) for own in joined if own != span
            ):
                yield Statement.of(StatementKind.APART, [span, other])

    def _nested(self, span: Span, joined: Set[Span]) -> Iterator[Statement]:
        """Yield that a mention may be with those inside it: an answer goes before the vote on that."""
        if self._solver.settings.nested is Nesting.VOTE:
            for other in joined:
                if span.nests_with(other):
                    yield Statement.of(StatementKind.NESTED, [span, other])

    def _held(self, instance: Instance, span: Span, choice: Choice) -> tuple[Span, ...]:
        """Return what an answer holds of the entity that it names."""
        chain = None if choice.chain is None else self.placing.chains[choice.chain]
        return () if chain is None else hold(instance, chain, [span], choice.doubts).mentions

    def _value(self, decisions: Decisions, limits: Limits) -> int:
        """Return what the best result costs if the asked mention is not held where it is now."""
        if decisions is self.snapshot.decisions:
            return self.snapshot.value
        return self._solver.incremental.answer(self._solver.instance(decisions), limits).value

    def _with_boundary(self, choice: Choice, spans: Sequence[Span], limits: Limits) -> ChoicePrice:
        """Return the price of one boundary, in the entity that the mention is in."""
        others = [other for other in spans if other != choice.anchor]
        kept = keep(self._solver, self.snapshot, choice.anchor, others)
        if not kept:
            return self._without(others, limits)
        joined, decisions = {choice.anchor, *kept}, self.snapshot.decisions
        for other in others:
            decisions = decisions.releasing(other)
        value = self._value(decisions, limits)
        absent = Statement.of(StatementKind.ABSENT, others)
        instance = self._solver.instance(replace(decisions, statements=(*decisions.statements, absent)))
        if not joined <= set(instance.mentions):
            return NOT_KNOWN
        solution = self._solver.incremental.joining(instance, joined, limits)
        if solution.status is Status.INFEASIBLE:
            return self._enforced(choice, joined, instance.decisions, value, limits)
        return ChoicePrice(max(0, solution.bound - value), solution.status is not Status.FEASIBLE)

    def _without(self, spans: Sequence[Span], limits: Limits) -> ChoicePrice:
        present = [span for span in spans if span not in self.placing.ruled_out]
        if not present or not any(span in self.placing.chain_of for span in present):
            return ChoicePrice(0)
        decisions = self.snapshot.decisions
        for span in present:
            decisions = decisions.releasing(span)
        value = self._value(decisions, limits)
        absent = Statement.of(StatementKind.ABSENT, present)
        instance = self._solver.instance(replace(decisions, statements=(*decisions.statements, absent)))
        try:
            solution: Solution = self._solver.incremental.answer(instance, limits)
        except ContradictionError:
            return ChoicePrice(None)
        if solution.status is Status.INFEASIBLE:
            return ChoicePrice(None)
        return ChoicePrice(max(0, solution.bound - value), solution.status is not Status.FEASIBLE)


def _leaving(choice: Choice, joined: Set[Span], solution: Solution) -> tuple[Span, ...]:
    """Return which mentions of an entity are not with those that are joined."""
    chain = next(
        (frozenset(chain) for chain in solution.partitions[0] if not joined.isdisjoint(chain)), joined
    )
    return tuple(other for other in choice.mentions if other not in chain)


def _within(
    seconds: float, price: Callable[[Limits], ChoicePrice], cancelled: Callable[[], bool]
) -> ChoicePrice:
    """Return a price as exact as there is time for."""
    if seconds <= 0:
        return NOT_KNOWN
    try:
        return price(Limits(seconds=seconds, cancelled=cancelled))
    except EngineError:  # it was stopped before it had any solution
        return NOT_KNOWN


def _nothing(limits: Limits) -> ChoicePrice:  # noqa: ARG001
    """Return what it costs to choose what the result says."""
    return ChoicePrice(0)
