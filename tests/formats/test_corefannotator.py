"""CorefAnnotator: all versions of its types, packed or not, edited in place."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest
from cassis import load_cas_from_xmi, load_typesystem  # type: ignore[import-untyped]

from caspr.adjudication import adjudicate
from caspr.errors import CasprError, FormatError
from caspr.formats import read, write
from caspr.formats.registry import detect, losses
from caspr.text.document import Annotation, Chain, Document, Mark, Span

API = "http:///de/unistuttgart/ims/coref/annotator/api"
TEXT = "Anna 😀 sah Ben . Sie lachte , die Anna ."
V1 = f"""<?xml version="1.0" encoding="UTF-8"?><xmi:XMI xmlns:xmi="http://www.omg.org/XMI"
 xmlns:cas="http:///uima/cas.ecore" xmlns:v1="{API}/v1.ecore" xmlns:api="{API}.ecore" xmi:version="2.0">
<cas:NULL xmi:id="0"/><api:Meta xmi:id="2" TypeSystemVersion="v1"/>
<v1:Mention xmi:id="10" sofa="1" begin="0" end="4" Entity="20" Discontinuous="15"><Flags>generic</Flags>
</v1:Mention>
<v1:DetachedMentionPart xmi:id="15" sofa="1" begin="31" end="39" Mention="10"/>
<v1:Mention xmi:id="11" sofa="1" begin="18" end="21" Entity="20"/>
<v1:Mention xmi:id="12" sofa="1" begin="12" end="15" Entity="21"/>
<v1:Mention xmi:id="13" sofa="1" begin="18" end="21" Entity="22"/>
<v1:Mention xmi:id="14" sofa="1" begin="0" end="4" Entity="21"/>
<v1:Entity xmi:id="20" Label="Anna" Color="-1" Hidden="false"><Flags>qd_generic</Flags></v1:Entity>
<v1:Entity xmi:id="21" Label="Ben" Color="-2" Flags="" Hidden="false"/>
<v1:EntityGroup xmi:id="22" Label="beide" Color="-3" Members="20 21" Hidden="false"/>
<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString="{TEXT}"/>
<cas:View sofa="1" members="2 10 15 11 12 13 20 21 22"/></xmi:XMI>"""
V2 = f"""<?xml version="1.0" encoding="UTF-8"?><xmi:XMI xmlns:xmi="http://www.omg.org/XMI"
 xmlns:cas="http:///uima/cas.ecore" xmlns:v2="{API}/v2.ecore" xmi:version="2.0"><cas:NULL xmi:id="0"/>
<v2:Mention xmi:id="10" Entity="20" Surface="11 12 13"/>
<v2:MentionSurface xmi:id="11" sofa="1" begin="0" end="4" Mention="10"/>
<v2:MentionSurface xmi:id="12" sofa="1" begin="8" end="11" Mention="10"/>
<v2:MentionSurface xmi:id="13" sofa="1" begin="31" end="34" Mention="10"/>
<v2:Mention xmi:id="14" Entity="20" Surface="15"/>
<v2:MentionSurface xmi:id="15" sofa="1" begin="18" end="21" Mention="14"/>
<v2:Entity xmi:id="20" Label="Anna" Color="-1"/>
<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString="{TEXT}"/>
<cas:View sofa="1" members="10 11 12 13 14 15 20"/></xmi:XMI>"""
LEGACY = V1.replace(f'xmlns:v1="{API}/v1.ecore"', "").replace("v1:", "api:")


def stored(path: Path, text: str) -> Path:
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def texts(annotation: Annotation) -> dict[str, list[str]]:
    return {
        chain.name: [annotation.document.text(span) for span in chain.mentions]
        for chain in annotation.all_chains
    }


@pytest.mark.parametrize("name", ["x.xmi.gz", "x.xmi", "x.ca2"])
@pytest.mark.parametrize("content", [V1, LEGACY], ids=["v1", "legacy"])
def test_entities_groups_flags_and_gaps_are_read(name: str, content: str, tmp_path: Path) -> None:
    path = stored(tmp_path / name, content)
    assert detect(path) == "corefannotator"
    [annotation] = read(path)
    assert annotation.document.name == annotation.annotator == "x"
    assert texts(annotation) == {
        "Anna": ["Anna 😀 sah Ben . Sie lachte , die Anna", "Sie"],
        "Ben": ["Ben"],
        "beide": ["Sie"],
    }
    assert annotation.chains[0].type == "qd_generic"
    first = annotation.marks[annotation.chains[0].mentions[0]]
    assert first.label == "generic"
    assert [annotation.document.text(piece) for piece in first.pieces] == ["Anna", "die Anna"]
    assert {finding.code for finding in annotation.findings} == {
        "deleted-mentions",
        "discontinuous-mention",
    }


def test_version_2_has_any_number_of_pieces(tmp_path: Path) -> None:
    [annotation] = read(stored(tmp_path / "x.xmi.gz", V2))
    [pieces] = [mark.pieces for mark in annotation.marks.values()]
    assert [annotation.document.text(piece) for piece in pieces] == ["Anna", "sah", "die"]
    path = tmp_path / "y.xmi.gz"
    write([annotation], path)
    assert gzip.decompress(path.read_bytes()).decode() == V2


@pytest.mark.parametrize("content", [V1, V2, LEGACY], ids=["v1", "v2", "legacy"])
def test_what_does_not_change_stays_to_the_byte(content: str, tmp_path: Path) -> None:
    path = tmp_path / "y.xmi"
    write(read(stored(tmp_path / "x.xmi", content)), path)
    assert path.read_text(encoding="utf-8") == content


@pytest.mark.parametrize("content", [V1, V2], ids=["v1", "v2"])
def test_other_chains_go_into_the_file(content: str, tmp_path: Path) -> None:
    [annotation] = read(stored(tmp_path / "x.xmi", content))
    sie = next(span for span in annotation.mentions if annotation.document.text(span) == "Sie")
    new = Span(sie.start + 1, sie.start + 1)
    gold = annotation.with_chains([Chain("7", (sie, new), name="Sie selbst")])
    write([gold], tmp_path / "gold.xmi.gz")
    [back] = read(tmp_path / "gold.xmi.gz")
    assert [chain.mentions for chain in back.all_chains] == [(sie, new)]
    text = gzip.decompress((tmp_path / "gold.xmi.gz").read_bytes()).decode()
    others = text.replace('DocumentAnnotation xmi:id="2" sofa="1" begin="0"', "")
    assert ('begin="0"' in others) == (content is V1)
    assert 'Label="Anna"' in text


def test_files_made_anew_are_read_with_its_own_types(tmp_path: Path) -> None:
    document = Document("d", ("Anna", "😀", "slept", "."), sentence_ends=(4,))
    marks = {Span(1, 3): Mark("x", (Span(1, 1), Span(3, 3)))}
    chains = [Chain("1", (Span(1, 3), Span(4, 4)), name="Anna", type="person")]
    annotation = Annotation.of("Ann", document, chains, marks=marks)
    write([annotation], tmp_path / "d.xmi.gz")
    [back] = read(tmp_path / "d.xmi.gz")
    assert (back.document.tokens, back.chains[0].mentions) == (document.tokens, chains[0].mentions)
    assert back.chains[0].name == "Anna"
    assert back.marks[Span(1, 3)].pieces == marks[Span(1, 3)].pieces
    codes = {finding.code for finding in losses([annotation], "corefannotator")}
    assert codes == {"lost-labels", "lost-types"}
    cas = load_cas_from_xmi(gzip.decompress((tmp_path / "d.xmi.gz").read_bytes()).decode(), types())
    mentions = cas.select("de.unistuttgart.ims.coref.annotator.api.v1.Mention")
    assert [(one.begin, one.end, one.Entity.Label) for one in mentions] == [(0, 4, "Anna"), (13, 14, "Anna")]
    assert mentions[0].Discontinuous.get_covered_text() == "slept"


def types() -> object:
    """Return those of its types that we write, as its sources declare them."""
    system = load_typesystem(
        '<typeSystemDescription xmlns="http://uima.apache.org/resourceSpecifier"><types/></typeSystemDescription>'
    )
    package = "de.unistuttgart.ims.coref.annotator.api"
    entity = system.create_type(f"{package}.v1.Entity", "uima.cas.TOP")
    for name, range in (("Label", "String"), ("Color", "Integer"), ("Hidden", "Boolean")):
        system.create_feature(entity, name, f"uima.cas.{range}")
    mention = system.create_type(f"{package}.v1.Mention", "uima.tcas.Annotation")
    part = system.create_type(f"{package}.v1.DetachedMentionPart", "uima.tcas.Annotation")
    system.create_feature(mention, "Entity", entity)
    system.create_feature(mention, "Discontinuous", part)
    system.create_feature(part, "Mention", mention)
    meta = system.create_type(f"{package}.Meta", "uima.cas.TOP")
    system.create_feature(meta, "TypeSystemVersion", "uima.cas.String")
    for name in ("Token", "Sentence"):
        system.create_type(
            f"de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.{name}", "uima.tcas.Annotation"
        )
    return system


def test_two_annotators_have_the_gold_of_their_conll_conversion(tmp_path: Path) -> None:
    one = stored(tmp_path / "a.xmi.gz", V1)
    two = stored(tmp_path / "b.xmi.gz", V1.replace('end="15" Entity="21"', 'end="15" Entity="20"'))
    files = [read(path) for path in (one, two)]
    for given, name in zip(files, ("a", "b"), strict=True):
        write([given[0]], tmp_path / f"{name}.conll")
    converted = [read(tmp_path / f"{name}.conll") for name in ("a", "b")]
    same = [
        [one.__class__.of(one.annotator, one.document, one.all_chains) for one in given] for given in files
    ]
    [gold] = adjudicate([[_named(one) for one in given] for given in same])
    [other] = adjudicate([[_named(one) for one in given] for given in converted])
    assert {chain.mentions for chain in gold.chains} == {chain.mentions for chain in other.chains}
    assert gold.value == other.value


def _named(annotation: Annotation) -> Annotation:
    return replace(annotation, document=replace(annotation.document, name="d"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('Entity="21"', 'Entity="77"', "with Entity='77', expected the number of an entity"),
        ('Discontinuous="15"', 'Discontinuous="99"', "with a piece '99'"),
        ('end="15"', 'end="9999"', "offsets of whole characters"),
    ],
)
def test_malformed_files_are_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=message):
        read(stored(tmp_path / "x.xmi.gz", V1.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (gzip.compress(V1.encode())[:-40], "cut off"),
        (b"\x1f\x8b" + b"nonsense" * 9, "broken gzip"),
        (gzip.compress(b"\0" * 50_000_000), "unpacks to more than"),
    ],
)
def test_broken_and_hostile_packages_are_refused(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.xmi.gz"
    path.write_bytes(data)
    with pytest.raises(CasprError, match=message):
        read(path, format="corefannotator")
