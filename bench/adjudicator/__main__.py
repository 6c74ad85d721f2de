"""Compare orders of questions by what an adjudicator who knows the gold makes of a dataset."""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from bench.adjudicator.project import project_lines
from bench.adjudicator.simulation import WAYS, Course, f1_after, work_through
from bench.quality.judged import read_set
from bench.quality.responses import read_values
from caspr.review.questions.queue import DEFAULT_ORDER
from caspr.task.settings import Settings, change

MILESTONES = (0, 5, 10, 20)
"""After how many answers in each document the result is scored."""
FIRST = 20
"""Over how many answers the mean is taken."""
NEVER = 10**9
BUDGETS = (0, 2, 5, 10, 20, NEVER)
"""After how many answers a document a project is scored."""


def line(dataset: str, way: str, courses: Sequence[Course]) -> str:
    """Return the row of a table for one way to ask."""
    scores = [f1_after(list(courses), answers) for answers in (*MILESTONES, NEVER)]
    first = mean(f1_after(list(courses), answers) for answers in range(1, FIRST + 1))
    answers = sum(course.answers for course in courses)
    changed = sum(course.changed for course in courses)
    refused = sum(len(course.refused) for course in courses)
    cells = [dataset, way, str(len(courses)), *(f"{score:.2f}" for score in scores), f"{first:.2f}"]
    return f"| {' | '.join(cells)} | {answers} | {changed} | {refused} |"


def main(words: Sequence[str] | None = None) -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(prog="python -m bench.adjudicator", description=__doc__)
    add = parser.add_argument
    add("datasets", nargs="+", help="folders with a gold, as bench.quality reads them")
    add("--documents", type=int, help="how many documents of each dataset, over all sizes; default: all")
    add("--order", action="append", choices=WAYS, help="what to compare; default: all")
    add("--set", default="", metavar="NAME=VALUE,...", help="settings; default: the defaults")
    add("--project", action="store_true", help="where the next answer of a whole project is worth most")
    given = parser.parse_args(words)
    settings = change(Settings(), read_values(given.set))
    if given.project:
        _print_project(given, settings)
        return
    titles = [*(f"after {number}" for number in MILESTONES), "after all", f"mean of 1 to {FIRST}"]
    print(f"| dataset | questions | documents | {' | '.join(titles)} | answers | changed | refused |")
    print("|---|---|---:|" + "---:|" * (len(titles) + 3))
    refusals: Counter[str] = Counter()
    for source in given.datasets:
        with tempfile.TemporaryDirectory() as folder:
            judged = read_set(source, folder=Path(folder), most=given.documents)
        for way in given.order or WAYS:
            courses = [work_through(one, way, settings) for one in judged.documents]
            refusals.update(f"{way}: {reason}" for course in courses for reason in course.refused)
            print(line(judged.name, way, courses), flush=True)
    for reason, count in refusals.most_common(5):
        print(f"{count} x {reason}", file=sys.stderr)


def _print_project(given: argparse.Namespace, settings: Settings) -> None:
    """Print what ways to go through whole projects gain."""
    titles = ["all answers" if budget == NEVER else f"{budget} a document" for budget in BUDGETS]
    print(f"| dataset | way | documents | {' | '.join(titles)} |")
    print("|---|---|---:|" + "---:|" * len(BUDGETS))
    for source in given.datasets:
        with tempfile.TemporaryDirectory() as folder:
            judged = read_set(source, folder=Path(folder), most=given.documents)
        courses = [work_through(one, DEFAULT_ORDER, settings) for one in judged.documents]
        for row in project_lines(judged.name, courses, BUDGETS):
            print(row, flush=True)


if __name__ == "__main__":
    main()
