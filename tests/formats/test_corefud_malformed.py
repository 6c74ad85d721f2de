"""Malformed CorefUD files, each refused in one line that names the place."""

from pathlib import Path

import pytest

from tests.formats.sound import refused

SHELF = [
    # name, what to replace, by what, what the message says
    ("x.conllu", "Entity=e1)", "Entity=e9)", r"x\.conllu:4: found 'e9\)', which closes nothing"),
    ("x.conllu", "Entity=e1)", "Entity=", r"x\.conllu:3: found '\(e1', which is never closed"),
    ("x.conllu", "(e2[2/2])", "(e2[3/3])", r"x\.conllu:5: found piece 3 of 3"),
    ("x.conllu", "(e2[2/2])", "_", r"x\.conllu:\d: found"),
    ("x.conllu", "(e2[2/2])", "((e2", r"x\.conllu:5: found malformed"),
    ("x.conllu", "\troot\t_", "\troot", r"x\.conllu:3: found 9 columns"),
    ("x.conllu", "\n3\t", "\nx\t", r"x\.conllu:5: found id 'x'"),
    ("x.conllu", "eid-etype", "etype", "eid or GRP"),
]


@pytest.mark.parametrize(("name", "old", "new", "message"), SHELF)
def test_malformed_files(name: str, old: str, new: str, message: str, tmp_path: Path) -> None:
    refused(tmp_path, name, old, new, message)
