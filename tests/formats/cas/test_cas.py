"""The CAS: what dkpro-cassis, an independent witness, writes and reads."""

import json
from pathlib import Path

import pytest
from cassis import load_cas_from_json, load_cas_from_xmi  # type: ignore[import-untyped]

from caspr.errors import CasprError
from caspr.formats.cas import write
from caspr.formats.format import ReadOptions
from caspr.formats.sources import read_one
from caspr.text.document import Annotation, Chain, Document
from tests.formats.everywhere import again, chain_texts
from tests.formats.projects import COREFERENCE, EVENTS, TEXT, make_cas, packed, typesystem
from tests.formats.sound import XMI, put


def test_cas_from_cassis(tmp_path: Path) -> None:
    chains = [[(0, 7, "nam"), (20, 22, "pro")], [(8, 9, "")]]
    cas = make_cas({COREFERENCE: chains, EVENTS: [[(23, 24, "x")]]})
    for name, data in (
        ("a.xmi", cas.to_xmi().encode()),
        ("a.json", cas.to_json().encode()),
        ("a.zip", packed(cas, "a")),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(CasprError, match="2 chain layers"):
            read_one(tmp_path / name)
        [annotation] = read_one(tmp_path / name, options=ReadOptions(COREFERENCE))
        assert chain_texts(annotation) == [["Der Bär", "Er"]]
        assert [annotation.document.text(chain.mentions[0]) for chain in annotation.singletons] == ["🐻"]
        assert {mark.label for mark in annotation.marks.values()} == {"nam", "pro"}
        [event] = read_one(tmp_path / name, options=ReadOptions("event"))
        assert [event.document.text(chain.mentions[0]) for chain in event.singletons] == ["😀"]


def test_what_we_write_cassis_reads(tmp_path: Path) -> None:
    cas = make_cas({COREFERENCE: [[(0, 7, "nam"), (20, 22, "pro")]]})
    for name, data in (("a.xmi", cas.to_xmi()), ("a.json", cas.to_json())):
        (tmp_path / name).write_text(data, encoding="utf-8")
        [annotation] = read_one(tmp_path / name)
        tokens = annotation.document.tokens
        bear, dreams = tokens.index("🐻") + 1, tokens.index("träumt") + 1
        gold = Annotation.of(
            "gold", annotation.document, [Chain.of("1", [(1, 2), (bear, bear), (dreams, dreams)])]
        )
        [content] = write([gold]).values()
        assert isinstance(content, bytes)
        text = content.decode("utf-8")
        seen = (
            load_cas_from_json(text) if name == "a.json" else load_cas_from_xmi(text, typesystem=typesystem())
        )
        [head] = seen.select(f"{COREFERENCE}Chain")
        links = [head.first, head.first.next, head.first.next.next]
        assert [link.get_covered_text() for link in links] == ["Der Bär", "🐻", "träumt"]
        assert [link.referenceType for link in links] == ["nam", None, None]
        assert links[-1].next is None
        assert len(seen.select(f"{COREFERENCE}Link")) == 3
        assert len(seen.select("de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity")) == 1


def test_new_xmi_is_read_by_cassis(tmp_path: Path) -> None:
    document = Document("d", ("🐻", "&", '"x"'), sentence_ends=(3,))
    annotation = Annotation.of("a", document, [Chain.of("1", [(1, 1), (3, 3)])])
    again(annotation, tmp_path, "cas")
    seen = load_cas_from_xmi((tmp_path / "x.xmi").read_text(encoding="utf-8"), typesystem=typesystem())
    assert seen.sofa_string == '🐻 & "x"'
    [head] = seen.select(f"{COREFERENCE}Chain")
    assert [head.first.get_covered_text(), head.first.next.get_covered_text()] == ["🐻", '"x"']


def test_json_without_the_types_of_the_layer(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    small = json.loads(make_cas({}).to_json())
    small["%TYPES"] = {name: value for name, value in small["%TYPES"].items() if "oref" not in name}
    path.write_text(json.dumps(small), encoding="utf-8")
    [annotation] = read_one(path)
    gold = Annotation.of("gold", annotation.document, [Chain.of("1", [(1, 1), (6, 6)])])
    [content] = write([gold]).values()
    assert isinstance(content, bytes)
    seen = load_cas_from_json(content.decode())
    assert [link.get_covered_text() for link in seen.select(f"{COREFERENCE}Link")] == ["Der", "Er"]


def test_unreachable_links_are_counted(tmp_path: Path) -> None:
    [annotation] = read_one(put(tmp_path, "x.xmi", XMI.replace(' next="9"', "")))
    assert [(finding.code, finding.count) for finding in annotation.findings] == [("unreachable-link", 1)]


def test_texts_are_the_same_in_all_forms(tmp_path: Path) -> None:
    path = tmp_path / "a.xmi"
    path.write_text(make_cas({}).to_xmi(), encoding="utf-8")
    assert read_one(path)[0].document.characters == TEXT


def test_empty_mentions_are_no_fault(tmp_path: Path) -> None:
    [annotation] = read_one(put(tmp_path, "x.xmi", XMI.replace('begin="5"', 'begin="7"')))
    assert chain_texts(annotation) == [["Anna", ""]]
