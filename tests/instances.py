"""Random small instances, seeded, for tests that compare engines with brute force."""

import random
from dataclasses import replace

from caspr.task.decisions import Decisions, Rule, Statement, StatementKind
from caspr.task.instance import Instance, Nesting, Singletons
from caspr.task.objectives import OBJECTIVES, Coefficients, Objective
from caspr.task.own_rules import Consequence, DerivedRules, Effect
from caspr.task.votes import Stretches
from caspr.text.document import Annotation, Chain, Document, Span

Chains = dict[str, list[tuple[int, int]]]
PAIRS = (StatementKind.APART, StatementKind.NESTED)
"""The statements about two mentions."""


def annotation(name: str, chains: list[list[tuple[int, int]]], tokens: int = 6) -> Annotation:
    """Make an annotation of a document of numbered tokens."""
    document = Document("doc", tuple(str(index) for index in range(1, tokens + 1)))
    return Annotation.of(
        name, document, [Chain.of(str(number), chain) for number, chain in enumerate(chains, start=1)]
    )


def paper_annotations() -> tuple[Annotation, ...]:
    """Return the running example of the paper."""
    return (
        annotation("a", [[(1, 3), (6, 6)], [(2, 2), (4, 4)]]),
        annotation("b", [[(1, 3), (5, 5)]]),
        annotation("c", [[(1, 3), (6, 6)], [(1, 1), (4, 4)]]),
        annotation("d", [[(1, 3), (5, 5)], [(2, 2), (6, 6)]]),
    )


def random_instance(
    rng: random.Random,
    *,
    mentions: int = 7,
    annotators: int = 4,
    tokens: int | None = None,
    decisions: bool = False,
    odd: bool = False,
) -> Instance:
    """Make an instance over at most so many mentions; `odd` varies rules, coefficients, coverage."""
    tokens = tokens or rng.randint(3, 8)
    spans = _spans(rng, tokens, rng.randint(2, mentions))
    annotations = tuple(
        annotation(f"a{number}", _chains(rng, spans), tokens) for number in range(rng.randint(2, annotators))
    )
    objective = rng.choice(list(OBJECTIVES.values()))
    if odd and rng.random() < 0.5:
        objective = Objective(rng.randint(0, 4), rng.randint(0, 3), rng.choice([None, 0, 1, 2, 5]))
    more = random.Random(f"{spans} {annotations}")
    weighted = odd and more.random() < 0.4
    covered = odd and more.random() < 0.3
    return Instance(
        annotations,
        objective,
        _decisions(rng, spans, tokens) if decisions else Decisions(),
        nested=_nesting(rng.random()) if odd else Nesting.NEVER,
        forced_votes=odd and rng.random() < 0.3,
        singletons=Singletons.VOTE if odd and rng.random() < 0.2 else Singletons.DROP,
        weights=random_weights(more, objective, len(annotations)) if weighted else None,
        seen=tuple(random_stretches(more, tokens) for _ in annotations) if covered else (),
    )


def with_random_rules(rng: random.Random, instance: Instance, *, mention_costs: bool = True) -> Instance:
    """Add what rules of every kind might have derived; they may contradict decisions and each other."""
    marked = sorted({span for annotation in instance.annotations for span in annotation.mentions})
    effects = [effect for effect in Effect if mention_costs or effect is not Effect.MENTION_COST]
    effects += [Effect.FORBID, Effect.TOGETHER_COST, Effect.APART_COST]
    derived = []
    for line in range(1, rng.randint(1, 5) + 1):
        effect = rng.choice(effects)
        if len(marked) < effect.mentions:
            continue
        mentions = tuple(sorted(rng.sample(marked, effect.mentions)))
        cost = rng.randint(1, 6) if effect.costs else 0
        if effect is Effect.MENTION_COST and rng.random() < 0.5:
            cost = -cost
        derived.append(Consequence(effect, mentions, Rule("random.lp", line, str(effect)), cost))
    return replace(instance, rules=DerivedRules(tuple(derived)))


def permuted(instance: Instance, order: list[int]) -> Instance:
    """Return the same task with its annotators in another order."""
    weights = instance.weights
    if weights is not None:
        omit, use = (tuple(costs[number] for number in order) for costs in (weights.omit, weights.use))
        weights = replace(weights, omit=omit, use=use)
    return replace(
        instance,
        annotations=tuple(instance.annotations[number] for number in order),
        weights=weights,
        seen=tuple(instance.seen[number] for number in order) if instance.seen else (),
    )


def _nesting(number: float) -> Nesting:
    return Nesting.ALWAYS if number < 0.3 else Nesting.VOTE if number < 0.6 else Nesting.NEVER


def random_weights(rng: random.Random, objective: Objective, annotators: int) -> Coefficients:
    """Make up what the votes of each annotator cost."""
    return Coefficients(
        tuple(rng.randint(0, 4) for _ in range(annotators)),
        tuple(rng.randint(0, 3) for _ in range(annotators)),
        objective.invent,
        rng.choice([None, 0, 1, 3]),
    )


def random_stretches(rng: random.Random, tokens: int) -> Stretches | None:
    """Make up what an annotator saw: everything, nothing, or one or two runs of tokens."""
    if rng.random() < 0.3:
        return None
    seen = [token for token in range(1, tokens + 1) if rng.random() < 0.6]
    starts = [token for token in seen if token - 1 not in seen]
    ends = [token for token in seen if token + 1 not in seen]
    return tuple(map(Span, starts, ends))


def _spans(rng: random.Random, tokens: int, count: int) -> list[Span]:
    spans = set()
    for _ in range(count):
        start = rng.randint(1, tokens)
        spans.add(Span(start, min(tokens, start + rng.choice([0, 0, 0, 1, 2]))))
    return sorted(spans)


def _chains(rng: random.Random, spans: list[Span]) -> list[list[tuple[int, int]]]:
    """Put most spans into few chains; now and then one into two."""
    if rng.random() < 0.05:
        return []
    chains: list[list[tuple[int, int]]] = [[] for _ in range(rng.randint(1, 3))]
    for span in spans:
        if rng.random() < 0.85:
            rng.choice(chains).append(span)
        if rng.random() < 0.1:
            rng.choice(chains).append(span)
    return [chain for chain in chains if len(set(chain)) > 1]


def _decisions(rng: random.Random, spans: list[Span], tokens: int) -> Decisions:
    enforced: dict[str, list[tuple[int, int]]] = {}
    for _ in range(rng.randint(0, 3)):
        span = rng.choice(spans) if rng.random() < 0.9 else Span(rng.randint(1, tokens), tokens)
        enforced.setdefault(str(rng.randint(1, 2)), []).append(span)
    boundaries = {token for chain in enforced.values() for span in chain for token in span}
    empty = [token for token in range(1, tokens + 1) if token not in boundaries and rng.random() < 0.1]
    chains = (Chain.of(id, chain) for id, chain in enforced.items())
    return Decisions.of(chains, empty, random_statements(rng, spans) if rng.random() < 0.6 else ())


def random_statements(rng: random.Random, spans: list[Span]) -> list[Statement]:
    """Make a few statements of all kinds about spans; they may contradict each other."""
    statements = []
    for _ in range(rng.randint(1, 3)):
        kind = rng.choice([*StatementKind, StatementKind.APART])
        most = min(len(spans), 2 if kind in PAIRS else 3)
        if kind in PAIRS and most < 2:
            continue
        count = 2 if kind in PAIRS else rng.choice([1, 1, 2, most]) if most > 1 else 1
        mentions = rng.sample(spans, min(count, most))
        statements.append(
            Statement.of(kind, mentions, rng.choice("12") if kind is StatementKind.ENFORCED else "")
        )
    return statements
