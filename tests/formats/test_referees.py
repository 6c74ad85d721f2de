"""Other programs read what we write: udapi, the validator of UD, conllu, gatenlp, Apache UIMA.

Brat's parser and the reference scorer are not libraries: strict readers of their grammars stand here.
"""

import os
import re
import shutil
import subprocess
import sys
import warnings
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import conllu
import pytest

from caspr.adjudication import adjudicate
from caspr.formats import read, read_all, write
from caspr.text.document import Annotation, Chain, Document, Mark, Span
from tests.formats.everywhere import SUFFIX

ROOT = Path(__file__).parents[2]
WORDS = ("Der", "Bär", "🐻", "schläft", "nie", ".", "Er", "träumt", "von", "seinem", "Honig", ".")
CHAINS = [
    Chain("1", (Span(1, 2), Span(7, 7), Span(10, 10)), "Meister Petz", "animal"),
    Chain("2", (Span(5, 8), Span(10, 11))),
    Chain("3", (Span(3, 3),), "", "Other thing"),
    Chain("4", (Span(8, 11),)),
]
"""Nested, crossing and across sentences; one with a gap."""
MARKS = {Span(8, 11): Mark("x", (Span(8, 8), Span(10, 11))), Span(1, 2): Mark("nam")}
DOCUMENT = Document("nw/bär 1", WORDS, "0", sentence_ends=(6, 12))
ANNOTATION = Annotation.of("x", DOCUMENT, CHAINS, marks=MARKS)
SPANS = {frozenset((span.start, span.end) for span in chain.mentions) for chain in CHAINS}
CHARACTERS = [0, 4, 8, 10, 18, 22, 24, 27, 34, 38, 45, 51]
"""Where words begin, with a blank or a line end between them."""


def places(span: Span, wide: int = 0) -> tuple[int, int]:
    """Return the characters of a mention; 🐻 counts as so many more."""
    first, last = CHARACTERS[span.start - 1], CHARACTERS[span.end - 1] + len(WORDS[span.end - 1])
    return first + wide * (span.start > 3), last + wide * (span.end >= 3)


CODE_POINTS = {frozenset(places(span) for span in chain.mentions) for chain in CHAINS}
UNITS = {frozenset(places(span, 1) for span in chain.mentions) for chain in CHAINS}


class TestCorefud:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        write([ANNOTATION], tmp_path / "x.conllu")
        return tmp_path / "x.conllu"

    def test_udapi_finds_the_same_entities(self, path: Path) -> None:
        import udapi  # type: ignore[import-untyped]

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            document = udapi.Document(str(path))
        number = {id(node): place for place, node in enumerate(document.nodes_and_empty, 1)}
        found = {
            frozenset(
                (number[id(mention.words[0])], number[id(mention.words[-1])]) for mention in entity.mentions
            )
            for entity in document.coref_entities
        }
        assert found == SPANS
        gap = next(one for one in document.coref_mentions if [w.form for w in one.words][:1] == ["träumt"])
        assert [word.form for word in gap.words] == ["träumt", "seinem", "Honig"]

    def test_conllu_reads_the_rows(self, path: Path) -> None:
        sentences = conllu.parse(path.read_text(encoding="utf-8"))
        assert [token["form"] for sentence in sentences for token in sentence] == list(WORDS)
        assert sum(bool((token["misc"] or {}).get("Entity")) for one in sentences for token in one) >= 6

    def test_the_validator_passes_what_we_write_and_ship(self, path: Path, tmp_path: Path) -> None:
        """Issue 16, point 6: gold and shipped examples pass `udvalidate --level 2 --coref`."""
        examples = sorted((ROOT / "examples/formats/corefud").glob("*.conllu"))
        [result] = adjudicate(read_all(examples))
        write([result.gold], tmp_path / "gold.conllu")
        [song] = adjudicate(read_all(sorted((ROOT / "examples/song").glob("*.conll"))))
        write([song.gold], tmp_path / "song.conllu", format="corefud")
        program = shutil.which("udvalidate", path=str(Path(sys.executable).parent))
        assert program is not None
        for file in (path, tmp_path / "gold.conllu", tmp_path / "song.conllu", examples[0]):
            done = subprocess.run(
                [program, "--level", "2", "--coref", "--lang", "de", str(file)],
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"{file.name}: {done.stdout}{done.stderr}"


class TestGate:
    def test_gatenlp_reads_both_forms(self, tmp_path: Path) -> None:
        gatenlp = pytest.importorskip("gatenlp")
        write([ANNOTATION], tmp_path / "x.bdocjs")
        whole = gatenlp.Document.load(str(tmp_path / "x.bdocjs"))
        given = {one.id: one for one in whole.annset("") if "matches" in one.features}
        chains = {
            frozenset((given[id].start, given[id].end) for id in one.features["matches"])
            for one in given.values()
        }
        assert chains == CODE_POINTS
        write([ANNOTATION], tmp_path / "x.xml", format="gate")
        other = gatenlp.Document.load(str(tmp_path / "x.xml"), fmt="gatexml")
        assert other.text == whole.text
        spans = {(one.start, one.end) for one in other.annset("")}
        assert {span for chain in CODE_POINTS for span in chain} <= spans


def test_brats_rules_hold(tmp_path: Path) -> None:
    """Read strictly: types without blanks, offsets in order, texts as covered, links to what is there."""
    write([ANNOTATION], tmp_path / "x.ann")
    text = (tmp_path / "x.txt").read_text(encoding="utf-8")
    known: dict[str, tuple[int, int]] = {}
    groups: dict[str, set[str]] = defaultdict(set)
    for line in (tmp_path / "x.ann").read_text(encoding="utf-8").split("\n")[:-1]:
        mention = re.fullmatch(r"(T\d+)\t([\w-]+) (\d+ \d+(?:;\d+ \d+)*)\t([^\t]+)", line)
        relation = re.fullmatch(r"R\d+\t[\w-]+ Arg1:(T\d+) Arg2:(T\d+)", line)
        assert mention or relation, line
        if mention:
            pairs = [tuple(map(int, pair.split())) for pair in mention[3].split(";")]
            assert all(start < end for start, end in pairs)
            assert all(one[1] <= two[0] for one, two in pairwise(pairs))
            assert " ".join(text[start:end] for start, end in pairs) == mention[4]
            known[mention[1]] = pairs[0][0], pairs[-1][1]
            groups[mention[1]] = {mention[1]}
        elif relation:
            joined = groups[relation[1]] | groups[relation[2]]
            for id in joined:
                groups[id] = joined
    assert {frozenset(known[id] for id in group) for group in groups.values()} == CODE_POINTS


@pytest.mark.parametrize("format", SUFFIX)
def test_the_reference_scorer_can_read_the_cells(format: str, tmp_path: Path) -> None:
    """Its grammar: numbers in brackets, separated by bars, and no comment inside a document."""
    path = tmp_path / f"x{SUFFIX[format]}"
    write([ANNOTATION], path, format=format)
    write(read(path, format=format), tmp_path / "y.conll")
    lines = (tmp_path / "y.conll").read_text(encoding="utf-8").split("\n")
    start = next(place for place, line in enumerate(lines) if line.startswith("#begin document ("))
    assert all(line.startswith("#") for line in lines[:start])
    body = lines[start + 1 : lines.index("#end document")]
    opened: dict[str, list[int]] = defaultdict(list)
    found = 0
    for number, line in enumerate((line for line in body if line), 1):
        cell = line.split("\t")[-1]
        for item in [] if cell == "-" else cell.split("|"):
            parts = re.fullmatch(r"(\(?)([0-9]+)(\)?)", item)
            assert parts is not None, line
            assert parts[1] or parts[3], line
            if parts[1]:
                opened[parts[2]].append(number)
            if parts[3]:
                opened[parts[2]].pop()
                found += 1
    assert not any(opened.values())
    assert found == sum(len(chain.mentions) for chain in CHAINS)


def uima() -> str:
    """Return what keeps Apache UIMA from running; nothing if it does."""
    jars = sorted(Path("/usr/share/java").glob("uimaj-core*.jar"))
    if not jars or not shutil.which("javac"):
        return "no Apache UIMA (Debian: apt-get install default-jdk-headless libuima-core-java)"
    return ""


@pytest.mark.skipif(
    bool(uima()) and os.environ.get("CASPR_JAVA") != "required", reason=uima() or "Apache UIMA is there"
)
def test_uima_reaches_every_link(tmp_path: Path) -> None:
    """Apache UIMA itself loads the file with its type system: links indexed and reachable, offsets right."""
    assert not uima()
    from tests.formats.projects import COREFERENCE, unzipped

    paths = sorted(map(str, Path("/usr/share/java").glob("*.jar")))
    classes = os.pathsep.join([path for path in paths if "uima" in path or "commons-" in path])
    source = Path(__file__).with_name("UimaReader.java")
    run("javac", "-cp", classes, "-d", str(tmp_path), str(source))
    given = [ANNOTATION]
    write([ANNOTATION], tmp_path / "old.xmi")
    [old] = read(tmp_path / "old.xmi")
    given.append(old.with_chains(CHAINS[:1], marks={}))
    for annotation in given:
        write([annotation], tmp_path / "x.zip", format="cas")
        for name, data in unzipped((tmp_path / "x.zip").read_bytes()).items():
            (tmp_path / name).write_bytes(data)
        everything = os.pathsep.join([classes, str(tmp_path)])
        types, xmi = str(tmp_path / "TypeSystem.xml"), str(tmp_path / "x.xmi")
        lines = run("java", "-cp", everything, "UimaReader", types, xmi, COREFERENCE).split("\n")
        chains = {
            frozenset(tuple(map(int, one.split("-"))) for one in line.split()[1:])
            for line in lines
            if line.startswith("chain")
        }
        assert chains == (UNITS if annotation is ANNOTATION else {min(UNITS, key=lambda one: min(one))})
        assert f"indexed {sum(map(len, chains))}" in lines


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
