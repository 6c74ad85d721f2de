"""What an answer means by an entity: the mentions that must stay in it for it to be the one that was shown.

An answer says that “der” is Mellefont, 319 mentions. Joining “der” with one mention of his would not say so:
the best solution might then rather tear this mention out of the other 318. So beside the answer a decision
holds what makes up the entity (`StatementKind.ENTITY`): more than half of its mentions, and as few
about which anybody might say something else as possible.

    firm        marked by more than half of those who saw it, or decided;
    agreed      two firm mentions that everybody who marked both put into one chain, or that decisions join;
    a core      firm mentions that agreed pairs connect.

Held are the anchors of the answer, with their cores; then, until that is more than half of the entity, the
other cores, the largest first; then what is left, the nearest mention first. A protagonist of 319 mentions
is held by a core of 270 about which nobody disagrees, a short chain by the mentions that the card shows. The
rest of the entity stays free, and so does the question about a held mention: an answer to it goes before
(`operations.context`). A mention that a decision or the rule on nesting keeps apart from the asked one is not
held either.

Nothing is held that decisions hold already: of 60 answers about one entity, one holds it.

Another boundary of a mention is held in the entity in the same way (`keep`), where the votes for the
boundary that the result has do not count for it: who says where a mention ends says nothing about its entity.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from caspr.review.solver import Snapshot, Solver
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.instance import Instance
from caspr.task.votes import Signature, Votes, meet
from caspr.text.document import Chain, Span
from caspr.text.grouping import Groups


@dataclass(frozen=True)
class Held:
    """What holds an entity, if decisions do not do so already."""

    mentions: tuple[Span, ...]
    """Those that are held in one chain, in text order; none if decisions hold the entity already."""
    firm: Span | None
    """The nearest of them that is in a core, if the anchors are in none."""

    @property
    def statement(self) -> Statement | None:
        """The decision that holds them."""
        return Statement.of(StatementKind.ENTITY, self.mentions) if len(self.mentions) > 1 else None


def hold(instance: Instance, chain: Chain, asked: Iterable[Span], anchors: Sequence[Span]) -> Held:
    """Return what must stay together for a chain to be the same entity, without the mentions that are asked.

    The decisions are those of the instance; `anchors` are mentions of the chain that the answer names.
    """
    about = frozenset(asked)
    decisions = instance.decisions

    rivals = _rivals(decisions, about)

    def clash(span: Span) -> bool:
        return span in rivals or any(instance.forbids_nesting(span, other) for other in about)

    named = [span for span in anchors if span in chain.mentions and span not in about]
    entity = [
        span
        for span in chain.mentions
        if span not in about and not decisions.excludes(span) and (span in named or not clash(span))
    ]
    cores = _cores(instance, entity)
    firm = {span: core for core in cores for span in core}
    near = next(iter(about or named), None)
    nearest = sorted(entity, key=lambda span: (0 if near is None else abs(span.start - near.start), span))
    chosen: dict[Span, None] = {}
    for group in (
        *([span, *firm.get(span, ())] for span in named),
        *sorted(cores, key=lambda core: (-len(core), core)),
        *([span] for span in nearest),
    ):
        if set(named) <= chosen.keys() and 2 * len(chosen) > len(entity):
            break
        chosen.update(dict.fromkeys(group))
    is_held = all(decisions.joins(span, next(iter(chosen))) for span in chosen)
    unsure = chosen.keys() & firm.keys() and not any(span in firm for span in named)
    return Held(
        () if is_held else tuple(sorted(chosen)),
        next((span for span in nearest if span in firm and span in chosen), None) if unsure else None,
    )


def keep(solver: Solver, snapshot: Snapshot, boundary: Span, others: Sequence[Span]) -> tuple[Span, ...]:
    """Return the mentions that hold another boundary of a mention in its entity; `others` are its rivals."""
    old = next((span for span in others if span in snapshot.chain_of), None)
    if old is None or boundary in snapshot.chain_of or solver.are_one(boundary, old, snapshot.decisions):
        return ()
    chain, about = snapshot.chain(snapshot.chain_of[old]), (boundary, *others)
    assert chain is not None
    held = hold(solver.instance(snapshot.decisions), chain, about, ()).mentions
    left = (span for span in chain.mentions if span not in about)
    return held or tuple(sorted(left, key=lambda span: abs(span.start - old.start))[:1])


def _rivals(decisions: Decisions, asked: Set[Span]) -> Set[Span]:
    """Return the mentions that decisions keep apart from some, with those that they are with."""
    apart = {span for pair in decisions.apart if not asked.isdisjoint(pair) for span in pair} - asked
    groups = (decisions.group_of[span].mentions for span in apart if span in decisions.group_of)
    return apart.union(*groups)


def _cores(instance: Instance, entity: Sequence[Span]) -> list[tuple[Span, ...]]:
    """Return the firm mentions of an entity by what connects them, those of one kind at once."""
    votes, decided = instance.votes, instance.decisions.group_of
    firm = [span for span in entity if span in decided or _is_firm(votes, span)]
    cores = Groups(firm)
    kinds: dict[tuple[Signature, int], Span] = {}
    leaders: dict[Span, Span] = {}
    for span in firm:
        if votes.signature(span).chains:
            cores.join(kinds.setdefault((votes.signature(span), votes.marks.get(span, 0)), span), span)
        if span in decided:
            cores.join(leaders.setdefault(decided[span].mentions[0], span), span)
    _join_agreed(cores, kinds)
    return [tuple(core) for core in cores.lists()]


def _is_firm(votes: Votes, span: Span) -> bool:
    return 2 * votes.marks.get(span, 0).bit_count() > votes.viewers(span).bit_count()


def _join_agreed(cores: Groups[Span], kinds: Mapping[tuple[Signature, int], Span]) -> None:
    known = list(kinds.items())
    for number, ((signature, markers), span) in enumerate(known):
        for (other, others), twin in known[:number]:
            both = markers & others
            if both and cores.first(span) != cores.first(twin) and meet(signature, other).givers == both:
                cores.join(span, twin)
