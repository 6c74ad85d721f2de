"""Entities named by the adjudicator: the name stays with the entity, whatever becomes of its chain."""

import gzip
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from caspr.errors import FormatError
from caspr.formats import review_file
from caspr.review.exports import export, report
from caspr.review.operations import OperationError
from caspr.review.project.annotators import AnnotatorChanges, by_key, change_annotators
from caspr.review.session import ReviewSession
from caspr.task.decisions import Statement, StatementKind, follow_names
from caspr.text.document import Annotation, Chain, Document, Span
from tests.instances import annotation
from tests.review.sessions import opened, reopened


def do(session: ReviewSession, **operation: Any) -> dict[str, Any]:
    return session.do(0, operation, session.history(0).version)


def home(session: ReviewSession, mention: str) -> str:
    id: str = session.state(0)["mentions"][mention]["chain"]
    return id


def names(session: ReviewSession) -> dict[str, tuple[str, str]]:
    """Return name and type of each entity that has one, by its first mention."""
    chains = session.state(0)["chains"].values()
    return {one["mentions"][0]: (one["name"], one["type"]) for one in chains if one["name"] or one["type"]}


@pytest.fixture
def session(tmp_path: Path) -> ReviewSession:
    chains = [[(1, 1), (2, 2), (3, 3)], [(4, 4), (5, 5), (6, 6)]]
    return opened(tmp_path / "review.conll", [annotation(who, chains) for who in ("Ann", "Bob")])


def test_a_name_is_kept_by_undo_redo_restart_and_the_command_redo(
    session: ReviewSession, tmp_path: Path
) -> None:
    do(session, do="name", chain=home(session, "1-1"), name="Sir  William", type="person")
    assert names(session) == {"1-1": ("Sir William", "person")}
    do(session, do="undo")
    assert names(session) == {}
    do(session, do="redo")
    path = session.store.path
    assert '"Sir William" by "adjudicator" at ' in path.read_text()
    session.close()
    again = reopened(path)
    assert names(again) == {"1-1": ("Sir William", "person")}
    again.close()
    (tmp_path / f".{path.name}.history.jsonl").unlink()
    command = [sys.executable, "-m", "caspr", "redo", str(path), "--gold", str(tmp_path / "gold.conll")]
    subprocess.run(command, check=True, capture_output=True)
    assert '"Sir William" by "adjudicator" at ' in path.read_text()
    assert '"Sir William"\n' in (tmp_path / "gold.conll").read_text()
    assert names(reopened(path)) == {"1-1": ("Sir William", "person")}


def test_names_are_in_the_words_of_decisions_and_undo(session: ReviewSession) -> None:
    first, second = home(session, "1-1"), home(session, "4-4")
    do(session, do="name", chain=first, name="she")
    do(session, do="into", mentions=["4-4"], chain=first)
    assert session.state(0)["decisions"][-1]["label"].endswith(f"in chain {first} (she)")
    assert session.state(0)["undo"].endswith(f"in chain {first} (she)")
    do(session, do="merge", chains=[first, second])
    assert session.state(0)["undo"] == f"entities {first} (she), {second} merged"


def test_merged_entities_keep_the_name_that_is_chosen(session: ReviewSession) -> None:
    first, second = home(session, "1-1"), home(session, "4-4")
    do(session, do="name", chain=first, name="she", type="person")
    do(session, do="name", chain=second, name="it")
    for called, kept in ((first, ("she", "person")), (second, ("it", ""))):
        do(session, do="merge", chains=[first, second], called=called)
        assert names(session) == {"1-1": kept}
        assert session.state(0)["undo"].endswith(f"merged, called as {called} ({kept[0]})")
        do(session, do="undo")
        assert names(session) == {"1-1": ("she", "person"), "4-4": ("it", "")}
    with pytest.raises(OperationError, match="There is no entity"):
        do(session, do="merge", chains=[first, second], called="99")


def test_a_name_stays_when_its_chain_changes_and_goes_with_merged_chains(session: ReviewSession) -> None:
    first, second = home(session, "1-1"), home(session, "4-4")
    do(session, do="accept", chain=second)
    do(session, do="name", chain=second, name="it")
    do(session, do="into", mentions=["3-3"], chain=second)
    assert names(session) == {"3-3": ("it", "")}
    do(session, do="name", chain=first, name="she")
    do(session, do="merge", chains=[first, second])
    assert names(session) == {"1-1": ("it", "")}  # decisions name the second chain
    do(session, do="undo")
    assert names(session) == {"1-1": ("she", ""), "3-3": ("it", "")}
    do(session, do="together", mentions=["1-1", "4-4"])
    assert names(session) == {"1-1": ("it", "")}
    do(session, do="free", decisions=[session.state(0)["decisions"][-1]["id"]])
    assert names(session) == {"1-1": ("she", ""), "3-3": ("it", "")}


def test_what_annotators_voted_for_needs_no_decision(tmp_path: Path) -> None:
    document = Document("d", ("a", "b", "c"))
    chain = Chain("1", (Span(1, 1), Span(2, 2)), "William", "person")
    annotations = [Annotation.of(who, document, [chain]) for who in ("Ann", "Bob")]
    session = opened(tmp_path / "review.conll", annotations)
    assert names(session) == {"1-1": ("William", "person")}
    do(session, do="name", chain="1", name="Sir William")
    assert names(session) == {"1-1": ("Sir William", "person")}
    do(session, do="name", chain="1", name="William")
    assert session.state(0)["decisions"] == []
    do(session, do="name", chain="1", type="")
    assert names(session) == {"1-1": ("William", "")}
    session.close()
    assert names(reopened(session.store.path)) == {"1-1": ("William", "")}


@pytest.mark.parametrize(
    "operation",
    [
        {"chain": "99", "name": "x"},
        {"chain": "1"},
        {"chain": "1", "name": 7},
        {"chain": "1", "name": "x" * 201},
        {"chain": "1", "name": "\ud800"},
        {"chain": "1", "name": "a\x00b"},
        {"chain": "1", "name": ""},
    ],
)
def test_names_that_are_refused(session: ReviewSession, operation: dict[str, Any]) -> None:
    before = session.state(0)
    with pytest.raises(OperationError):
        do(session, do="name", **operation)
    assert session.state(0) == before


def test_a_name_by_hand_is_the_editors(session: ReviewSession) -> None:
    path = session.store.path
    session.close()
    id = home(session, "1-1")
    path.write_text(path.read_text().replace("#begin", f'# caspr name: {id} "Stand by me"\n#begin', 1))
    again = reopened(path)
    assert names(again) == {"1-1": ("Stand by me", "")}
    [decision] = again.state(0)["decisions"]
    assert (decision["kind"], decision["by"]) == ("name", "editor")


def test_a_name_waits_while_its_mentions_are_in_no_chain(session: ReviewSession) -> None:
    chain = home(session, "4-4")
    mentions = session.state(0)["chains"][chain]["mentions"]
    do(session, do="name", chain=chain, name="it")
    do(session, do="absent", mentions=mentions)
    assert names(session) == {}
    path = session.store.path
    assert f'# caspr name: - "it" of {" ".join(mentions)} by ' in path.read_text()
    session.close()
    again = reopened(path)
    do(again, do="free", decisions=[again.state(0)["decisions"][-1]["id"]])
    assert names(again) == {"4-4": ("it", "")}


def test_an_entity_keeps_its_name_by_its_id_and_else_by_most_of_its_mentions() -> None:
    def chain(id: str, *tokens: int) -> Chain:
        return Chain.of(id, [(token, token) for token in tokens])

    def name(*tokens: int) -> Statement:
        return Statement(StatementKind.NAME, chain("", *tokens).mentions, name="x")

    before = [chain("1", 1, 2, 3), chain("2", 4, 5)]
    assert follow_names([name(1, 2, 3)], before, [chain("1", 3, 9), chain("3", 1, 2)]) == (name(3, 9),)
    assert follow_names([name(1, 2, 3)], before, [chain("2", 1, 2, 4, 5)]) == (name(1, 2, 4, 5),)
    assert follow_names([name(4, 5)], before, [chain("1", 1, 2, 3, 4)]) == (name(4, 5),)
    both = [name(1, 2, 3), name(4, 5)]
    assert follow_names(both, before, [chain("1", 1, 2, 3, 4, 5)]) == (name(1, 2, 3, 4, 5), name(4, 5))


@pytest.mark.parametrize(
    "line",
    [
        '# caspr name: 99 "x" by "Ann" at 2026-11-17T09:30:05Z',
        '# caspr name: 1 "x" of 1-99',
        "# caspr name: 1",
    ],
)
def test_malformed_names_are_refused_with_their_line(session: ReviewSession, line: str) -> None:
    text = f"{line}\n{session.store.path.read_text()}"
    with pytest.raises(FormatError, match=r"review.conll:1: .*expected"):
        review_file.parse(text, "review.conll")


def test_names_are_in_the_report_and_in_exports(session: ReviewSession) -> None:
    do(session, do="name", chain=home(session, "1-1"), name="Sir <William>", type="person")
    page = report(session, 0).content.decode()
    assert "<bdi>Sir &lt;William&gt;</bdi>" in page
    assert "person" in page
    for format in ("conll", "corefannotator", "review"):
        content = export(session, 0, format).content
        content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
        assert b"Sir <William>" in content or b"Sir &lt;William" in content, format


def test_a_name_stays_when_an_annotator_is_added(session: ReviewSession) -> None:
    do(session, do="name", chain=home(session, "1-1"), name="Sir William")
    session.close()
    late = annotation("Carla", [[(1, 1), (2, 2)], [(3, 3), (4, 4)]])
    changes = AnnotatorChanges(by_key([[late]]))
    assert change_annotators(session.store.path, changes, "Ann") == ["doc: Carla added"]
    assert names(reopened(session.store.path)) == {"1-1": ("Sir William", "")}
