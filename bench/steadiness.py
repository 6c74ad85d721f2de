"""Does the result stand still? Random decisions on a document, and what they move elsewhere.

    python -m bench.steadiness [--decisions N] [--objective NAME] [--singletons drop] [FOLDER...]

Each folder has the files of all annotators of one document; without a folder, a document like an act of a
play is generated. After every decision the document is solved twice: with the memory of all solves before,
as the review page does, and without. Both must agree, and no mention outside the parts that the decision
touches may have changed its chain. Parts are those of the native engine, before and after.
"""

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.corpora import make_document, novel
from caspr import read
from caspr.adjudication import by_document, made_concrete, prepare
from caspr.engines.native import Memory, solve_with
from caspr.engines.native.cases import demanded_mentions
from caspr.engines.native.engine import merged
from caspr.engines.native.partition.watch import Watch
from caspr.engines.native.state import SolveState
from caspr.engines.native.translate import enforced_bundles
from caspr.task.contradictions import feasible
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.settings import Settings, change
from caspr.task.solution import Partition
from caspr.text.document import Annotation, Span

KINDS = (
    StatementKind.TOGETHER,
    StatementKind.APART,
    StatementKind.EXISTS,
    StatementKind.MENTION,
    StatementKind.ALONE,
    StatementKind.ABSENT,
)
NEAR = 40
"""How far from each other in the list of mentions the two mentions of a decision are at most."""


@dataclass(frozen=True)
class Step:
    """What one more decision did."""

    statement: Statement
    moved: int
    """How many mentions changed their chain outside the parts that it touches."""
    agrees: bool
    """Whether the solve with memory and the one without have the same result."""
    open: bool
    """Whether it is left open which solution of equal cost comes first."""
    changed: int
    """How many mentions changed their chain anywhere."""


def steps(instance: Instance, decisions: int, seed: int, limits: Limits) -> Iterator[Step]:
    """Make random decisions, one after the other; every tenth time, begin again without any."""
    rng, memory = random.Random(seed), Memory()
    before = solve_with(instance, limits, memory=memory).partitions[0]
    plain, start = instance, before
    made = 0
    while made < decisions:
        if made % 10 == 0:
            instance, before = plain, start
        statement = _statement(rng, instance)
        more = Decisions.of([], [], [*instance.decisions.statements, statement])
        decided = replace(instance, decisions=more)
        if not feasible(decided, more):
            continue
        made += 1
        after = solve_with(decided, limits, memory=memory)
        again = solve_with(decided, limits, memory=Memory())
        touched = _touched(instance, statement) | _touched(decided, statement)
        moved = _moved(before, after.partitions[0])
        yield Step(
            statement,
            len(moved - touched),
            after.partitions == again.partitions,
            any(finding.code == "ties-open" for finding in after.findings),
            len(moved),
        )
        instance, before = decided, after.partitions[0]


def _statement(rng: random.Random, instance: Instance) -> Statement:
    kind, mentions = rng.choice(KINDS), instance.mentions
    place = rng.randrange(len(mentions))
    chosen = [mentions[place]]
    if kind in (StatementKind.TOGETHER, StatementKind.APART):
        linked = instance.votes.neighbours(mentions[place])
        near = (
            sorted(linked) if rng.random() < 0.7 and linked else mentions[max(0, place - NEAR) : place + NEAR]
        )
        chosen.append(rng.choice([mention for mention in near if mention != mentions[place]]))
    return Statement.of(kind, chosen)


def _touched(instance: Instance, statement: Statement) -> set[Span]:
    """Return the mentions of all parts that hold a mention of a decision."""
    state = SolveState(instance, Watch())
    bundles = merged(enforced_bundles(instance))
    parts = state.translator.translate(bundles, state.eager, demanded=demanded_mentions(state, bundles))
    every = ({mention for node in part.nodes for mention in node} for part in parts)
    return set(statement.mentions).union(*(part for part in every if not part.isdisjoint(statement.mentions)))


def _moved(before: Partition, after: Partition) -> set[Span]:
    """Return the mentions that are with others than before."""
    old, new = ({mention: chain for chain in chains for mention in chain} for chains in (before, after))
    return {mention for mention in old.keys() | new.keys() if old.get(mention) != new.get(mention)}


def like_a_play(mentions: int = 1_000, seed: int = 1) -> tuple[Annotation, ...]:
    """Make a document like an act: three annotators, long chains, some of them disputed."""
    shape = novel(tokens=4 * mentions, mentions=mentions, longest=mentions // 5, annotators=3)
    shape = replace(shape, chains=mentions // 16)
    shape = replace(shape, noise=replace(shape.noise, found=0.8, stray=0.08, groups=4))
    return make_document(shape, random.Random(seed)).annotations


def instance_of(annotations: Sequence[Annotation], objective: str, singletons: str = "auto") -> Instance:
    """Make the task of a document; where singletons are dropped, a mention that exists must be in a chain."""
    annotations, _ = prepare(annotations)
    settings = change(Settings(), {"objective": objective, "singletons": singletons})
    given, _ = made_concrete(annotations, Decisions(), settings)
    return given.settings.instance(annotations, Decisions(), given.variants)


def main(words: Sequence[str] | None = None) -> None:
    """Print a line for each document."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--decisions", type=int, default=50)
    parser.add_argument("--objective", default="va")
    parser.add_argument("--singletons", default="auto")
    given = parser.parse_args(words)
    documents = [("generated", like_a_play())] if not given.folders else []
    for folder in given.folders:
        files = [read(path) for path in sorted(folder.iterdir()) if path.suffix == ".conll"]
        documents += [(folder.name, annotations) for annotations in by_document(files)[0]]
    for name, annotations in documents:
        started = time.process_time()
        instance = instance_of(annotations, given.objective, given.singletons)
        made = list(steps(instance, given.decisions, 1, Limits(seconds=60)))
        print(
            f"{name}: {len(made)} decisions, {sum(step.changed for step in made)} mentions moved, "
            f"{sum(step.moved for step in made)} outside the touched parts, "
            f"{sum(not step.agrees for step in made)} results that depend on what was solved before, "
            f"{sum(step.open for step in made)} with open ties, {time.process_time() - started:.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
