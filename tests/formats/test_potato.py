"""Potato: spans, links and the texts of a project, as the browser counts their characters."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from caspr.errors import CasprError, OutputError
from caspr.formats import FORMATS, read, read_all, write
from caspr.formats.registry import companions, detect
from tests.cli.caller import Caller
from tests.formats.everywhere import chain_texts
from tests.formats.sound import POTATO, put, refused

CONFIG = "task_dir: .\ndata_files: [data/items.json]\nitem_properties:\n  id_key: key\n  text_key: body\n"


def span(start: int, end: int, **more: Any) -> list[Any]:
    return [{"schema": "m", "name": "P", "start": start, "end": end, "id": f"{start}", **more}, 1]


def link(*ids: str, type: str = "Coref", schema: str = "r") -> dict[str, Any]:
    return {"schema": schema, "link_type": type, "span_ids": list(ids), "direction": "undirected"}


def project(
    folder: Path, text: str, spans: list[Any], *links: Any, config: str = CONFIG, **more: Any
) -> Path:
    """Write a project with one item, and return the file of its annotator."""
    items = [{"key": "d", "body": text}, {"key": "e", "body": "seen"}, {"key": "f", "body": "not yet"}]
    (folder / "data").mkdir()
    (folder / "data" / "items.json").write_text(json.dumps(items))
    (folder / "config.yaml").write_text(config)
    path = folder / "annotation_output" / "anna" / "user_state.json"
    path.parent.mkdir(parents=True)
    state = {
        "user_id": "Anna B.",
        "instance_id_ordering": ["e", "d", "f"],
        "current_instance_index": 2,
        "instance_id_to_span_to_value": {"d": spans},
        "instance_id_to_link_to_value": {"d": {str(n): one for n, one in enumerate(links)}},
        **more,
    }
    path.write_text(json.dumps(state))
    return path


def test_spans_and_links_are_mentions_and_chains(tmp_path: Path) -> None:
    spans = [span(0, 4), span(8, 12), span(5, 7)]
    path = project(tmp_path, "Anna is here", spans, link("0", "8"), link("8", "5", type="PART_OF"))
    assert detect(path) == "potato"
    seen, marked = read(path)
    assert (seen.document.name, seen.all_chains) == ("e", ())
    assert (marked.annotator, marked.document.name) == ("Anna B.", "d")
    assert chain_texts(marked) == [["Anna", "here"]]
    assert [chain.type for chain in marked.all_chains] == ["P", "P"]
    assert len(marked.singletons) == 1
    assert "relation PART_OF" in marked.document.layers
    [finding] = marked.findings
    assert (finding.code, finding.severity) == ("unread-relations", "warning")
    assert "--relation Coref --relation PART_OF" in finding.message
    assert chain_texts(read(path, relations=["part_of"])[1]) == [["is", "here"]]


BEAR = "Anna slept. She dreamt of a bear.\nIt sang 🐻 to her."
DOG = "A dog   barked at the wolf. The wolf ran from it."
FIELD = {"target_field": "body"}


@pytest.mark.parametrize(
    ("text", "more", "setting", "start", "word"),
    [
        # These places are those that Potato itself stored when the words were marked in a browser.
        (BEAR, {}, "", 48, "her"),
        (BEAR, FIELD, "", 47, "her"),
        (DOG, {}, "", 16, "the wolf"),
        (DOG, FIELD, "", 18, "the wolf"),
        # These follow from what its source does with the settings.
        (BEAR, {}, "highlight_linebreaks: true", 47, "her"),
        (BEAR, FIELD, "preserve_whitespace: false", 48, "her"),
        (f" \t{DOG}", {}, "", 16, "the wolf"),
    ],
)
def test_places_are_those_of_the_browser(
    text: str, more: dict[str, Any], setting: str, start: int, word: str, tmp_path: Path
) -> None:
    """Blanks are shown as one, and line ends may count nothing; characters beyond U+FFFF count twice."""
    marked = span(start, start + len(word), **more)
    annotation = read(project(tmp_path, text, [marked], config=f"{CONFIG}{setting}\n"))[1]
    assert [annotation.document.text(one) for one in annotation.mentions] == [word]
    assert annotation.document.characters == text


@pytest.mark.parametrize(("start", "again"), [(48, 35), (47, 35)], ids=["UTF-16", "code points"])
def test_characters_that_count_twice_are_counted_as_the_spans_show(
    start: int, again: int, tmp_path: Path
) -> None:
    """Newer versions of Potato count code points; files do not say which version wrote them."""
    spans = [span(start, start + 3), span(again - 1, again + 1)]
    annotation = read(project(tmp_path, BEAR, spans))[1]
    assert [annotation.document.text(one) for one in sorted(annotation.mentions)] == ["It", "her"]
    assert annotation.findings == ()


def test_characters_that_count_twice_are_warned_of_where_nothing_shows_how(tmp_path: Path) -> None:
    annotation = read(project(tmp_path, "🐻 熊は歌った", [span(4, 5)]))[1]
    assert [annotation.document.text(one) for one in annotation.mentions] == ["歌"]
    [finding] = annotation.findings
    assert (finding.code, finding.severity) == ("unsure-places", "warning")


def test_chains_of_its_coreference_scheme_are_read_whatever_their_type(tmp_path: Path) -> None:
    """Potato 2.12 stores the type of the entity as the type of the link, under the name of the scheme."""
    schemes = "annotation_schemes:\n  - annotation_type: coreference\n    name: entities\n  - name: other\n"
    spans = [span(0, 4), span(8, 12), span(5, 7)]
    links = [link("0", "8", type="PERSON", schema="entities"), link("8", "5", type="X", schema="other")]
    annotation = read(project(tmp_path, "Anna is here", spans, *links, config=f"{CONFIG}{schemes}"))[1]
    assert [(chain.type, len(chain.mentions)) for chain in annotation.chains] == [("PERSON", 2)]
    assert chain_texts(annotation) == [["Anna", "here"]]
    assert [finding.code for finding in annotation.findings] == ["unread-relations"]


@pytest.mark.parametrize(
    "schemes",
    [
        "- labels:\n  - name: PER\n  name: entities\n  annotation_type: coreference\n- name: other\n",
        "- span_schema: m\n  annotation_type: coreference\n  name: entities\n- name: other\n",
        "- name: other\n  annotation_type: span\n- name: entities\n\n  annotation_type: coreference\n",
        '[\n {\n  "name": "a"\n },\n {\n  "annotation_type": "coreference",\n  "name": "entities"\n }\n]\n',
        "- annotation_type: coreference\n# a remark\n  name: entities\n- name: other\n",
        "- annotation_type: coreference\n- name: other\n",
    ],
)
def test_the_name_of_the_coreference_scheme_stands_beside_its_type(schemes: str, tmp_path: Path) -> None:
    spans = [span(0, 4), span(8, 12), span(5, 7)]
    links = [link("0", "8", type="PERSON", schema="entities"), link("8", "5", type="PART_OF", schema="")]
    config = f"{CONFIG}annotation_schemes:\n{schemes}"
    annotation = read(project(tmp_path, "Anna is here", spans, *links, config=config))[1]
    assert chain_texts(annotation) == ([["Anna", "here"]] if "entities" in schemes else [])


def test_a_form_that_nobody_filled_in_has_no_links(tmp_path: Path) -> None:
    labels = {"d": [[{"schema": "span_link", "name": "coref_chains"}, " "]]}
    path = project(tmp_path, "Anna is here", [span(0, 4)], instance_id_to_label_to_value=labels)
    assert not read(path)[1].chains


def test_a_span_of_several_parts_has_gaps(tmp_path: Path) -> None:
    whole = span(0, 4, additional_parts=[{"start": 8, "end": 12}])
    annotation = read(project(tmp_path, "Anna is here", [whole]))[1]
    [mark] = annotation.marks.values()
    assert [tuple(piece) for piece in mark.pieces] == [(1, 1), (3, 3)]


def test_chains_that_a_form_stored_are_read(tmp_path: Path) -> None:
    """The page of the coreference scheme sends its chains as JSON, with the kind of entity as type."""
    stored = json.dumps([link("0", "8", type="PERSON", schema="coref_chains")])
    labels = {"d": [[{"schema": "span_link", "name": "coref_chains"}, stored]]}
    spans = [span(0, 4), span(8, 12)]
    path = project(tmp_path, "Anna is here", spans, instance_id_to_label_to_value=labels)
    assert chain_texts(read(path)[1]) == [["Anna", "here"]]


def test_a_span_schema_is_chosen_by_layer(tmp_path: Path) -> None:
    spans = [span(0, 4), span(8, 12), span(5, 7, schema="other", target_field="title")]
    path = project(tmp_path, "Anna is here", spans, link("0", "8", "5"))
    with pytest.raises(CasprError, match=r"with spans in the fields '', 'title', .* --layer"):
        read(path)
    assert chain_texts(read(path, layer="m")[1]) == [["Anna", "here"]]


def test_ids_that_are_not_stored_are_made(tmp_path: Path) -> None:
    spans = [[{"schema": "m", "name": "P", "start": a, "end": b}, 1] for a, b in ((0, 4), (8, 12))]
    path = project(tmp_path, "Anna is here", spans, link("m_P_0_4", "m_P_8_12"))
    assert chain_texts(read(path)[1]) == [["Anna", "here"]]


def test_texts_without_a_configuration_are_found_above(tmp_path: Path) -> None:
    assert chain_texts(read(put(tmp_path, "user_state.json", POTATO))[0]) == [["Anna", "here"]]
    (tmp_path / "items.jsonl").rename(tmp_path / "items.txt")
    with pytest.raises(CasprError, match="item 'd' without a text, expected its text in a data file"):
        read(tmp_path / "user_state.json")


def test_a_configuration_leads_nowhere_else(tmp_path: Path) -> None:
    """What the project reads is an input, and nothing outside its folder is read."""
    path = project(tmp_path, "Anna is here", [span(0, 4)])
    files = [tmp_path / "config.yaml", tmp_path / "data" / "items.json"]
    assert [file.resolve() for file in companions(path)] == [file.resolve() for file in files]
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "annotation_output").rename(inner / "annotation_output")
    (inner / "config.yaml").write_text(CONFIG.replace("data/items.json", "../data/items.json"))
    with pytest.raises(CasprError, match="without a text"):
        read(inner / "annotation_output" / "anna" / "user_state.json")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"start": 8', '"start": "8"', "without whole numbers as start and end"),
        ('"end": 12', '"end": 99', "span 'm_P_8_12' from 8 to 99, expected a place in the text of 12"),
        ('"end": 12', '"end": 8', "span 'm_P_8_12' from 8 to 8"),
        ('"id": "m_P_8_12"', '"id": "m_P_0_4"', "span 'm_P_0_4' of item 'd' at two places"),
        ('"m_P_0_4", "m_P_8_12"]', '"m_P_0_4", "z"]', "a link to 'z', expected the id of a span"),
        ('["m_P_0_4", "m_P_8_12"]', "7", "without a list of span_ids"),
        ('{"l": {', '{"l": [], "k": {', "a link of item 'd' without a list"),
        ('{"d": {"l"', '{"d": 7, "e": {"l"', "instance_id_to_link_to_value of item 'd' that is malformed"),
    ],
)
def test_what_is_wrong_is_named(old: str, new: str, message: str, tmp_path: Path) -> None:
    refused(tmp_path, "user_state.json", old, new, message)


def test_markup_is_refused_where_places_are_not_known(tmp_path: Path) -> None:
    path = project(tmp_path, "Anna <b>is</b> here", [span(0, 4)])
    with pytest.raises(CasprError, match="markup in the text of item 'd'"):
        read(path)


def test_it_is_only_read(tmp_path: Path) -> None:
    annotation = read(project(tmp_path, "Anna is here", [span(0, 4)]))[1]
    write([annotation], tmp_path / "gold")
    assert "#begin document (d);" in (tmp_path / "gold").read_text()
    with pytest.raises(OutputError, match="potato is only read: choose another output format"):
        write([annotation], tmp_path / "gold.json", format="potato")
    assert FORMATS["potato"].losses(annotation) == ()


def test_a_folder_of_potatos_own_files_is_no_annotator(tmp_path: Path) -> None:
    from caspr.cli.shared.inputs import read_given

    path = project(tmp_path, "Anna is here", [span(0, 4)])
    output = tmp_path / "annotation_output"
    other = output / "ben" / "user_state.json"
    other.parent.mkdir()
    other.write_text(path.read_text().replace("Anna B.", "Ben"))
    (output / "pocket").mkdir()
    (output / "pocket" / "device_visits.json").write_text("{}")
    (output / "potato.log").write_text("")
    (output / "anna" / "annotation_history.jsonl").write_text('{"action_type": "add_span"}\n')
    (output / "exports").mkdir()
    (output / "exports" / "annotations.jsonl").write_text('{"instance_id": "d", "user_id": "Anna B."}\n')
    given, _ = read_given([output], {})
    assert [group[0].annotator for group in given] == ["Anna B.", "Ben"]
    assert [group[0].annotator for group in read_all([path, other])] == ["Anna B.", "Ben"]
    assert [group[0].annotator for group in read_all([path.parent, other.parent])] == ["Anna B.", "Ben"]


def test_a_corpus_of_potatos_folder_finds_the_texts_above_it(tmp_path: Path, caspr: Caller) -> None:
    shutil.copytree(Path(__file__).parents[2] / "examples" / "formats" / "potato", tmp_path / "potato")
    out = tmp_path / "out"
    done = caspr("corpus", tmp_path / "potato" / "annotation_output", "-o", out, "-q", "--processes", "1")
    assert done.code == 0, done.err
    assert [chain_texts(one) for one in read(out / "bear.conll")] == [[["Der Bär", "Er", "seinem"]]]


def test_the_folder_of_a_project_is_the_work_of_its_annotators() -> None:
    folder = Path(__file__).parents[2] / "examples" / "formats" / "potato"
    found = read_all([folder])
    assert [[one.annotator for one in own] for own in found] == [["anna"], ["ben"], ["carla"]]
    apart = read_all(sorted((folder / "annotation_output").iterdir()))
    assert [own[0].chains for own in found] == [own[0].chains for own in apart]
