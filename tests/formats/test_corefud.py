"""CorefUD: everything but the entities is kept to the byte."""

from dataclasses import replace
from pathlib import Path

from caspr.formats.corefud import losses, write
from caspr.formats.sources import read_one
from caspr.text.document import Annotation, Chain, Document, Mark, Span
from tests.formats.everywhere import chain_texts
from tests.formats.sound import COREFUD, put

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


def test_keeps_everything(tmp_path: Path) -> None:
    path = put(tmp_path, "x.conllu", UD)
    one, two = read_one(path)
    assert one.document.tokens == ("Anna", "saw", "", "her")
    assert [chain.id for chain in one.all_chains] == ["1", "3"]
    assert one.marks[Span(1, 1)].label == "person"
    assert write([one, two]) == UD
    gold = Annotation.of("gold", one.document, [Chain.of("7", [(1, 1), (4, 4)]), Chain.of("1", [(2, 4)])])
    text = write([gold])
    assert "\tEntity=(1-person-1)|SpaceAfter=No" in text, "there is no entity 3 any more that it could bridge"
    assert "Entity=(1-person-1)e1)\n" in text
    assert "Entity=(e1" in text
    assert chain_texts(read_one(put(tmp_path, "y.conllu", text))[0]) == [["Anna", "her"]]


def test_pieces(tmp_path: Path) -> None:
    [annotation] = read_one(put(tmp_path, "x.conllu", COREFUD))
    assert annotation.marks == {Span(1, 2): Mark("person"), Span(2, 3): Mark("x")}
    assert write([annotation]) == COREFUD


def test_names_and_declarations(tmp_path: Path) -> None:
    """Documents get other names, as solutions do; what one document declares holds for those after it."""
    second = UD.replace("X\tx\tX\t_\t_\t0\troot\t_\t_", "X\tx\tX\t_\t_\t0\troot\t_\tEntity=(a-7)")
    text = (
        second.replace("GRP-etype-minspan", "etype-GRP")
        .replace("-person-1)", "-9)")
        .replace("1-person", "x-1")
    )
    text = text.replace("# newdoc id = d2", "# a comment of it\n# newdoc id = d2; part 003")
    one, two = read_one(put(tmp_path, "x.conllu", text))
    assert (one.document.key, two.document.key) == (("d1", None), ("d2", "3"))
    assert write([one, two]) == text
    alone = write([two])
    assert alone.startswith("# a comment of it\n# global.Entity = etype-GRP\n# newdoc id = d2; part 003\n")
    assert [chain.id for chain in read_one(put(tmp_path, "y.conllu", alone))[0].all_chains] == ["7"]
    renamed = [replace(one, document=replace(one.document, name=name)) for name in ("d1.1", "d1.2")]
    again = read_one(put(tmp_path, "z.conllu", write(renamed)))
    assert [annotation.document.name for annotation in again] == ["d1.1", "d1.2"]


def test_chains_whose_mentions_cross_keep_their_id(tmp_path: Path) -> None:
    """Most mentions of the chain stand under the new id, which became the id of the chain."""
    crossing = Chain.of("1", [(1, 3), (2, 4), (2, 5)])
    annotation = Annotation.of("x", Document("d", tuple("abcde"), sentence_ends=(5,)), [crossing])
    written = []
    for _ in range(2):
        text = write([annotation])
        written.append(text)
        [annotation] = read_one(put(tmp_path, "x.conllu", text))
        assert annotation.chains == (crossing,)
    assert written[0] == written[1]
    assert "# caspr same-chain: 2 1\n" in written[0]


RELATED = """# newdoc id = d
# global.Entity = eid-etype-head-identity
# sent_id = s1
# text = Anna met Ben with their friends here
1\tAnna\t_\tX\t_\t_\t2\tdep\t_\tEntity=(e1-person-1-Anna)
2\tmet\t_\tX\t_\t_\t0\troot\t_\tEntity=(e2-event-1)
3\tBen\t_\tX\t_\t_\t2\tdep\t_\tEntity=(e3-person-1)
4\twith\t_\tX\t_\t_\t6\tdep\t_\t_
5\ttheir\t_\tX\t_\t_\t6\tdep\t_\tEntity=(e4-person-2(e5-person-1)|SplitAnte=e1<e5,e3<e5
6\tfriends\t_\tX\t_\t_\t2\tdep\t_\tEntity=e4)
7\there\t_\tX\t_\t_\t2\tdep\t_\tBridge=e2<e6:part,e4<e6|Entity=(e6-place-1)

"""


def related(path: Path, *chains: tuple[str, list[tuple[int, int]]], gold: bool = True) -> Annotation:
    """Return the file with other chains."""
    [annotation] = read_one(put(path, "x.conllu", RELATED))
    made = [Chain.of(id, spans) for id, spans in chains]
    return replace(annotation.with_chains(made), adjudicated=gold)


ALL = [
    ("e1", [(1, 1)]),
    ("e2", [(2, 2)]),
    ("e3", [(3, 3)]),
    ("e4", [(5, 6)]),
    ("e5", [(5, 5)]),
    ("e6", [(7, 7)]),
]


def test_relations_of_entities_that_stay_are_kept(tmp_path: Path) -> None:
    same = related(tmp_path, *ALL)
    assert [line for line in write([same]).splitlines() if "caspr" not in line] == RELATED.splitlines()
    assert "dropped-relations" not in [finding.code for finding in losses(same)]
    fewer = related(tmp_path, *(entity for entity in ALL if entity[0] != "e2"))
    assert "\tBridge=e4<e6|Entity=(e6-place-1)\n" in write([fewer])
    assert "SplitAnte=e1<e5,e3<e5" in write([fewer])
    [finding] = [finding for finding in losses(fewer) if finding.code == "dropped-relations"]
    assert "'met' < 'here'" in finding.message


def test_relations_of_entities_that_changed_are_dropped_and_named(tmp_path: Path) -> None:
    joined = related(tmp_path, ("e1", [(1, 1), (7, 7)]), *ALL[1:5])
    text = write([joined])
    assert "SplitAnte" not in text, "a split antecedent has all its parts or is none"
    assert "Bridge" not in text
    [finding] = [finding for finding in losses(joined) if finding.code == "dropped-relations"]
    assert finding.count == 4
    for words in ("SplitAnte 'Anna' < 'their'", "SplitAnte 'Ben' < 'their'", "Bridge 'met' < 'here'"):
        assert words in finding.message


def test_an_entity_has_one_type_and_one_identity(tmp_path: Path) -> None:
    """Whoever put the mentions of several entities together: an adjudication, or another file."""
    for gold in (True, False):
        joined = related(tmp_path, ("e1", [(1, 1), (2, 2), (3, 3), (4, 4)]), gold=gold)
        cells = [line.split("\t")[9] for line in write([joined]).splitlines() if "\t" in line]
        assert cells[:4] == [f"Entity=(e1-person-{1}-Anna)"] * 4
    voted = replace(Chain.of("e1", [(1, 1), (3, 3), (4, 4)]), name="Sir Ben", type="Place")
    [annotation] = read_one(put(tmp_path, "x.conllu", RELATED))
    text = write([replace(annotation.with_chains([voted]), adjudicated=True)])
    assert text.count("(e1-place-1-Sir_Ben)") == 3
    unknown = replace(voted, type="thing")
    text = write([replace(annotation.with_chains([unknown]), adjudicated=True)])
    assert text.count("(e1-person-1-Sir_Ben)") == 3, "validators know no other types"


def test_a_head_is_counted_in_the_words_of_its_mention(tmp_path: Path) -> None:
    """The mention of the file has a gap; as a mention of another entity it has none."""
    text = RELATED.replace("(e1-person-1-Anna)", "(e1[1/2]-person-2-Anna)").replace("(e3-", "(e1[2/2]-")
    [annotation] = read_one(put(tmp_path, "x.conllu", text.replace("e3<e5", "e4<e5")))
    assert annotation.mentions >= {Span(1, 3)}
    covering = annotation.with_chains([Chain.of("e2", [(1, 3), (2, 2)])], marks={})
    assert "Entity=(e2-event-3-Anna\n" in write([covering])


def test_documents_of_a_file_share_no_entity() -> None:
    """As validators want it; ids such as e1 would be in both."""
    chain = Chain.of("e1", [(1, 1), (2, 2)])
    both = [Annotation.of("x", Document(name, ("a", "b")), [chain]) for name in ("one", "two")]
    text = write(both)
    assert (text.count("(e1-"), text.count("(e2-")) == (2, 2)
