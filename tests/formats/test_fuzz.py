"""Mutate valid files of every format at random: they are read, or refused in one line, and quickly."""

import random
import time
from pathlib import Path

import pytest

from caspr.errors import CasprError
from caspr.formats.registry import FORMATS, WRITTEN
from caspr.formats.sources import read_one
from tests.formats.mutations import mutated
from tests.formats.sound import FILES, put


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("block", range(4))
def test_mutations(name: str, block: int, tmp_path: Path) -> None:
    chance = random.Random(f"{name} {block}")
    original = FILES[name].encode("utf-8")
    read = 0
    for _ in range(60):
        data = mutated(original, chance)
        path = put(tmp_path, name, data)
        started = time.process_time()
        try:
            annotations = read_one(path)
            for annotation in annotations:
                if annotation.document.format in WRITTEN:
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
