"""`caspr weigh` from files to a table and weights."""

import json
import random
import re
from pathlib import Path

import pytest

from caspr import adjudicate, read, score
from caspr.task.weights import read_weights
from tests.cli.caller import EXAMPLES, SONG, Caller

TALES = EXAMPLES / "tales"


def test_the_table_and_the_file_agree(caspr: Caller, tmp_path: Path) -> None:
    outcome = caspr("weigh", TALES, "-o", tmp_path / "w.csv", "--no-result")
    assert outcome.code == 0
    weights = read_weights((tmp_path / "w.csv").read_text(encoding="utf-8"), "w.csv")
    lines = [line.split() for line in outcome.out.splitlines()]
    assert [(line[0], line[-2], line[-1]) for line in lines[1:-1]] == [
        (one.annotator, str(one.omit), str(one.use)) for one in weights.annotators
    ]
    assert lines[-1] == ["*constant", str(weights.constant)]


def test_agreement_is_that_with_the_gold_of_these_weights(caspr: Caller, tmp_path: Path) -> None:
    shown = caspr("weigh", TALES, "-o", tmp_path / "w.csv").out.splitlines()[1:4]
    tried = caspr("settings", TALES, "--try", f"--weights {tmp_path / 'w.csv'}", "--json").out
    [row] = json.loads(tried)["settings"]
    assert {line.split()[0]: line.split()[-1] for line in shown} == {
        name: f"{value:.3f}" for name, value in row["annotators"].items()
    }


def test_the_careful_annotator_weighs_most(caspr: Caller, tmp_path: Path) -> None:
    caspr("weigh", TALES, "-o", tmp_path / "w.csv")
    anna, ben, carla = read_weights((tmp_path / "w.csv").read_text(encoding="utf-8"), "w.csv").annotators
    assert anna.omit > ben.omit > carla.omit
    assert anna.use > ben.use > carla.use


def test_files_of_annotators_in_any_order_give_the_same_bytes(caspr: Caller, tmp_path: Path) -> None:
    for name in ("anna", "ben", "carla"):
        texts = [path.read_text(encoding="utf-8") for path in sorted(TALES.glob(f"*/{name}.conll"))]
        (tmp_path / f"{name}.conll").write_text("".join(texts), encoding="utf-8")
        (tmp_path / f"{name}.conll").with_suffix(".back").write_text("".join(texts[::-1]), encoding="utf-8")
    files = [tmp_path / f"{name}.conll" for name in ("carla", "anna", "ben")]
    whole = caspr("weigh", TALES, "-o", "-").out
    assert caspr("weigh", *files, "-o", "-").out == whole
    for path in files:
        path.with_suffix(".back").replace(path)
    assert caspr("weigh", *files, "-o", "-").out == whole
    assert whole.startswith("annotator,omit,use\nanna,")


def test_what_was_not_seen_does_not_speak_against(caspr: Caller, tmp_path: Path) -> None:
    """Carla's last quarter is cut off: without coverage she seems to miss all links there."""
    rows = ["annotator,document,from,to"]
    for folder in sorted(TALES.iterdir()):
        (tmp_path / "cut" / folder.name).mkdir(parents=True)
        for path in folder.iterdir():
            lines = path.read_text(encoding="utf-8").splitlines()
            middle = _between_mentions(lines, 3 * len(lines) // 4)
            if path.stem == "carla":
                lines = [line if number < middle else _unmarked(line) for number, line in enumerate(lines)]
                rows.append(f"carla,{folder.name},1,{middle - 1}")
            (tmp_path / "cut" / folder.name / path.name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "seen.csv").write_text("\n".join(rows), encoding="utf-8")
    given = ((), ("--coverage", tmp_path / "seen.csv"), ("--coverage", "marks"))
    blind, table, marks = (_sensitivity(caspr("weigh", tmp_path / "cut", *words).out) for words in given)
    assert table["carla"] > blind["carla"] + 3
    assert marks["carla"] > blind["carla"] + 3


def _between_mentions(lines: list[str], start: int) -> int:
    """Return the first line from some line on before which every mention is closed."""
    cells = [line.rsplit("\t", 1)[-1] if "\t" in line else "" for line in lines]
    while "".join(cells[:start]).count("(") != "".join(cells[:start]).count(")"):
        start += 1
    return start


def _unmarked(line: str) -> str:
    """Remove the mentions of one token's line; comments and blank lines stay."""
    return "\t".join([*line.split("\t")[:-1], "-"]) if "\t" in line else line


def _sensitivity(table: str) -> dict[str, float]:
    return {line.split()[0]: float(line.split()[2]) for line in table.splitlines()[1:-1]}


def test_variants_are_one_mention(caspr: Caller) -> None:
    plain, united = (_sensitivity(caspr("weigh", TALES, *words).out) for words in ((), ("--variants",)))
    assert united["ben"] > plain["ben"]


def test_too_little_is_refused(caspr: Caller, tmp_path: Path) -> None:
    outcome = caspr("weigh", *SONG, "-o", tmp_path / "w.csv")
    assert outcome.code == 2
    assert "needs 30 disagreements for each annotator" in outcome.err
    assert not (tmp_path / "w.csv").exists()
    assert "with two annotators, nothing shows who is right" in caspr("weigh", *SONG[:2]).err


def test_too_little_to_learn_from_still_shows_who_is_far_from_the_result(caspr: Caller) -> None:
    outcome = caspr("weigh", *SONG)
    header, *rows = outcome.out.splitlines()
    shown = {row.split()[0]: float(row.split()[1]) for row in rows}
    annotations = [read(path) for path in SONG]
    [result] = adjudicate(annotations)
    f1 = {own.annotator: score([result.gold], [own], singletons=False).conll or 0 for [own] in annotations}
    assert outcome.code == 0 and header.endswith("the result of equal votes")
    assert shown == pytest.approx({name: float(value) for name, value in f1.items()}, abs=0.0006)
    assert list(shown.values()) == sorted(shown.values(), reverse=True)
    assert "needs 30 disagreements for each annotator" in outcome.err


@pytest.mark.parametrize("quiet", [True, False])
def test_strict_writes_nothing_on_warnings(caspr: Caller, tmp_path: Path, quiet: bool) -> None:
    table = tmp_path / "seen.csv"
    table.write_text("anna,mueller,1,20\n", encoding="utf-8")
    words = ["weigh", TALES, "--coverage", table, "-o", tmp_path / "w.csv", *(["-q"] if quiet else [])]
    outcome = caspr(*words, "--strict")
    assert outcome.code == 2
    assert "document 'mueller'; known here: 'market', 'miller', 'storm'" in outcome.err
    assert not (tmp_path / "w.csv").exists()
    outcome = caspr(*words)
    assert (outcome.code, outcome.out == "", outcome.err == "") == (0, quiet, quiet)
    assert (tmp_path / "w.csv").exists()


def test_an_input_is_not_overwritten(caspr: Caller) -> None:
    path = TALES / "miller" / "anna.conll"
    before = path.read_bytes()
    assert caspr("weigh", TALES, "-o", path).code == 2
    assert path.read_bytes() == before


def test_many_uneven_annotators_are_summed_up(caspr: Caller, tmp_path: Path) -> None:
    rng = random.Random(3)
    for document in range(6):
        (tmp_path / f"d{document}").mkdir()
        for number in range(8):
            ids = [rng.randrange(5) if rng.random() < number / 10 else token % 5 for token in range(20)]
            rows = "".join(f"{token}\tw{document}{token}\t({id})\n" for token, id in enumerate(ids, 1))
            text = f"#begin document (d{document});\n{rows}#end document\n"
            (tmp_path / f"d{document}" / f"a{number}.conll").write_text(text, encoding="utf-8")
    outcome = caspr("weigh", tmp_path, "--no-result")
    assert (
        "learned weights are better than equal votes: they predict held-out documents better" in outcome.err
    )
    [ends] = re.findall("votes that weigh most: (.*); least: (.*)", outcome.err)
    assert [set(names.split(", ")) for names in ends] == [{"a0", "a1", "a2"}, {"a5", "a6", "a7"}]
    assert re.search(r"annotators find \d+ % to \d+ % of the links, half of them \d+ % or more", outcome.err)
