"""Malformed CAS files, each refused in one line that names the place."""

from pathlib import Path

import pytest

from caspr.formats.sources import read_one
from tests.formats.everywhere import chain_texts
from tests.formats.sound import XMI, put, refused

SHELF = [
    # name, what to replace, by what, what the message says
    ("x.xmi", "</xmi:XMI>", "", r"x\.xmi:\d+: found broken XML \(no element found\).*may be cut off"),
    ("x.xmi", "</xmi:XMI>", "</xmi:XMI><x/>", r"found broken XML \(junk.*two files may have been joined"),
    (
        "x.xmi",
        "<xmi:XMI",
        '<!DOCTYPE x [<!ENTITY a "b">]><xmi:XMI',
        r"x\.xmi:2: found a declaration of entity 'a'",
    ),
    ("x.xmi", "<xmi:XMI", '<!DOCTYPE x SYSTEM "y.dtd"><xmi:XMI a="&b;"', r"x\.xmi:2: found"),
    ("x.xmi", 'next="9"', 'next="99"', r"x\.xmi:5: found SLink 8 with next='99'"),
    ("x.xmi", 'begin="5" end="7"', 'begin="5" end="7" next="8"', r"x\.xmi:6: .* cycle"),
    ("x.xmi", 'begin="5"', 'begin="50"', r"x\.xmi:6: found SLink 9 with begin='50'"),
    ("x.xmi", 'begin="5" end="7"', 'begin="9" end="10"', r"begin='9', expected offsets of whole characters"),
    ("x.xmi", 'begin="5"', 'begin="-5"', r"begin='-5'"),
    ("x.xmi", 'end="7"', 'end="4"', "ends before it begins"),
    ("x.xmi", 'xmi:id="9"', 'xmi:id="8"', r"x\.xmi:6: found xmi:id 8 for the second time"),
    ("x.xmi", 'first="8"', 'first="7"', r"x\.xmi:4: found SChain 7 with first='7'"),
    ("x.xmi", "cas:Sofa ", "cas:Sofo ", "no cas:Sofa"),
    ("x.xmi", "UTF-8", "no-such-code", "unknown encoding"),
    ("x.xmi", "UTF-8", "UTF-16", "broken XML|not utf-16"),
    ("x.json", "]", "", "malformed JSON"),
    ("x.json", '"@next": 4', '"@next": 44', "with next='44'"),
    ("x.json", '"@next": 4', '"@next": 3', "cycle"),
    ("x.json", '"%ID": 4', '"%ID": 3', "%ID 3 for the second time"),
    ("x.json", '"end": 7', '"end": 70', "end='70'"),
    ("x.json", '"sofaString": "Anna is"', '"sofaString": 5', "sofaString"),
    ("x.json", "uima.cas.Sofa", "uima.cas.Sofo", "uima.cas.Sofa"),
    ("x.json", "Anna is", "\\\\ud83d", "not UTF-8"),
]


@pytest.mark.parametrize(("name", "old", "new", "message"), SHELF)
def test_malformed_files(name: str, old: str, new: str, message: str, tmp_path: Path) -> None:
    refused(tmp_path, name, old, new, message)


def test_empty_mentions_are_no_fault(tmp_path: Path) -> None:
    [annotation] = read_one(put(tmp_path, "x.xmi", XMI.replace('begin="5"', 'begin="7"')))
    assert chain_texts(annotation) == [["Anna", ""]]
