"""What reading 32,685 files of public corpora showed: each test is a fault that was found there."""

import json
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from cassis import (  # type: ignore[import-untyped]
    load_cas_from_json,
    load_cas_from_xmi,
    load_dkpro_core_typesystem,
    load_typesystem,
)

from caspr.adjudication import adjudicate, by_document
from caspr.errors import CasprError, FormatError, InputError
from caspr.formats import read, read_all, write
from caspr.formats.registry import FORMATS, losses
from caspr.formats.sources import read_one
from caspr.text.document import Annotation, Chain, Document, Span
from tests.cli.caller import Caller
from tests.formats.documents import one_document
from tests.formats.everywhere import SUFFIX, save
from tests.formats.projects import COREFERENCE, EVENTS, TEXT, archive, make_cas, packed, unzipped
from tests.formats.sound import COREFUD, GATE, JSON, JSONL, RELATIONS, XMI, put

WORDS = ("Der", "Bär", "schläft", ".", "Er", "träumt", ".")
BEAR = Annotation.of("x", Document("d", WORDS, sentence_ends=(4, 7)), [Chain.of("1", [(1, 2), (5, 5)])])


class TestNoChains:
    """1: an empty gold was "proven optimal"."""

    OTHER = (
        XMI.replace("SChain", "Thing")
        .replace("SLink", "Other")
        .replace(' first="8"', "")
        .replace(' next="9"', "")
    )

    def test_unknown_types_are_named(self, tmp_path: Path) -> None:
        paths = [put(tmp_path, f"{name}.xmi", self.OTHER) for name in "ab"]
        with pytest.raises(
            InputError, match=r"no annotator has any chains; they hold: webanno.custom.Other, web"
        ):
            adjudicate(read_all(paths))

    def test_one_annotator_may_mark_nothing(self) -> None:
        empty = replace(BEAR, annotator="y", chains=())
        [result] = adjudicate([[BEAR], [empty]], objective="u")
        assert {finding.code for finding in result.findings} >= {"empty-annotation"}
        with pytest.raises(InputError, match="no annotator has any chains"):
            adjudicate([[replace(empty, annotator="x")], [empty]])

    def test_one_of_several_documents_may_be_empty(self) -> None:
        other = Document("e", ("a",))
        files = [[replace(BEAR, annotator=name), Annotation.of(name, other, [])] for name in "ab"]
        assert len(adjudicate(files)) == 2


class TestUndeclaredEntities:
    """2: types were read as chains."""

    TYPES = COREFUD.replace("# global.Entity = eid-etype-head-other\n", "").replace("(e1-person-1", "(person")

    def test_they_are_refused(self, tmp_path: Path) -> None:
        path = put(tmp_path, "x.conllu", self.TYPES.replace("e1)", "person)"))
        with pytest.raises(
            FormatError, match=r"x.conllu:2: .*does not declare its fields, expected a line such as `# gl"
        ):
            read(path)

    def test_unmistakable_ids_are_read(self, tmp_path: Path) -> None:
        sure = COREFUD.replace("# global.Entity = eid-etype-head-other\n", "")
        [one], [two] = read(put(tmp_path, "x.conllu", sure)), read(put(tmp_path, "y.conllu", COREFUD))
        assert (one.singletons, one.marks) == (two.singletons, two.marks)
        write([one], tmp_path / "z.conllu")
        assert "# global.Entity = eid-etype-head-other\n" in (tmp_path / "z.conllu").read_text()


class TestUnpackedProject:
    """3: everybody in an unpacked project voted, pseudo users too."""

    USERS = ("INITIAL_CAS", "CURATION_USER", "anna", "ben", "chris")

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        chains = {COREFERENCE: [[(0, 7, "nam"), (18, 20, "pro")]]}
        data = {("d.txt", user): packed(make_cas(chains), user) for user in self.USERS}
        states = {
            ("d.txt", "anna"): "FINISHED",
            ("d.txt", "ben"): "FINISHED",
            ("d.txt", "chris"): "IN_PROGRESS",
        }
        (tmp_path / "p.zip").write_bytes(archive(data, states))
        for name, content in unzipped((tmp_path / "p.zip").read_bytes()).items():
            path = tmp_path / "p" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return tmp_path / "p"

    @pytest.mark.parametrize("place", ["", "annotation", "annotation/d.txt"])
    def test_it_is_read_like_the_archive(self, place: str, folder: Path) -> None:
        packed_up, unpacked = read_one(folder.with_suffix(".zip")), read_one(folder / place)
        assert [one.annotator for one in unpacked] == ["anna", "ben"]
        assert [(one.annotator, one.document, one.chains) for one in unpacked] == [
            (one.annotator, one.document, one.chains) for one in packed_up
        ]

    def test_one_folder_around_it_does_not_matter(self, folder: Path) -> None:
        outer = folder.parent / "outer"
        outer.mkdir()
        folder.rename(outer / "p")
        assert [one.annotator for one in read_one(outer)] == ["anna", "ben"]

    @pytest.mark.parametrize("place", ["", "annotation", "annotation/d.txt"])
    def test_without_settings_all_but_pseudo_users_are_taken(self, place: str, folder: Path) -> None:
        (folder / "exportedproject.json").unlink()
        found = read_one(folder / place)
        assert [one.annotator for one in found] == ["anna", "ben", "chris"]
        assert "unknown-states" in {finding.code for finding in found[0].findings}
        assert {one.document.name for one in found} == {"d.txt"}
        assert all(one.chains for one in found)

    def test_custom_layers_are_found_without_settings(self, folder: Path) -> None:
        (folder / "exportedproject.json").unlink()
        chains = {EVENTS: [[(0, 7, "nam"), (18, 20, "pro")]]}
        for user in self.USERS:
            (folder / f"annotation/d.txt/{user}.zip").write_bytes(packed(make_cas(chains), user))
        assert all(one.chains for one in read_one(folder))

    def test_files_given_one_by_one(self, folder: Path) -> None:
        files = sorted((folder / "annotation/d.txt").iterdir())
        given = read_all(files)
        assert [group[0].annotator for group in given] == ["anna", "ben", "chris"]
        assert "no-annotator" in {finding.code for finding in given[0][0].findings}

    def test_commands_take_it(self, folder: Path, caspr: Caller, tmp_path: Path) -> None:
        assert "2 annotators" in caspr("adjudicate", folder, "-o", tmp_path / "gold.zip").err
        assert (tmp_path / "gold.zip").exists()
        assert caspr("corpus", "-q", folder, "-o", tmp_path / "out", "--processes", "1").code == 0
        assert list((tmp_path / "out").rglob("d.txt*.xmi"))
        assert "anna" in caspr("check", folder / "annotation").out


def test_relation_layers_without_numbers_go_into_review_files(tmp_path: Path, caspr: Caller) -> None:
    """4: `chain id 'row 1-1' has blanks`."""
    text = RELATIONS.replace("p[1]", "p").replace("p[2]", "p").replace("1-3[2_1]", "1-3")
    paths = [put(tmp_path, f"{name}.tsv", text) for name in "ab"]
    review = tmp_path / "review.conll"
    outcome = caspr("adjudicate", *paths, "--layout", "review", "-o", review)
    assert outcome.code == 0, outcome.err
    assert caspr("redo", review).code == 0


class TestNumbers:
    """5: the reference scorer dies of ids such as `T1`, or loses those without digits."""

    def test_ids_of_other_formats_become_numbers_and_names(self, tmp_path: Path) -> None:
        document = Document("d", ("a", "b", "c", "d"))
        chains = [
            Chain.of("T1", [(1, 1), (2, 2)]),
            Chain.of("2", [(3, 3)]),
            Chain("(Anna)", (Span(4, 4),), type="person"),
        ]
        write([Annotation.of("x", document, chains)], tmp_path / "x.conll")
        text = (tmp_path / "x.conll").read_text()
        head, _, body = text.partition("#begin")
        assert head == '# caspr name: 1 "T1"\n# caspr name: 3 "(Anna)"\n# caspr type: 3 "person"\n'
        assert [line.split("\t")[-1] for line in body.split("\n")[1:5]] == ["(1)", "(1)", "(2)", "(3)"]
        [back] = read(tmp_path / "x.conll")
        assert [(chain.name, chain.type) for chain in back.all_chains] == [
            ("T1", ""),
            ("", ""),
            ("(Anna)", "person"),
        ]

    def test_all_ids_that_formats_make_are_written_as_numbers(self, tmp_path: Path) -> None:
        for format, suffix in SUFFIX.items():
            save([BEAR], tmp_path / f"x{suffix}", format)
            save(read_one(tmp_path / f"x{suffix}", format=format), tmp_path / "y.conll", "conll")
            [annotation] = read(tmp_path / "y.conll")
            assert all(chain.id.isdecimal() for chain in annotation.all_chains), format


class TestCorefud:
    """6: sentences named after titles, and mentions across sentences."""

    def test_sentence_ids_have_no_slashes_and_blanks(self, tmp_path: Path) -> None:
        documents = [Document("nw/wsj 1", WORDS, "0"), Document("nw_wsj_1_part_0", WORDS)]
        write([replace(BEAR, document=one) for one in documents], tmp_path / "x.conllu")
        ids = [
            line for line in (tmp_path / "x.conllu").read_text().split("\n") if line.startswith("# sent_id")
        ]
        assert ids == ["# sent_id = nw_wsj_1_part_0-s1", "# sent_id = nw_wsj_1_part_0-2-s1"]

    def test_sentences_are_joined_where_a_mention_goes_on(self, tmp_path: Path) -> None:
        across = BEAR.with_chains([Chain.of("1", [(2, 5), (7, 7)])])
        assert {one.code for one in losses([across], "corefud")} == {"joined-sentences", "placeholder-syntax"}
        write([across], tmp_path / "x.conllu")
        [back] = read(tmp_path / "x.conllu")
        assert back.chains[0].mentions == across.chains[0].mentions
        assert back.document.sentence_ends == (7,)


class TestCasForms:
    """7 and 9: files that other readers of UIMA do not load, and forms that were not converted."""

    def test_a_zip_holds_xmi_and_its_types(self, tmp_path: Path, caspr: Caller) -> None:
        write([BEAR], tmp_path / "x.ann")
        assert caspr("convert", "-q", tmp_path / "x.ann", tmp_path / "x.zip", "--to", "cas").code == 0
        with zipfile.ZipFile(tmp_path / "x.zip") as archive:
            assert archive.namelist() == ["x.xmi", "TypeSystem.xml"]
            types = load_typesystem(archive.read("TypeSystem.xml").decode())
            assert linked(load_cas_from_xmi(archive.read("x.xmi").decode(), types)) == [["Der Bär", "Er"]]
        [back] = read(tmp_path / "x.zip")
        assert back.chains[0].mentions == BEAR.chains[0].mentions

    def test_a_lone_xmi_loads_with_the_types_that_cassis_has(self, tmp_path: Path) -> None:
        write([BEAR], tmp_path / "x.xmi")
        cas = load_cas_from_xmi((tmp_path / "x.xmi").read_text(), load_dkpro_core_typesystem())
        assert linked(cas) == [["Der Bär", "Er"]]

    def test_chains_that_are_not_indexed_survive(self, tmp_path: Path) -> None:
        whole = json.loads((tmp_path / saved(tmp_path, "x.json")).read_text())
        kinds = {one["%ID"]: one["%TYPE"] for one in whole["%FEATURE_STRUCTURES"]}
        view = whole["%VIEWS"]["_InitialView"]
        view["%MEMBERS"] = [id for id in view["%MEMBERS"] if "Coreference" not in kinds[id]]
        (tmp_path / "y.json").write_text(json.dumps(whole))
        [annotation] = read(tmp_path / "y.json")
        assert annotation.chains[0].mentions == BEAR.chains[0].mentions
        assert "unindexed-link" in {finding.code for finding in annotation.findings}
        write([annotation], tmp_path / "z.xmi")
        [back] = read(tmp_path / "z.xmi")
        assert back.chains[0].mentions == BEAR.chains[0].mentions
        assert not back.findings

    def test_xmi_becomes_json(self, tmp_path: Path) -> None:
        [annotation] = read(tmp_path / saved(tmp_path, "x.xmi"))
        write([annotation], tmp_path / "y.json")
        assert linked(load_cas_from_json((tmp_path / "y.json").read_text())) == [["Der Bär", "Er"]]
        [back] = read(tmp_path / "y.json")
        assert back.chains[0].mentions == BEAR.chains[0].mentions

    def test_xmi_of_unknown_types_needs_its_type_system(self, tmp_path: Path) -> None:
        own = XMI.replace("<cas:Sofa", '<c:Own xmi:id="20" sofa="1" begin="0" end="4" x="y"/>\n<cas:Sofa')
        [annotation] = read(put(tmp_path, "x.xmi", own))
        with pytest.raises(
            CasprError, match=r"cannot become JSON .*TypeSystem.xml in the same zip or beside"
        ):
            write([annotation], tmp_path / "y.json")
        cas = make_cas({COREFERENCE: [[(0, 7, "nam"), (18, 20, "pro")]]})
        (tmp_path / "x.zip").write_bytes(packed(cas, "x"))
        [annotation] = read(tmp_path / "x.zip")
        write([annotation], tmp_path / "y.json")
        assert load_cas_from_json((tmp_path / "y.json").read_text()).sofa_string == TEXT


def saved(folder: Path, name: str) -> str:
    write([BEAR], folder / name)
    return name


def linked(cas: object) -> list[list[str]]:
    """Follow all chains."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for head in cas.select(f"{COREFERENCE}Chain"):  # type: ignore[attr-defined]
            link, texts = head.first, []
            while link is not None:
                texts.append(link.get_covered_text())
                link = link.next
            found.append(texts)
    return found


class TestRefusedAlthoughFine:
    """8: what was refused although nothing is wrong with it."""

    def chains(self, *rows: str) -> list[tuple[Span, ...]]:
        [annotation] = FORMATS["conll"].cutting.read(Path("x"), one_document(*rows).encode(), "a", 1, None)  # type: ignore[union-attr, arg-type]
        self.findings = [finding.code for finding in annotation.findings]
        return [chain.mentions for chain in annotation.all_chains]

    def test_a_tab_behind_the_last_column(self) -> None:
        wanted = [((1, 2), (3, 3))]
        assert self.chains("1\ta\t(1\t", "2\tb\t1)\t", "3\tc\t(1)\t") == wanted
        assert self.chains("1\ta\t(1\t", "2\tb\t1)", "3\tc\t(1)") == wanted
        assert self.chains("1\ta\t(1", "2\tb\t1)\t", "3\tc\t(1)") == wanted
        assert self.findings == []

    def test_an_empty_last_cell_is_reported(self) -> None:
        assert self.chains("1\ta\t(1)", "2\tb\t", "3\tc\t(1)") == [((1, 1), (3, 3))]
        assert self.findings == ["empty-cell"]
        assert self.chains("1\ta\t", "2\tb\t") == []
        assert self.findings == ["empty-cell"]

    def test_part_0_is_part_000(self) -> None:
        files = [
            [replace(BEAR, annotator=part, document=replace(BEAR.document, part=part))]
            for part in ("0", "000")
        ]
        assert len(by_document(files)[0]) == 1
        with pytest.raises(FormatError, match="for the second time"):
            text = (
                "#begin document (d); part 0\n#end document\n#begin document (d); part 000\n#end document\n"
            )
            FORMATS["conll"].cutting.read(Path("x"), text.encode(), "a", 1, None)  # type: ignore[union-attr, arg-type]

    def test_line_breaks_inside_mentions_of_brat(self, tmp_path: Path) -> None:
        (tmp_path / "x.txt").write_text("Sir\nWilliam\nT3 slept. He snored.\n")
        text = "T1\tPER 0 11\tSir\nWilliam\nT2\tPER 12 14\tT3\nT4\tPER 7 14\tliam\nT3\n"
        (tmp_path / "x.ann").write_text(f"{text}R1\tCoref Arg1:T1 Arg2:T4\n")
        [annotation] = read(tmp_path / "x.ann")
        assert [annotation.document.text(span) for span in annotation.chains[0].mentions] == [
            "Sir Wil liam",
            "liam T3",
        ]
        assert "text-mismatch" not in {finding.code for finding in annotation.findings}
        write([annotation], tmp_path / "y.ann")
        assert (tmp_path / "y.ann").read_text().startswith("T1\tPER 0 11\tSir William\nT2\t")

    def test_documents_without_ids(self, tmp_path: Path) -> None:
        one = COREFUD.replace("# newdoc id = d", "# newdoc")
        assert [found.document.name for found in read(put(tmp_path, "x.conllu", one * 3))] == [
            "x",
            "x-2",
            "x-3",
        ]

    def test_a_layer_that_one_line_lacks(self, tmp_path: Path) -> None:
        other = JSONL.replace('"d"', '"e"').replace('"clusters"', '"predicted_clusters"')
        path = put(tmp_path, "x.jsonl", JSONL + other)
        first, second = read(path, layer="predicted_clusters")
        assert (first.chains, len(second.chains)) == ((), 1)
        assert [finding.code for finding in first.findings] == ["missing-field"]
        with pytest.raises(FormatError, match="no field 'nonsense'"):
            read(path, layer="nonsense")

    def test_markups_that_gate_found(self, tmp_path: Path) -> None:
        path = put(
            tmp_path, "x.gate", GATE.replace("<AnnotationSet>", '<AnnotationSet Name="Original markups">')
        )
        assert len(read(path)[0].mentions) == 1
        assert read(path, layer="Original markups")[0].mentions == read(path)[0].mentions

    def test_texts_of_different_length_name_the_word(self) -> None:
        longer = replace(
            BEAR, annotator="y", document=replace(BEAR.document, tokens=(*WORDS, "Sehr", "."), source="y.x")
        )
        with pytest.raises(
            InputError, match=r"y.x, token 8: found token 'Sehr', expected the end of document 'd'"
        ):
            adjudicate([[BEAR], [longer]])


class TestGolds:
    """10: golds were counted as votes."""

    @pytest.mark.parametrize("format", SUFFIX)
    def test_every_format_says_that_it_holds_a_gold(self, format: str, tmp_path: Path) -> None:
        path = tmp_path / f"x{SUFFIX[format]}"
        save([BEAR], path, format)
        [annotator] = read_one(path)
        assert not annotator.adjudicated
        for given in (BEAR, annotator):
            save([replace(given, adjudicated=True)], tmp_path / f"gold{SUFFIX[format]}", format)
            [gold] = read_one(tmp_path / f"gold{SUFFIX[format]}")
            assert gold.adjudicated
            assert [chain.mentions for chain in gold.chains] == [chain.mentions for chain in annotator.chains]
            save([replace(gold, adjudicated=False)], tmp_path / f"again{SUFFIX[format]}", format)
            assert not read_one(tmp_path / f"again{SUFFIX[format]}")[0].adjudicated

    @pytest.mark.parametrize(("format", "suffix"), [("cas", ".json"), ("gate", ".bdocjs")])
    def test_the_json_forms_say_so_too(self, format: str, suffix: str, tmp_path: Path) -> None:
        save([replace(BEAR, adjudicated=True)], tmp_path / f"x{suffix}", format)
        assert read_one(tmp_path / f"x{suffix}")[0].adjudicated

    def test_several_annotators_in_one_file(self, tmp_path: Path, caspr: Caller) -> None:
        """The gold is a set of the same file, and must not vote when it is given again."""
        unnamed = GATE.partition("<AnnotationSet>")[2].partition("</AnnotationSet>")[0]
        sets = "".join(f'<AnnotationSet Name="{name}">{unnamed}</AnnotationSet>' for name in ("ann", "bob"))
        head, _, rest = GATE.partition("<AnnotationSet>")
        path = put(tmp_path, "x.gate", head + sets + rest.partition("</AnnotationSet>")[2])
        assert caspr("adjudicate", path, "-o", tmp_path / "gold.gate", "--singletons", "vote").code == 0
        assert [one.adjudicated for one in read(tmp_path / "gold.gate")] == [False, False, True]
        assert "--allow-gold" in caspr.fails("adjudicate", tmp_path / "gold.gate", "-o", tmp_path / "y.gate")

    def test_golds_beside_annotators_are_refused(self, tmp_path: Path, caspr: Caller) -> None:
        paths = [tmp_path / f"{name}.conll" for name in ("a", "b", "gold", "gold2")]
        for path in paths[:2]:
            write([BEAR], path)
        assert caspr("adjudicate", "-q", *paths[:2], "-o", paths[2]).code == 0
        for command in ("adjudicate", "check", "report", "weigh", "settings", "encode"):
            message = caspr.fails(command, *paths[:3])
            assert "gold.conll: this is the gold of an adjudication of document 'd'" in message
        allowed = caspr("adjudicate", *paths[:3], "--allow-gold")
        assert allowed.code == 0
        assert caspr("settings", "--try", "", *paths[:3], "--allow-gold").code == 0
        assert "1 gold of earlier adjudications" in caspr("weigh", *paths[:3], "--allow-gold").err
        assert "1 gold of earlier adjudications counted as votes: gold" in allowed.err
        paths[3].write_bytes(paths[2].read_bytes())
        assert "note: d: 2 golds of earlier adjudications" in caspr("adjudicate", *paths[2:]).err
        assert caspr("agreement", *paths[:3]).code == 0

    def test_a_gold_is_not_added_to_a_review(self, tmp_path: Path, caspr: Caller) -> None:
        paths = [tmp_path / f"{name}.conll" for name in ("a", "b", "gold", "review")]
        for path in paths[:2]:
            write([BEAR], path)
        write([replace(BEAR, adjudicated=True)], paths[2])
        assert caspr("adjudicate", "-q", "--layout", "review", *paths[:2], "-o", paths[3]).code == 0
        before = paths[3].read_bytes()
        message = caspr.fails("review", paths[3], "--add", paths[2])
        assert "gold.conll: this is the gold of an adjudication" in message
        assert paths[3].read_bytes() == before

    def test_a_corpus_refuses_them_too(self, tmp_path: Path, caspr: Caller) -> None:
        for name, adjudicated in (("a", False), ("b", False), ("c", True)):
            (tmp_path / "in" / "d").mkdir(parents=True, exist_ok=True)
            write([replace(BEAR, adjudicated=adjudicated)], tmp_path / "in" / "d" / f"{name}.conll")
        options = ("-q", "--by", "document", "--processes", "1")
        outcome = caspr("corpus", tmp_path / "in", "-o", tmp_path / "out", *options)
        assert outcome.code == 1
        assert "gold of an adjudication" in outcome.err
        assert caspr("corpus", tmp_path / "in", "-o", tmp_path / "out", *options, "--allow-gold").code == 0


def test_json_of_our_own_has_everything(tmp_path: Path) -> None:
    """A JSON CAS without an index is read without a word about it."""
    bare = JSON.replace(',\n"%VIEWS": {"_InitialView": {"%SOFA": 1, "%MEMBERS": [2, 3, 4]}}', "")
    assert not read(put(tmp_path, "x.json", bare))[0].findings


@pytest.mark.parametrize("name", ["out.conll", "out.conllu"])
def test_a_mention_of_nothing_but_a_line_end_is_written(name: str, tmp_path: Path) -> None:
    """A play in CorefAnnotator's format has one, and could not be converted."""
    (tmp_path / "a.txt").write_bytes(b"Anna sang.\n\nShe left.")
    (tmp_path / "a.ann").write_text(
        "T1\tM 0 4\tAnna\nT2\tM 12 15\tShe\nT3\tM 10 11\t \nR1\tCoreference Arg1:T1 Arg2:T2\n"
        "R2\tCoreference Arg1:T1 Arg2:T3\n"
    )
    [given] = read(tmp_path / "a.ann")
    assert "\n" in given.document.tokens
    write([given], tmp_path / name)
    [found] = read(tmp_path / name)
    assert [chain.mentions for chain in found.chains] == [chain.mentions for chain in given.chains]


def test_a_line_end_inside_a_token_is_refused(tmp_path: Path) -> None:
    odd = Annotation.of("x", Document("d", ("An\nna", "left")), [Chain.of("1", [(1, 1), (2, 2)])])
    for name in ("out.conll", "out.conllu"):
        with pytest.raises(CasprError, match="cannot write token"):
            write([odd], tmp_path / name)
