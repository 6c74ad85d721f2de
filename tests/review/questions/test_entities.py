"""An answer means the entity that the card shows, whatever the best solution would rather make of it."""

import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench.adjudicator.entities import answer_all, answer_in_turn, entity, opened
from caspr.engines import choose
from caspr.formats import read_all
from caspr.review.session import ReviewSession
from caspr.task.decisions import Statement, StatementKind
from caspr.task.limits import Limits, silent
from caspr.task.objectives import OBJECTIVES
from caspr.task.settings import PRESETS, Settings
from caspr.text.document import Annotation, Chain, Document, Span
from tests.cli.caller import EXAMPLES
from tests.instances import paper_annotations
from tests.review import sessions
from tests.review.questions.documents import NOBODY, QUICK, card

A, C, D, F = Span(1, 1), Span(3, 3), Span(4, 4), Span(6, 6)


def random_annotations(seed: int) -> list[Annotation]:
    """Return annotations of three to five annotators who often disagree."""
    rng = random.Random(seed)
    tokens = rng.randint(4, 9)
    document = Document("d", tuple("abcdefghi"[:tokens]))
    meant = [rng.randrange(3) for _ in range(tokens)]
    annotations = []
    for number in range(rng.choice([3, 4, 5])):
        chains: dict[int, list[tuple[int, int]]] = {}
        for token, chain in enumerate(meant, 1):
            if rng.random() > 0.15:
                said = chain if rng.random() < 0.7 else rng.randrange(4)
                chains.setdefault(said, []).append((token, token))
        said_chains = [Chain.of(str(id), mentions) for id, mentions in chains.items()]
        annotations.append(Annotation.of(f"a{number}", document, said_chains))
    return annotations


@pytest.mark.parametrize("seed", range(20))
def test_every_choice_puts_the_mention_into_the_entity_that_was_chosen(seed: int) -> None:
    answers = answer_all(random_annotations(seed), Settings(), 20)
    assert not answers.broken + answers.refused
    assert not answers.untold


@pytest.mark.parametrize("seed", [*range(10), 40, 130, 144])
def test_what_earlier_answers_rule_out_is_not_asked(seed: int) -> None:
    answers = answer_in_turn(random_annotations(seed), Settings(), 20, seed)
    assert not answers.broken + answers.refused
    assert not answers.pointless


@pytest.mark.parametrize(("tale", "seed"), [("market", 0), ("storm", 1), ("storm", 2), ("miller", 0)])
def test_a_card_says_what_earlier_answers_about_others_make_impossible(tale: str, seed: int) -> None:
    files = sorted((EXAMPLES / "tales" / tale).glob("*.conll"))
    annotations = [annotation for file in read_all(files) for annotation in file]
    answers = answer_in_turn(annotations, Settings(), 60, seed)
    assert not answers.refused + answers.broken + answers.untold


def torn(path: Path) -> ReviewSession:
    """Open a document where “f” would rather be with “d” alone than with “a”, “c” and “d”."""
    return sessions.opened(path / "review.conll", random_annotations(5), Settings())


def answered(session: ReviewSession) -> None:
    """Say that “f” is of the entity “d”, “c”, “a”."""
    history = session.history(0)
    chosen = next(choice for choice in card(history, "q6-6")["choices"] if choice["anchor"] == "4-4")
    assert set(chosen["mentions"]) == {"1-1", "3-3", "4-4"}
    session.do(0, chosen["answer"], history.version)


def held(session: ReviewSession) -> list[Statement]:
    """Return what holds entities."""
    said = [entry.statement for entry in session.history(0).snapshot.entries]
    return [statement for statement in said if statement.kind is StatementKind.ENTITY]


def test_the_entity_that_was_chosen_is_not_torn_apart(tmp_path: Path) -> None:
    session = torn(tmp_path)
    answered(session)
    assert entity(session.history(0).snapshot, F) == {A, C, D, F}


def test_what_holds_an_entity_survives_undo_redo_reopening_and_the_command_line(tmp_path: Path) -> None:
    session = torn(tmp_path)
    before = session.history(0).snapshot.partition
    answered(session)
    after = session.history(0).snapshot.partition
    for verb, expected in (("undo", before), ("redo", after)):
        session.do(0, {"do": verb}, session.history(0).version)
        assert session.history(0).snapshot.partition == expected
    session.close()
    path = tmp_path / "review.conll"
    assert path.read_text().count("# caspr entity: ") == 1
    subprocess.run([sys.executable, "-m", "caspr", "redo", str(path), "-q"], check=True)
    again = sessions.reopened(path)
    assert again.history(0).snapshot.partition == after
    assert len(held(again)) == 1


def test_a_line_taken_out_in_an_editor_lets_the_entity_go(tmp_path: Path) -> None:
    session = torn(tmp_path)
    answered(session)
    path = tmp_path / "review.conll"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith("# caspr entity: ")))
    session.poll()
    assert not held(session)
    assert entity(session.history(0).snapshot, F) != {A, C, D, F}


@pytest.mark.parametrize("engine", ["native", "clingo", "brute"])
def test_every_engine_holds_the_entity(tmp_path: Path, engine: str) -> None:
    session = torn(tmp_path)
    answered(session)
    history = session.history(0)
    _, solve = choose(engine)
    solution = solve(history.solver.instance(history.snapshot.decisions), Limits(), silent)
    assert solution.value == history.snapshot.value
    [chain] = [chain for chain in solution.partitions[0] if F in chain]
    assert {A, C, D, F} <= set(chain)


def test_a_second_answer_about_the_entity_holds_nothing_more(tmp_path: Path) -> None:
    session = torn(tmp_path)
    answered(session)
    history = session.history(0)
    home = history.snapshot.chain_of[D]
    session.do(0, {"do": "into", "mentions": ["8-8"], "chain": home}, history.version)
    assert len(held(session)) == 1
    assert entity(history.snapshot, Span(8, 8)) >= {A, C, D}


@pytest.mark.parametrize(
    "answer",
    [
        {"do": "absent", "mentions": ["1-1"]},
        {"do": "alone", "mentions": ["1-1"]},
        {"do": "place", "mention": "1-1", "with": [], "apart": ["3-3"], "exists": True},
        {"do": "place", "mention": "1-1", "with": ["5-5"], "apart": ["3-3"]},
    ],
)
def test_an_answer_about_a_held_mention_goes_before(tmp_path: Path, answer: dict[str, object]) -> None:
    session = torn(tmp_path)
    answered(session)
    assert held(session) == [Statement.of(StatementKind.ENTITY, [A, D])]
    session.do(0, answer, session.history(0).version)
    assert all(A not in statement.mentions for statement in held(session))
    assert A not in entity(session.history(0).snapshot, D)
    assert D in entity(session.history(0).snapshot, F)


def test_what_is_held_is_not_shown_as_decided_and_its_questions_stay(tmp_path: Path) -> None:
    session = torn(tmp_path)
    before = {question.id for question in session.history(0).queue.open(session.history(0).snapshot)}
    answered(session)
    history = session.history(0)
    after = {question.id for question in history.queue.open(history.snapshot)}
    assert before - after == {"q6-6"}
    shown = session.state(0)["mentions"]
    assert [shown[id]["decision"] for id in ("1-1", "6-6")] == [None, "in"]


def test_the_words_of_a_step_do_not_name_all_that_is_held(tmp_path: Path) -> None:
    session = torn(tmp_path)
    answered(session)
    assert "held" not in (session.state(0)["undo"] or "")
    labels = [decision["label"] for decision in session.state(0)["decisions"]]
    assert any("held as one entity" in label for label in labels)


def test_a_choice_that_only_a_decision_allows_is_said_to_be_possible() -> None:
    """Under U no link may be invented: “6” comes to “1 2 3” and “5” only because somebody says so."""
    settings = replace(PRESETS["paper"], objective=OBJECTIVES["u"])
    history = opened(paper_annotations(), settings)
    question = history.queue.question("q6-6")
    assert question is not None
    assert history.queue.price(question, history.snapshot, 20, lambda: False)
    shown = next(choice for choice in card(history, "q6-6")["choices"] if choice["anchor"] == "1-3")
    assert (shown["possible"], shown["exact"]) == (True, False)
    history.commit(history.step_for(shown["answer"], QUICK, NOBODY))
    assert entity(history.snapshot, F) == {Span(1, 3), Span(5, 5), F}
