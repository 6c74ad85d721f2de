"""Read what an answer set solver printed: the best answer set, its cost, and whether it is called optimal.

    Answer: 2                                    clingo, clasp
    result_cm(1,mid(1,3)) result_cm(1,mid(6,6))
    Optimization: 12
    OPTIMUM FOUND

    {result_cm(1,mid(1,3)), result_cm(1,mid(6,6))}       WASP, DLV2
    COST 12@1
    OPTIMUM

    Best model: {result_cm(1,mid(1,3)), ...}             DLV
    Cost ([Weight:Level]): <[12:1]>

clingo's JSON (`--outf=2`) and the format of the ASP competitions (`--outf=1`) are read, too. Lines that say
nothing of this are passed over, so the whole output of a run may be given. Of several answer sets the one
that costs least is taken, the last of those that cost the same, or simply the last where no costs are
printed: solvers print better and better ones. An answer set without its cost, where others have theirs, was
cut off.

Nothing is believed: whoever calls this recomputes what the chains cost and which rules they break.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from caspr.engines.asp.solve import partition_of_links, partition_of_results
from caspr.errors import FormatError
from caspr.task.solution import Partition

_HEADING = re.compile(r"(?:Answer:\s*\d+|ANSWER\b)")
_BRACED = re.compile(r"(?:Best model:\s*)?\{(.*)\}\s*\.?")
_COSTS = (
    re.compile(r"(?:Optimization:|COST)\s*((?:-?\d+\s*)+)$"),
    re.compile(r"COST\s+((?:-?\d+@\d+\s*)+)$"),
    re.compile(r"Cost \(\[Weight:Level\]\):\s*<((?:\[-?\d+:\d+\],?)+)>"),
)
"""How solvers print what an answer set costs; by level in all but the first."""
_AT_LEVEL = re.compile(r"(-?\d+)[@:](\d+)")
_ENDS = ("OPTIMUM", "SATISFIABLE", "UNSATISFIABLE", "INCOHERENT", "UNKNOWN", "Models")
_NONE = ("UNSATISFIABLE", "INCOHERENT")
_INPUT = re.compile(r"\b(?:mention|annotator)\(")
"""Atoms that are shown if all are."""
_EXPECTED = (
    "what clingo, clasp, WASP or DLV print of a program of `caspr encode`: answer sets with atoms such as "
    "result_cm(1,mid(4,6))"
)


@dataclass(frozen=True)
class PrintedAnswer:
    """An answer set as a solver printed it."""

    atoms: str
    costs: tuple[int, ...] = ()
    """What it costs, the most important level first; empty where that is not printed."""

    @property
    def cost(self) -> int | None:
        """What it costs at the last level, where all costs of our programs are."""
        return self.costs[-1] if self.costs else None

    @property
    def partition(self) -> Partition:
        """Return the chains of the result."""
        if "result_cm(" in self.atoms:
            return partition_of_results(self.atoms)
        if "clink(" in self.atoms:
            return partition_of_links(self.atoms)
        if self.atoms.strip() and not _INPUT.search(self.atoms):
            found = f"an answer set without result_cm/2: {self.atoms.strip()[:60]!r}"
            raise FormatError(None, found, "`#show result_cm/2.` in the program")
        return ()


@dataclass(frozen=True)
class Printed:
    """What a solver printed."""

    best: PrintedAnswer
    optimal: bool
    """Whether the solver says that no answer set of its program costs less."""


def read_answers(text: str) -> Printed:
    """Read the output of a solver, or refuse one without an answer set."""
    parsed = _json(text)
    answers, said = (list(_answers(text)), text) if parsed is None else parsed
    if not answers:
        none = next((word for word in _NONE if re.search(rf"(?m)^\s*{word}\b", said)), None)
        found = "no answer set" if none is None else f"{none}: no answer set"
        raise FormatError(None, found, _EXPECTED)
    with_costs = [answer for answer in answers if answer.costs]
    best = min(reversed(with_costs), key=lambda answer: answer.costs, default=answers[-1])
    return Printed(best, bool(re.search(r"(?m)^\s*OPTIMUM\b", said)))


def _json(text: str) -> tuple[list[PrintedAnswer], str] | None:
    """Read clingo's JSON; `None` for any other text."""
    if '"Witnesses"' not in text and '"Call"' not in text:
        return None
    try:
        data = json.loads(text[text.index("{") :])
        calls = [witness for call in data["Call"] for witness in call.get("Witnesses", ())]
        answers = [
            PrintedAnswer(" ".join(map(str, one["Value"])), tuple(int(cost) for cost in one.get("Costs", ())))
            for one in calls
        ]
        return answers, str(data.get("Result", ""))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(None, f"malformed JSON ({error})", _EXPECTED) from None


def _answers(text: str) -> Iterator[PrintedAnswer]:
    """Yield the answer sets; one ends where its cost, the next one or the solver's conclusion is printed."""
    atoms: list[str] | None = None
    for line in map(str.strip, text.splitlines()):
        costs = _costs(line)
        heading, braced = _HEADING.match(line), _BRACED.fullmatch(line)
        if costs or heading or braced or line.startswith(_ENDS):
            if atoms is not None:
                yield PrintedAnswer(" ".join(atoms), costs)
            atoms = [braced[1]] if braced else [] if heading else None
        elif "result_cm(" in line or "clink(" in line or (atoms is not None and "(" in line):
            atoms = [*(atoms or ()), line]
    if atoms is not None:
        yield PrintedAnswer(" ".join(atoms))


def _costs(line: str) -> tuple[int, ...]:
    """Return the costs that a line prints, the most important level first.

    >>> _costs("Optimization: 3 12"), _costs("COST 12@1"), _costs("Cost ([Weight:Level]): <[12:1],[0:2]>")
    ((3, 12), (12,), (0, 12))
    """
    for number, shape in enumerate(_COSTS):
        if (match := shape.match(line)) is not None:
            if number == 0:
                return tuple(map(int, match[1].split()))
            levels = {int(level): int(cost) for cost, level in _AT_LEVEL.findall(match[1])}
            return tuple(levels[level] for level in sorted(levels, reverse=True))
    return ()
