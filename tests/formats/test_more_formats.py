"""Label Studio, SACR, wl-coref, fastcoref, PreCo and RuCoCo: what is read, what is kept, what is refused."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from caspr.adjudication import adjudicate
from caspr.errors import CasprError, OutputError
from caspr.formats import read, read_all, write
from caspr.formats.registry import detect, losses, recognise, render
from caspr.text.document import Annotation, Chain, Document, Span
from tests.formats.everywhere import chain_texts
from tests.formats.sound import FASTCOREF, FILES, LABELSTUDIO, PRECO, RUCOCO, SACR, WLCOREF, put, refused

EXAMPLES = Path(__file__).parents[2] / "examples" / "formats"
NEW = {
    "wlcoref": ("x.jsonlines", WLCOREF),
    "fastcoref": ("f.jsonl", FASTCOREF),
    "preco": ("p.jsonl", PRECO),
    "rucoco": ("r.json", RUCOCO),
    "labelstudio": ("l.json", LABELSTUDIO),
    "sacr": ("x.sacr", SACR),
}


@pytest.mark.parametrize("format", NEW)
def test_a_sound_file_is_read_and_stays_as_it_is(format: str, tmp_path: Path) -> None:
    name, text = NEW[format]
    path = put(tmp_path, name, text)
    assert detect(path) == format
    [annotation] = read(path)
    assert chain_texts(annotation) == [["Anna", "here"]]
    write([annotation], tmp_path / f"again-{name}")
    written = (tmp_path / f"again-{name}").read_text()
    assert written == text or json.loads(written) == json.loads(text)


@pytest.mark.parametrize("format", [*NEW, "corefannotator", "potato"])
def test_the_gold_is_that_of_the_conversion_to_conll(format: str, tmp_path: Path) -> None:
    """Three annotators' files adjudicate to the same gold as their CoNLL conversion."""
    inside = EXAMPLES / format / "annotation_output"
    given = sorted((inside if inside.exists() else EXAMPLES / format).glob("*"))
    assert [path.name.partition(".")[0] for path in given] == ["anna", "ben", "carla"]
    converted = [tmp_path / f"{path.name.partition('.')[0]}.conll" for path in given]
    own = [group[0] for group in read_all(given)]
    for annotation, path in zip(own, converted, strict=True):
        write([annotation], path)
    [one] = adjudicate([[annotation] for annotation in own])
    [two] = adjudicate(read_all(converted))
    assert [chain.mentions for chain in one.chains] == [chain.mentions for chain in two.chains]
    assert one.value == two.value
    assert chain_texts(one.gold) == [["Der Bär", "Er", "seinem"]]


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("x.jsonlines", "[0, 1]", "[0, 9]", "two places in order, from 0 to 3"),
        ("x.jsonlines", "[0, 1]", "[1, 1]", "a mention without words"),
        ("x.jsonlines", '"here"]', '"here", 3]', "no list of cased_words"),
        ("x.jsonlines", '"d"', "7", "document_id 7"),
        ("f.jsonl", "[0, 4]", "[0]", "after the last"),
        ("f.jsonl", '"Anna is here"', "4", "no text"),
        ("p.jsonl", "[1, 0, 1]", "[1, 0, 2]", "words of one sentence in order"),
        ("p.jsonl", "[1, 0, 1]", "[1, 0]", "sentence, first word"),
        ("r.json", "[8, 12]", "[8, 99]", "two places in order, from 0 to 12"),
        ("r.json", '"Anna is here"', "null", "no text"),
        ("l.json", '"end": 12', '"end": 99', "region 'b' from 8 to 99"),
        ("l.json", '"start": 8', '"start": "8"', "region 'b' from '8' to 12, expected whole numbers"),
        ("l.json", '"id": "b"', '"id": "a"', "region 'a' at two places"),
        ("l.json", '"to_id": "a"', '"to_id": "z"', "a relation to 'z', expected the id of a region"),
        ("l.json", '{"text": "Anna is here"}', '{"a": "x", "b": "y"}', "with 2 texts"),
        ("x.sacr", "here}", "here", "is never closed"),
        ("x.sacr", "here}", "here}}", "closes nothing"),
        ("x.sacr", "{A:", "{A}", r"x\.sacr:1: found '\{A}.*expected `\{chain text}`"),
    ],
)
def test_what_is_wrong_is_named(name: str, old: str, new: str, message: str, tmp_path: Path) -> None:
    refused(tmp_path, name, old, new, message)


def studio(*works: dict[str, Any], text: str = "Anna is here") -> str:
    [task] = json.loads(LABELSTUDIO)
    base = task["annotations"][0]
    task["data"] = {"title": "t", "text": text}
    task["annotations"] = [{**base, **work} for work in works]
    return json.dumps([task])


class TestLabelStudio:
    def test_several_annotators_get_one_more_annotation(self, tmp_path: Path) -> None:
        people: list[dict[str, Any]] = [
            {"completed_by": {"email": "a@x", "id": 1}},
            {"completed_by": 2},
            {"completed_by": 3, "result": []},
        ]
        path = put(tmp_path, "l.json", studio(*people))
        given = read_all([path])
        assert [group[0].annotator for group in given] == ["a@x", "2", "3"]
        [result] = adjudicate(given)
        write([result.gold], tmp_path / "gold.json", format="labelstudio")
        [task] = json.loads((tmp_path / "gold.json").read_text())
        # Label Studio refuses an annotation of somebody who is not a user.
        users = [one.get("completed_by") for one in task["annotations"]]
        assert users == [people[0]["completed_by"], 2, 3, None]
        again = read(tmp_path / "gold.json")
        assert [one.adjudicated for one in again] == [False, False, False, True]
        assert [one.annotator for one in again] == ["a@x", "2", "3", "caspr gold"]
        assert chain_texts(again[-1]) == [["Anna", "here"]]

    def test_a_gold_that_went_through_label_studio_is_nobodys_vote(self, tmp_path: Path) -> None:
        """Label Studio drops fields it does not know, and names who imported the file as the annotator."""
        path = put(tmp_path, "l.json", studio({"completed_by": 1}, {"completed_by": 2}))
        [result] = adjudicate(read_all([path]))
        write([result.gold], tmp_path / "gold.json", format="labelstudio")
        [task] = json.loads((tmp_path / "gold.json").read_text())
        kept = ("result", "ground_truth")
        task["annotations"][-1] = {"completed_by": 1} | {name: task["annotations"][-1][name] for name in kept}
        again = read(put(tmp_path, "export.json", json.dumps([task])))
        assert [(one.annotator, one.adjudicated) for one in again] == [
            ("1", False),
            ("2", False),
            ("caspr gold", True),
        ]
        assert not any(one.findings for one in again)
        [plain] = read(
            put(tmp_path, "alone.json", json.dumps([{**task, "annotations": task["annotations"][2:]}]))
        )
        write([replace(plain, adjudicated=False)], tmp_path / "plain.json")
        assert "caspr_gold" not in (tmp_path / "plain.json").read_text()

    def test_of_several_annotators_one_is_written_alone_and_is_no_gold(self, tmp_path: Path) -> None:
        path = put(tmp_path, "l.json", studio({"completed_by": 1, "result": []}, {"completed_by": 2}))
        second = read(path)[1]
        write([second], tmp_path / "second.json", format="labelstudio")
        [task] = json.loads((tmp_path / "second.json").read_text())
        assert [one["completed_by"] for one in task["annotations"]] == [2]
        [again] = read(tmp_path / "second.json")
        assert chain_texts(again) == [["Anna", "here"]]
        assert not again.adjudicated

    def test_chains_of_somebody_else_are_written_alone_and_without_a_user(self, tmp_path: Path) -> None:
        path = put(tmp_path, "l.json", studio({"completed_by": 1}, {"completed_by": 2}))
        write([replace(read(path)[0], annotator="eve")], tmp_path / "eve.json", format="labelstudio")
        [task] = json.loads((tmp_path / "eve.json").read_text())
        assert [one.get("completed_by") for one in task["annotations"]] == [None]
        [again] = read(tmp_path / "eve.json")
        assert (again.annotator, again.adjudicated) == ("eve", False)
        assert chain_texts(again) == [["Anna", "here"]]

    def test_new_regions_name_the_tags_of_the_project(self, tmp_path: Path) -> None:
        idle: dict[str, Any] = {"completed_by": 3, "result": []}
        text = studio(idle, {"completed_by": 1}, {"completed_by": 2}).replace(
            '"type": "labels"', '"type": "labels", "from_name": "ner", "to_name": "body"'
        )
        [result] = adjudicate(read_all([put(tmp_path, "l.json", text)]))
        write([result.gold], tmp_path / "gold.json", format="labelstudio")
        [task] = json.loads((tmp_path / "gold.json").read_text())
        made = [one for one in task["annotations"][-1]["result"] if one["type"] == "labels"]
        assert {(one["from_name"], one["to_name"]) for one in made} == {("ner", "body")}

    def test_cancelled_and_older_annotations_do_not_count(self, tmp_path: Path) -> None:
        works: list[dict[str, Any]] = [{"result": []}, {}, {"completed_by": 5, "was_cancelled": True}]
        [annotation] = read(put(tmp_path, "l.json", studio(*works)))
        assert chain_texts(annotation) == [["Anna", "here"]]
        [annotation] = read(put(tmp_path, "l.json", studio(*reversed(works))))
        assert chain_texts(annotation) == []
        found = read(put(tmp_path, "l.json", studio({"completed_by": 5, "was_cancelled": True}, {}, {})))
        assert {finding.code for one in found for finding in one.findings} == {
            "cancelled-annotations",
            "older-annotations",
        }

    @pytest.mark.parametrize("offset", [5, 6], ids=["code points", "UTF-16"])
    def test_offsets_are_those_that_fit_the_text(self, offset: int, tmp_path: Path) -> None:
        text = "🐻 is here"
        start = offset
        result = [
            {
                "id": "a",
                "type": "labels",
                "value": {"start": start, "end": start + 4, "text": "here", "labels": ["P"]},
            }
        ]
        [annotation] = read(put(tmp_path, "l.json", studio({"result": result}, text=text)))
        assert [annotation.document.text(span) for span in annotation.mentions] == ["here"]
        write([annotation], tmp_path / "again.json")
        assert json.loads((tmp_path / "again.json").read_text())[0]["annotations"][0]["result"] == result

    def test_other_relations_are_no_links_and_stay(self, tmp_path: Path) -> None:
        text = LABELSTUDIO.replace('["Coref"]', '["located in"]')
        path = put(tmp_path, "l.json", text)
        [annotation] = read(path)
        assert annotation.chains == ()
        [finding] = annotation.findings
        assert (finding.code, finding.severity) == ("unread-relations", "warning")
        assert '--relation "located in"' in finding.message
        assert chain_texts(read(path, relations=["Located In"])[0]) == [["Anna", "here"]]
        write([annotation], tmp_path / "again.json")
        assert json.loads((tmp_path / "again.json").read_text()) == json.loads(text)

    def test_predictions_are_read_if_asked_for(self, tmp_path: Path) -> None:
        """A file for import has no annotations; what a model said may be compared, as if it were one."""
        text = LABELSTUDIO.replace('"annotations"', '"predictions"').replace(
            '"completed_by": 2', '"model_version": "m"'
        )
        path = put(tmp_path, "l.json", text)
        with pytest.raises(CasprError, match=r"no annotations, expected .*--layer predictions"):
            read(path)
        [annotation] = read(path, layer="predictions")
        assert chain_texts(annotation) == [["Anna", "here"]]
        write([annotation], tmp_path / "again.json")
        [task] = json.loads((tmp_path / "again.json").read_text())
        assert len(task["annotations"]) == len(task["predictions"]) == 1
        assert chain_texts(read(tmp_path / "again.json")[0]) == [["Anna", "here"]]

    def test_completions_of_annotation_lab(self, tmp_path: Path) -> None:
        base = json.loads(LABELSTUDIO)
        [work] = base[0].pop("annotations")
        del work["completed_by"]
        base[0]["completions"] = [{**work, "created_username": name} for name in ("eric", "ann")]
        found = read(put(tmp_path, "l.json", json.dumps(base)))
        assert [one.annotator for one in found] == ["eric", "ann"]

    @pytest.mark.parametrize("more", [{"to_name": "body"}, {"source": "$body"}, {}])
    def test_the_text_is_the_one_that_regions_are_in(self, more: dict[str, Any], tmp_path: Path) -> None:
        base = json.loads(LABELSTUDIO)
        base[0]["data"] = {"body": "Anna is here", "url": "somewhere else"}
        for region in base[0]["annotations"][0]["result"][:2]:
            region.update(more)
        [annotation] = read(put(tmp_path, "l.json", json.dumps(base)))
        assert chain_texts(annotation) == [["Anna", "here"]]

    def test_places_in_html_are_refused_and_images_passed_over(self, tmp_path: Path) -> None:
        base = json.loads(LABELSTUDIO)
        result = base[0]["annotations"][0]["result"]
        box = {"id": "i", "type": "rectanglelabels", "value": {"x": 1, "y": 2}}
        tied = {"type": "relation", "from_id": "i", "to_id": "a", "labels": ["Coref"]}
        result += [box, tied]
        [annotation] = read(put(tmp_path, "l.json", json.dumps(base)))
        assert chain_texts(annotation) == [["Anna", "here"]]
        result.append(
            {
                "id": "h",
                "type": "hypertextlabels",
                "value": {"start": "/p[1]", "end": "/p[1]", "endOffset": 4},
            }
        )
        with pytest.raises(CasprError, match="1 region in HTML or in paragraphs"):
            read(put(tmp_path, "l.json", json.dumps(base)))

    def test_a_note_about_a_region_is_no_second_mention(self, tmp_path: Path) -> None:
        base = json.loads(LABELSTUDIO)
        note = {"id": "a", "type": "textarea", "value": {"start": 0, "end": 4, "text": ["who?"]}}
        base[0]["annotations"][0]["result"].insert(0, note)
        [annotation] = read(put(tmp_path, "l.json", json.dumps(base)))
        assert chain_texts(annotation) == [["Anna", "here"]]
        assert annotation.findings == ()
        assert [chain.type for chain in annotation.chains] == ["P"]

    def test_a_region_in_no_chain_goes_with_its_relations(self, tmp_path: Path) -> None:
        [annotation] = read(put(tmp_path, "l.json", LABELSTUDIO))
        write(
            [annotation.with_chains([Chain.of("1", [(1, 1), (2, 2)])])],
            tmp_path / "gold.json",
            format="labelstudio",
        )
        [task] = json.loads((tmp_path / "gold.json").read_text())
        result = task["annotations"][0]["result"]
        assert [(one.get("id"), one["type"]) for one in result] == [
            ("a", "labels"),
            ("caspr-1", "labels"),
            (None, "relation"),
        ]


class TestSacr:
    @pytest.mark.parametrize("text", ["{C0 {C1 His} dog} slept .\n", 'So {anna:EN="p" Anna} slept .\n'])
    def test_files_named_after_documents_are_recognised(self, tmp_path: Path, text: str) -> None:
        """The converter of SACR's author names them so, without `.sacr`."""
        for name in ("bn_1__part_000", "_dog.sacr___part_000"):
            assert read(put(tmp_path, name, text))[0].document.format == "sacr"

    @pytest.mark.parametrize(
        "text", ["{a b} c", "\\textbf{C0 x} {y}", "\\{C0 x}", "{C0", "no brace }", '{"C0": 1}']
    )
    def test_other_texts_with_braces_are_not_taken_for_sacr(self, tmp_path: Path, text: str) -> None:
        assert recognise(put(tmp_path, "notes", f"{text}\n")) is None

    def test_names_properties_and_colours_stay(self, tmp_path: Path) -> None:
        braces = '{Bouvard:EN="p PER",head="x" {T2:EN="f" Bouvard} et} \\{ {Bouvard:EN="p PER" lui}'
        text = f"{braces}\n\n#COLOR:T2=red\n"
        [annotation] = read(put(tmp_path, "x.sacr", text))
        assert annotation.document.characters == "Bouvard et { lui\n"
        assert [(chain.name, chain.type) for chain in annotation.all_chains] == [
            ("Bouvard", "p PER"),
            ("", "f"),
        ]
        write([annotation], tmp_path / "y.sacr")
        assert (tmp_path / "y.sacr").read_text() == text

    def test_mentions_without_properties_and_comments_in_their_places(self, tmp_path: Path) -> None:
        """3,075 public files have no properties; speakers stand before their lines."""
        text = (
            "#title: Lucian\n\n#speaker: Hermes\n{M1 Anna } slept .\n"
            "#speaker: Charon\n{M1:fun=subj;EN=p Sie} und {Ben:EN=p er} .\n#COLOR:M1=red\n"
        )
        [annotation] = read(put(tmp_path, "x.sacr", text))
        assert annotation.document.tokens == ("Anna", "slept", ".", "Sie", "und", "er", ".")
        assert [chain.mentions for chain in annotation.chains] == [(Span(1, 1), Span(4, 4))]
        assert [(chain.id, chain.name, chain.type) for chain in annotation.all_chains] == [
            ("M1", "", "subj"),
            ("Ben", "Ben", "p"),
        ]
        write([annotation], tmp_path / "y.sacr")
        assert (tmp_path / "y.sacr").read_text() == text
        with pytest.raises(CasprError, match=r"x\.sacr:6: found '\{M1"):
            read(put(tmp_path, "x.sacr", text.replace("{M1:fun", "{M1{:fun")))

    def test_new_mentions_without_a_label_have_no_colon(self, tmp_path: Path) -> None:
        """The converters of SACR's author refuse a colon without properties."""
        [annotation] = read(put(tmp_path, "x.sacr", "#MeToo {1:EN=x sagte} {1 er}\n"))
        assert annotation.document.tokens == ("#MeToo", "sagte", "er")
        document = Document("d", ("a", "b"), sentence_ends=(2,))
        write([Annotation.of("x", document, [Chain.of("1", [(1, 1), (2, 2)])])], tmp_path / "x.sacr")
        assert (tmp_path / "x.sacr").read_text() == "{1 a} {1 b}\n"

    def test_a_text_that_begins_with_a_byte_order_mark_keeps_it(self, tmp_path: Path) -> None:
        """Seen in a file of CorefAnnotator."""
        document = Document("d", ("\ufeff", "Das"), sentence_ends=(2,))
        write([Annotation.of("x", document, [Chain.of("1", [(2, 2)])])], tmp_path / "x.sacr")
        assert read(tmp_path / "x.sacr")[0].document.tokens == document.tokens

    def test_crossing_mentions_are_hidden_and_counted(self, tmp_path: Path) -> None:
        document = Document("d", ("a", "b", "c"))
        crossing = Annotation.of("x", document, [Chain.of("1", [(1, 2)]), Chain.of("2", [(2, 3)])])
        assert {finding.code: finding.count for finding in losses([crossing], "sacr")} == {
            "hidden-mentions": 1
        }
        write([crossing], tmp_path / "x.sacr")
        assert "#CASPR-MENTION: 2 2 5\n" in (tmp_path / "x.sacr").read_text()
        assert read(tmp_path / "x.sacr")[0].mentions == crossing.mentions


def test_wlcoref_takes_predictions_where_there_is_nothing_else(tmp_path: Path) -> None:
    path = put(tmp_path, "x.jsonlines", WLCOREF.replace('"clusters"', '"span_clusters"'))
    [annotation] = read(path)
    assert chain_texts(annotation) == [["Anna", "here"]]
    write([annotation], tmp_path / "y.jsonlines")
    assert json.loads((tmp_path / "y.jsonlines").read_text()) == json.loads(path.read_text())


def test_rucoco_keeps_what_entities_include_only_if_they_stay(tmp_path: Path) -> None:
    text = RUCOCO.replace("[[[0, 4], [8, 12]]]", "[[[0, 4]], [[8, 12]]]").replace("[[]]", "[[1], []]")
    [annotation] = read(put(tmp_path, "r.json", text))
    assert not losses([annotation], "rucoco")
    changed = annotation.with_chains([Chain.of("1", [(1, 1), (3, 3)])])
    assert [finding.code for finding in losses([changed], "rucoco")] == ["lost-fields"]
    write([changed], tmp_path / "s.json", format="rucoco")
    assert json.loads((tmp_path / "s.json").read_text())["includes"] == [[]]


def test_preco_joins_sentences_where_a_mention_goes_on(tmp_path: Path) -> None:
    document = Document("d", ("a", "b", "c"), sentence_ends=(1, 2, 3))
    write([Annotation.of("x", document, [Chain.of("1", [(1, 2), (3, 3)])])], tmp_path / "x.preco.jsonl")
    [back] = read(tmp_path / "x.preco.jsonl")
    assert back.chains[0].mentions == (Span(1, 2), Span(3, 3))
    assert back.document.sentence_ends == (2, 3)


@pytest.mark.parametrize("format", ["jsonlines", "wlcoref", "fastcoref", "preco"])
def test_an_object_on_many_lines_is_one_document(format: str, tmp_path: Path) -> None:
    _, text = NEW.get(format, ("", '{"sentences": [["Anna", "here"]], "clusters": [[[0, 0], [1, 1]]]}'))
    [sound] = read(put(tmp_path, "a.jsonl", text))
    whole = json.dumps(json.loads(text), indent=2)
    path = put(tmp_path, "b.jsonl", whole)
    assert detect(path) == format
    [found] = read(path)
    assert chain_texts(found) == chain_texts(sound) == [["Anna", "here"]]
    with pytest.raises(CasprError, match="may be cut off"):
        read(put(tmp_path, "c.jsonl", whole[:-3]))


def test_malformed_lines_do_not_affect_others(tmp_path: Path) -> None:
    from caspr.formats.format import ReadOptions
    from caspr.formats.registry import read_each

    for format, name in (("wlcoref", "x.jsonlines"), ("fastcoref", "f.jsonl"), ("preco", "p.jsonl")):
        path = put(tmp_path, name, f"{{broken\n{FILES[name]}{FILES[name]}")
        kinds = [isinstance(one, CasprError) for _, one in read_each(path, format, "a", ReadOptions())]
        assert kinds == [True, False, True]


@pytest.mark.parametrize("text", ["", " \n\n"])
@pytest.mark.parametrize(("format", "name"), [("rucoco", "r.json"), ("labelstudio", "l.json")])
def test_an_empty_file_is_called_empty(format: str, name: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(CasprError, match="found an empty file, expected"):
        read(put(tmp_path, name, text), format=format)


def test_a_packed_file_of_a_chosen_format_is_called_packed(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(gzip.compress(RUCOCO.encode()))
    with pytest.raises(CasprError, match=r"a file packed by gzip, expected .* unpack it"):
        read(path, format="rucoco")


def test_sacr_writes_no_control_character_that_it_refuses_to_read(tmp_path: Path) -> None:
    document = Document("d", ("a", "b\x07", "c"))
    annotation = Annotation.of("ann", document, [Chain.of("1", [(1, 1), (3, 3)])])
    with pytest.raises(OutputError, match="control character U\\+0007"):
        render([annotation], tmp_path / "d.sacr", format="sacr")
