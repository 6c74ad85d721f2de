"""Every format that is read goes all the way: adjudicated, reviewed and redone, in a corpus, and written."""

from pathlib import Path

import pytest

from caspr.formats.registry import EXPORTED, FORMATS, READ
from caspr.formats.sources import read_one
from caspr.review.exports import export
from caspr.review.session import open_review
from tests.cli.caller import EXAMPLES, Caller
from tests.sweeps import SHORT

FOLDER = EXAMPLES / "formats"
BRAT = {
    "sets": "*\tCoreference T1 T2\n",
    "several sets": "*\tCoreference T1 T2\n*\tCoreference T3 T4\n",
    "overlapping sets": "*\tCoreference T1 T2\n*\tCoreference T2 T3\n",
    "sets and relations": "*\tCoreference T1 T2\nR1\tCoreference Arg1:T3 Arg2:T4\n",
    "relations": "R1\tCoreference Arg1:T2 Arg2:T1\n",
    "events": "E1\tCoreference:T1 next:E2\nE2\tCoreference:T2\n",
    "nothing": "",
}
TEXT = "Anna saw Ben . She greeted him .\n"
MENTIONS = "T1\tPerson 0 4\tAnna\nT2\tPerson 15 18\tShe\nT3\tPerson 9 12\tBen\nT4\tPerson 27 30\thim\n"


@pytest.fixture(params=[*sorted(path.name for path in FOLDER.iterdir()), *BRAT])
def inputs(request: pytest.FixtureRequest, tmp_path: Path) -> list[Path]:
    """Return the files of several annotators: an example, or ways to write brat."""
    if request.param not in BRAT:
        return [FOLDER / request.param]
    for who, links in (("anna", BRAT[request.param]), ("ben", BRAT["sets"])):
        (tmp_path / who).mkdir()
        (tmp_path / who / "doc.txt").write_text(TEXT)
        (tmp_path / who / "doc.ann").write_text(MENTIONS + links)
    return [tmp_path / "anna" / "doc.ann", tmp_path / "ben" / "doc.ann"]


def test_all_formats_have_an_example() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(READ)


def own(inputs: list[Path]) -> str:
    """Return the format to write: that of the inputs, or another where that is only read."""
    name = inputs[0].name if inputs[0].is_dir() else "brat"
    return name if name in EXPORTED else "conll"


def test_the_whole_way(inputs: list[Path], tmp_path: Path, caspr: Caller) -> None:
    where, format = tmp_path / "out", own(inputs)
    for name in ("gold", "redone"):
        (where / name).mkdir(parents=True)
    review, result = where / "review.conll", f"bear{FORMATS[format].suffixes[0]}"
    assert caspr("adjudicate", *inputs, "-o", where / "gold" / result, "--to", format, "-q").code == 0
    assert read_one(where / "gold" / result)
    assert caspr("adjudicate", *inputs, "--layout", "review", "-o", review, "-q").code == 0
    assert caspr("redo", review, "--gold", where / "redone" / result, "--to", format, "-q").code == 0
    assert read_one(where / "redone" / result)
    session = open_review(review, lambda settings: settings)
    try:
        session.do(0, {"do": "note", "text": "x"}, session.history(0).version)
        for name in EXPORTED:
            assert export(session, 0, name).content, name
    finally:
        session.close()
    if not SHORT:
        corpus = caspr("corpus", *inputs, "-o", where / "corpus", "--processes", "1", "-q")
        assert corpus.code == 0, corpus.err
