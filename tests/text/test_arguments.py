"""What Python programs pass by mistake is refused with a `CasprError` that says what to pass."""

# mypy: disable-error-code="arg-type,list-item,call-arg,dict-item,misc"

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import caspr
from tests.cli.caller import EXAMPLES

SONG = EXAMPLES / "song"


@pytest.fixture(scope="module")
def files() -> list[list[caspr.Annotation]]:
    return [caspr.read(SONG / f"{name}.conll") for name in ("anna", "ben", "carla")]


def beside(files: "Files", mention: Any) -> caspr.Annotation:
    """Return an annotation that nobody could write into a file."""
    return caspr.Annotation.of("x", files[0][0].document, [caspr.Chain.of("1", [mention])])


FOR_EACH = "what caspr.read returned for each annotator"
Files = list[list[caspr.Annotation]]
WRONG: dict[str, tuple[Callable[[Any], object], str]] = {
    "a number as a file": (lambda _: caspr.read(3), "found 3, expected the path"),
    "several files at once": (lambda _: caspr.read(["a.conll"]), "a list of str, expected the path"),
    "a folder to adjudicate": (lambda _: caspr.adjudicate("song"), "the text 'song'"),
    "paths to adjudicate": (lambda _: caspr.adjudicate(["a", "b"]), f"a list of str, expected {FOR_EACH}"),
    "one list of all": (lambda files: caspr.adjudicate([file[0] for file in files]), FOR_EACH),
    "one file": (lambda files: caspr.adjudicate(files[0]), FOR_EACH),
    "nothing": (lambda _: caspr.adjudicate(None), "found None"),
    "a setting that is none": (lambda files: caspr.adjudicate(files, objectiv="v"), "unknown setting"),
    "a time in words": (lambda files: caspr.adjudicate(files, time_limit="long"), "a number of seconds"),
    "factors as a file": (lambda files: caspr.adjudicate(files, weights={"anna": 2}), "weight={'anna': 2}"),
    "a number as coverage": (lambda files: caspr.adjudicate(files, coverage=7), "or 'marks'"),
    "yes for true": (lambda files: caspr.adjudicate(files, variants="yes"), "True or False"),
    "pairs as decisions": (lambda files: caspr.adjudicate(files, decisions=[(1, 3)]), "caspr.Decisions.of"),
    "files as one document": (caspr.adjudicate_document, "caspr.adjudicate takes whole files"),
    "a dictionary of settings": (
        lambda files: caspr.adjudicate_document([file[0] for file in files], settings={"objective": "v"}),
        "found a dict, expected caspr.Settings",
    ),
    "an objective by name in settings": (
        lambda files: caspr.adjudicate_document(
            [file[0] for file in files], settings=caspr.Settings(objective="v")
        ),
        "objective: found the text 'v'",
    ),
    "a result to write": (lambda files: caspr.write(caspr.adjudicate(files)[0], "x.conll"), "[result.gold]"),
    "results to write": (lambda files: caspr.write(caspr.adjudicate(files), "x.conll"), "[result.gold]"),
    "one gold to write": (lambda files: caspr.write(files[0][0], "x.conll"), "a list of annotations"),
    "write the wrong way round": (lambda files: caspr.write("x.conll", files[0]), "the text 'x.conll'"),
    "paths to score": (lambda _: caspr.score("a.conll", "b.conll"), "caspr.score: found the text 'a.conll'"),
    "an unknown match": (lambda files: caspr.score(files[0], files[1], match="some"), "one of exact, head"),
    "paths to compare": (lambda _: caspr.agreement(["a", "b"]), FOR_EACH),
    "files to check": (caspr.check, "the annotations of one document"),
    "one row": (lambda _: caspr.from_rows({"tokens": ["a"]}, "x"), "a list of rows"),
    "results as rows": (lambda files: caspr.to_rows(caspr.adjudicate(files)), "a list of annotations"),
    "tokens as mentions": (lambda _: caspr.Chain.of("1", [5]), "(first token, last token)"),
    "words as a document": (lambda _: caspr.Annotation.of("x", ["a"], []), "caspr.Document("),
    "words in one text": (
        lambda _: caspr.Annotation.of("x", caspr.Document("d", "two words"), []),
        "found a text as the document",
    ),
    "a mention outside the text": (
        lambda files: caspr.adjudicate([files[0], [beside(files, (1, 99))]]),
        "found mention (1, 99) of 'x', expected its first and its last token, from 1 to 31",
    ),
    "a mention that ends before it begins": (
        lambda files: caspr.agreement([files[0], [beside(files, (3, 2))]]),
        "found mention (3, 2)",
    ),
    "a mention in words": (
        lambda files: caspr.adjudicate([files[0], [beside(files, ("a", "b"))]]),
        "found mention ('a', 'b')",
    ),
    "a number as rules": (lambda files: caspr.adjudicate(files, rules=3), "rules: found 3"),
    "a number as a factor": (lambda files: caspr.adjudicate(files, weight=2), "factors: {'anna': 1.5}"),
    "factors without names": (lambda files: caspr.adjudicate(files, weight=[1, 2]), "weight: found '1'"),
    "an option of a solver": (
        lambda files: caspr.adjudicate(files, solver_option="--opt-strategy=bb"),
        "solver_option: found the text '--opt-strategy=bb', expected a list",
    ),
    "an unknown rule in settings": (lambda _: caspr.Settings(nested="often"), "expected vote, never, always"),
    "a number as decisions": (lambda _: caspr.Decisions.of(3), "caspr.Decisions.of: found 3"),
    "a token as empty": (lambda _: caspr.Decisions.of(empty=5), "empty=[5]"),
    "words as a spaCy document": (lambda _: caspr.from_spacy("Anna slept"), "expected a spaCy document"),
    "pairs as chains": (lambda _: caspr.Decisions.of([(1, 2)]), "Chain.of('1'"),
    "a file as a folder": (lambda _: caspr.read_folder(SONG / "anna.conll"), "this is a file"),
    "no folder": (lambda _: caspr.read_folder("nowhere"), "there is no such folder"),
    "a folder as a review": (lambda _: caspr.read_review(SONG), "not a project of review files"),
    "files to redo": (lambda files: caspr.redo(files), "caspr.read_review"),
    "a number to redo": (lambda _: caspr.redo(5), "caspr.redo: found 5"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_argument_says_what_to_pass(
    name: str, files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call, said = WRONG[name]
    with pytest.raises(caspr.CasprError) as refusal:
        call(files)
    assert said in str(refusal.value)
    assert not list(tmp_path.iterdir())


def test_what_comes_one_by_one_is_taken_as_well(files: Files) -> None:
    def each() -> Iterator[Iterator[caspr.Annotation]]:
        yield from map(iter, files)

    assert caspr.adjudicate(each())[0].value == caspr.adjudicate(files)[0].value
    assert caspr.read(str(SONG / "anna.conll"), relations="coref") == files[0]
