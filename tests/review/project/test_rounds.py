"""Which document is next, in rounds and anywhere."""

from typing import Any

from caspr.review.project.rounds import ROUND, next_anywhere, next_in_rounds, rounds_of


def row(index: int, answers: int = 0, **more: Any) -> dict[str, Any]:
    base = {"index": index, "status": "open", "holder": "", "assigned": "", "asked": 20, "answered": answers}
    return {**base, "answers": answers, "stake": None, **more}


def index_of(found: Any) -> int | None:
    return None if found is None else found["index"]


def test_a_project_goes_round_by_round_and_documents_in_order() -> None:
    answers, visits = [0, 0, 0], []
    for _ in range(6):
        found = index_of(next_in_rounds([row(number, count) for number, count in enumerate(answers)], ""))
        assert found is not None
        visits.append(found)
        answers[found] += ROUND
    assert visits == [0, 1, 2, 0, 1, 2]


def test_who_stopped_in_the_middle_of_a_round_goes_on_there() -> None:
    assert index_of(next_in_rounds([row(0, 5), row(1, 3), row(2)], "")) == 1
    assert index_of(next_in_rounds([row(0, 5), row(1, 3), row(2)], "", after=1)) == 2


def test_what_is_done_empty_or_of_others_is_passed_over() -> None:
    passed = [
        row(0, status="done"),
        row(1, status="missing"),
        row(2, asked=0),
        row(3, asked=4, answered=4),
        row(4, holder="Bob"),
        row(5, assigned="Bob"),
    ]
    assert next_in_rounds(passed, "Ann") is None
    assert next_anywhere(passed, "Ann") is None
    assert index_of(next_in_rounds([*passed, row(6, asked=None, answered=None)], "Ann")) == 6
    assert index_of(next_in_rounds([row(0), row(1, 5, assigned="Ann")], "Ann")) == 1, "one's own come first"


def test_next_anywhere_is_where_the_next_question_is_worth_most() -> None:
    rows = [row(0, stake=2.0), row(1, stake=0.25), row(2), row(3, stake=0.25)]
    assert index_of(next_anywhere(rows, "")) == 1
    assert index_of(next_anywhere(rows, "", after=1)) == 3
    assert index_of(next_anywhere(rows[2:3], "")) == 2


def test_how_far_a_round_is() -> None:
    rows = [row(0, 5), row(1, 3), row(2, status="done"), row(3, 12)]
    assert rounds_of(rows) == {"round": 1, "through": 3, "documents": 4}
    assert rounds_of([row(0, status="done")]) == {"round": 0, "through": 1, "documents": 1}
