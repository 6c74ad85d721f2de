"""An entity has one number, wherever it is shown."""

from pathlib import Path

import caspr
from caspr.formats import read_all, review_file
from caspr.review.session import ReviewSession
from caspr.task.settings import Settings
from tests.review.sessions import opened, reopened

SCENE = Path(__file__).parents[2] / "examples" / "scene"
Numbers = dict[str, list[str]]


def numbers(session: ReviewSession) -> Numbers:
    """Return the mentions of each entity as the page has them."""
    return {id: chain["mentions"] for id, chain in session.state(0)["chains"].items()}


def numbers_of(gold: caspr.Annotation) -> Numbers:
    return {chain.id: [f"{span.start}-{span.end}" for span in chain.mentions] for chain in gold.all_chains}


def test_page_file_report_and_commands_number_entities_alike(tmp_path: Path) -> None:
    path = tmp_path / "review.conll"
    session = opened(path, [one for [one] in read_all(sorted(SCENE.glob("*.conll")))], Settings())
    merged = {"do": "merge", "chains": ["1", "7"]}
    session.do(0, merged, session.history(0).version)
    session.do(0, {"do": "split", "mentions": ["39-39", "47-47"]}, session.history(0).version)
    shown = numbers(session)
    assert set(shown) != {str(number) for number in range(1, len(shown) + 1)}, (
        "those that are left keep theirs"
    )
    history = session.history(0)
    assert numbers_of(history.solver.gold(history.snapshot)) == shown, "exports"
    assert numbers_of(history.solver.result(history.snapshot).gold) == shown, "the report"
    session.close()
    [review] = review_file.parse(path.read_text(encoding="utf-8"), "here")
    [result] = caspr.redo([review])
    assert numbers_of(result.gold) == shown, "redo and report as commands"
    (tmp_path / ".review.conll.history.jsonl").unlink()
    assert numbers(reopened(path)) == shown, "the page, without its record"
