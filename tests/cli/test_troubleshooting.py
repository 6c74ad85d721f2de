"""Provoke every message of docs/troubleshooting.md: the page quotes what CaspR says, and nothing else."""

import re
import shutil
from pathlib import Path

import pytest

from caspr.storage import FileLock
from tests.cli.caller import EXAMPLES, Caller

PAGE = EXAMPLES.parent / "docs" / "troubleshooting.md"
SOURCES = PAGE.parents[1] / "src" / "caspr"
FIRST = "## Files that cannot be read"
"""What comes before it is said by the start page, not by a command."""
QUOTED = re.compile(r"^```\n(.*)\n```$", re.MULTILINE)
ANNA, BEN = "scene/anna.conll", "scene/ben.conll"
CALLS = (
    ("check", BEN, "nothere.conll"),
    ("check", "empty"),
    ("check", BEN, "latin.conll"),
    ("check", BEN, "utf16.conll"),
    ("check", BEN, "table.csv"),
    ("check", BEN, "scene.pdf"),
    ("check", BEN, "plain.conll"),
    ("check", BEN, "cut.conll"),
    ("check", BEN, "brackets.conll"),
    ("adjudicate", BEN),
    ("check", BEN, "other-words.conll"),
    ("check", BEN, "other-name.conll"),
    ("check", BEN, BEN),
    ("check", "scene", BEN),
    ("check", "scene", "other-words.conll"),
    ("adjudicate", "scene", "--weight", "bob=2"),
    ("weigh", "scene", "--no-result"),
    ("check", BEN, "review.conll"),
    ("redo", ANNA),
    ("redo", "half.conll"),
    ("redo", "clash.conll", "--nested", "never"),
    ("redo", "locked.conll"),
    ("adjudicate", "scene", "-o", ANNA),
    ("adjudicate", "scene", "--layout", "review", "-o", "decided.conll"),
    ("convert", ANNA, "notes.ann"),
    ("convert", ANNA, "out.foo"),
    ("agreement", "scene", "--plot", "figure.gif"),
    ("adjudicate", "scene", "-o", "gold.conll", "--time-limit", "0"),
)


def enforced(review: str, cells: dict[int, str]) -> str:
    """Return a review file with other cells in the result column of some tokens."""
    for token, cell in cells.items():
        review, count = re.subn(rf"(?m)^({token} *\t.*\t)\S+$", rf"\g<1>{cell}", review)
        assert count == 1
    return review


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caspr: Caller) -> Path:
    """Return a folder with the example and what can be wrong about such files."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(EXAMPLES / "scene", "scene")
    assert caspr("adjudicate", "scene", "--layout", "review", "-o", "review.conll", "-q").code == 0
    anna, review = Path(ANNA).read_text("utf-8"), Path("review.conll").read_text("utf-8")
    texts = {
        "table.csv": anna.replace("\t", ";"),
        "plain.conll": anna.replace("#begin document (heron);\n", "").replace("#end document\n", ""),
        "cut.conll": anna.replace("#end document\n", ""),
        "brackets.conll": anna.replace("2)|1)", "2)", 1),
        "other-words.conll": anna.replace("\tMARTHA\t", "\tMARTA\t", 1),
        "other-name.conll": anna.replace("(heron)", "(gull)"),
        "half.conll": enforced(review, {239: "=(7"}),
        "clash.conll": enforced(review, {61: "=(7|(7)", 62: "=7)"}),
        "locked.conll": review,
        "decided.conll": enforced(review, {1: "=-"}),
        "notes.txt": "mine",
    }
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")
    Path("latin.conll").write_bytes(anna.replace("MARTHA", "MÄRTHA").encode("latin-1"))
    Path("utf16.conll").write_text(anna, encoding="utf-16")
    Path("scene.pdf").write_bytes(b"%PDF-1.7\n")
    Path("empty").mkdir()
    return tmp_path


def test_the_page_quotes_what_is_printed(caspr: Caller, folder: Path) -> None:
    with FileLock(folder / "locked.conll"):
        printed = [caspr(*words).err for words in CALLS]
    quoted = QUOTED.findall(PAGE.read_text("utf-8").partition(FIRST)[2])
    for words, text in zip(CALLS, printed, strict=True):
        fitting = [one for one in quoted if _is_in(one, text)]
        assert len(fitting) == 1, f"caspr {' '.join(words)} prints\n{text}which fits {fitting}"
        quoted.remove(fitting[0])
    assert not quoted


def test_the_page_quotes_what_the_start_page_says() -> None:
    said = PAGE.read_text("utf-8").partition(FIRST)[0]
    sources = [path for path in SOURCES.rglob("*") if path.suffix in (".py", ".js", ".html")]
    text = " ".join("".join(path.read_text("utf-8") for path in sources).replace('"', " ").split())
    for quoted in QUOTED.findall(said):
        assert quoted in text


def _is_in(quoted: str, text: str) -> bool:
    """Return whether a printed text has a quoted line, in which `...` stands for anything."""
    line = ".*".join(map(re.escape, quoted.split("...")))
    return bool(re.search(rf"^ *{line}$", text, re.MULTILINE))
