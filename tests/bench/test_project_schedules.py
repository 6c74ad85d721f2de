"""Ways to go through a project: each gives every document all its answers, and rounds give them by fives."""

import numpy as np
import pytest

from bench.adjudicator.project import SCHEDULES, anywhere, f1_within, rounds, stop_of, stopped
from bench.adjudicator.simulation import Course

NONE, ALL = np.zeros((5, 4)), np.ones((5, 4))


def course(answers: int, changed: set[int], stakes: list[float] | None = None, close: int = 0) -> Course:
    """Make a course in which the result gets better with every answer that changes it."""
    right = np.array([0.0, 1.0, 0.0, 1.0])
    scores = [np.tile(right, (5, 1))]
    for number in range(answers):
        better = scores[-1].copy()
        better[:, [0, 2]] += (number in changed) / max(1, len(changed))
        scores.append(better)
    changes = [number in changed for number in range(answers)]
    return Course(scores, changes, stakes or [0.0] * answers, close)


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_question_is_asked_once(name: str) -> None:
    courses = [course(7, {1}), course(0, set()), course(12, {2})]
    visits = list(SCHEDULES[name](courses))
    assert [visits.count(number) for number in range(3)] == [7, 0, 12]


def test_rounds_are_of_five_and_in_order() -> None:
    assert list(rounds([course(7, set()), course(12, set())])) == [0] * 5 + [1] * 5 + [0] * 2 + [1] * 7


def test_anywhere_follows_the_stakes() -> None:
    courses = [course(2, set(), [1.0, 0.0]), course(2, set(), [0.5, 3.0])]
    assert list(anywhere(courses)) == [1, 0, 0, 1]


def test_first_questions_that_matter_make_rounds_better() -> None:
    courses = [course(20, {0, 1}, close=9), course(20, {0, 1}, close=3)]
    scores = {name: f1_within(courses, schedule, 10) for name, schedule in SCHEDULES.items()}
    assert scores["rounds"] == pytest.approx(100)
    assert scores["close calls first"] < 60


def test_one_stops_after_eight_answers_that_changed_nothing() -> None:
    assert stop_of(course(20, {0, 3})) == 12
    assert stop_of(course(6, {0})) == 6
    gain, answers = stopped([course(20, {0, 3}), course(20, {0, 3})])
    assert gain == pytest.approx(1.0)
    assert answers == pytest.approx(12 / 20)
