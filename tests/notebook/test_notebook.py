"""The notebook of the documentation runs, and shows what it showed when it was written."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pandas")
nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

PATH = Path(__file__).parents[2] / "docs" / "notebook.ipynb"


def shown(cell: Any) -> list[str]:
    """Return what a cell shows as text; versions of pandas write missing values and blanks differently."""
    texts = [output["data"]["text/plain"] for output in cell.get("outputs", ()) if "data" in output]
    return [re.sub(r"\s+", " ", text.replace("None", "NaN")) for text in texts]


def test_the_notebook_runs() -> None:
    written = nbformat.read(PATH, as_version=4)
    executed = nbformat.read(PATH, as_version=4)
    nbclient.NotebookClient(executed, timeout=120, resources={"metadata": {"path": PATH.parent}}).execute()
    for before, after in zip(written.cells, executed.cells, strict=True):
        assert shown(after) == shown(before), before["source"]
    html = [
        cell for cell in executed.cells for output in cell.get("outputs", ()) if "text/html" in output["data"]
    ]
    assert len(html) >= 8


def test_the_notebook_names_no_place_of_this_machine() -> None:
    text = PATH.read_text(encoding="utf-8")
    json.loads(text)
    assert not re.search(r"/home/|/root/|/tmp/|[A-Z]:\\\\", text)
