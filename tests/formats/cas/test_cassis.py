"""What we write is read by dkpro-cassis, an independent reader: the same chains, and all else kept."""

import re
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

import pytest
from cassis import (  # type: ignore[import-untyped]
    Cas,
    load_cas_from_json,
    load_cas_from_xmi,
    load_typesystem,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from caspr.errors import CasprError
from caspr.formats import cas as format
from caspr.formats import write
from caspr.formats.format import ReadOptions
from caspr.formats.sources import read_one
from caspr.formats.text_layer import core, spell
from caspr.text.document import Annotation, Chain, Span
from tests.formats.documents import relaxed
from tests.formats.everywhere import again, annotations
from tests.formats.projects import COREFERENCE, ENTITY, EVENTS, make_cas, typesystem
from tests.sweeps import how_many

few = settings(relaxed, max_examples=how_many(40, 8))
Spans = list[tuple[int, int]]

texts = st.lists(
    st.text(st.sampled_from("aäß🐻😀👩\u200d💻אبe\u0301漢&<>\"'\t"), min_size=1, max_size=4),
    min_size=1,
    max_size=8,
).map(" ".join)


@st.composite
def chains(draw: st.DrawFn, length: int) -> list[Spans]:
    """Draw chains over so many characters or tokens, counted from 0, the end excluded."""
    if not length:
        return []
    place = st.integers(0, length - 1)
    span = st.tuples(place, place).map(lambda pair: (min(pair), max(pair) + 1))
    return draw(st.lists(st.lists(span, min_size=1, max_size=4, unique=True), max_size=3))


def read_by_cassis(data: bytes) -> Cas:
    text = data.decode("utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if text.startswith("{"):
            return load_cas_from_json(text)
        return load_cas_from_xmi(text, typesystem=typesystem())


def followed(cas: Cas, layer: str) -> list[Spans]:
    """Follow the chains of a layer, and check that all links are reached, indexed, and used once."""
    if not cas.typesystem.contains_type(f"{layer}Chain"):
        return []
    found: list[Spans] = []
    reached: list[int] = []
    indexed = {one.xmiID for one in cas.select(f"{layer}Link")}
    for head in cas.select(f"{layer}Chain"):
        link, spans = head.first, []
        while link is not None:
            reached.append(link.xmiID)
            spans.append((link.begin, link.end))
            link = link.next
        assert spans
        found.append(spans)
    assert len(reached) == len(set(reached))
    assert set(reached) == indexed
    return found


def others(cas: Cas, layer: str) -> list[tuple[object, ...]]:
    """List all that is not of a chain layer."""
    return sorted(
        (
            one.type.name,
            one.xmiID,
            one.get("begin"),
            one.get("end"),
            str(one.get("value")),
            str(one.get("next")),
        )
        for one in cas.select_all_fs()
        if not one.type.name.startswith(layer)
    )


def tags(data: bytes, layer: str) -> list[bytes]:
    """List the tags of a file besides those of a layer, the index, and the root with its prefixes."""
    own = "|".join(f"\\w+:{layer.rpartition('.')[2]}{kind}" for kind in ("Chain", "Link"))
    changing = re.compile(f"<({own}|cas:View|xmi:XMI)\\b".encode())
    return [tag for tag in re.findall(rb"<[^>]*>", data) if not changing.match(tag)]


@pytest.mark.parametrize("layer", [COREFERENCE, EVENTS])
@pytest.mark.parametrize("form", [".xmi", ".json"])
@given(text=texts, data=st.data())
@few
def test_edited_files(layer: str, form: str, text: str, data: st.DataObject) -> None:
    """New chains go into a file that cassis made; it finds them there, and all else as it was."""
    other = EVENTS if layer == COREFERENCE else COREFERENCE
    old, rest = data.draw(chains(len(text))), data.draw(chains(len(text)))
    labelled = {
        name: [[(*span, data.draw(st.sampled_from(["", "nam"]))) for span in spans] for spans in given]
        for name, given in ((layer, old), (other, rest))
    }
    made = make_cas(labelled, text)
    before = (made.to_xmi() if form == ".xmi" else made.to_json()).encode("utf-8")
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"x{form}"
        path.write_bytes(before)
        [annotation] = read_one(path, options=ReadOptions(layer))
    gold = data.draw(chains(len(annotation.document.tokens)))
    golds = [Chain.of(str(n), [(start + 1, end) for start, end in spans]) for n, spans in enumerate(gold)]
    [after] = format.write([Annotation.of("gold", annotation.document, golds)]).values()
    assert isinstance(after, bytes)
    seen, first = read_by_cassis(after), read_by_cassis(before)
    offsets = annotation.document.offsets
    wanted = sorted(
        sorted(core(text, (offsets[a - 1][0], offsets[b - 1][1])) for a, b in one.mentions) for one in golds
    )
    links = followed(seen, layer)
    assert sorted(sorted(core(text, span) for span in spans) for spans in links) == wanted
    assert followed(seen, other) == followed(first, other)
    assert others(seen, layer) == others(first, layer)
    assert seen.sofa_string == text
    if form == ".xmi":
        assert tags(after, layer) == tags(before, layer)


@pytest.mark.parametrize("form", [".xmi", ".json"])
@given(annotation=annotations())
@few
def test_new_files(form: str, annotation: Annotation) -> None:
    """A document that comes from elsewhere becomes a file that cassis reads."""
    with TemporaryDirectory() as folder:
        again(annotation, Path(folder), "cas", form)
        seen = read_by_cassis((Path(folder) / f"x{form}").read_bytes())
    text, offsets = spell(annotation.document)
    assert seen.sofa_string == text
    wanted = sorted(
        sorted((offsets[a - 1][0], offsets[b - 1][1]) for a, b in one.mentions)
        for one in annotation.all_chains
    )
    assert sorted(sorted(spans) for spans in followed(seen, COREFERENCE)) == wanted
    tokens = [one for one in seen.select_all() if one.type.name.endswith(".Token")]
    assert sorted((one.begin, one.end) for one in tokens) == sorted(offsets)


def test_order_and_labels_of_what_did_not_change(tmp_path: Path) -> None:
    """A chain that stays keeps the order of its annotator, and labels; one that grows follows the text."""
    path = tmp_path / "x.xmi"
    backwards = [(20, 22, "pro"), (0, 7, "nam")]
    path.write_text(
        make_cas({COREFERENCE: [backwards, [(8, 9, "x"), (10, 17, "y")]]}).to_xmi(), encoding="utf-8"
    )
    [annotation] = read_one(path)
    tokens = annotation.document.tokens
    dreams = tokens.index("träumt") + 1
    stays, grows = annotation.chains
    gold = [stays, Chain.of("g", [*grows.mentions, Span(dreams, dreams)])]
    [data] = format.write([Annotation.of("gold", annotation.document, gold)]).values()
    assert isinstance(data, bytes)
    seen = read_by_cassis(data)
    assert sorted(followed(seen, COREFERENCE)) == [[(8, 9), (10, 17), (25, 31)], [(20, 22), (0, 7)]]
    labels = {(one.begin, one.end): one.referenceType for one in seen.select(f"{COREFERENCE}Link")}
    assert labels == {(0, 7): "nam", (20, 22): "pro", (8, 9): "x", (10, 17): "y", (25, 31): None}
    assert [one.value for one in seen.select(ENTITY)] == ["ANIMAL"]


def test_files_without_an_index(tmp_path: Path) -> None:
    for form, text in ((".xmi", make_cas({}).to_xmi()), (".json", make_cas({}).to_json())):
        path = tmp_path / f"x{form}"
        bare = re.sub(
            r'<cas:View[^>]*>|"%VIEWS": ({([^{}]|{[^{}]*})*})',
            lambda one: '"%VIEWS": {}' if one[1] else "",
            text,
        )
        assert bare != text
        path.write_text(bare, encoding="utf-8")
        [annotation] = read_one(path)
        gold = Annotation.of("gold", annotation.document, [Chain.of("1", [(1, 1), (2, 2)])])
        [data] = format.write([gold]).values()
        assert isinstance(data, bytes)
        assert followed(read_by_cassis(data), COREFERENCE) == [[(0, 3), (4, 7)]]


def test_a_layer_that_somebody_did_not_use(tmp_path: Path) -> None:
    path = tmp_path / "x.xmi"
    path.write_text(make_cas({}).to_xmi(), encoding="utf-8")
    assert [one.code for one in read_one(path)[0].findings] == ["assumed-layer"]
    [annotation] = read_one(path, options=ReadOptions(EVENTS))
    assert not annotation.findings
    gold = Annotation.of("gold", annotation.document, [Chain.of("1", [(1, 1), (2, 2)])])
    [data] = format.write([gold]).values()
    assert isinstance(data, bytes)
    assert followed(read_by_cassis(data), EVENTS) == [[(0, 3), (4, 7)]]
    with pytest.raises(CasprError, match="no layer 'event'"):
        read_one(path, options=ReadOptions("event"))


@pytest.mark.parametrize("name", ["gold.json", "gold.zip"])
def test_a_lone_file_with_metadata_needs_no_type_system(name: str, tmp_path: Path) -> None:
    example = (Path(__file__).parents[3] / "examples" / "formats" / "cas" / "anna.xmi").read_text()
    internal = "http:///de/tudarmstadt/ukp/clarin/webanno/api/type.ecore"
    metadata = '<type:CASMetadata xmi:id="90" sofa="1" begin="0" end="0" username="anna" projectId="7"/>'
    text = example.replace("<xmi:XMI", f'<xmi:XMI xmlns:type="{internal}"', 1)
    text = text.replace('members="', 'members="90 ', 1)
    path = tmp_path / "anna.xmi"
    path.write_text(text.replace("<segmentation:Sentence", f"{metadata}\n    <segmentation:Sentence", 1))
    found = read_one(path)
    write(found, tmp_path / name, format="cas")
    (again_read,) = read_one(tmp_path / name)
    assert again_read.chains == found[0].chains
    if name.endswith(".zip"):
        with ZipFile(tmp_path / name) as archive:
            types = load_typesystem(archive.read("TypeSystem.xml").decode())
            cas = load_cas_from_xmi(archive.read("gold.xmi").decode(), typesystem=types)
    else:
        cas = load_cas_from_json((tmp_path / name).read_text())
    (one,) = cas.select("de.tudarmstadt.ukp.clarin.webanno.api.type.CASMetadata")
    assert (one.username, one.projectId) == ("anna", 7)
