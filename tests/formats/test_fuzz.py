"""Mutate valid files of every format at random: they are read, or refused in one line, and quickly."""

import random
import time
from pathlib import Path

import pytest

from caspr.errors import CasprError
from caspr.formats.registry import FORMATS
from caspr.formats.sources import read_one
from tests.formats.test_malformed import FILES, put

PIECES = [
    *(
        b"\n",
        b"\t",
        b" ",
        b"|",
        b"(",
        b")",
        b"[",
        b"]",
        b"{",
        b"}",
        b'"',
        b"'",
        b"<",
        b">",
        b"&",
        b"/>",
        b"->",
        b"\\",
    ),
    *(
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xf0\x9f\x98\x80",
        b"-1",
        b"0",
        b"9999999999",
        b"_",
        b"*",
        b"#",
        b";",
        b"=",
    ),
]


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Change a file in a few places."""
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice([0, 0, 1, 1, 5, 60]))
        middle = chance.choice(
            [b"", chance.choice(PIECES), data[start:end] * 2, data[: chance.randrange(80)]]
        )
        data = data[:start] + middle + data[end:]
    return data


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("seed", range(4))
def test_mutations(name: str, seed: int, tmp_path: Path) -> None:
    chance = random.Random(f"{name} {seed}")
    original = FILES[name].encode("utf-8")
    read = 0
    for _ in range(60):
        data = mutated(original, chance)
        path = put(tmp_path, name, data)
        started = time.process_time()
        try:
            annotations = read_one(path)
            for annotation in annotations:
                FORMATS[annotation.document.format].write([annotation])
            read += 1
        except CasprError as error:
            assert "\n" not in str(error), data
        assert time.process_time() - started < 3, data
    assert read or name in ("x.jsonl", "x.json")


@pytest.mark.parametrize("name", FILES)
def test_truncations(name: str, tmp_path: Path) -> None:
    data = FILES[name].encode("utf-8")
    for end in range(0, len(data), 7):
        try:
            read_one(put(tmp_path, name, data[:end]))
        except CasprError as error:
            assert "\n" not in str(error)
