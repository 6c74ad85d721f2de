"""Documents that their files do not name, and parts in their titles."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from caspr.formats import read, read_all, write
from caspr.formats.registry import EXPORTED, FORMATS
from caspr.text.document import Annotation, Chain, Document
from tests.cli.caller import Caller


def _conllu(words: str) -> str:
    first, other = words.split()
    rows = (f"1\t{first}\t_\tX\t_\t_\t0\troot\t_\tEntity=(e1-p)", f"2\t{other}\t_\tX\t_\t_\t1\tdep\t_\t_")
    return "\n".join(("# newdoc", "# global.Entity = eid-etype", *rows, "", ""))


def _jsonlines(words: str) -> str:
    return json.dumps({"sentences": [words.split()], "clusters": [[[0, 0], [1, 1]]]}) + "\n"


def _fastcoref(words: str) -> str:
    middle = words.index(" ")
    return json.dumps({"text": words, "clusters": [[[0, middle], [middle + 1, len(words)]]]}) + "\n"


def _wlcoref(words: str) -> str:
    return json.dumps({"cased_words": words.split(), "clusters": [[[0, 1], [1, 2]]]}) + "\n"


def _preco(words: str) -> str:
    return json.dumps({"sentences": [words.split()], "mention_clusters": [[[0, 0, 1], [0, 1, 2]]]}) + "\n"


MAKERS = {
    ".conllu": _conllu,
    ".jsonlines": _jsonlines,
    ".fastcoref.jsonl": _fastcoref,
    ".wlcoref.jsonl": _wlcoref,
    ".preco.jsonl": _preco,
}
every = pytest.mark.parametrize(("suffix", "made"), MAKERS.items(), ids=lambda one: str(one)[1:6])
Made = Callable[[str], str]


def _names(paths: list[Path]) -> list[list[str]]:
    return [[one.document.name for one in own] for own in read_all(paths)]


@every
def test_the_only_document_of_each_annotator_is_the_same(suffix: str, made: Made, tmp_path: Path) -> None:
    paths = [tmp_path / f"{who}{suffix}" for who in ("anna", "ben")]
    for path in paths:
        path.write_text(made("Anna she"))
    first, second = _names(paths)
    assert first == second


@every
def test_several_documents_go_by_their_numbers(
    suffix: str, made: Made, tmp_path: Path, caspr: Caller
) -> None:
    paths = [tmp_path / f"{who}{suffix}" for who in ("anna", "ben")]
    for path in paths:
        path.write_text(made("Anna she") + made("Ben he"))
    first, second = _names(paths)
    assert first == second
    assert len(set(first)) == 2
    outcome = caspr("score", *paths)
    assert outcome.code == 0, outcome.err


@pytest.mark.usefixtures("without_workers")
@every
def test_a_corpus_goes_by_numbers(suffix: str, made: Made, tmp_path: Path, caspr: Caller) -> None:
    for who in ("anna", "ben"):
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / f"{who}{suffix}").write_text(made("Anna she") + made("Ben he"))
    outcome = caspr("corpus", tmp_path / "in", "-o", tmp_path / "out", "--processes", 1)
    assert outcome.code == 0, outcome.err
    assert "0 failed, 0 left out" in outcome.err + outcome.out
    names = [path.name.partition(".")[0] for path in (tmp_path / "out").iterdir()]
    assert {"1", "2"} <= set(names)


@every
def test_files_in_folders_name_their_documents(suffix: str, made: Made, tmp_path: Path) -> None:
    for who in ("anna", "ben"):
        (tmp_path / who / "old").mkdir(parents=True)
        (tmp_path / who / f"x{suffix}").write_text(made("Anna she") + made("Ben he"))
        (tmp_path / who / "old" / f"x{suffix}").write_text(made("Carl him"))
    first, second = _names([tmp_path / "anna", tmp_path / "ben"])
    stem = Path(f"x{suffix}").stem
    assert first == second == [f"old/{stem}", stem, f"{stem}-2"]


@every
def test_a_folder_for_each_document_names_it(suffix: str, made: Made, tmp_path: Path, caspr: Caller) -> None:
    for name, words in (("d1", "Anna she"), ("d2", "Ben he")):
        (tmp_path / name).mkdir()
        for who in ("anna", "ben"):
            (tmp_path / name / f"{who}{suffix}").write_text(made(words))
    outcome = caspr("check", tmp_path)
    assert outcome.code == 0, outcome.err
    assert "d1: 2 tokens" in outcome.out
    assert "d2: 2 tokens" in outcome.out


@pytest.mark.parametrize("format", ["fastcoref", "preco", "labelstudio", "corefud", "jsonlines", "wlcoref"])
def test_the_part_of_a_document_comes_back(format: str, tmp_path: Path) -> None:
    document = Document("nw/wsj", ("Anna", "she"), "002")
    annotation = Annotation.of("anna", document, [Chain.of("1", [(1, 1), (2, 2)])])
    write([annotation], tmp_path / "x", format=format)
    (found,) = read(tmp_path / "x", format=format)
    assert (found.document.name, found.document.part) == ("nw/wsj", "002")


@pytest.mark.parametrize("second", ["# newdoc", "# newdoc id = b"])
def test_a_document_before_the_first_newdoc_counts(second: str, tmp_path: Path) -> None:
    path = tmp_path / "x.conllu"
    whole = "".join(map(_conllu, ("Anna she", "Ben he", "Carl him")))
    first, other, last = whole.split("# newdoc\n")[1:]
    path.write_text(f"{first}{second}\n{other}# newdoc\n{last}")
    names = [one.document.name for one in read(path)]
    assert names == (["x", "x-2", "x-3"] if second == "# newdoc" else ["x", "b", "x-2"])
    assert [one.document.tokens[0] for one in read(path)] == ["Anna", "Ben", "Carl"]


@pytest.mark.parametrize("format", [name for name in EXPORTED if not FORMATS[name].many_documents])
def test_a_file_of_a_part_is_that_part_beside_files_that_have_it(format: str, tmp_path: Path) -> None:
    """Converted files of one annotator are those of the same documents as another's CoNLL file."""
    documents = [Document("nw/wsj", ("Anna", f"is{part}", "here"), part=part) for part in ("000", "001")]
    given = [Annotation.of("a", one, [Chain.of("1", [(1, 1), (3, 3)])]) for one in documents]
    write(given, tmp_path / "folder", format=format)
    write(given, tmp_path / "b.conll")
    for found in read_all([tmp_path / "folder", tmp_path / "b.conll"]):
        assert [one.document.key for one in found] == [one.document.key for one in given]
    [alone] = read_all([tmp_path / "folder"])
    assert [one.document.key for one in alone] == [("nw/wsj.part000", None), ("nw/wsj.part001", None)]


@pytest.mark.parametrize("other", ["ben/x.part2.ann", "ben/text.ann", "x.conll"])
def test_a_file_that_is_called_like_a_part_is_a_document(other: str, tmp_path: Path) -> None:
    """A folder fits a file, a document of another name, and a document with the whole name of its file."""
    annotation = Annotation.of(
        "a", Document("x.part2", ("Anna", "is", "here")), [Chain.of("1", [(1, 1), (3, 3)])]
    )
    for folder in ("anna", "ben"):
        (tmp_path / folder).mkdir()
    write([annotation], tmp_path / "anna" / "x.part2.ann")
    write([annotation], tmp_path / other)
    beside = tmp_path / other if other != "ben/text.ann" else tmp_path / "ben"
    first, second = read_all([tmp_path / "anna", beside])
    assert [one.document.key for one in first] == [one.document.key for one in second] == [("x.part2", None)]
