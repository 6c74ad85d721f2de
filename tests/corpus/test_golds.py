"""A corpus in any format and layout gives the chains that it gives in CoNLL, in files of its own format."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from caspr.formats.registry import FORMATS
from caspr.formats.sources import read_one
from caspr.text.document import Annotation
from tests.cli.caller import Caller
from tests.corpus.corpora import annotation, golds, place, write_corpus, write_in, write_project
from tests.formats.everywhere import SUFFIX, assert_same, save

BRUTE = ("--engine", "brute", "--processes", 1)
NAMES = ["one", "news/two"]
ANNOTATORS = ("ann", "bob")
SUFFIXES = [*SUFFIX.items(), ("gate", ".xml"), ("gate", ".bdocjs"), ("cas", ".json")]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Annotation]:
    """Return the golds of the corpus in CoNLL, as `caspr adjudicate` makes them."""
    from caspr.adjudication import adjudicate

    folder = tmp_path_factory.mktemp("expected")
    return {
        name: adjudicate([[annotation(folder, name, annotator)] for annotator in ANNOTATORS])[0].gold
        for name in NAMES
    }


def main_file(folder: Path, name: str, suffix: str) -> Path:
    """Return the gold file of a document; a project has a folder of its own."""
    file = folder / f"{name}{suffix}"
    return folder / name / file.name if suffix == ".mmax" else file


def check(output: Path, format: str, suffix: str, expected: dict[str, Annotation]) -> None:
    """Read golds again and compare their chains."""
    for name, gold in expected.items():
        [back] = read_one(main_file(output, name, suffix))
        assert back.document.format == format
        assert_same(gold, back)


@pytest.mark.parametrize(("format", "suffix"), SUFFIXES, ids=[suffix for _, suffix in SUFFIXES])
def test_every_format_in_every_layout(
    caspr: Caller, tmp_path: Path, expected: dict[str, Annotation], format: str, suffix: str
) -> None:
    found = []
    for by in ("document", "annotator"):
        corpus = write_in(tmp_path / by, NAMES, format, suffix, by=by)
        outcome = caspr("corpus", corpus, "-o", tmp_path / f"out-{by}", *BRUTE)
        assert outcome.code == 0, outcome
        assert outcome.err.startswith("2 documents\n")
        assert "  2 proven optimal" in outcome.err
        check(tmp_path / f"out-{by}", format, suffix, expected)
        found.append({name for name in golds(tmp_path / f"out-{by}") if "/Basedata/" not in name})
    assert found[0] == found[1]


@pytest.mark.parametrize("by", ["document", "annotator"])
@pytest.mark.parametrize("named", ["project", "{who}", "{name}"])
def test_projects_that_are_folders(
    caspr: Caller, tmp_path: Path, expected: dict[str, Annotation], by: str, named: str
) -> None:
    corpus = tmp_path / "in"
    for name in NAMES:
        for who in ANNOTATORS:
            folder = place(corpus, name, who, by=by)
            folder.mkdir(parents=True)
            project = folder / f"{named.format(who=who, name=Path(name).name)}.mmax"
            save([annotation(tmp_path / "conll", name, who)], project, "mmax")
            (folder / "Markables/old_coref_level.xml.bak").write_text("as MMAX2 leaves it")
    outcome = caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE)
    assert outcome.code == 0, outcome
    assert outcome.err.startswith("2 documents\n")
    assert "  2 proven optimal" in outcome.err
    check(tmp_path / "out", "mmax", ".mmax", expected)
    (place(corpus, "one", "bob", by=by) / "Basedata").rename(tmp_path / "away")
    outcome = caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE, "--by", by)
    assert outcome.err.startswith("2 documents, 1 taken over")
    assert "failed: one: " in outcome.err


@pytest.mark.parametrize("format", [name for name in SUFFIX if FORMATS[name].many_documents])
def test_files_with_many_documents(
    caspr: Caller, tmp_path: Path, expected: dict[str, Annotation], format: str
) -> None:
    corpus = tmp_path / "in"
    corpus.mkdir()
    for annotator in ANNOTATORS:
        ones = [annotation(tmp_path / "conll", name, annotator) for name in NAMES]
        save(ones, corpus / f"{annotator}{SUFFIX[format]}", format)
    assert caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE).code == 0
    check(tmp_path / "out", format, SUFFIX[format], expected)


@pytest.mark.parametrize(
    ("format", "good", "bad", "reason"),
    [
        ("jsonlines", '"sentences"', '"senses"', "ann.jsonl:1: found "),
        ("jsonlines", "{", "", "ann.jsonl:1: found malformed JSON"),
        ("corefud", "one-2\t", "one-2 ", "ann.conllu:"),
    ],
)
def test_a_malformed_document_among_many_spoils_no_other(
    caspr: Caller,
    tmp_path: Path,
    expected: dict[str, Annotation],
    format: str,
    good: str,
    bad: str,
    reason: str,
) -> None:
    corpus = tmp_path / "in"
    corpus.mkdir()
    for annotator in ANNOTATORS:
        ones = [annotation(tmp_path / "conll", name, annotator) for name in NAMES]
        save(ones, corpus / f"{annotator}{SUFFIX[format]}", format)
    spoilt = corpus / f"ann{SUFFIX[format]}"
    spoilt.write_text(spoilt.read_text().replace(good, bad, 1))
    outcome = caspr("corpus", corpus, "-o", tmp_path / "out", "--format", format, *BRUTE)
    assert outcome.code == 1, outcome
    assert f": {reason}" in outcome.err
    check(tmp_path / "out", format, SUFFIX[format], {NAMES[1]: expected[NAMES[1]]})


def test_another_format_can_be_asked_for(
    caspr: Caller, tmp_path: Path, expected: dict[str, Annotation]
) -> None:
    corpus = write_corpus(tmp_path / "in", NAMES, annotators=ANNOTATORS)
    words: Sequence[object] = ("corpus", corpus, "-o", tmp_path / "out", *BRUTE)
    assert caspr(*words).code == 0
    for format, suffix in (("brat", ".ann"), ("mmax", ".mmax"), ("cas", ".xmi")):
        assert caspr(*words, "--to", format).code == 0
        check(tmp_path / "out", format, suffix, expected)
        assert not list((tmp_path / "out").rglob("*.bak"))
        assert not list((tmp_path / "out").rglob("*.conll")), "the files of the other format are gone"
    assert caspr(*words, "--to", "cas").err.startswith("2 documents, 2 taken over")
    (tmp_path / "out/news/two.xmi").write_text("mine")
    assert caspr(*words).code == 0
    assert [path.name for path in (tmp_path / "out").rglob("*.bak")] == ["two.xmi.1.bak"]


def test_a_document_is_not_called_like_the_summary(caspr: Caller, tmp_path: Path) -> None:
    for annotator in ANNOTATORS:
        one = annotation(tmp_path / "conll", "x", annotator)
        for name in ("summary", "certificates/x"):
            path = tmp_path / "in" / annotator / f"{name}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            save([one], path, "cas")
    words = ("--by", "annotator", "--certificate")
    assert caspr("corpus", tmp_path / "in", "-o", tmp_path / "out", *BRUTE, *words).code == 0
    there = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.json")}
    proofs = {"certificates/summary.json", "certificates/certificates/x.json"}
    assert there == {"%summary.json", "%certificates/x.json", "summary.json", *proofs}


def test_settings_of_tools_are_no_documents(caspr: Caller, tmp_path: Path) -> None:
    corpus = write_in(tmp_path / "in", NAMES, "brat", ".ann", by="annotator")
    for folder in (corpus, corpus / "ann", corpus / "bob"):
        (folder / "annotation.conf").write_text("[entities]\nMention\n")
    outcome = caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE)
    assert outcome.code == 0, outcome
    assert outcome.err.startswith("2 documents\n")


def test_a_change_in_a_companion_is_a_change(caspr: Caller, tmp_path: Path) -> None:
    for format, suffix, part in (("brat", ".ann", "one.txt"), ("mmax", ".mmax", "Basedata/one_words.xml")):
        corpus = write_in(tmp_path / format, NAMES, format, suffix, by="annotator")
        words = ("corpus", corpus, "-o", tmp_path / f"{format}-out", *BRUTE, "--files", f"*{suffix}")
        assert caspr(*words).code == 0
        for annotator in ANNOTATORS:
            file = corpus / annotator / part
            file.write_text(file.read_text().replace("one-8", "one-9"))
        outcome = caspr(*words)
        assert outcome.code == 0, outcome
        assert outcome.err.startswith("2 documents, 1 taken over"), format


def test_a_project_archive_is_done_document_by_document(caspr: Caller, tmp_path: Path) -> None:
    project = write_project(tmp_path / "project.zip")
    outcome = caspr("corpus", project, "-o", tmp_path / "out", *BRUTE)
    assert outcome.code == 0, outcome
    assert "1 proven optimal, 0 with a gap, 0 failed, 1 left out" in outcome.err
    assert set(golds(tmp_path / "out")) == {"bär.txt.xmi"}
    alone = caspr("adjudicate", project, "-o", tmp_path / "alone.zip", "--engine", "brute")
    assert alone.code == 0
    assert (tmp_path / "out/bär.txt.xmi").read_bytes() == (tmp_path / "alone/bär.txt.xmi").read_bytes()


def test_files_that_hold_all_annotators_of_a_document(
    caspr: Caller, tmp_path: Path, expected: dict[str, Annotation]
) -> None:
    corpus = tmp_path / "in"
    corpus.mkdir()
    for name in NAMES:
        files = []
        for annotator in ANNOTATORS:
            one = annotation(tmp_path / "conll", name, annotator)
            save([one], tmp_path / f"{annotator}.bdocjs", "gate")
            files.append(json.loads((tmp_path / f"{annotator}.bdocjs").read_text()))
        sets = [next(iter(file["annotation_sets"].values())) for file in files]
        named = {who: {**one, "name": who} for who, one in zip(ANNOTATORS, sets, strict=True)}
        (corpus / f"{Path(name).name}.bdocjs").write_text(json.dumps({**files[0], "annotation_sets": named}))
    (corpus / "broken.bdocjs").write_text("{")
    outcome = caspr("corpus", corpus, "-o", tmp_path / "out", *BRUTE)
    assert outcome.code == 1, outcome
    assert "2 proven optimal, 0 with a gap, 1 failed, 0 left out" in outcome.err
    assert "failed: broken: broken.bdocjs" in outcome.err
    for name, gold in expected.items():
        found = read_one(tmp_path / "out" / f"{Path(name).name}.bdocjs")
        assert_same(gold, found[-1])
