"""Sessions over small documents, and random operations on them."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from caspr.review.session import ReviewSession, open_annotations, open_review
from caspr.task.objectives import OBJECTIVES
from caspr.task.settings import PRESETS, Settings
from caspr.text.document import Annotation
from tests.instances import paper_annotations, random_instance

Values = dict[str, Any]
OPEN: list[ReviewSession] = []
"""The sessions of a test, which are closed after it."""


def opened(path: Path, annotations: Sequence[Annotation], settings: Settings | None = None) -> ReviewSession:
    """Open a review of some annotations of one document."""
    chosen = settings or replace(PRESETS["paper"], objective=OBJECTIVES["u"])
    session, _ = open_annotations([], [[one] for one in annotations], path, lambda _: chosen)
    OPEN.append(session)
    return session


def paper(path: Path) -> ReviewSession:
    """Open a review of the paper's example."""
    return opened(path, paper_annotations())


def reopened(path: Path) -> ReviewSession:
    """Open a review file that is there."""
    OPEN.append(open_review(path, lambda settings: settings))
    return OPEN[-1]


def random_session(rng: random.Random, path: Path) -> ReviewSession:
    """Open a review of a small random document."""
    instance = random_instance(rng, mentions=6, odd=True)
    if not any(one.mentions for one in instance.annotations):
        return random_session(rng, path)  # a review of nothing is refused
    settings = Settings(
        instance.objective,
        nested=instance.nested,
        forced_votes=instance.forced_votes,
        singletons=instance.singletons,
    )
    return opened(path, instance.annotations, settings)


def random_operation(rng: random.Random, state: Values) -> Values:
    """Make an operation that a page could send; many of them are refused."""
    mentions = sorted(state["mentions"]) or ["1-1"]
    chains = sorted(state["chains"]) or ["1"]
    last = len(state["tokens"])
    several = [rng.choice(mentions) for _ in range(rng.randint(1, 3))]
    start = rng.randint(1, last)
    choices: list[Values] = [
        {"do": "together", "mentions": several},
        {"do": "apart", "mentions": [rng.choice(mentions), rng.choice(mentions)]},
        {"do": "into", "mentions": several[:1], "chain": rng.choice(chains)},
        {"do": "exists", "mentions": several[:1]},
        {"do": "mention", "mentions": several[:2]},
        {"do": "alone", "mentions": several[:1]},
        {"do": "name", "chain": rng.choice(chains), "name": rng.choice(["Sir William", "it", ""])},
        {"do": "absent", "mentions": several[:2]},
        {"do": "empty", "tokens": [rng.randint(1, last)]},
        {"do": "accept", "chain": rng.choice(chains)},
        {"do": "split", "mentions": several[:2]},
        {"do": "merge", "chains": [rng.choice(chains), rng.choice(chains)]},
        {"do": "new", "start": start, "end": rng.randint(start, last), "chain": rng.choice([None, *chains])},
        {"do": "move", "mention": several[0], "start": start, "end": rng.randint(start, last)},
        {"do": "free", "decisions": [rng.choice([one["id"] for one in state["decisions"]] or ["d0"])]},
        {"do": "note", "mention": rng.choice([None, *mentions]), "text": "a note\n\u2028</script>"},
        {"do": "unnote", "id": rng.choice([one["id"] for one in state["notes"]] or ["n0"])},
        {"do": "undo"},
        {"do": "undo"},
        {"do": "redo"},
    ]
    return rng.choice(choices)


def lasting(state: Values) -> Values:
    """Return what undo and redo must bring back exactly."""
    names = ("mentions", "chains", "cost", "decisions", "closed", "notes", "progress")
    return {name: state[name] for name in names}


def updated(state: Values, update: Values) -> Values:
    """Do what the page does with an update."""
    new = {**state, **{name: value for name, value in update.items() if name not in ("changed", "full")}}
    for name in ("mentions", "chains"):
        merged = {**state[name], **update[name]}
        new[name] = {id: value for id, value in merged.items() if value is not None}
    new["cost"] = {name: value for name, value in update["cost"].items() if name != "before"}
    return new
