"""CoNLL-UA: both kinds of brackets, gaps, zeros; everything but the mentions is kept to the byte."""

from pathlib import Path

import pytest

from caspr.errors import CasprError
from caspr.formats import read
from caspr.formats.conllua import losses, write
from caspr.text.document import Annotation, Chain, Document, Mark, Span
from tests.formats.sound import CONLLUA, put

BLANKS = """# global.columns = ID FORM IDENTITY BRIDGING
# newdoc id = one
# sent_id = 1
1   The    (EntityID=1|MarkableID=a|Min=2   _
2   girl   )(entityid=7|MarkableID=b)        x
2.1 _      (EntityID=1|MarkableID=z)        _
3-4 gonna  _ _
3   gon    (EntityID=2|MarkableID=c         _
4   na     (EntityID=3|MarkableID=d)        _

# sent_id = 2
5   sing   (EntityID=2|MarkableID=e))       _
6   up     (EntityID=3|MarkableID=d)

# newdoc id = two
1 x _ _

"""


def test_all_that_a_file_may_have(tmp_path: Path) -> None:
    one, two = read(put(tmp_path, "x.CONLL", BLANKS))
    assert one.document.format == "conllua"
    assert one.document.tokens == ("The", "girl", "", "gon", "na", "sing", "up")
    assert one.document.sentence_ends == (5, 7)
    chains = {chain.id: chain.mentions for chain in one.all_chains}
    assert chains == {
        "1": (Span(1, 2), Span(3, 3)),
        "7": (Span(2, 2),),
        "2": (Span(4, 6), Span(6, 6)),
        "3": (Span(5, 7),),
    }
    assert one.marks[Span(5, 7)].pieces == (Span(5, 5), Span(7, 7))
    assert two.mentions == frozenset()
    again = write([one, two])
    changed = {"entityid": "EntityID", "e))": "e)", "5   sing   (": "5   sing   )("}
    # Brackets that close come before those that open; nothing else changes.
    expected = BLANKS
    for before, after in changed.items():
        expected = expected.replace(before, after)
    assert again == expected


def test_a_sound_file_is_kept_to_the_byte(tmp_path: Path) -> None:
    assert write(read(put(tmp_path, "x.conllua", CONLLUA))) == CONLLUA


def test_brackets_with_names_where_mentions_cross(tmp_path: Path) -> None:
    document = Document("d", tuple("abcd"))
    crossing = Annotation.of("x", document, [Chain.of("1", [(1, 3), (2, 4)]), Chain.of("2", [(1, 1)])])
    text = write([crossing])
    assert [line.split("\t")[10] for line in text.splitlines() if "\t" in line][2:] == [
        "markable_1)",
        "markable_2)",
    ]
    [again] = read(put(tmp_path, "x.conllua", text))
    assert again.all_chains == crossing.all_chains
    nested = Annotation.of("x", document, [Chain.of("1", [(1, 4), (2, 4), (3, 3)])])
    text = write([nested])
    assert text.splitlines()[-2].endswith("\t))")
    [again] = read(put(tmp_path, "x.conllua", text))
    assert again.all_chains == nested.all_chains


def test_features_stay_with_their_mentions(tmp_path: Path) -> None:
    [annotation] = read(put(tmp_path, "x.conllua", CONLLUA))
    gold = annotation.with_chains([Chain.of("9", [(1, 2), (2, 2)])], marks={Span(2, 2): Mark("dn")})
    text = write([gold])
    assert "(EntityID=1|MarkableID=markable_1|Min=1" in text
    assert "(EntityID=1|MarkableID=markable_2)" in text
    codes = {finding.code: finding.message for finding in losses(gold)}
    assert "BRIDGING" in codes["stale-layers"]
    assert "removed-mentions" in codes


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("IDENTITY", "COREF", "expected"),
        ("\t)(EntityID=2", "\t))(EntityID=2", r":4: found '\)', which closes nothing"),
        ("\t)(EntityID=2", "\t(EntityID=2", ":3: found the mention of '1', which is never closed"),
        ("\t)(EntityID=2", "\tq)(EntityID=2", r":4: found 'q\)', which closes nothing"),
        ("(EntityID=1|MarkableID=markable_3)", "(MarkableID=markable_3)", "a feature EntityID"),
        ("(EntityID=1|MarkableID=markable_3)", "EntityID=1", r":5: found malformed 'EntityID=1'"),
        ("\n3\there", "\nx\there", ":5: found id 'x'"),
        ("3\there\t_\t_", "3\there", ":5: found 10 columns, expected 12 columns"),
    ],
)
def test_malformed(tmp_path: Path, before: str, after: str, message: str) -> None:
    path = put(tmp_path, "x.conllua", CONLLUA.replace(before, after, 1))
    with pytest.raises(CasprError, match=message):
        read(path)
