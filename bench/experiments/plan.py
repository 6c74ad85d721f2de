"""The plan: which runs an experiment has, and in which order.

Documents are ordered so that the first few always cover all sizes (the middle one, the quarters, the
eighths, ...), datasets in turn, and every document is run in all configurations before the next. So
whenever an experiment is stopped, its results are a fair sample, and every configuration has the same
documents. For the same reason a system can be given only a share of the documents: the first ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from bench.experiments.documents import Documents
from bench.experiments.paper import SCENARIOS

SYSTEMS = ("native", "clingo", "gringo-clasp", "gringo-wasp")
"""The engines that are compared."""
ENCODINGS = ("mm", "cm")
OBJECTIVES = ("v", "va", "u", "ua")
NO_ENCODING = "-"
"""The encoding of a system that has none."""


@dataclass(frozen=True)
class Limits:
    """What one run may take."""

    seconds: float = 300.0
    """Processor time."""
    megabytes: float = 5000.0


@dataclass(frozen=True)
class Configuration:
    """How a document is adjudicated."""

    system: str
    encoding: str
    objective: str


@dataclass(frozen=True)
class Run:
    """A system and a document; with the limits it is the key of a result."""

    dataset: str
    document: str
    configuration: Configuration
    repetition: int


@dataclass(frozen=True)
class Key:
    """Identifies a result."""

    run: Run
    limits: Limits


@dataclass(frozen=True)
class Task:
    """One run."""

    documents: Documents
    configuration: Configuration
    repetition: int
    limits: Limits

    @property
    def key(self) -> Key:
        """The key of its result."""
        run = Run(self.documents.dataset, self.documents.name, self.configuration, self.repetition)
        return Key(run, self.limits)


@dataclass(frozen=True)
class Choice:
    """What is compared."""

    systems: Sequence[str] = SYSTEMS
    encodings: Sequence[str] = ENCODINGS
    objectives: Sequence[str] = OBJECTIVES
    repetitions: int = 1
    limits: Limits = field(default_factory=Limits)
    """Those of systems without their own."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Time limits of systems that have their own."""
    shares: Mapping[str, float] = field(default_factory=dict)
    """Which share of the documents a system gets, where it is not all."""
    scenarios: bool = False
    """Whether the paper's datasets have only the objectives that it found relevant for them."""

    def configurations(self, system: str, dataset: str) -> Iterator[Configuration]:
        """Yield all configurations of a system for the documents of a dataset."""
        relevant = dict(SCENARIOS).get(dataset, OBJECTIVES) if self.scenarios else OBJECTIVES
        for encoding in (NO_ENCODING,) if system == "native" else self.encodings:
            for objective in self.objectives:
                if objective in relevant:
                    yield Configuration(system, encoding, objective)

    def limits_of(self, system: str) -> Limits:
        """Return the limits for runs of a system."""
        return Limits(self.seconds.get(system, self.limits.seconds), self.limits.megabytes)


def make_plan(datasets: Sequence[Sequence[Documents]], choice: Choice) -> list[Task]:
    """Return all runs in the order in which to make them."""
    tasks = []
    for repetition in range(1, choice.repetitions + 1):
        for documents, position in _in_turn(datasets):
            for system in choice.systems:
                if position < choice.shares.get(system, 1.0):
                    tasks += [
                        Task(documents, configuration, repetition, choice.limits_of(system))
                        for configuration in choice.configurations(system, documents.dataset)
                    ]
    return tasks


def _in_turn(datasets: Sequence[Sequence[Documents]]) -> Iterator[tuple[Documents, float]]:
    """Yield one document of each dataset in turn, and which share of its dataset came before it."""
    jumping = [[dataset[place] for place in jumps(len(dataset))] for dataset in datasets]
    for number, several in enumerate(zip_longest(*jumping)):
        for documents, dataset in zip(several, datasets, strict=True):
            if documents is not None:
                yield documents, number / len(dataset)


def jumps(count: int) -> list[int]:
    """Return the numbers below `count` so that the first few are always spread evenly over all of them.

    These are the fractions with their binary digits turned around: 1/2, 1/4, 3/4, 1/8, ...

    >>> jumps(9)
    [4, 2, 6, 1, 5, 3, 7, 0, 8]
    """
    bits = count.bit_length()
    fractions = (int(f"{number:0{bits}b}"[::-1], 2) / 2**bits for number in (*range(1, 2**bits), 0))
    return list(dict.fromkeys(int(fraction * count) for fraction in fractions)) if count else []
