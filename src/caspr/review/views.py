"""Views: snapshots of a document as JSON for the page, whole or what differs between two of them.

`static/state/types.d.ts` declares the same fields for the page; a test compares the two.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from caspr.review.record import note_values
from caspr.review.solver import Snapshot, Solver
from caspr.task.decisions import Decision, signature_values, spelled
from caspr.task.limits import Limits
from caspr.text.document import Chain, Span
from caspr.text.variants import Variants

Placement = tuple[str | None, str | None, tuple[Span, ...]]
"""The chain of a mention if any, whether decisions enforce it (`in`) or rule it out (`absent`), and where
annotators marked it, one after the other, if nobody marked it there."""
UNKNOWN: Placement = (None, None, ())
"""The placement of a span that is not a mention."""


@dataclass(frozen=True)
class Viewer:
    """Makes the views of one document."""

    solver: Solver

    @cached_property
    def votes(self) -> Mapping[Span, list[str | None]]:
        """For every candidate the chain that each annotator put it into."""
        votes: dict[Span, list[str | None]] = {
            span: [None] * len(self.solver.annotations) for span in self.solver.candidates
        }
        for number, annotation in enumerate(self.solver.annotations):
            for chain in annotation.all_chains:
                for span in chain.mentions:
                    votes[span][number] = votes[span][number] or chain.id
        return votes

    def whole(self, snapshot: Snapshot) -> dict[str, Any]:
        """Return everything that can differ between snapshots."""
        inside = self._inside(snapshot)
        placements = self._placements(snapshot, self.votes)
        return {
            "mentions": {
                spelled(span): self._mention(span, placement) for span, placement in placements.items()
            },
            "chains": {chain.id: _chain(chain, inside) for chain in self.solver.named_chains(snapshot)},
            **self._short_parts(snapshot),
        }

    def difference(self, before: Snapshot, after: Snapshot, named: Iterable[Span] = ()) -> dict[str, Any]:
        """Return what differs in a later snapshot; `changed` lists moved mentions that were not named.

        A mention is looked at where its chain differs, or what is decided about it.
        """
        chains = set(before.chains) ^ set(after.chains)
        moving = {span for chain in chains for span in chain.mentions}
        moving |= self._inside(before) ^ self._inside(after)
        moving |= self.solver.ruled_out(before.decisions) ^ self.solver.ruled_out(after.decisions)
        moving &= self.votes.keys()
        old, new = self._placements(before, moving), self._placements(after, moving)
        changed = {span: placement for span, placement in new.items() if old.get(span) != placement}
        gone: dict[str, Any] = {spelled(span): None for span in old.keys() - new.keys()}
        expected = frozenset(named)
        moved = sorted(
            span
            for span in {*changed, *(old.keys() - new.keys())}
            if span not in expected and old.get(span, UNKNOWN)[0] != new.get(span, UNKNOWN)[0]
        )
        return {
            "mentions": {
                **{spelled(span): self._mention(span, placement) for span, placement in changed.items()},
                **gone,
            },
            "chains": self._changed_chains(before, after),
            "changed": [
                {
                    "mention": spelled(span),
                    "from": old.get(span, UNKNOWN)[0],
                    "to": new.get(span, UNKNOWN)[0],
                }
                for span in moved
            ],
            **self._short_parts(after),
        }

    def _short_parts(self, snapshot: Snapshot) -> dict[str, Any]:
        """Return the parts that are short enough for every update."""
        titles = self.solver.titles(snapshot)
        return {
            "cost": {
                "value": snapshot.value,
                "bound": snapshot.bound,
                "status": "optimal" if snapshot.optimal else "gap",
                "omitted": snapshot.costs.omitted,
                "used": snapshot.costs.used,
                "invented": snapshot.costs.invented,
                "rules": snapshot.costs.rules,
            },
            "decisions": [self._decision(entry, titles) for entry in snapshot.entries],
            "closed": sorted(snapshot.decisions.closed),
            "notes": [note_values(id, note) for id, note in snapshot.notes],
            "done": None if snapshot.done is None else signature_values(snapshot.done),
        }

    def _decision(self, entry: Decision, titles: Mapping[str, str]) -> dict[str, Any]:
        label = self.solver.in_words(entry.statement, titles)
        return {**entry.values(), "label": label, "tokens": list(entry.statement.tokens)}

    def _changed_chains(self, before: Snapshot, after: Snapshot) -> dict[str, Any]:
        old = {chain.id: chain for chain in self.solver.named_chains(before)}
        new = {chain.id: chain for chain in self.solver.named_chains(after)}
        changed: dict[str, Any] = dict.fromkeys(old.keys() - new.keys())
        inside = self._inside(before), self._inside(after)
        for id, chain in new.items():
            if id not in old or _content(old[id], inside[0]) != _content(chain, inside[1]):
                changed[id] = _chain(chain, inside[1])
        return changed

    @staticmethod
    def _inside(snapshot: Snapshot) -> frozenset[Span]:
        """Return the mentions that answers of the adjudicator say are some."""
        return snapshot.decisions.standing.union(snapshot.decisions.answers.group_of)

    def _placements(self, snapshot: Snapshot, some: Iterable[Span]) -> dict[Span, Placement]:
        """Return where some of the annotators' mentions are, and all that only decisions know."""
        decisions, chain_of, inside = snapshot.decisions, snapshot.chain_of, self._inside(snapshot)
        ruled_out = self.solver.ruled_out(decisions)
        decided = (*decisions.standing, *decisions.group_of, *decisions.absent)
        variants = cache(lambda: self.solver.settings.find_variants(self.solver.annotations, decisions))
        return {
            span: (
                chain_of.get(span),
                "in" if span in inside else "absent" if span in ruled_out else None,
                () if span in self.votes else self._marked_as(span, snapshot, variants()),
            )
            for span in dict.fromkeys((*some, *(span for span in decided if span not in self.votes)))
        }

    def _mention(self, span: Span, placement: Placement) -> dict[str, Any]:
        votes = self.votes.get(span)
        marked = [self.votes.get(own, self._nobody)[number] for number, own in enumerate(placement[2])]
        return {
            "start": span.start,
            "end": span.end,
            "chain": placement[0],
            "votes": votes or marked,
            "decision": placement[1],
            "marked": self.solver.candidates.get(span, 0),
            "new": votes is None,
        }

    @cached_property
    def _nobody(self) -> list[str | None]:
        return [None] * len(self.solver.annotations)

    def _marked_as(self, span: Span, snapshot: Snapshot, variants: Variants) -> tuple[Span, ...]:
        """Return the span that each annotator marked instead of one: a variant, or one that was moved.

        A boundary was moved from a span that decisions rule out to one that nobody marked and that shares
        tokens with it, most tokens if there are several.
        """
        own = [variants.own(annotation.annotator, span) for annotation in self.solver.annotations]
        if span not in self.votes:
            moved = [old for old in snapshot.decisions.absent if old in self.votes and old.overlaps(span)]
            moved.sort(key=lambda old: (max(old.start, span.start) - min(old.end, span.end), old))
            own = [
                next((old for old in moved if old in annotation.mentions), known) if known == span else known
                for annotation, known in zip(self.solver.annotations, own, strict=True)
            ]
        return tuple(own)

    def explanation(self, span: Span, snapshot: Snapshot, limits: Limits) -> dict[str, Any]:
        """Return who voted how on a mention, and the price of each other chain it could be in.

        Where boundaries have variants, an annotator voted on the mention with a boundary of its own.
        """
        names = [annotation.annotator for annotation in self.solver.annotations]
        variants = self.solver.settings.find_variants(self.solver.annotations, snapshot.decisions)
        own = dict(zip(names, self._marked_as(span, snapshot, variants), strict=True))
        return {
            "votes": [
                {
                    "annotator": annotation.annotator,
                    "chain": chain.id,
                    "name": chain.name,
                    "with": [
                        spelled(other) for other in chain.mentions if other != own[annotation.annotator]
                    ],
                    "boundary": spelled(own[annotation.annotator]),
                }
                for annotation in self.solver.annotations
                for chain in annotation.all_chains
                if own[annotation.annotator] in chain.mentions
            ],
            "alternatives": self._alternatives(span, snapshot, limits),
        }

    def _alternatives(self, span: Span, snapshot: Snapshot, limits: Limits) -> list[dict[str, Any]]:
        """List the chains of the result that some annotator linked a mention with, most votes first."""
        votes = self.solver.incremental.instance.votes
        best: dict[str, tuple[int, Span]] = {}
        for other in votes.neighbours(span):
            id = snapshot.chain_of.get(other)
            evidence = votes.evidence(span, other).k
            if id is not None and evidence > best.get(id, (0, span))[0]:
                best[id] = (evidence, other)
        home = snapshot.chain_of.get(span)
        pairs = {id: (min(span, other), max(span, other)) for id, (_, other) in best.items()}
        prices = self._prices(pairs, snapshot, limits)
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
        self, pairs: Mapping[str, tuple[Span, Span]], snapshot: Snapshot, limits: Limits
    ) -> dict[str, dict[str, Any]]:
        """Price the opposite of what the result says about each pair, within limits."""
        if not snapshot.optimal:
            return {}
        instance = self.solver.instance(snapshot.decisions)
        allowed = set(instance.mentions)
        possible = {id: pair for id, pair in pairs.items() if allowed.issuperset(pair)}
        flip_prices = self.solver.incremental.flip_prices(
            instance, self.solver.solution(snapshot), possible.values(), limits
        )
        return {
            id: {"price": flip.price, "exact": flip.exact, "possible": flip.price is not None}
            for id, flip in zip(possible, flip_prices, strict=True)
        }


def _content(chain: Chain, inside: frozenset[Span]) -> tuple[object, ...]:
    """Return what the view of a chain says, as far as it can differ."""
    return chain.mentions, chain.name, chain.type, inside.issuperset(chain.mentions)


def _chain(chain: Chain, inside: frozenset[Span]) -> dict[str, Any]:
    return {
        "mentions": [spelled(span) for span in chain.mentions],
        "decided": inside.issuperset(chain.mentions),
        "name": chain.name,
        "type": chain.type,
    }
