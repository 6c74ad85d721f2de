"""Malformed files of all formats: rubbish, wrong encodings, bombs. Those of one format are with its tests."""

from pathlib import Path

import pytest

from caspr.errors import CasprError
from caspr.formats.sources import read_one
from tests.formats.sound import FILES, GATE, put


@pytest.mark.parametrize("name", FILES)
def test_sound_files_are_read(name: str, tmp_path: Path) -> None:
    [annotation] = read_one(put(tmp_path, name, FILES[name]))
    assert len(annotation.mentions) >= 1
    assert not [finding for finding in annotation.findings if finding.code == "unread-files"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"\x00", b"PK\x03\x04broken", b"\xe4\xf6"])
def test_rubbish(name: str, data: bytes, tmp_path: Path) -> None:
    path = put(tmp_path, name, data)
    if name == "x.ann" and data == b"":
        assert not read_one(path)[0].mentions
        return
    with pytest.raises(CasprError) as caught:
        read_one(path)
    assert "\n" not in str(caught.value)
    assert path.name in str(caught.value)


@pytest.mark.parametrize("name", FILES)
def test_wrong_encoding(name: str, tmp_path: Path) -> None:
    path = put(tmp_path, name, FILES[name].replace("Anna", "Ännä").encode("latin-1", "replace"))
    with pytest.raises(CasprError, match=r"UTF-8|utf-8"):
        read_one(path)


def test_billion_laughs_are_refused_at_once(tmp_path: Path) -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "ha"}">' for n in range(30))
    bomb = f"<!DOCTYPE x [{entities}]><GateDocument>&e29;</GateDocument>"
    with pytest.raises(CasprError, match="entity 'e0'"):
        read_one(put(tmp_path, "x.gate", bomb))


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CasprError, match="inside each other"):
        read_one(put(tmp_path, "x.gate", "<GateDocument>" + "<a>" * 100_000))
    with pytest.raises(CasprError, match=r"nested too deeply|malformed"):
        read_one(put(tmp_path, "x.jsonl", '{"sentences": ' + "[" * 200_000))


def test_bare_document_types_are_tolerated(tmp_path: Path) -> None:
    text = GATE.replace("<GateDocument>", '<!DOCTYPE GateDocument SYSTEM "gate.dtd"><GateDocument>')
    assert len(read_one(put(tmp_path, "x.gate", text))[0].mentions) == 1
