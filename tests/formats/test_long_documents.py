"""Documents longer than what is examined to find the format of other files."""

import json
from pathlib import Path

import pytest

from caspr.formats.registry import by_content, recognise, render
from caspr.formats.sources import read_one
from caspr.storage import write_all
from caspr.text.document import Annotation, Chain, Document
from tests.formats.everywhere import SUFFIX

_WORDS = tuple(word * 10 for word in ("Anna", "says", "that", "she", "sleeps", ".")) * 500
_LONG = Annotation.of(
    "anna",
    Document("d", _WORDS, sentence_ends=tuple(range(6, len(_WORDS) + 1, 6))),
    [Chain.of(str(place), [(place, place), (place + 3, place + 3)]) for place in range(1, len(_WORDS), 6)],
)
_JSON = ("fastcoref", "gate", "jsonlines", "labelstudio", "preco", "rucoco", "wlcoref")
_ONE_OBJECT = ("gate", "labelstudio", "rucoco")
"""Those that may be spread over many lines."""
_TEXT = " ".join(_WORDS)


def _written(folder: Path, name: str) -> Path:
    """Write the document in a format, under a name that says nothing of it."""
    path = folder / f"d{'.bdocjs' if name == 'gate' else SUFFIX[name]}"
    write_all(render([_LONG], path, format=name))
    return path.rename(folder / "d.json")


@pytest.mark.parametrize("name", _JSON)
def test_long_json_is_recognised_by_its_content(tmp_path: Path, name: str) -> None:
    path = _written(tmp_path, name)
    assert path.stat().st_size > 1 << 16
    assert recognise(path) == name
    assert by_content(path, path.read_bytes()) == name
    assert len(read_one(path)[0].chains) == len(_LONG.chains)


@pytest.mark.parametrize(
    ("name", "indent"), [*((name, None) for name in _JSON), *((name, 1) for name in _ONE_OBJECT)]
)
@pytest.mark.parametrize("reverse", [False, True])
def test_the_order_of_fields_does_not_count(
    tmp_path: Path, name: str, indent: int | None, reverse: bool
) -> None:
    path = _written(tmp_path, name)
    whole = json.loads(path.read_text("utf-8"))
    tasks = whole if isinstance(whole, list) else [whole]
    ordered = [{key: one[key] for key in sorted(one, reverse=reverse)} for one in tasks]
    path.write_text(json.dumps(ordered if isinstance(whole, list) else ordered[0], indent=indent), "utf-8")
    assert recognise(path) == name


def test_only_the_first_of_many_lines_is_examined(tmp_path: Path) -> None:
    path = _written(tmp_path, "jsonlines")
    path.write_text(path.read_text("utf-8") + '{"mention_clusters": [], "cased_words": []}\n', "utf-8")
    assert recognise(path) == "jsonlines"


def test_words_of_a_long_text_are_no_names_of_fields(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    words = ["entities", "includes", "result", "annotations", "annotation_sets"]
    path.write_text(json.dumps({"text": _TEXT, "words": words}, indent=1), "utf-8")
    assert recognise(path) is None
