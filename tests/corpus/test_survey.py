"""What is decided once for all documents of a corpus: chains of one, learned weights, coverage."""

import json
import random
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from caspr.corpus.job import Options
from caspr.corpus.plan import Plan
from caspr.corpus.survey import EQUAL, Weighing, decide_for_run
from caspr.task.instance import Singletons
from tests.cli.caller import EXAMPLES, Caller, Outcome
from tests.corpus.corpora import golds

pytestmark = pytest.mark.usefixtures("without_workers")
TALES = EXAMPLES / "tales"


def corpus(caspr: Caller, folder: Path, *words: object, source: Path = TALES) -> Outcome:
    return caspr("corpus", source, "-o", folder, "--processes", 1, *words)


def taken_over(folder: Path) -> int:
    return int(json.loads((folder / "summary.json").read_text(encoding="utf-8"))["totals"]["taken_over"])


def said(folder: Path) -> list[str]:
    """Return the codes of what is said about the whole corpus."""
    found = json.loads((folder / "summary.json").read_text(encoding="utf-8"))["findings"]
    return [finding["code"] for finding in found]


def write(folder: Path, document: str, **cells: str) -> None:
    """Write a document of as many tokens as each annotator has cells."""
    (folder / document).mkdir(parents=True, exist_ok=True)
    for annotator, column in cells.items():
        rows = "".join(f"{number}\tw{number}\t{cell}\n" for number, cell in enumerate(column.split(), 1))
        text = f"#begin document ({document});\n{rows}#end document\n"
        (folder / document / f"{annotator}.conll").write_text(text, encoding="utf-8")


def test_chains_of_one_are_kept_everywhere_or_nowhere(caspr: Caller, tmp_path: Path) -> None:
    """In `b` only one of the two annotators has a chain of one; over both documents, both mark them."""
    write(tmp_path / "in", "a", anna="(1) (1) (2) (3)", ben="(1) (1) (2) (3)")
    write(tmp_path / "in", "b", anna="(1) (1) - -", ben="(1) (1) - -")
    write(tmp_path / "in", "c", anna="(1) (1) (2) -", ben="(1) (1) - -")
    outcome = corpus(caspr, tmp_path / "auto", source=tmp_path / "in")
    assert "note: mentions in no chain are kept where votes favour it" in outcome.err
    corpus(caspr, tmp_path / "vote", "--singletons", "vote", source=tmp_path / "in")
    assert golds(tmp_path / "auto") == golds(tmp_path / "vote")
    write(tmp_path / "few", "a", anna="(1) (1) (2) (3)", ben="(1) (1) - -")
    for name in "bcd":
        write(tmp_path / "few", name, anna="(1) (1) - -", ben="(1) (1) - -", carla="(1) (1) - -")
    corpus(caspr, tmp_path / "dropped", source=tmp_path / "few")
    corpus(caspr, tmp_path / "drop", "--singletons", "drop", source=tmp_path / "few")
    assert golds(tmp_path / "dropped") == golds(tmp_path / "drop")


def test_every_document_counts_for_chains_of_one(tmp_path: Path) -> None:
    """Only the last of 60 documents has chains of one, and enough of them."""
    for number in range(59):
        write(tmp_path / "in", f"d{number:02}", anna="(1) (1)", ben="(1) (1)")
    write(tmp_path / "in", "last", anna="(1) (2) (3) (4) (5) (5)", ben="(1) (2) (3) (4) (5) (5)")
    with closing(Plan([tmp_path / "in"], by="document")) as plan:
        decided = decide_for_run(plan, Options(), tmp_path, weighing=Weighing.GIVEN)
    assert decided.options.settings.singletons is Singletons.VOTE
    assert [finding.code for finding in decided.findings] == ["singletons-kept"]


def test_what_was_decided_is_in_the_summary(caspr: Caller, tmp_path: Path) -> None:
    outcome = corpus(caspr, tmp_path / "out", "--weights", "learn")
    assert "sensitivity" in outcome.err
    assert f"weights of annotators learned from 3 documents, and kept for later runs in {tmp_path}" in (
        outcome.err
    )
    assert said(tmp_path / "out") == ["weights-learned"]
    again = corpus(caspr, tmp_path / "out", "--weights", "learn")
    assert "--force learns them again" in again.err
    assert "sensitivity" not in again.err
    assert said(tmp_path / "out") == ["weights-kept"]


def test_documents_without_chains_are_there_for_coverage(caspr: Caller, tmp_path: Path) -> None:
    write(tmp_path / "in", "a", anna="(1) (1)", ben="(1) (1)")
    write(tmp_path / "in", "empty", anna="- -", ben="- -")
    (tmp_path / "seen.csv").write_text("anna,empty,1,1\n", encoding="utf-8")
    words = ("--coverage", tmp_path / "seen.csv", "--by", "document")
    outcome = corpus(caspr, tmp_path / "out", *words, source=tmp_path / "in")
    assert outcome.code == 0
    assert "not used" not in outcome.err


def test_golds_that_may_vote_are_surveyed(caspr: Caller, tmp_path: Path) -> None:
    write(tmp_path / "in", "a", anna="(1) (1) (2) (3)", ben="(1) (1) (2) (3)")
    gold = tmp_path / "in" / "a" / "gold.conll"
    files = [tmp_path / "in" / "a" / f"{name}.conll" for name in ("anna", "ben")]
    assert caspr("adjudicate", *files, "-o", gold).code == 0
    outcome = corpus(caspr, tmp_path / "out", "--allow-gold", source=tmp_path / "in")
    assert "kept where votes favour it, since 3 of 3" in outcome.err


def test_a_warning_about_the_whole_corpus_is_refused_if_strict(caspr: Caller, tmp_path: Path) -> None:
    (tmp_path / "seen.csv").write_text("anna,müller,1,1\n", encoding="utf-8")
    outcome = corpus(caspr, tmp_path / "out", "--coverage", tmp_path / "seen.csv", "--strict")
    assert outcome.code == 2
    assert "error: --strict: 1 warning; first: " in outcome.err
    assert "document 'müller'" in outcome.err


def test_weights_must_fit_the_annotators(caspr: Caller, tmp_path: Path) -> None:
    outcome = corpus(caspr, tmp_path / "out", "--weight", "ana=2")
    assert outcome.code == 2
    assert "there is no annotator 'ana': choose among anna, ben, carla" in outcome.err
    (tmp_path / "w.csv").write_text("anna,2,1\nben,2,1\n", encoding="utf-8")
    outcome = corpus(caspr, tmp_path / "out", "--weights", tmp_path / "w.csv")
    assert outcome.code == 2
    assert "weights: there is no row for 'carla'" in outcome.err


def test_who_joins_later_needs_weights_only_beside_two_others(caspr: Caller, tmp_path: Path) -> None:
    source, folder = tmp_path / "in", tmp_path / "out"
    shutil.copytree(TALES, source)
    write(source, "nothing", anna="- -", ben="- -", paul="- -")
    assert corpus(caspr, folder, "--weights", "learn", source=source).code == 0
    assert "paul," in (folder / "weights.csv").read_text(encoding="utf-8")
    write(source, "two", anna="(1) (1)", dora="(1) (1)")
    assert corpus(caspr, folder, "--weights", "learn", source=source).code == 0
    write(source, "three", anna="(1) (1)", ben="(1) (1)", dora="(1) (1)")
    outcome = corpus(caspr, folder, "--weights", "learn", source=source)
    assert outcome.code == 2
    assert "there is no row for 'dora'" in outcome.err
    assert "add a row to" in outcome.err
    assert corpus(caspr, folder, "--weights", "learn", "--force", source=source).code == 0


def test_the_help_says_that_weights_can_be_learned(caspr: Caller) -> None:
    shown = " ".join(caspr("corpus", "--help").out.split())
    assert "--weights FILE|auto|learn|equal" in shown
    assert "or learn, to learn it from the corpus; auto, to do so if that is better than equal votes" in shown
    assert "FILE|learn" not in caspr("adjudicate", "--help").out


def test_learned_weights_are_those_of_weigh_and_are_used(caspr: Caller, tmp_path: Path) -> None:
    learned, given = tmp_path / "learned", tmp_path / "given"
    assert corpus(caspr, learned, "--weights", "learn").code == 0
    caspr("weigh", TALES, "-o", tmp_path / "w.csv", "-q")
    assert (learned / "weights.csv").read_bytes() == (tmp_path / "w.csv").read_bytes()
    corpus(caspr, given, "--weights", tmp_path / "w.csv")
    names = [path.name for path in sorted(given.glob("*.conll"))]
    assert names == ["market.conll", "miller.conll", "storm.conll"]
    assert all((learned / name).read_bytes() == (given / name).read_bytes() for name in names)


def test_weights_are_learned_once(caspr: Caller, tmp_path: Path) -> None:
    """A corpus that grows keeps its weights, and documents that are done stay done."""
    source, folder = tmp_path / "in", tmp_path / "out"
    shutil.copytree(TALES, source)
    corpus(caspr, folder, "--weights", "learn", source=source)
    before = (folder / "weights.csv").read_bytes()
    write(source, "new", anna="(1) (1) - (1)", ben="(1) (1) - (1)", carla="- (2) (1) (1)")
    corpus(caspr, folder, "--weights", "learn", source=source)
    assert (folder / "weights.csv").read_bytes() == before
    assert taken_over(folder) == 3
    edited = before.replace(b"anna,", b"anna,1")
    (folder / "weights.csv").write_bytes(edited)
    corpus(caspr, folder, "--weights", "learn", source=source)
    assert taken_over(folder) == 0, "edited weights change results"
    assert (folder / "weights.csv").read_bytes() == edited
    corpus(caspr, folder, "--weights", "learn", "--force", source=source)
    assert (folder / "weights.csv").read_bytes() != edited


def test_a_corpus_that_teaches_too_little_is_refused(caspr: Caller, tmp_path: Path) -> None:
    write(tmp_path / "in", "a", anna="(1) (1)", ben="(1) (1)", carla="(1) -")
    outcome = corpus(caspr, tmp_path / "out", "--weights", "learn", source=tmp_path / "in")
    assert outcome.code == 2
    assert "needs 30 disagreements for each annotator" in outcome.err
    assert not (tmp_path / "out" / "weights.csv").exists()


def test_a_document_that_cannot_be_read_teaches_nothing(caspr: Caller, tmp_path: Path) -> None:
    source = tmp_path / "in"
    shutil.copytree(TALES, source)
    write(source, "broken", anna="(1", ben="(1) (1)", carla="(1) (1)")
    outcome = corpus(caspr, tmp_path / "out", "--weights", "learn", source=source)
    assert outcome.code == 1
    assert "failed: broken" in outcome.err
    caspr("weigh", TALES, "-o", tmp_path / "w.csv", "-q")
    assert (tmp_path / "out" / "weights.csv").read_bytes() == (tmp_path / "w.csv").read_bytes()


def test_coverage_and_factors_change_what_is_done(caspr: Caller, tmp_path: Path) -> None:
    table, folder = tmp_path / "seen.csv", tmp_path / "out"
    table.write_text("anna,miller,1,100\ncarla,müller,,\n", encoding="utf-8")
    outcome = corpus(caspr, folder, "--coverage", table)
    assert "document 'müller'; known here: 'market', 'miller', 'storm'" in outcome.err
    corpus(caspr, folder, "--coverage", table)
    assert taken_over(folder) == 3
    table.write_text("anna,miller,1,90\n", encoding="utf-8")
    corpus(caspr, folder, "--coverage", table)
    assert taken_over(folder) == 0
    corpus(caspr, folder, "--coverage", table, "--weight", "anna=2")
    assert taken_over(folder) == 0


def test_agreement_in_the_summary_counts_those_who_saw_a_mention(caspr: Caller, tmp_path: Path) -> None:
    write(
        tmp_path / "in",
        "d",
        anna="(1) (1) (2) (2) - -",
        ben="- - (2) (2) (3) (3)",
        carla="(1) (1) (2) (2) (3) (3)",
    )
    (tmp_path / "seen.csv").write_text("anna,d,1,4\nben,d,3,6\n", encoding="utf-8")
    found = {}
    for name, words in {
        "blind": (),
        "marks": ("--coverage", "marks"),
        "table": ("--coverage", tmp_path / "seen.csv"),
    }.items():
        assert corpus(caspr, tmp_path / name, *words, source=tmp_path / "in").code == 0
        (row,) = json.loads((tmp_path / name / "summary.json").read_text(encoding="utf-8"))["documents"]
        found[name] = row["agreement"], row["disagreement"]["disputed"]
    assert found["marks"] == found["table"] == ({"passonneau": 1.0, "links": 1.0}, 0)
    assert found["blind"][0]["passonneau"] < 1
    assert found["blind"][1] == 4


def surveyed(caspr: Caller, folder: Path, *words: object, source: Path) -> Outcome:
    return corpus(caspr, folder, "--by", "document", "--singletons", "drop", *words, source=source)


def uneven(folder: Path, *, documents: int = 12, copy: bool = False) -> Path:
    """Write documents of one who is right, two who err now and then, or copy, and one who errs often."""
    rng = random.Random(7)

    def cells(rate: float) -> str:
        truth = [number % 5 for number in range(20)]
        return " ".join(f"({rng.randrange(5) if rng.random() < rate else id})" for id in truth)

    for number in range(documents):
        right, often = cells(0.02), cells(0.6)
        second, third = right if copy else cells(0.1), cells(0.1)
        write(folder, f"d{number:02}", anna=right, ben=second, carla=third, dora=often)
    return folder


def test_weights_are_used_where_they_predict_held_out_documents_better(caspr: Caller, tmp_path: Path) -> None:
    source, out = uneven(tmp_path / "in"), tmp_path / "out"
    outcome = surveyed(caspr, out, source=source)
    assert "they predict held-out documents better (t = " in outcome.err
    assert said(out) == ["weights-learned"]
    surveyed(caspr, tmp_path / "learn", "--weights", "learn", source=source)
    assert golds(out) == golds(tmp_path / "learn")
    assert (out / "weights.csv").read_bytes() == (tmp_path / "learn" / "weights.csv").read_bytes()
    again = surveyed(caspr, out, source=source)
    assert (taken_over(out), said(out)) == (12, ["weights-kept"]), again.err
    surveyed(caspr, tmp_path / "equal", "--weights", "equal", source=source)
    assert not (tmp_path / "equal" / "weights.csv").exists()
    assert said(tmp_path / "equal") == []


def test_equal_votes_are_kept_on_resume_too(caspr: Caller, tmp_path: Path) -> None:
    source, out = uneven(tmp_path / "in", documents=4), tmp_path / "out"
    assert surveyed(caspr, out, source=source).code == 0
    assert (said(out), (out / "weights.csv").read_text(encoding="utf-8")) == (["weights-equal"], EQUAL)
    uneven(source)
    assert surveyed(caspr, out, source=source).code == 0
    assert said(out) == ["weights-kept"]
    assert surveyed(caspr, out, "--force", source=source).code == 0
    assert said(out) == ["weights-learned"]


def test_near_copies_are_named_and_get_no_weights(caspr: Caller, tmp_path: Path) -> None:
    outcome = surveyed(caspr, tmp_path / "out", source=uneven(tmp_path / "in", copy=True))
    assert "warning: anna and ben gave nearly the same links (100 %)" in outcome.err
    assert said(tmp_path / "out") == ["weights-equal", "near-copies"]


def test_costs_that_are_given_are_not_overruled_by_weights(caspr: Caller, tmp_path: Path) -> None:
    source = uneven(tmp_path / "in")
    for words in (["--objective", "v"], ["--preset", "paper"], ["--weight", "anna=2"], ["--use-cost", "2"]):
        out = tmp_path / words[-1]
        assert surveyed(caspr, out, *words, source=source).code == 0
        assert not (out / "weights.csv").exists(), words
        assert not {"weights-learned", "weights-equal"} & set(said(out))


def test_two_annotators_hear_nothing_of_weights(caspr: Caller, tmp_path: Path) -> None:
    write(tmp_path / "in", "a", anna="(1) (1) - -", ben="(1) (1) - -")
    surveyed(caspr, tmp_path / "out", source=tmp_path / "in")
    assert said(tmp_path / "out") == []
    assert not (tmp_path / "out" / "weights.csv").exists()
