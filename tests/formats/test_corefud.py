"""CorefUD: everything but the entities is kept to the byte."""

from dataclasses import replace
from pathlib import Path

from caspr.formats.corefud import write
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
    assert "Bridge=3<1|Entity=(1-person-1)|SpaceAfter=No" in text
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
