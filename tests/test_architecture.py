"""The import rules of docs/architecture.md, read off the syntax trees."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import caspr

ROOT = Path(caspr.__file__).parent
LAYERS = [
    {
        "errors",
        "exchange",
        "files",
        "file_locks",
        "similar_names",
        "locks",
        "process_memory",
        "process_tree",
        "upward",
    },
    {"text"},
    {"task"},
    {"engines", "proof", "result"},
    {"disputes", "measures"},
    {"formats", "report"},
    {"adjudication"},
    {"corpus", "review", "notebook"},
    {"cli", "__main__"},
]
TYPES_ONLY = ("result", "text/document", "measures/comparison", "measures/scores")
"""Modules that name the type of what `upward` brings them, and never import it when they run."""
WALLS: dict[str, str | tuple[str, ...]] = {
    "clingo": "engines/asp",
    "numpy": ("engines/native", "measures"),
    "scipy": ("engines/native", "measures"),
    "jinja2": ("report", "review"),
    "starlette": "review/server",
    "uvicorn": "review/server",
    "click": "cli",
    "rich": "cli/terminal",
    "subprocess": ("engines/asp", "corpus", "process_tree"),
    "psutil": ("process_memory", "process_tree"),
    "filelock": "file_locks",
    "distributed": "corpus/run/cluster",
    "sqlite3": "corpus",
    "xml": "formats/containers/xml",
    "zipfile": "formats/containers/zip",
    "cassis": "formats/cas",
    "matplotlib": "report/paper/raster",
    "pandas": ("notebook", *TYPES_ONLY),
}
"""Which package may be imported only where."""
POSIX = {"fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"}
"""Modules that Windows lacks."""
ALONE = {"text", "task", "formats", "report", "corpus", "review", "notebook"}
"""Rooms that do not know their neighbours in the same layer."""
FORBIDDEN = {
    "proof/verify": ("caspr.engines",),
    "proof/certify": ("caspr.engines",),
    "engines": ("caspr.proof", "caspr.result"),
    "engines/native/partition": (
        "caspr.text",
        "caspr.engines.native.translation",
        "caspr.engines.native.required",
    ),
    "engines/native/translation": ("caspr.engines.native.required",),
    "review/session": ("caspr.review.server",),
    "disputes": ("caspr.measures",),
}
"""Walls inside a layer or a room: what starts with the key never imports what starts with a value."""


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def room(path: Path) -> str:
    """Return the first part of a module's name below caspr."""
    return path.relative_to(ROOT).with_suffix("").parts[0]


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            yield node.module or ""
            if node.module == "caspr":
                yield from (f"caspr.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_that_only_posix_has_is_imported_with_a_module(path: Path) -> None:
    """Allow `fcntl` and the like only inside of functions, which ask whether there is such a module."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert POSIX.isdisjoint(name.partition(".")[0] for name in names), f"{path}:{node.lineno}"


def layer(name: str) -> int:
    return next(number for number, names in enumerate(LAYERS) if name in names)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_downwards(path: Path) -> None:
    here = room(path)
    if here == "__init__":
        return
    for name in imports(path):
        parts = name.split(".")
        if parts[0] != "caspr" or len(parts) < 2 or parts[1] in (here, "__version__"):
            continue
        assert layer(parts[1]) <= layer(here), f"{path} imports {name} from above"
        if here in ALONE:
            assert layer(parts[1]) < layer(here), f"{path} imports its neighbour {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_walls(path: Path) -> None:
    place = path.relative_to(ROOT).as_posix()
    for name in imports(path):
        home = WALLS.get(name.split(".")[0])
        assert home is None or place.startswith(home), f"{path} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_walls_inside_a_room(path: Path) -> None:
    place = path.relative_to(ROOT).as_posix()
    for start, others in FORBIDDEN.items():
        if place.startswith(start):
            for name in imports(path):
                assert not f"{name}.".startswith(tuple(f"{other}." for other in others)), f"{path}: {name}"


def test_no_import_cycles_within_a_layer() -> None:
    graph = {path: {name for name in imports(path) if name.startswith("caspr.")} for path in modules()}
    names = {f"caspr.{'.'.join(path.relative_to(ROOT).with_suffix('').parts)}": path for path in graph}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, f"import cycle: {' -> '.join((*trail, name))}"
        if name in done or name not in names:
            return
        for other in graph[names[name]]:
            visit(other, (*trail, name))
        done.add(name)

    for name in names:
        visit(name, ())


def test_modules_and_functions_stay_small() -> None:
    for path in modules():
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") <= 400, f"{path} is too long"
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
                size = node.end_lineno - node.lineno + 1
                documented = ast.get_docstring(node) is not None
                doc = node.body[0]
                if documented and doc.end_lineno is not None:
                    size -= doc.end_lineno - doc.lineno + 1
                assert size <= 40, f"{path}:{node.lineno} {node.name} has {size} lines"


def test_folders_stay_small() -> None:
    """Count the files of every folder; the command line has one for each command."""
    for folder in (ROOT, *(path for path in ROOT.rglob("*") if path.is_dir())):
        files = [path for path in folder.iterdir() if path.is_file() and path.suffix != ".pyc"]
        assert len(files) <= 14 or folder == ROOT / "cli", f"{folder} has {len(files)} files"


def test_a_class_name_means_one_class() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(path.relative_to(ROOT).as_posix())
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_modules_are_named_after_what_they_hold() -> None:
    for path in modules():
        assert path.stem not in ("utils", "util", "helpers", "common", "core", "misc"), path
