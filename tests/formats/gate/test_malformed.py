"""Malformed GATE files, each refused in one line that names the place."""

from pathlib import Path

import pytest

from tests.formats.sound import refused

SHELF = [
    # name, what to replace, by what, what the message says
    ("x.gate", 'EndNode="4"', 'EndNode="5"', r"x\.gate:5: found EndNode='5'"),
    ("x.gate", 'Id="2"', 'Id="1"', r"x\.gate:7: found annotation '1' for the second time"),
    ("x.gate", '<Node id="4"/>', '<Node id="0"/>', r"x\.gate:3: found node '0' for the second time"),
    ("x.gate", "<GateDocument>", "<GateDocument><!--", "broken XML"),
    ("x.gate", 'StartNode="0" EndNode="4"', 'StartNode="4" EndNode="0"', "ends before it starts"),
    ("x.gate", "<GateDocument>", '<!DOCTYPE a [<!ENTITY x "y">]><GateDocument>', "entity 'x'"),
]


@pytest.mark.parametrize(("name", "old", "new", "message"), SHELF)
def test_malformed_files(name: str, old: str, new: str, message: str, tmp_path: Path) -> None:
    refused(tmp_path, name, old, new, message)
