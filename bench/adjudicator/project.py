"""A whole project: where the next answer is worth most, and when to stop.

Each document is worked through once, in the order of the page, with the result scored after each answer. A
way to go through the project only says which document gets the next answer, so all of them follow from these
courses:

    close calls first   the document with the most mentions on which votes are about even, until nothing is
                        open there, then the next
    rounds              five answers in each document, then five more
    anywhere            the document whose next question has the least stake (`Queue.stake`)

The budget is five answers a document, or any other. Stopping after `STILL` answers in a row that changed
nothing is measured in each document alone.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle

import numpy as np

from bench.adjudicator.simulation import Course
from bench.quality.scoring import pooled_f1
from caspr.review.project.rounds import ROUND
from caspr.review.questions.queue import STILL

Schedule = Callable[[Sequence[Course]], Iterator[int]]
"""Yields the number of the document that gets the next answer."""


def close_calls_first(courses: Sequence[Course]) -> Iterator[int]:
    """Finish one document after the other, those with the most close calls first."""
    for number in sorted(range(len(courses)), key=lambda number: -courses[number].close):
        yield from [number] * courses[number].answers


def rounds(courses: Sequence[Course]) -> Iterator[int]:
    """Give each document five answers, then five more."""
    given = [0] * len(courses)
    for number in cycle(range(len(courses))):
        if sum(given) == sum(course.answers for course in courses):
            return
        turns = min(ROUND, courses[number].answers - given[number])
        given[number] += turns
        yield from [number] * turns


def anywhere(courses: Sequence[Course]) -> Iterator[int]:
    """Take the document whose next question has the least stake."""
    given = [0] * len(courses)
    while left := [number for number, course in enumerate(courses) if given[number] < course.answers]:
        number = min(left, key=lambda number: (courses[number].stakes[given[number]], number))
        given[number] += 1
        yield number


SCHEDULES: dict[str, Schedule] = {
    "close calls first": close_calls_first,
    "rounds": rounds,
    "anywhere": anywhere,
}
"""All ways to go through a project."""


def f1_within(courses: Sequence[Course], schedule: Schedule, answers: int) -> float:
    """Return CoNLL F1 in percent over all documents after some answers in all."""
    given = [0] * len(courses)
    for number, _ in zip(schedule(courses), range(answers), strict=False):
        given[number] += 1
    sums = np.sum([course.after(count) for course, count in zip(courses, given, strict=True)], axis=0)
    return float(pooled_f1(sums, "conll"))


def stopped(courses: Sequence[Course]) -> tuple[float, float]:
    """Return which share of the gain, and of the answers, is reached by stopping in each document."""
    ends = [stop_of(course) for course in courses]
    first, all_answers = (
        float(pooled_f1(np.sum([course.after(count) for course in courses], axis=0), "conll"))
        for count in (0, 10**9)
    )
    sums = np.sum([course.after(end) for course, end in zip(courses, ends, strict=True)], axis=0)
    gain = float(pooled_f1(sums, "conll")) - first
    every = sum(course.answers for course in courses)
    return gain / ((all_answers - first) or 1), sum(ends) / (every or 1)


def stop_of(course: Course) -> int:
    """Return after how many answers somebody stops who is told after `STILL` that changed nothing."""
    still = 0
    for number, changed in enumerate(course.changes, 1):
        still = 0 if changed else still + 1
        if still == STILL:
            return number
    return course.answers


def project_lines(name: str, courses: Sequence[Course], budgets: Sequence[int]) -> Iterator[str]:
    """Yield the rows of a table for one dataset: F1 after some answers a document, for each schedule."""
    for title, schedule in SCHEDULES.items():
        scores = [f1_within(courses, schedule, budget * len(courses)) for budget in budgets]
        yield f"| {name} | {title} | {len(courses)} | {' | '.join(f'{score:.1f}' for score in scores)} |"
    gain, answers = stopped(courses)
    reached = f"{100 * gain:.0f} % of the gain with {100 * answers:.0f} % of the answers"
    yield f"| {name} | stopping after {STILL} without a change | {len(courses)} | {reached} |"
