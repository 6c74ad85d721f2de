"""Two independent adjudications are annotations like any others: compared where they differ, and merged."""

import shutil
from pathlib import Path

import pytest

from caspr.errors import InputError
from caspr.review.project.adjudications import are_adjudications, merge_projects, results_of
from caspr.review.session import open_annotations
from caspr.task.settings import Settings
from tests.review.project.projects import made, opened
from tests.review.sessions import OPEN, paper, reopened


def test_two_review_files(tmp_path: Path) -> None:
    first, second = tmp_path / "ann.conll", tmp_path / "bob.conll"
    paper(first).close()
    shutil.copy(first, second)
    session = reopened(second)
    session.do(0, {"do": "together", "mentions": ["1-3", "6-6"]}, 1, "Bob")
    session.close()
    assert are_adjudications([first, second])
    assert not are_adjudications([first])
    given = [results_of(path) for path in (first, second)]
    merged, _ = open_annotations([first, second], given, tmp_path / "merged.conll", lambda _: Settings())
    OPEN.append(merged)
    state = merged.state(0)
    assert state["annotators"] == ["ann", "bob"]
    asked = merged.history(0).queue.questions
    assert asked, "they differ"
    assert {span for one in asked for span in one.spans} <= {
        span for one in given for span in (*one[0].mentions, *given[1][0].mentions)
    }
    same = [results_of(first), results_of(first)]
    assert same[0] == same[1]


def test_two_projects(tmp_path: Path) -> None:
    first = made(tmp_path)
    second = tmp_path / "bob"
    shutil.copytree(first, second)
    project = opened(second)
    session, _ = project.at(1)
    question = session.history(0).queue.open(session.history(0).snapshot)[0]
    session.do(0, session.history(0).queue.card(question, session.history(0).snapshot)["none"], 1, "Bob")
    project.close()
    given = [results_of(path) for path in (first, second)]
    merge_projects(given, tmp_path / "merged", lambda settings: settings)
    merged = opened(tmp_path / "merged")
    assert [row["title"] for row in merged.summaries()] == [row["title"] for row in project.summaries()]
    assert merged.at(0)[0].state(0)["progress"]["asked"] == 0, "both say the same"
    assert merged.at(1)[0].state(0)["annotators"] == ["project", "bob"]
    merged.close()
    with pytest.raises(InputError, match="has files in it"):
        merge_projects(given, tmp_path / "merged", lambda settings: settings)
