"""The INCEpTION bridge: project archives in, an archive and uploadable files out."""

import io
import json
import re
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pytest
from cassis import Cas, load_cas_from_xmi  # type: ignore[import-untyped]

from caspr.adjudication import by_document
from caspr.errors import CasprError
from caspr.formats import read_all
from caspr.formats.containers import zip as zips
from caspr.formats.format import ReadOptions
from caspr.formats.sources import read_one
from tests.cli.caller import Caller
from tests.formats.projects import (
    COREFERENCE,
    ENTITY,
    EVENTS,
    SEGMENTATION,
    TEXT,
    archive,
    make_cas,
    packed,
    typesystem,
    unzipped,
    zipped,
)
from tests.formats.sound import RELATIONS

BEAR = "Der Bär 2 😀.txt"
OTHER = "Ein anderer.txt"
# The words: Der Bär 🐻 schläft . Er 😀 träumt .
DER_BAER, ER, TRAEUMT = (0, 7, "nam"), (20, 22, "pro"), (25, 31, "")
WORK = {
    "INITIAL_CAS": {},
    "CURATION_USER": {COREFERENCE: [[DER_BAER, TRAEUMT]]},
    "anna.b": {COREFERENCE: [[DER_BAER, ER]], EVENTS: [[(10, 17, "e"), TRAEUMT]]},
    "ben": {COREFERENCE: [[(0, 7, "nam"), ER], [TRAEUMT]], EVENTS: [[(10, 17, "e"), TRAEUMT]]},
    "carla": {COREFERENCE: [[(0, 7, "def"), ER]]},
    "dora": {},
}
STATES = {
    **{(BEAR, user): "FINISHED" for user in ("anna.b", "ben", "dora")},
    (BEAR, "carla"): "IN_PROGRESS",
    (BEAR, "emil"): "NEW",
    (OTHER, "anna.b"): "FINISHED",
}


def xmi_project(**more: Any) -> bytes:
    work = {(BEAR, user): packed(make_cas(chains), user) for user, chains in WORK.items()}
    work[OTHER, "anna.b"] = packed(make_cas({}), "anna.b")
    return archive(work, STATES, **more)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "project.zip"
    path.write_bytes(xmi_project())
    return path


def chains_of(cas: Cas, layer: str) -> list[list[tuple[int, int, str | None]]]:
    """Follow the chains of a layer as another program would, and check what INCEpTION's doctor checks."""
    found = []
    reached = set()
    indexed = {one.xmiID for one in cas.select_all_fs()}
    for head in cas.select(f"{layer}Chain"):
        link, links = head.first, []
        while link is not None:
            assert link.xmiID in indexed
            reached.add(link.xmiID)
            links.append((link.begin, link.end, link.referenceType))
            link = link.next
        found.append(links)
    assert reached == {one.xmiID for one in cas.select(f"{layer}Link")}
    return sorted(found)


def load(data: bytes) -> Cas:
    return load_cas_from_xmi(data.decode("utf-8"), typesystem=typesystem())


def test_who_is_read(project: Path) -> None:
    annotations = read_one(project)
    assert {one.annotator for one in annotations if one.document.name == BEAR} == {"anna.b", "ben", "dora"}
    assert {one.document.part for one in annotations} == {"Coreference", "EventCoref"}
    [warned] = {finding for one in annotations for finding in one.findings if finding.code == "unfinished"}
    assert "carla" in warned.message
    assert "--in-progress" in str(warned)


def test_in_progress_is_taken_when_asked_for(project: Path) -> None:
    annotations = read_one(project, options=ReadOptions(unfinished=True))
    assert "carla" in {one.annotator for one in annotations}
    assert any("taken all the same" in finding.message for one in annotations for finding in one.findings)


@pytest.mark.parametrize("layer", [EVENTS, "Event coreference", "EventCoref", "event"])
def test_layers_are_chosen(project: Path, layer: str) -> None:
    annotations = read_one(project, options=ReadOptions(layer))
    assert {one.document.part for one in annotations} == {None}
    assert sum(len(one.chains) for one in annotations) == 2


def test_unknown_layer(project: Path) -> None:
    with pytest.raises(
        CasprError, match=r"no chain layer 'x', expected one of Coreference, Event coreference"
    ):
        read_one(project, options=ReadOptions("x"))


def test_adjudicate_writes_a_project_and_uploadable_files(caspr: Caller, project: Path) -> None:
    before = project.read_bytes()
    outcome = caspr("adjudicate", project, "-o", project.with_name("merged.zip"))
    assert outcome.code == 0, outcome.err
    assert project.read_bytes() == before
    files = unzipped(project.with_name("merged.zip").read_bytes())
    assert list(files)[-1] == "exportedproject.json"
    assert set(files) == {f"source/{BEAR}", f"source/{OTHER}", "guideline/a b.txt", "exportedproject.json"}
    settings = json.loads(files["exportedproject.json"])
    assert settings["name"] == "Bären (merged)"
    assert settings["slug"] is None
    assert settings["annotation_documents"] == []
    assert "learning_records" not in settings
    assert settings["tag_sets"][0]["tags"] == [{"tag_name": "nam"}]
    assert [row["format"] for row in settings["source_documents"]] == ["xmi", "text"]
    assert {row["state"] for row in settings["source_documents"]} == {"NEW"}
    assert files[f"source/{OTHER}"] == TEXT.encode()
    beside = project.with_name("merged") / f"{BEAR}.xmi"
    assert beside.read_bytes() == files[f"source/{BEAR}"]
    cas = load(beside.read_bytes())
    assert cas.sofa_string == TEXT
    assert chains_of(cas, COREFERENCE) == [[DER_BAER, ER]]
    assert chains_of(cas, EVENTS) == [[(10, 17, "e"), (25, 31, None)]]
    original = make_cas({})
    for type in (f"{SEGMENTATION}.Token", f"{SEGMENTATION}.Sentence", ENTITY):
        assert [(one.begin, one.end) for one in cas.select(type)] == [
            (one.begin, one.end) for one in original.select(type)
        ]


def test_majority_label(caspr: Caller, tmp_path: Path) -> None:
    labels = {"a": "def", "b": "nam", "c": "nam"}
    work = {
        (BEAR, user): packed(make_cas({COREFERENCE: [[(0, 7, label), ER]]}), user)
        for user, label in labels.items()
    }
    path = tmp_path / "p.zip"
    path.write_bytes(archive(work, dict.fromkeys(work, "FINISHED")))
    assert caspr("adjudicate", path, "-o", tmp_path / "m.zip").code == 0
    cas = load((tmp_path / "m" / f"{BEAR}.xmi").read_bytes())
    assert chains_of(cas, COREFERENCE) == [[(0, 7, "nam"), ER]]


@pytest.mark.parametrize("suffix", ["json", "tsv"])
def test_other_secondary_formats(caspr: Caller, tmp_path: Path, suffix: str) -> None:
    work = {}
    for user in ("INITIAL_CAS", "anna.b", "ben", "dora"):
        cas = make_cas(WORK[user])
        path = tmp_path / f"{user}.xmi"
        path.write_text(cas.to_xmi(), encoding="utf-8")
        layers = ReadOptions(COREFERENCE)
        if suffix == "json":
            work[BEAR, user] = cas.to_json().encode()
        else:
            from caspr.formats.webanno import write

            [annotation] = read_one(path, options=layers)
            [content] = write([annotation]).values()
            assert isinstance(content, str)
            work[BEAR, user] = content.encode()
    path = tmp_path / "p.zip"
    path.write_bytes(archive(work, dict.fromkeys(work, "FINISHED"), suffix=suffix))
    outcome = caspr("adjudicate", path, "-o", tmp_path / "m.zip", "--layer", "Coreference")
    assert outcome.code == 0, outcome.err
    cas = load((tmp_path / "m" / f"{BEAR}.xmi").read_bytes())
    assert chains_of(cas, COREFERENCE) == [[DER_BAER, ER]]
    assert ("lost-layers" in outcome.err or "only chains" in outcome.err) == (suffix == "tsv")


def without_cassis(*words: object) -> subprocess.CompletedProcess[str]:
    """Run caspr in a process that has no dkpro-cassis."""
    hide = "import sys; sys.modules['cassis'] = None; from caspr.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", hide, *map(str, words)], capture_output=True, text=True, check=False
    )


def test_without_the_extra(tmp_path: Path) -> None:
    work = {(BEAR, user): make_cas(WORK[user]).to_json().encode() for user in ("anna.b", "ben")}
    path = tmp_path / "p.zip"
    path.write_bytes(archive(work, dict.fromkeys(work, "FINISHED"), suffix="json"))
    refused = without_cassis("adjudicate", path, "-o", tmp_path / "m.zip")
    assert refused.returncode == 2
    assert "pip install dkpro-cassis" in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert {one.name for one in tmp_path.iterdir()} == {"p.zip"}
    assert without_cassis("adjudicate", path, "-o", tmp_path / "gold.conll").returncode == 0
    lone = tmp_path / "a.json"
    lone.write_bytes(work[BEAR, "ben"])
    refused = without_cassis("convert", "--layer", "Coreference", lone, tmp_path / "a.xmi")
    assert (refused.returncode, "dkpro-cassis" in refused.stderr) == (2, True)
    for name in ("b.json", "b.conll"):
        assert without_cassis("convert", "--layer", "Coreference", lone, tmp_path / name).returncode == 0


def test_repacked_archives(project: Path, tmp_path: Path) -> None:
    """One more folder around everything, and names in macOS's normal form."""
    import unicodedata

    files = unzipped(project.read_bytes())
    again = {f"top/{unicodedata.normalize('NFD', name)}": data for name, data in files.items()}
    path = tmp_path / "again.zip"
    path.write_bytes(zipped({**again, "__MACOSX/top/._x": b""}))
    assert {one.annotator for one in read_one(path)} == {"anna.b", "ben", "dora"}
    path.write_bytes(zipped({f"/{name}": data for name, data in files.items()}))
    assert len(read_one(path)) == len(read_one(project))


def test_into_other_formats(caspr: Caller, project: Path, tmp_path: Path) -> None:
    out = tmp_path / "gold.conll"
    assert caspr("adjudicate", project, "-o", out).code == 0
    assert "; part EventCoref" in out.read_text(encoding="utf-8")
    assert caspr("check", project).code == 0
    assert caspr("convert", project, tmp_path / "ben.conll", "--annotator", "ben").code == 0
    assert "anna.b, ben, dora" in caspr.fails("convert", project, tmp_path / "x.conll", "-q")


def test_unreadable_projects(tmp_path: Path) -> None:
    path = tmp_path / "p.zip"
    work = {(BEAR, "anna.b"): b""}
    states = {(BEAR, "anna.b"): "FINISHED"}
    for suffix, message in (("ser", r"only \.ser files"), ("txt", "plain text")):
        path.write_bytes(archive(work, states, suffix=suffix))
        with pytest.raises(CasprError, match=f"{message}.*export it again.*UIMA CAS XMI"):
            read_one(path)
    path.write_bytes(archive({(BEAR, "a"): packed(make_cas({}), "a")}, {(BEAR, "a"): "IGNORE"}))
    with pytest.raises(CasprError, match="no annotations to read"):
        read_one(path)
    path.write_bytes(zipped({"exportedproject.json": b"[1"}))
    with pytest.raises(CasprError, match="malformed JSON"):
        read_one(path)
    path.write_bytes(zipped({"exportedproject.json": b'{"source_documents": [{"name": "../x"}]}'}))
    with pytest.raises(CasprError, match="without slashes"):
        read_one(path)
    path.write_bytes(zipped({"exportedproject.json": b'{"source_documents": 5}'}))
    with pytest.raises(CasprError, match="not a list of objects"):
        read_one(path)


def test_hostile_archives(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "p.zip"
    for name in ("../../etc/passwd", "a/../../b", "//etc/passwd", "a\\..\\b"):
        path.write_bytes(xmi_project(more={name: b"x"}))
        with pytest.raises(CasprError, match="names that stay inside"):
            read_one(path)
    path.write_bytes(project.read_bytes()[:-200])
    with pytest.raises(CasprError, match="expected one: a backup archive"):
        read_one(path, format="inception")
    monkeypatch.setattr(zips, "LARGEST", 100)
    with pytest.raises(CasprError, match="unpacks to more than 100 bytes"):
        read_one(project)


def test_zip_bomb(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("exportedproject.json", b" " * 30_000_000)
    path = tmp_path / "p.zip"
    path.write_bytes(buffer.getvalue())
    with pytest.raises(CasprError, match="unpacks to more than"):
        read_one(path)


def test_different_texts_are_refused(caspr: Caller, tmp_path: Path) -> None:
    work = {
        (BEAR, "a"): packed(make_cas({}), "a"),
        (BEAR, "b"): packed(make_cas({}, TEXT.replace("Er", "Sie")), "b"),
    }
    path = tmp_path / "p.zip"
    path.write_bytes(archive(work, dict.fromkeys(work, "FINISHED")))
    message = caspr.fails("adjudicate", path, "-o", tmp_path / "m.zip")
    assert "a.zip" in message
    assert "b.zip" in message
    assert not (tmp_path / "m.zip").exists()
    assert not (tmp_path / "m").exists()


def test_grouping(project: Path) -> None:
    documents, findings = by_document(read_all([project]))
    assert [len(annotations) for annotations in documents] == [3, 3]
    assert {finding.code for finding in findings} == {"single-annotation"}


def test_mutated_archives(project: Path, tmp_path: Path) -> None:
    """Whatever is broken in an archive, or in a file inside it, is read or refused in one line."""
    import random
    import time

    from tests.formats.mutations import mutated

    chance = random.Random("archives")
    original = project.read_bytes()
    files = unzipped(original)
    path = tmp_path / "p.zip"
    for number in range(60):
        data = mutated(original, chance)
        if number % 3:
            name = chance.choice([name for name in files if name.startswith(("annotation/", "exported"))])
            data = zipped({**files, name: mutated(files[name], chance)})
        path.write_bytes(data)
        started = time.process_time()
        try:
            read_one(path, format="inception")
        except CasprError as error:
            assert "\n" not in str(error)
        assert time.process_time() - started < 3


def test_files_that_are_missing_are_said(caspr: Caller, tmp_path: Path) -> None:
    """A document whose format was chosen by INCEpTION comes as plain text, another as XMI."""
    work = {(BEAR, user): packed(make_cas(WORK[user]), user) for user in ("anna.b", "ben")}
    states = {**dict.fromkeys(work, "FINISHED"), (OTHER, "anna.b"): "FINISHED", (BEAR, "zoë"): "FINISHED"}
    path = tmp_path / "p.zip"
    path.write_bytes(archive(work, states, more={f"annotation/{OTHER}/anna.b.txt": b"x"}))
    outcome = caspr("adjudicate", path, "-o", tmp_path / "m.zip")
    assert outcome.code == 0, outcome.err
    assert f"{BEAR}: 1 annotator left out, without a file that can be read: zoë" in outcome.err
    assert f"{OTHER}: 1 annotator left out, without a file that can be read: anna.b" in outcome.err


@pytest.mark.parametrize("linked", [True, False])
def test_labels_of_arcs(caspr: Caller, tmp_path: Path, linked: bool) -> None:
    """In a layer whose chains are lists, an arc has the label that most annotators gave."""
    work = {
        (BEAR, user): packed(make_cas({COREFERENCE: [[DER_BAER, ER]]}, arc=arc), user)
        for user, arc in {"a": "ana", "b": "cata", "c": "ana"}.items()
    }
    files = unzipped(archive(work, dict.fromkeys(work, "FINISHED")))
    settings = json.loads(files["exportedproject.json"])
    settings["layers"][0]["linked_list_behavior"] = linked
    path = tmp_path / "p.zip"
    path.write_bytes(zipped({**files, "exportedproject.json": json.dumps(settings).encode()}))
    assert caspr("adjudicate", path, "-o", tmp_path / "m.zip").code == 0
    cas = load((tmp_path / "m" / f"{BEAR}.xmi").read_bytes())
    first, second = cas.select(f"{COREFERENCE}Link")
    assert (first.referenceRelation, second.referenceRelation) == ("ana" if linked else None, None)


def test_xml_of_version_1_1(caspr: Caller, tmp_path: Path) -> None:
    """What INCEpTION calls `UIMA CAS XMI (XML 1.1)`, which dkpro-cassis cannot read."""
    work = {}
    for user in ("anna.b", "ben"):
        text = re.sub("version=.1.0.", 'version="1.1"', make_cas(WORK[user]).to_xmi(), count=1)
        assert 'version="1.1"' in text
        work[BEAR, user] = zipped({f"{user}.xmi": text.encode()})
    path = tmp_path / "p.zip"
    path.write_bytes(archive(work, dict.fromkeys(work, "FINISHED")))
    outcome = caspr("adjudicate", path, "-o", tmp_path / "m.zip", "--layer", "Coreference")
    assert outcome.code == 0, outcome.err


def test_pre_annotations_are_replaced(caspr: Caller, tmp_path: Path) -> None:
    """Chains that a document had on import do not stay beside the merged ones."""
    work = {(BEAR, user): packed(make_cas(WORK[user]), user) for user in ("anna.b", "ben")}
    work[BEAR, "INITIAL_CAS"] = packed(make_cas({COREFERENCE: [[DER_BAER, TRAEUMT]]}), "INITIAL_CAS")
    path = tmp_path / "p.zip"
    path.write_bytes(archive(work, dict.fromkeys(work, "FINISHED")))
    assert caspr("adjudicate", path, "--singletons", "drop", "-o", tmp_path / "m.zip").code == 0
    cas = load((tmp_path / "m" / f"{BEAR}.xmi").read_bytes())
    assert chains_of(cas, COREFERENCE) == [[DER_BAER, ER]]


def test_all_solutions_do_not_fit_into_an_archive(caspr: Caller, tmp_path: Path) -> None:
    pairs = {"a": [DER_BAER, ER], "b": [ER, TRAEUMT]}
    work = {(BEAR, user): packed(make_cas({COREFERENCE: [links]}), user) for user, links in pairs.items()}
    path = tmp_path / "p.zip"
    path.write_bytes(archive(work, dict.fromkeys(work, "FINISHED")))
    outcome = caspr("adjudicate", path, "-q", "--all", "--objective", "u", "-o", tmp_path / "m.zip")
    assert outcome.code == 2
    assert "one solution for each document" in outcome.err
    assert not (tmp_path / "m.zip").exists()


def test_other_archives_of_inception(tmp_path: Path) -> None:
    path = tmp_path / "p.zip"
    path.write_bytes(zipped({f"curation/{BEAR}/x.zip": packed(make_cas({}), "x")}))
    with pytest.raises(CasprError, match=r"a backup archive of INCEpTION .*; unpack any other archive"):
        read_one(path)


def test_duplicates_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.zip"
    buffer = io.BytesIO(xmi_project())
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "a") as archive:
        warnings.simplefilter("ignore")
        archive.writestr("exportedproject.json", b"{}")
    path.write_bytes(buffer.getvalue())
    with pytest.raises(CasprError, match=r"'exportedproject\.json' for the second time"):
        read_one(path)


def test_bombs_inside_archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes out of archives inside an archive counts for the outer one."""
    users = [f"u{number}" for number in range(20)]
    work = {(BEAR, user): packed(make_cas({}), user) for user in users}
    path = tmp_path / "p.zip"
    path.write_bytes(archive(work, dict.fromkeys(work, "FINISHED")))
    assert len(read_one(path)) == 20
    size = sum(map(len, work.values()))
    monkeypatch.setattr(zips, "LARGEST_SUM", size + 3000)
    with pytest.raises(CasprError, match="unpacks to more than"):
        read_one(path)


def test_layers_of_an_unpacked_project_without_chains_are_named(tmp_path: Path) -> None:
    """Projects with spans and relations in place of chains: the message on missing chains names them."""
    for user in ("anna", "ben", "INITIAL_CAS"):
        path = tmp_path / "annotation" / "d" / f"{user}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(RELATIONS)
    found = read_one(tmp_path)
    assert [one.annotator for one in found] == ["anna", "ben"]
    assert "webanno.custom.Coref" in found[0].document.layers
