"""The table of formats and the records in it."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from itertools import combinations
from pathlib import Path

import pytest

import caspr
from caspr.errors import FormatError, OutputError
from caspr.formats.format import Format
from caspr.formats.registry import EXPORTED, FORMATS, WRITTEN, by_suffix, companions, detect, recognise
from caspr.formats.sources import read_files
from caspr.text.document import Annotation, Chain, Document

ROOT = Path(caspr.__file__).parent
every = pytest.mark.parametrize("name", list(FORMATS))


@every
def test_a_record_is_called_like_its_package(name: str) -> None:
    assert FORMATS[name].name == name
    assert isinstance(FORMATS[name], Format)


def test_unknown_names_are_no_formats() -> None:
    assert "review_file" not in FORMATS
    with pytest.raises(KeyError):
        FORMATS["containers"]


@every
def test_suffixes(name: str) -> None:
    format = FORMATS[name]
    assert format.suffixes
    assert all(suffix == suffix.lower() for suffix in format.suffixes)
    assert format.name not in WRITTEN or all(suffix.startswith(".") for suffix in format.suffixes)
    every = (*format.suffixes, *format.shared_suffixes)
    assert set(format.vague_suffixes) <= set(every)
    if format.forms is not None:
        assert set(format.forms.by_suffix) == set(every)
        assert set(format.forms.by_suffix.values()) <= set(every)


def test_no_two_formats_share_a_suffix() -> None:
    for one, two in combinations(FORMATS.values(), 2):
        assert not set(one.suffixes) & set(two.suffixes), (one.name, two.name)


def test_the_longest_suffix_counts() -> None:
    suffixes = {suffix: format.name for format in FORMATS.values() for suffix in format.suffixes}
    for suffix, name in suffixes.items():
        assert by_suffix(Path(f"a.b{suffix}")) == name


@pytest.mark.parametrize("name", [name for name in FORMATS if not FORMATS[name].many_documents])
def test_only_files_of_many_documents_are_read_one_by_one(name: str) -> None:
    format = FORMATS[name]
    assert format.read_each is None
    assert format.cutting is None
    assert format.write_apart is None


@every
def test_what_can_hold_any_annotation(name: str) -> None:
    made = Annotation.of("Ann", Document("d", ("a", "b")), [Chain.of("1", [(1, 1), (2, 2)])])
    if name in EXPORTED:
        assert FORMATS[name].write([made])
    else:
        with pytest.raises(OutputError, match="choose another output format"):
            FORMATS[name].write([made])


def test_vague_names_show_a_format_only_where_it_is_expected(tmp_path: Path) -> None:
    path = tmp_path / "x.JSON"
    path.write_text("[]")
    assert recognise(path) is None
    assert by_suffix(path) == "cas"
    with pytest.raises(FormatError, match="JSON of an unknown kind"):
        detect(path)
    for name in ("x.xml", "x.zip"):
        (tmp_path / name).write_text("[]")
        assert recognise(tmp_path / name) is None
    (tmp_path / "x.tsv").write_text("")
    assert recognise(tmp_path / "x.tsv") == "webanno"
    (tmp_path / "README").write_text("")
    assert recognise(tmp_path / "README") is None
    assert detect(tmp_path / "README") == next(iter(FORMATS)) == "conll"


def test_only_the_beginning_of_a_file_is_examined(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("\n" * 70_000 + "#begin document (d);\n")
    assert recognise(path) is None


def test_what_is_read_with_a_file_is_an_input(tmp_path: Path) -> None:
    ann, text = tmp_path / "a.ann", tmp_path / "other.txt"
    ann.touch()
    assert companions(ann) == []
    text.touch()
    assert read_files([ann]) == [ann, text]
    main, part = tmp_path / "p.mmax", tmp_path / "Basedata" / "p_words.xml"
    part.parent.mkdir()
    part.touch()
    main.touch()
    assert part in read_files([main])


def test_files_of_the_first_format_import_no_other(tmp_path: Path) -> None:
    """CoNLL is what most people have, and the other formats' parsers take long to load."""
    file = "#begin document (d);\n1\tx\t(1)\n2\ty\t(1)\n#end document\n"
    for name in ("a.conll", "b.conll"):
        (tmp_path / name).write_text(file)
    code = (
        "import sys; from caspr.cli import cli\n"
        "cli.main(['adjudicate', 'a.conll', 'b.conll', *sys.argv[1:]], standalone_mode=False)\n"
        "print([name for name in sys.modules if name.startswith('caspr.formats.')], file=sys.stderr)"
    )
    for words in ([], ["-o", "gold.conll"], ["-o", "review.conll", "--layout", "review"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        loaded = ast.literal_eval(done.stderr.splitlines()[-1])
        first, *others = FORMATS
        assert f"caspr.formats.{first}" in loaded
        assert not {f"caspr.formats.{name}" for name in others} & set(loaded)


def dispatchers() -> list[Path]:
    """Return the modules that deal with formats in general."""
    modules = {getattr(format.read, "func", format.read).__module__ for format in FORMATS.values()}
    own = {ROOT.joinpath(*module.split(".")[1:]) for module in modules}
    rooms = [path for room in ("formats", "corpus", "review", "cli") for path in (ROOT / room).rglob("*.py")]
    return sorted(path for path in rooms if not own.intersection((path.with_suffix(""), *path.parents)))


def compared(path: Path) -> Iterator[str]:
    """Yield the texts that a module compares something with, or looks for at the end of something."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        ends = isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("endswith", "with_suffix")
        if isinstance(node, ast.Compare) or ends:
            texts = (one.value for one in ast.walk(node) if isinstance(one, ast.Constant))
            yield from (text for text in texts if isinstance(text, str))


@pytest.mark.parametrize("path", dispatchers(), ids=lambda path: str(path.relative_to(ROOT)))
def test_dispatchers_hold_no_names_of_formats(path: Path) -> None:
    names = {*FORMATS, *(suffix for format in FORMATS.values() for suffix in format.suffixes)}
    assert not names.intersection(compared(path))


def test_every_field_of_a_record_is_documented() -> None:
    source = (ROOT / "formats" / "format.py").read_text(encoding="utf-8")
    [record] = [one for one in ast.parse(source).body if getattr(one, "name", "") == "Format"]
    assert isinstance(record, ast.ClassDef)
    documented = {
        one.target.id
        for one, after in zip(record.body, record.body[1:], strict=False)
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and isinstance(after, ast.Expr)
    }
    assert documented == {field.name for field in fields(Format)}
