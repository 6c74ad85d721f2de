"""A late annotator beside a mention with several boundaries: what was decided about it does not change."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from caspr.formats import review_file
from caspr.task.stored_settings import read_settings
from caspr.text.variants import VariantGroup
from tests.cli.caller import Caller
from tests.review.sessions import reopened

WORDS = ["the", "old", "man", "saw", "him", "and", "he", "left"]
DECIDED = {
    "the boundary is set": [{"do": "together", "mentions": ["1-3", "5-5"]}],
    "a boundary is ruled out": [{"do": "absent", "mentions": ["2-3"]}],
    "another boundary is set": [{"do": "together", "mentions": ["2-3", "7-7"]}],
}
"""Operations on the page, and what they say about (1, 3) and (2, 3), two boundaries of one mention."""


def write(folder: Path, annotator: str, *cells: str) -> Path:
    """Write what an annotator says about the one document."""
    path = folder / annotator / "d.conll"
    path.parent.mkdir(parents=True)
    rows = "".join(
        f"{number}\t{word}\t{cell}\n" for number, (word, cell) in enumerate(zip(WORDS, cells, strict=True), 1)
    )
    path.write_text(f"#begin document (d);\n{rows}#end document\n", encoding="utf-8")
    return path


LONG = ("(1", "-", "1)", "-", "(1)", "-", "(1)", "-")
SHORT = ("-", "(1", "1)", "-", "(1)", "-", "(1)", "-")
BOTH = ("(1", "(2", "1)|2)", "-", "(1)", "-", "(2)", "-")


def groups(project: Path) -> list[VariantGroup]:
    """Return the groups of variants that the review of the document has."""
    [one] = review_file.read(project / "documents" / "d.conll")
    settings = read_settings(one.settings)
    return list(settings.find_variants(one.annotations, one.decisions).groups)


@pytest.mark.parametrize("operations", [*DECIDED.values(), []], ids=[*DECIDED, "nothing is decided"])
def test_a_late_annotator_changes_no_group_that_holds_a_decision(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    operations: Sequence[dict[str, object]],
) -> None:
    """One who prefers the short boundary, and one for whom there are two mentions, come late."""
    caspr = Caller(monkeypatch, capsys)
    monkeypatch.setattr("caspr.review.server.serve.serve", lambda work, **_: work.close())
    write(tmp_path / "in", "ann", *LONG)
    write(tmp_path / "in", "bea", *SHORT)
    late = [write(tmp_path / "late", name, *cells) for name, cells in (("cem", SHORT), ("dan", BOTH))]
    project = tmp_path / "project"
    words = ("--layout", "project", "--variants", "--by", "annotator", "--processes", 1)
    assert caspr("corpus", tmp_path / "in", "-o", project, *words).code == 0
    session = reopened(project / "documents" / "d.conll")
    for operation in operations:
        session.do(0, operation, session.history(0).version, "Bob")
    session.close()
    [before] = groups(project)
    for path in late:
        outcome = caspr("review", project, "--add", path.parent)
        assert (outcome.code, f"{path.parent.name} added" in outcome.err) == (0, True), outcome.err
    found = groups(project)
    if not operations:
        assert found == [], "one who marked both says that they are two mentions"
        return
    [after] = found
    assert (after.spans, after.boundary, after.removed) == (before.spans, before.boundary, before.removed)
    assert [len(names) for names in after.annotators] == [2, 3]
    assert caspr("redo", project / "documents" / "d.conll").code == 0
    assert groups(project) == [after]
