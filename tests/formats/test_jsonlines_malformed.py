"""Malformed jsonlines files, each refused in one line that names the place."""

from pathlib import Path

import pytest

from tests.formats.sound import JSONL, refused

SHELF = [
    # name, what to replace, by what, what the message says
    ("x.jsonl", "[2, 2]", "[2, 3]", r"x\.jsonl:1: found mention '\[2, 3\]'"),
    ("x.jsonl", "[2, 2]", "[2, 1]", r"x\.jsonl:1: found mention"),
    ("x.jsonl", "[2, 2]", '["2", 2]', r"x\.jsonl:1: found mention"),
    ("x.jsonl", "[2, 2]", "7", r"x\.jsonl:1: found mention '7'"),
    ("x.jsonl", "[2, 2]", "[true, 2]", r"x\.jsonl:1: found mention"),
    ("x.jsonl", '"Anna"', "5", "no list of sentences"),
    ("x.jsonl", "}\n", "", r"x\.jsonl:1: found malformed JSON"),
    ("x.jsonl", "}\n", "}\n{\n", r"x\.jsonl:2: found malformed JSON"),
    ("x.jsonl", JSONL, JSONL * 2, r"x\.jsonl:2: found document 'd' for the second time"),
    ("x.jsonl", '"d"', "7", "doc_key 7"),
    ("x.jsonl", '"d"', '"d", "subtoken_map": [0]', "subtoken_map of another length"),
    ("x.jsonl", "Anna", "\\\\udc00", "lone surrogate"),
]


@pytest.mark.parametrize(("name", "old", "new", "message"), SHELF)
def test_malformed_files(name: str, old: str, new: str, message: str, tmp_path: Path) -> None:
    refused(tmp_path, name, old, new, message)
