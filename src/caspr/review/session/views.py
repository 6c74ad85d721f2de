"""Views: what the page is told, in terms of JSON."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from caspr.formats.review_file.statements import spelled
from caspr.review.session.entries import DecisionEntry, EnforcedCells
from caspr.review.session.solver import Snapshot, Solver
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.limits import Limits
from caspr.text.document import Chain, Span

KINDS = {StatementKind.ENFORCED: "chain"}
"""What the page calls statements, where not by their own name."""

Fate = tuple[str | None, str | None]
"""The chain of a mention, and what was decided about it."""


@dataclass
class Viewer:
    """Tells the page about positions of one board."""

    board: Solver
    _last: tuple[Snapshot | None, dict[Span, Fate]] = field(default=(None, {}), repr=False)
    """The fates in the position that was looked at last."""

    @cached_property
    def votes(self) -> Mapping[Span, list[str | None]]:
        """For every candidate the chain each annotator put it into."""
        votes: dict[Span, list[str | None]] = {
            span: [None] * len(self.board.annotations) for span in self.board.candidates
        }
        for number, annotation in enumerate(self.board.annotations):
            for chain in annotation.all_chains:
                for span in chain.mentions:
                    votes[span][number] = votes[span][number] or chain.id
        return votes

    def whole(self, position: Snapshot) -> dict[str, Any]:
        """Return all that changes from position to position."""
        fates = self._fates(position)
        return {
            "mentions": {spelled(span): self._mention(span, fate) for span, fate in fates.items()},
            "chains": {chain.id: _chain(chain, position.decisions) for chain in position.chains},
            **told(position),
        }

    def difference(self, before: Snapshot, after: Snapshot, asked: Iterable[Span] = ()) -> dict[str, Any]:
        """Return what is different in a later position."""
        old, new = self._fates(before), self._fates(after)
        changed = {span: fate for span, fate in new.items() if old.get(span) != fate}
        gone: dict[str, Any] = {spelled(span): None for span in old.keys() - new.keys()}
        spoken = frozenset(asked)
        moved = sorted(
            span
            for span in {*changed, *(old.keys() - new.keys())}
            if span not in spoken and old.get(span, NOWHERE)[0] != new.get(span, NOWHERE)[0]
        )
        return {
            "mentions": {
                **{spelled(span): self._mention(span, fate) for span, fate in changed.items()},
                **gone,
            },
            "chains": _changed_chains(before, after),
            "changed": [
                {
                    "mention": spelled(span),
                    "from": old.get(span, NOWHERE)[0],
                    "to": new.get(span, NOWHERE)[0],
                }
                for span in moved
            ],
            **told(after),
        }

    def _fates(self, position: Snapshot) -> dict[Span, Fate]:
        if self._last[0] is position:
            return self._last[1]
        decisions, chain_of = position.decisions, position.chain_of
        inside, ruled_out = decisions.group_of, self.board.ruled_out(decisions)
        known = {**self.votes, **dict.fromkeys(inside), **dict.fromkeys(decisions.absent)}
        fates: dict[Span, Fate] = {
            span: (chain_of.get(span), "in" if span in inside else "absent" if span in ruled_out else None)
            for span in known
        }
        self._last = (position, fates)
        return fates

    def _mention(self, span: Span, fate: Fate) -> dict[str, Any]:
        votes = self.votes.get(span)
        return {
            "start": span.start,
            "end": span.end,
            "chain": fate[0],
            "votes": votes or [None] * len(self.board.annotations),
            "decision": fate[1],
            "marked": self.board.candidates.get(span, 0),
            "new": votes is None,
        }

    def explanation(self, span: Span, position: Snapshot, limits: Limits) -> dict[str, Any]:
        """Say who voted how on a mention, and what else could become of it at what price."""
        return {
            "votes": [
                {
                    "annotator": annotation.annotator,
                    "chain": chain.id,
                    "with": [spelled(other) for other in chain.mentions if other != span],
                }
                for annotation in self.board.annotations
                for chain in annotation.all_chains
                if span in chain.mentions
            ],
            "alternatives": self._alternatives(span, position, limits),
            "neighbours": [
                spelled(other)
                for other in self._fates(position)
                if other != span and other.start <= span.end and span.start <= other.end
            ],
        }

    def _alternatives(self, span: Span, position: Snapshot, limits: Limits) -> list[dict[str, Any]]:
        """List the chains of the result that somebody linked a mention with, most votes first."""
        votes = self.board.adjudicator.instance.votes
        best: dict[str, tuple[int, Span]] = {}
        for other in votes.neighbours(span):
            id = position.chain_of.get(other)
            evidence = votes.evidence(span, other)
            if id is not None and evidence > best.get(id, (0, span))[0]:
                best[id] = (evidence, other)
        home = position.chain_of.get(span)
        pairs = {id: (min(span, other), max(span, other)) for id, (_, other) in best.items()}
        prices = self._prices(pairs, position, limits)
        ranked = sorted(best, key=lambda id: (-best[id][0], best[id][1]))
        return [
            {
                "chain": id,
                "evidence": best[id][0],
                "with": spelled(best[id][1]),
                "now": id == home,
                **prices.get(id, {"price": None, "exact": False, "possible": True}),
            }
            for id in ranked
        ]

    def _prices(
        self, pairs: Mapping[str, tuple[Span, Span]], position: Snapshot, limits: Limits
    ) -> dict[str, dict[str, Any]]:
        """Price the opposite of what the result says about each pair, where there is time for it."""
        if not position.optimal:
            return {}
        instance = self.board.instance(position.decisions)
        allowed = set(instance.mentions)
        todo = {id: pair for id, pair in pairs.items() if allowed.issuperset(pair)}
        told = self.board.adjudicator.flip_prices(
            instance, self.board.solution(position), todo.values(), limits
        )
        return {
            id: {"price": one.price, "exact": one.exact, "possible": one.price is not None}
            for id, one in zip(todo, told, strict=True)
        }


NOWHERE: Fate = (None, None)


def told(position: Snapshot) -> dict[str, Any]:
    """Return what is short enough to be told each time."""
    return {
        "cost": {
            "value": position.value,
            "bound": position.bound,
            "status": "optimal" if position.optimal else "gap",
            "omitted": position.costs.omitted,
            "used": position.costs.used,
            "invented": position.costs.invented,
        },
        "decisions": [_decision(entry) for entry in position.entries],
        "closed": sorted(position.decisions.closed),
        "notes": [
            {"id": id, "mention": None if note.mention is None else spelled(note.mention), "text": note.text}
            for id, note in position.notes
        ],
    }


def _changed_chains(before: Snapshot, after: Snapshot) -> dict[str, Any]:
    old = {chain.id: chain for chain in before.chains}
    new = {chain.id: chain for chain in after.chains}
    changed: dict[str, Any] = dict.fromkeys(old.keys() - new.keys())
    for id, chain in new.items():
        view = _chain(chain, after.decisions)
        if old.get(id) != chain or view != _chain(old[id], before.decisions):
            changed[id] = view
    return changed


def _chain(chain: Chain, decisions: Decisions) -> dict[str, Any]:
    enforced = decisions.group_of
    return {
        "mentions": [spelled(span) for span in chain.mentions],
        "decided": all(span in enforced for span in chain.mentions),
    }


def _decision(entry: DecisionEntry) -> dict[str, Any]:
    what = entry.what
    if isinstance(what, Statement):
        kind = KINDS.get(what.kind, str(what.kind))
    else:
        kind = "chain" if isinstance(what, EnforcedCells) else "empty"
    return {
        "id": entry.id,
        "kind": kind,
        "label": str(what),
        "mentions": [spelled(span) for span in entry.mentions],
        "tokens": list(entry.tokens),
        "chain": entry.chain,
        "closes": not isinstance(what, Statement),
    }
