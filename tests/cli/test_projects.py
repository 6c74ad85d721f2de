"""`redo` and `report` on a whole project: golds, one report, and only review files that change rewritten."""

import json
import re
from pathlib import Path

import pytest

import caspr as library
from caspr.formats import read
from caspr.formats.review_file.project import NAME, ProjectDocument, ProjectFile, project_text, read_project
from caspr.storage import FileLock
from tests.cli.caller import EXAMPLES, SONG, Caller
from tests.cli.test_redo import edit
from tests.instances import annotation
from tests.review.project.projects import NAMES, made
from tests.review.sessions import opened


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return made(tmp_path)


def review(project: Path, name: str) -> Path:
    return project / "documents" / f"{name}.conll"


def written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}


def test_golds_in_a_folder_or_in_one_file(caspr: Caller, project: Path, tmp_path: Path) -> None:
    before = written(project / "documents")
    outcome = caspr("redo", project, "--gold", tmp_path / "golds", "--to", "jsonlines")
    assert outcome.code == 0
    assert outcome.err.endswith("0 review files rewritten, 3 unchanged\n")
    assert written(project / "documents") == before
    golds = sorted((tmp_path / "golds").iterdir())
    assert [path.name for path in golds] == sorted(f"{name}.jsonlines" for name in NAMES)
    caspr("redo", project, "--gold", tmp_path / "all.conll", "-q")
    apart = {one.document.title: one.chains for path in golds for one in read(path)}
    assert {one.document.title: one.chains for one in read(tmp_path / "all.conll")} == apart


def test_what_was_exported_into_a_project_is_replaced_by_a_later_export(caspr: Caller, project: Path) -> None:
    results = project / "results"
    results.mkdir()
    calls = (
        ("redo", project, "--gold", results / "gold"),
        ("report", project, "-o", results / "report.html"),
        ("agreement", project, "-o", results / "a.txt", "--latex", results / "a.tex"),
    )
    for call in calls:
        assert caspr(*call).code == 0
    first = (results / "gold" / "two.conll").read_bytes()
    edit(review(project, "two"), {1: "=(7)", 3: "=(7)"})
    for call in calls:
        assert caspr(*call).code == 0
    assert (results / "gold" / "two.conll").read_bytes() != first
    message = caspr.fails("report", project, "-o", review(project, "two"))
    assert "is an input and would be overwritten" in message


def test_only_what_changes_is_rewritten(caspr: Caller, project: Path, tmp_path: Path) -> None:
    edit(review(project, "two"), {1: "=(7)", 3: "=(7)"})
    before = written(project / "documents")
    outcome = caspr("redo", project, "--strict", "--json", tmp_path / "summary.json")
    assert outcome.code == 0
    kept = f"old versions are kept beside them, the first as {review(project, 'two')}.1.bak"
    assert outcome.err.endswith(f"1 review file rewritten, 2 unchanged; {kept}\n")
    after = written(project / "documents")
    assert after.pop("two.conll.1.bak") == before["two.conll"]
    assert {name for name in before if before[name] != after[name]} == {"two.conll"}
    documents = json.loads((tmp_path / "summary.json").read_text())["documents"]
    assert sorted(one["name"] for one in documents) == sorted(NAMES)


def test_nothing_is_written_if_a_document_cannot_be(caspr: Caller, project: Path, tmp_path: Path) -> None:
    edit(review(project, "two"), {1: "=(7)", 3: "=(7)"})
    with FileLock(review(project, "two")):
        assert "two.conll" in caspr.fails("redo", project, "--gold", tmp_path / "golds", "-q")
    assert not (tmp_path / "golds").exists()
    edit(review(project, "one"), {1: "=(7"})
    assert "one.conll" in caspr.fails("redo", project, "--gold", tmp_path / "golds", "-q")
    assert not (tmp_path / "golds").exists()
    review(project, "one").unlink()
    assert "this file of 'one' is missing" in caspr.fails("redo", project, "-q")
    assert "redone in place" in caspr.fails("redo", project, "-o", tmp_path / "x.conll")
    assert "this folder is not a project" in caspr.fails("redo", tmp_path)


def test_one_report_on_all_documents(caspr: Caller, project: Path, tmp_path: Path) -> None:
    edit(review(project, "two"), {1: "=(7)", 3: "=(7)"})
    outcome = caspr("report", project, "-o", tmp_path / "report.json", "--feedback", tmp_path / "pages", "-q")
    assert outcome.code == 0
    documents = json.loads((tmp_path / "report.json").read_text())["documents"]
    assert sorted(one["name"] for one in documents) == sorted(NAMES)
    [two] = [one for one in documents if one["name"] == "two"]
    assert "7" in [chain["id"] for chain in two["chain_list"]], "decisions count"
    assert sorted(path.name for path in (tmp_path / "pages").iterdir()) == [
        "ann.html",
        "bob.html",
        "eve.html",
    ]


def test_other_commands_say_how(caspr: Caller, project: Path, tmp_path: Path) -> None:
    words = ("convert", project, tmp_path / "x.jsonlines")
    assert "`caspr redo FILE --gold OUT` writes its gold standard" in caspr.fails(*words)
    assert "give the annotators' files that it was made from" in caspr.fails("weigh", project)


def test_golds_are_written_beside_a_page_on_which_only_numbers_differ(caspr: Caller, tmp_path: Path) -> None:
    """A chain keeps its number on the page; a redo would begin at 1 again, which changes no result."""
    path = tmp_path / "project" / "documents" / "doc.conll"
    path.parent.mkdir(parents=True)
    listed = ProjectFile((ProjectDocument("documents/doc.conll", "doc"),))
    (tmp_path / "project" / NAME).write_text(project_text(listed))
    chains = [[(1, 1), (2, 2)], [(3, 3), (4, 4)], [(5, 5), (6, 6)]]
    session = opened(path, [annotation(name, chains) for name in "ab"])
    session.do(0, {"do": "merge", "chains": ["1", "2"]}, 1)
    assert sorted(session.state(0)["chains"]) == ["1", "3"]
    before = path.read_bytes()
    outcome = caspr("redo", tmp_path / "project", "--gold", tmp_path / "golds")
    assert outcome.code == 0, outcome.err
    assert outcome.err.endswith("0 review files rewritten, 1 unchanged\n")
    assert path.read_bytes() == before
    assert (tmp_path / "golds" / "doc.conll").exists()
    session.do(0, {"do": "note", "text": "x"}, 2)
    session.close()


def test_annotators_files_become_a_project(caspr: Caller, tmp_path: Path) -> None:
    project = tmp_path / "new"
    outcome = caspr("adjudicate", EXAMPLES / "tales", "--layout", "project", "-o", project)
    assert outcome.code == 0, outcome.err
    read = read_project(project)
    assert [document.title for document in read.documents] == ["market", "miller", "storm"]
    assert all(document.cost is not None for document in read.documents)
    golds = caspr("adjudicate", EXAMPLES / "tales").out
    assert caspr("redo", project, "--gold", tmp_path / "gold.conll").code == 0
    assert (tmp_path / "gold.conll").read_text() == golds


def test_a_project_is_made_again_until_something_is_decided(caspr: Caller, tmp_path: Path) -> None:
    project = tmp_path / "new"
    words = ["adjudicate", *SONG, "--layout", "project", "-o", project]
    assert caspr(*words, "--objective", "u").code == 0
    assigned = {"documents/song.conll": "Ann", "documents/gone.conll": "Bob"}
    file = project / "caspr-project.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "assigned": assigned}))
    assert caspr(*words).code == 0
    assert read_project(project).assigned == {"documents/song.conll": "Ann"}
    review = project / "documents" / "song.conll"
    decided = re.sub(r"(?m)^(23\tmy *\t.*)-$", r"\1=(3)", review.read_text())
    review.write_text(decided)
    assert "this would lose the 1 decision in a review file" in caspr.fails(*words)
    assert review.read_text() == decided


def test_a_document_that_is_done_stays_done(caspr: Caller, tmp_path: Path) -> None:
    words = ["adjudicate", *SONG, "--layout", "project", "-o", tmp_path / "new"]
    assert caspr(*words).code == 0
    review = tmp_path / "new" / "documents" / "song.conll"
    header, text = review.read_text().split("\n", 1)
    done = f'{header}\n# caspr done: by "Ann" at 2026-11-17T09:30:05Z\n{text}'
    review.write_text(done)
    assert "this would lose the 1 mark as done in a review file" in caspr.fails(*words)
    assert review.read_text() == done
    assert caspr("redo", review, "--objective", "u").code == 0
    assert "# caspr done: by" in review.read_text()


def test_a_project_never_replaces_what_is_no_project(caspr: Caller, tmp_path: Path) -> None:
    project = tmp_path / "new"
    (project / "documents").mkdir(parents=True)
    mine = project / "documents" / "song.conll"
    mine.write_bytes(Path(SONG[0]).read_bytes())
    message = caspr.fails("adjudicate", *SONG, "--layout", "project", "-o", project)
    assert "CaspR did not write this file" in message
    assert mine.read_bytes() == Path(SONG[0]).read_bytes()
    assert "cannot be '-'" in caspr.fails("adjudicate", *SONG, "--layout", "project")


def test_documents_of_a_project_have_file_names_of_their_own(caspr: Caller, tmp_path: Path) -> None:
    names = ["../א", "..\\א", "CON", "a:b", "A/B", "a/b"]
    files = []
    for annotator in "xy":
        text = "".join(f"#begin document ({name});\n1\tw\t(1)\n2\tw\t(1)\n#end document\n" for name in names)
        files.append(tmp_path / f"{annotator}.conll")
        files[-1].write_text(text, encoding="utf-8")
    assert caspr("adjudicate", *files, "--layout", "project", "-o", tmp_path / "new").code == 0
    read = read_project(tmp_path / "new")
    assert [document.title for document in read.documents] == names
    made = [document.file for document in read.documents]
    assert len({file.lower() for file in made}) == len(names)
    assert all((tmp_path / "new" / file).is_file() and file.count("/") == 1 for file in made)


def test_a_project_can_be_read_from_python(project: Path) -> None:
    edit(review(project, "two"), {1: "=(7)", 3: "=(7)"})
    reviews = library.read_review(project)
    assert [one.annotations[0].document.title for one in reviews] == [
        document.title for document in read_project(project).documents
    ]
    results = library.redo(reviews)
    for one, result in zip(reviews, results, strict=True):
        two = one.annotations[0].document.title == "two"
        assert bool(one.decided) == two
        assert one.gold.adjudicated
        if not two:
            assert [chain.mentions for chain in result.gold.chains] == [
                chain.mentions for chain in one.gold.chains
            ]
    [changed] = [result for result in results if result.given and result.given.decisions.chains]
    assert library.Span(1, 1) in {span for chain in changed.chains for span in chain.mentions}
    (review(project, "two")).unlink()
    with pytest.raises(library.CasprError, match="is missing"):
        library.read_review(project)


def test_folders_of_all_layouts_can_be_read_from_python(tmp_path: Path) -> None:
    tales = library.read_folder(EXAMPLES / "tales")
    values = [result.value for result in library.adjudicate(tales)]
    assert len(values) == 3
    for annotations in tales:
        for tale in annotations:
            folder = tmp_path / tale.annotator
            folder.mkdir(exist_ok=True)
            library.write([tale], folder / f"{tale.document.title}.conll")
    again = library.read_folder(str(tmp_path))
    assert [result.value for result in library.adjudicate(again)] == values
    assert [len(one) for one in library.read_folder(EXAMPLES / "song")] == [1, 1, 1]
    with pytest.raises(library.CasprError, match="project of review files"):
        library.read_folder(made(tmp_path / "made"))
