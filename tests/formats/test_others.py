"""What is special about CorefUD, jsonlines, WebAnno TSV and the CAS."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from cassis import load_cas_from_json, load_cas_from_xmi  # type: ignore[import-untyped]

from caspr.errors import CasprError
from caspr.formats import corefud, jsonlines, webanno
from caspr.formats.options import ReadOptions
from caspr.formats.sources import read_one
from caspr.text.alignment import align
from caspr.text.document import Annotation, Chain, Document, Mark, Span
from tests.formats.everywhere import again, assert_same
from tests.formats.projects import COREFERENCE, EVENTS, TEXT, make_cas, packed, typesystem
from tests.formats.test_malformed import COREFUD, RELATIONS, TSV, XMI, put


def words(annotation: Annotation) -> list[list[str]]:
    return [[annotation.document.text(span) for span in chain.mentions] for chain in annotation.chains]


UD = """# newdoc id = d1
# global.Entity = GRP-etype-minspan
# sent_id = 1
# text = Anna saw her
1\tAnna\tAnna\tPROPN\tNNP\t_\t2\tnsubj\t_\tBridge=3<1|Entity=(1-person-1)|SpaceAfter=No
2-3\tsawher\t_\t_\t_\t_\t_\t_\t_\t_
2\tsaw\tsee\tVERB\tVBD\t_\t0\troot\t_\t_
2.1\t_\t_\tPRON\t_\t_\t_\t_\t2:obj\tEntity=(1-person)
3\ther\tshe\tPRON\tPRP\t_\t2\tobj\t_\tEntity=(3-person-1)

# newdoc id = d2
1\tX\tx\tX\t_\t_\t0\troot\t_\t_

"""


def test_corefud_keeps_everything(tmp_path: Path) -> None:
    path = put(tmp_path, "x.conllu", UD)
    one, two = read_one(path)
    assert one.document.tokens == ("Anna", "saw", "", "her")
    assert [chain.id for chain in one.all_chains] == ["1", "3"]
    assert one.marks[Span(1, 1)].label == "person"
    assert corefud.write([one, two]) == UD
    gold = Annotation.of("gold", one.document, [Chain.of("7", [(1, 1), (4, 4)]), Chain.of("1", [(2, 4)])])
    text = corefud.write([gold])
    assert "Bridge=3<1|Entity=(1-person-1)|SpaceAfter=No" in text
    assert "Entity=e1)(1-person-1)\n" in text
    assert "Entity=(e1" in text
    assert words(read_one(put(tmp_path, "y.conllu", text))[0]) == [["Anna", "her"]]


def test_corefud_pieces(tmp_path: Path) -> None:
    [annotation] = read_one(put(tmp_path, "x.conllu", COREFUD))
    assert annotation.marks == {Span(1, 2): Mark("person"), Span(2, 3): Mark("x")}
    assert corefud.write([annotation]) == COREFUD


def test_jsonlines_with_subtokens(tmp_path: Path) -> None:
    line = {
        "doc_key": "(d); part 003",
        "sentences": [["[CLS]", "An", "##na", "is", "[SEP]"], ["[CLS]", "she", "[SEP]"]],
        "subtoken_map": [0, 0, 0, 1, 1, 1, 2, 2],
        "clusters": [[[1, 2], [6, 6]], []],
        "speakers": ["x"],
    }
    [annotation] = read_one(put(tmp_path, "x.jsonl", json.dumps(line)))
    assert annotation.document.tokens == ("Anna", "is", "she")
    assert annotation.document.key == ("d", "003")
    assert words(annotation) == [["Anna", "she"]]
    assert json.loads(jsonlines.write([annotation])) == {**line, "clusters": [[[1, 2], [6, 6]]]}


def test_jsonlines_predictions(tmp_path: Path) -> None:
    line = {
        "doc_key": "d",
        "sentences": [["a", "b"]],
        "clusters": [[]],
        "predicted_clusters": [[[0, 0], [1, 1]]],
    }
    path = put(tmp_path, "x.jsonl", json.dumps({**line, "clusters": []}))
    assert words(read_one(path)[0]) == [["a", "b"]]
    assert words(read_one(path, choices=ReadOptions("clusters"))[0]) == []
    [odd] = read_one(put(tmp_path, "y.jsonl", json.dumps(line)))[0].findings
    assert odd.code == "empty-chain"


def test_tsv_keeps_everything(tmp_path: Path) -> None:
    for name, text in (("x.tsv", TSV), ("r.tsv", RELATIONS)):
        [annotation] = read_one(put(tmp_path, name, text))
        assert webanno.write([annotation]) == {name: text}
        assert annotation.document.characters is not None


def test_tsv_parts_of_tokens_and_escapes(tmp_path: Path) -> None:
    [annotation] = read_one(put(tmp_path, "x.tsv", TSV))
    document = Document("d", ("An", "na", "is", "😀", "he", "re"))
    gold = Annotation.of(
        "gold", document, [Chain.of("1", [(2, 3), (4, 5)])], marks={Span(2, 3): Mark("a|b_[c]->*")}
    )
    from caspr.text.alignment import transfer

    text = webanno.write([transfer(gold, annotation)])["x.tsv"]
    assert isinstance(text, str)
    assert "1-1.1\t2-4\tna\ta\\|b\\_\\[c\\]\\->\\*[1]\t*->1-1\t" in text
    assert "1-4.1\t11-13\the\t" in text
    [back] = read_one(put(tmp_path, "y.tsv", text))
    assert_same(gold, back, labels=True)


def test_tsv_layers(tmp_path: Path) -> None:
    two = TSV.replace("\n\n\n", "\n#T_CH=webanno.custom.OtherLink|referenceType|referenceRelation\n\n\n", 1)
    two = "\n".join(f"{line}_\t_\t" if line.endswith("\t") else line for line in two.split("\n"))
    path = put(tmp_path, "x.tsv", two)
    with pytest.raises(
        CasprError, match=r"--layer to choose one of webanno\.custom\.SLink, webanno\.custom\.OtherLink"
    ):
        read_one(path)
    assert words(read_one(path, choices=ReadOptions("SLink"))[0]) == [["Anna", "is"]]
    assert not read_one(path, choices=ReadOptions("webanno.custom.Other"))[0].mentions


def test_tsv_relations_are_chosen(tmp_path: Path) -> None:
    text = RELATIONS.replace("coref\t", "bridge\t")
    assert words(read_one(put(tmp_path, "r.tsv", text))[0]) == []
    assert words(read_one(put(tmp_path, "r.tsv", text), choices=ReadOptions(relations=("bridge",)))[0]) == [
        ["Anna", "here"]
    ]


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
        [annotation] = read_one(tmp_path / name, choices=ReadOptions(COREFERENCE))
        assert words(annotation) == [["Der Bär", "Er"]]
        assert [annotation.document.text(chain.mentions[0]) for chain in annotation.singletons] == ["🐻"]
        assert {mark.label for mark in annotation.marks.values()} == {"nam", "pro"}
        [event] = read_one(tmp_path / name, choices=ReadOptions("event"))
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
        from caspr.formats import cas as format

        [content] = format.write([gold]).values()
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
    from caspr.formats import cas as format

    [content] = format.write([gold]).values()
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


def test_corefud_names_and_declarations(tmp_path: Path) -> None:
    """Documents get other names, as solutions do; what one document declares holds for those after it."""
    second = UD.replace("X\tx\tX\t_\t_\t0\troot\t_\t_", "X\tx\tX\t_\t_\t0\troot\t_\tEntity=(a-7)")
    text = (
        second.replace("GRP-etype-minspan", "etype-GRP")
        .replace("-person-1)", "-9)")
        .replace("1-person", "x-1")
    )
    text = text.replace("# newdoc id = d2", "# a comment of it\n# newdoc id = d2; part 003")
    one, two = read_one(put(tmp_path, "x.conllu", text))
    assert (one.document.key, two.document.key) == (("d1", None), ("d2", "003"))
    assert corefud.write([one, two]) == text
    alone = corefud.write([two])
    assert alone.startswith("# a comment of it\n# global.Entity = etype-GRP\n# newdoc id = d2; part 003\n")
    assert [chain.id for chain in read_one(put(tmp_path, "y.conllu", alone))[0].all_chains] == ["7"]
    renamed = [replace(one, document=replace(one.document, name=name)) for name in ("d1.1", "d1.2")]
    again = read_one(put(tmp_path, "z.conllu", corefud.write(renamed)))
    assert [annotation.document.name for annotation in again] == ["d1.1", "d1.2"]


def cut_words(tmp_path: Path, line: Mapping[str, object]) -> Annotation:
    """Read a document, mark a part of its first word, which another annotator cut, and the word after it."""
    [annotation] = read_one(put(tmp_path, "x.jsonl", json.dumps(line)))
    first, *others = annotation.document.tokens
    other = Annotation.of("other", Document("d", ("", first[:4], first[4:], *others)), [])
    moved = align([annotation, other])[0]
    return Annotation.of("gold", moved.document, [Chain.of("1", [(2, 2), (4, 4)])])


def test_jsonlines_fields_when_words_are_cut(tmp_path: Path) -> None:
    line = {
        "doc_key": "d",
        "sentences": [["Annas", "here"], [], ["she"]],
        "clusters": [[[0, 0], [2, 2]]],
        "speakers": [["a", "b"], [], ["c"]],
        "pos": ["N", "R", "P"],
        "genre": ["nw"],
        "weight": 3,
    }
    gold = cut_words(tmp_path, {**line, "predicted_clusters": [[[0, 0]]], "paragraphs": [[0, 2]]})
    [lost] = jsonlines.losses(gold)
    assert (lost.code, lost.count) == ("lost-fields", 2)
    assert "'paragraphs', 'predicted_clusters'" in lost.message
    assert json.loads(jsonlines.write([gold])) == {
        **line,
        "sentences": [["Anna", "s", "here"], ["she"]],
        "clusters": [[[0, 0], [2, 2]]],
        "speakers": [["a", "a", "b"], ["c"]],
        "pos": ["N", "N", "R", "P"],
    }


def test_subtokens_are_never_cut(tmp_path: Path) -> None:
    line = {
        "doc_key": "d",
        "sentences": [["[CLS]", "Anna", "##s", "here"]],
        "subtoken_map": [0, 0, 0, 1],
        "sentence_map": [0, 0, 0, 0],
        "clusters": [],
    }
    gold = cut_words(tmp_path, line)
    [warned] = jsonlines.losses(gold)
    assert warned.code == "widened-mention"
    assert json.loads(jsonlines.write([gold])) == {**line, "clusters": [[[1, 2], [3, 3]]]}
