"""The paper's table, from our runs.

Rows accumulate runs: by system; and, for one reference system, by encoding, by objective, and for the
paper's eight scenarios. Systems are compared on the documents that all of them have. The reference is
gringo+clasp as in the paper, unless another answer set system has more runs. The native engine has no
encoding and stands as a row of its own beside the scenarios.

As in the paper, the columns from T_grd to Cnf are accumulated only over the *settled* documents: those on
which the reference system never exceeded memory or time without a solution.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bench.experiments.paper import PAPER, SCENARIOS, Figures
from bench.experiments.plan import OBJECTIVES, SYSTEMS
from bench.experiments.run import Record

NATIVE = "native"


@dataclass(frozen=True)
class Row:
    """Accumulated runs, and what the paper had for the same."""

    name: str
    runs: int
    """How many runs, over all repetitions."""
    failed: int
    """How many of them ended with an error, which is none of the paper's outcomes."""
    ours: Figures
    paper: Figures | None


@dataclass(frozen=True)
class Section:
    """Rows that are compared with each other."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Table:
    """The paper's table from our runs."""

    sections: tuple[Section, ...]
    reference: str | None
    """The system of all sections but the first."""
    settled: int
    """How many documents the columns from T_grd to Cnf are accumulated over."""


def make_table(records: Sequence[Record]) -> Table:
    """Accumulate runs into the rows of the paper."""
    reference = choose_reference(records)
    settled = _settled(records, reference)
    parts = (
        ("by system, on the documents that all have", _by_system(records)),
        (f"by encoding ({reference})", _by_encoding(records, reference)),
        (f"by objective ({reference})", _by_objective(records, reference)),
        (f"scenarios ({reference}, native)", _scenarios(records, reference)),
        ("native by objective, on all documents it has", _by_objective(records, NATIVE)),
    )
    sections = []
    for title, groups in parts:
        rows = tuple(_row(name, group, settled) for name, group in groups if group)
        if rows:
            sections.append(Section(title, rows))
    return Table(tuple(sections), reference, len(settled))


def choose_reference(records: Sequence[Record]) -> str | None:
    """Return the answer set system with most runs, on a tie the paper's gringo+clasp."""
    runs = Counter(record.system for record in records if record.system != NATIVE)
    return max(runs, key=lambda system: (runs[system], system == "gringo-clasp"), default=None)


def _settled(records: Iterable[Record], reference: str | None) -> set[tuple[str, str]]:
    ours = [record for record in records if record.system == reference]
    open_ = {place(record) for record in ours if record.outcome not in ("SAT", "OPT")}
    return {place(record) for record in ours} - open_


def place(record: Record) -> tuple[str, str]:
    """Return the document of a run."""
    return record.dataset, record.document


Group = tuple[str, list[Record]]


def _by_system(records: Sequence[Record]) -> Iterator[Group]:
    systems = [system for system in SYSTEMS if any(record.system == system for record in records)]
    documents = [{place(record) for record in records if record.system == system} for system in systems]
    shared = set.intersection(*documents) if documents else set()
    for system in systems:
        yield system, [r for r in records if r.system == system and place(r) in shared]


def _by_encoding(records: Sequence[Record], system: str | None) -> Iterator[Group]:
    for encoding in ("cm", "mm"):
        yield encoding.upper(), [r for r in records if (r.system, r.encoding) == (system, encoding)]


def _by_objective(records: Sequence[Record], system: str | None) -> Iterator[Group]:
    mark = f" {NATIVE}" if system == NATIVE else ""
    for objective in ("u", "v", "ua", "va"):
        chosen = [r for r in records if (r.system, r.objective) == (system, objective)]
        yield objective.upper() + mark, chosen


def _scenarios(records: Sequence[Record], reference: str | None) -> Iterator[Group]:
    relevant = dict(SCENARIOS)
    for dataset in sorted({record.dataset for record in records}):
        for objective in relevant.get(dataset, OBJECTIVES):
            chosen = [r for r in records if (r.dataset, r.objective) == (dataset, objective)]
            name = f"{dataset.upper() if dataset in relevant else dataset} {objective.upper()}"
            yield from _scenario(name, chosen, reference)


def _scenario(name: str, records: Sequence[Record], reference: str | None) -> Iterator[Group]:
    """Yield the encodings of the reference system, and the native engine on the same documents."""
    compared = [r for r in records if r.system == reference]
    documents = {place(r) for r in compared or records}
    for encoding in ("cm", "mm"):
        yield f"{name} {encoding.upper()}", [r for r in compared if r.encoding == encoding]
    yield f"{name} {NATIVE}", [r for r in records if r.system == NATIVE and place(r) in documents]


def _row(name: str, records: Sequence[Record], settled: set[tuple[str, str]]) -> Row:
    failed = sum(record.outcome == "ERR" for record in records)
    comparable = all(record.dataset in dict(SCENARIOS) for record in records)
    paper = PAPER.get(name) if comparable else None
    return Row(name, len(records), failed, accumulate(records, settled), paper)


def accumulate(records: Sequence[Record], settled: set[tuple[str, str]]) -> Figures:
    """Accumulate runs: counts are averages over repetitions, all others averages over runs."""
    count = Counter(record.outcome for record in records)
    repetitions = len({record.repetition for record in records})
    settled_records = [record for record in records if place(record) in settled]
    gaps = [record.gap for record in settled_records if record.gap is not None]
    return Figures(
        memory_outs=count["MO"] / repetitions,
        time_outs=count["TO"] / repetitions,
        satisfied=count["SAT"] / repetitions,
        optimal=count["OPT"] / repetitions,
        percent=100 * count["OPT"] / len(records),
        seconds=sum(record.seconds for record in records) / len(records),
        megabytes=sum(record.megabytes for record in records) / len(records),
        grounding=_average(record.grounding for record in settled_records),
        gap=_average(gaps),
        worst_gap=max(gaps, default=None),
        choices=_average(record.choices for record in settled_records),
        conflicts=_average(record.conflicts for record in settled_records),
    )


def _average(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
