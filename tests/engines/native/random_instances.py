"""Random small instances: noisy copies of one clustering, with odd coefficients and decisions."""

from random import Random

from caspr.task.decisions import Decisions
from caspr.task.instance import Instance, Nesting, Singletons
from caspr.task.objectives import OBJECTIVES, Objective
from caspr.text.document import Annotation, Chain, Document, Span
from tests.instances import random_statements

OBJECTIVE_CHOICES = (
    *OBJECTIVES.values(),
    Objective(0, 0, 0),
    Objective(1, 0, 0),
    Objective(0, 1, 0),
    Objective(1, 1, 0),
    Objective(0, 0, None),
    Objective(0, 1, None),
    Objective(0, 2, 1),
    Objective(1, 3, 1),
    Objective(3, 2, 5),
    Objective(1, 1, 2),
    Objective(2, 3, None),
)


def random_instance(seed: int, *, mentions: int = 9, decisions: bool = True) -> Instance:
    """Make an instance of at most so many mentions."""
    random = Random(seed)
    tokens = random.choice((4, 6, 12, 20))
    spans = sorted({_span(random, tokens) for _ in range(random.randint(2, mentions))})
    document = Document("d", ("w",) * tokens)
    truth = {span: random.randrange(3) for span in spans}
    annotations = tuple(
        Annotation.of(f"a{n}", document, _chains(random, truth)) for n in range(random.randint(1, 6))
    )
    return Instance(
        annotations,
        objective=random.choice(OBJECTIVE_CHOICES),
        decisions=random_decisions(random, spans) if decisions and random.random() < 0.6 else Decisions(),
        nested=random.choice(list(Nesting)),
        forced_votes=random.random() < 0.3,
        singletons=random.choice(list(Singletons)),
    )


def _span(random: Random, tokens: int) -> Span:
    start = random.randint(1, tokens)
    return Span(start, min(tokens, start + random.choice((0, 0, 0, 1, 3))))


def _chains(random: Random, truth: dict[Span, int]) -> list[Chain]:
    noise = random.choice((0.1, 0.3, 0.6))
    chains: dict[int, set[Span]] = {}
    for span, entity in truth.items():
        if random.random() < 0.85:
            chains.setdefault(random.randrange(4) if random.random() < noise else entity, set()).add(span)
            if random.random() < 0.05:
                chains.setdefault(random.randrange(4), set()).add(span)
    return [Chain.of(str(number), spans) for number, spans in chains.items()]


def random_decisions(random: Random, spans: list[Span]) -> Decisions:
    """Enforce some mentions, now and then against reason, and a token without any boundary."""
    chosen = random.sample(spans, random.randint(0, min(4, len(spans))))
    chains: dict[str, set[Span]] = {}
    for span in chosen:
        chains.setdefault(random.choice("abc"), set()).add(span)
        if random.random() < 0.02:
            chains.setdefault(random.choice("abc"), set()).add(span)
    empty = {random.randint(1, 20) for _ in range(random.choice((0, 0, 1)))}
    statements = random_statements(random, spans) if random.random() < 0.5 else []
    return Decisions.of([Chain.of(id, members) for id, members in chains.items()], empty, statements)
