"""Malformed brat files, each refused in one line that names the place."""

from pathlib import Path

import pytest

from tests.formats.sound import refused

SHELF = [
    # name, what to replace, by what, what the message says
    ("x.ann", "T2\tPER 5 7", "T2\tPER 5 70", r"x\.ann:2: found offsets 5 70, expected"),
    ("x.ann", "T2\tPER 5 7", "T2\tPER 7 5", r"x\.ann:2: found offsets 7 5"),
    ("x.ann", "T2\tPER 5 7", "T2\tPER five 7", r"x\.ann:2: found 'T2"),
    ("x.ann", "T2\tPER", "T1\tPER", r"x\.ann:2: found id 'T1' for the second time"),
    ("x.ann", "Arg2:T2", "Arg2:T9", r"x\.ann:3: found a link to 'T9'"),
    ("x.ann", "Arg2:T2", "", r"x\.ann:3: found 1 arguments"),
    ("x.ann", "Arg2:T2", "nothing", r"x\.ann:3: found 'R1"),
    ("x.ann", "R1\tCoref Arg1:T1 Arg2:T2", "*\tEquiv", r"x\.ann:3: found '\*"),
]


@pytest.mark.parametrize(("name", "old", "new", "message"), SHELF)
def test_malformed_files(name: str, old: str, new: str, message: str, tmp_path: Path) -> None:
    refused(tmp_path, name, old, new, message)
