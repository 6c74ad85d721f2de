"""Flags of the adjudicator go into formats that have a place for them; of all others they are counted."""

import pytest

from caspr.formats.registry import EXPORTED, losses, render
from caspr.text.document import Annotation, Chain, Document, Flag, Mark, Span

CARRYING = {"brat", "corefud", "soft"}
FLAGS = (Flag("generic", "see p. 3 | 100 %\nor not; ask"), Flag("später <b>"))


def flagged() -> Annotation:
    document = Document("d", ("The", "girl", "sang", "She", "left"))
    marks = {Span(1, 2): Mark(flags=FLAGS), Span(5, 5): Mark(flags=(Flag("later"),))}
    return Annotation.of("gold", document, [Chain.of("1", [(1, 2), (4, 4)])], marks=marks, adjudicated=True)


def written(annotation: Annotation, format: str) -> str:
    from pathlib import Path

    from caspr.formats.registry import FORMATS

    files = render([annotation], Path(f"d{FORMATS[format].suffixes[0]}"), format=format)
    return "\n".join(text for text in files.values() if isinstance(text, str))


@pytest.mark.parametrize("format", EXPORTED)
def test_what_is_not_written_is_counted(format: str) -> None:
    found = [finding for finding in losses([flagged()], format) if finding.code == "lost-flags"]
    expected = 0 if format == "soft" else 1 if format in CARRYING else 3
    assert [finding.count for finding in found] == ([expected] if expected else [])
    assert ("später" in written(flagged(), format) or "sp\\u00e4ter" in written(flagged(), format)) == (
        format in CARRYING
    )


def test_notes_of_brat() -> None:
    lines = written(flagged(), "brat").splitlines()
    notes = [line.partition("\t")[2] for line in lines if line.startswith("#")]
    [first] = [line.partition("\t")[0] for line in lines if line.endswith("The girl")]
    assert notes == [
        f"AnnotatorNotes {first}\tgeneric: see p. 3 | 100 % or not; ask",
        f"AnnotatorNotes {first}\tspäter <b>",
        f"CasprGold {first}\tthe result of an adjudication",
    ]


def test_an_item_of_corefud() -> None:
    text = written(flagged(), "corefud")
    assert "Flag=generic: see p. 3 %7C 100 %25 or not%3B ask; später <b>" in text
    marks = {Span(1, 2): Mark(flags=FLAGS)}
    chains = [Chain.of("1", [(1, 2), (4, 4)]), Chain.of("2", [(1, 1), (5, 5)])]
    nested = Annotation.of("gold", flagged().document, chains, marks=marks)
    assert "Flag=" not in written(nested, "corefud"), "it would not say which mention it means"
    assert [(f.code, f.count) for f in losses([nested], "corefud")][-1] == ("lost-flags", 2)
