"""The import rules of docs/architecture.md, read off the syntax trees."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import caspr

ROOT = Path(caspr.__file__).parent
LAYERS = [
    {"errors", "storage", "processes", "notebook_methods"},
    {"text"},
    {"task"},
    {"engines", "proof", "result", "confidence"},
    {"disputes", "measures"},
    {"formats", "report"},
    {"adjudication"},
    {"corpus", "review", "notebook"},
    {"start"},
    {"cli", "__main__"},
]
TYPES_ONLY = ("result", "text/document", "measures/comparison", "measures/scores")
"""Modules that name the type of what `notebook_methods` brings them, and never import it when they run."""
WALLS: dict[str, str | tuple[str, ...]] = {
    "clingo": "engines/asp",
    "numpy": ("engines/native", "measures"),
    "scipy": ("engines/native", "measures"),
    "jinja2": ("report", "review", "start/pages"),
    "starlette": ("review/server", "start/pages"),
    "uvicorn": "review/server",
    "click": "cli",
    "rich": ("cli/shared/progress", "cli/corpus"),
    "subprocess": ("engines/asp", "corpus", "processes", "start/steps"),
    "psutil": "processes",
    "filelock": "storage",
    "distributed": "corpus/cluster",
    "sqlite3": "corpus",
    "xml": "formats/containers/xml",
    "zipfile": "formats/containers/zip",
    "cassis": "formats/cas",
    "matplotlib": "report/paper/figures",
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
        "caspr.engines.native.cases",
        "caspr.engines.native.connectivity",
        "caspr.engines.native.engine",
        "caspr.engines.native.links",
        "caspr.engines.native.nesting",
        "caspr.engines.native.state",
        "caspr.engines.native.translate",
    ),
    "disputes": ("caspr.measures",),
}
"""Walls inside a layer or a room: what starts with the key never imports what starts with a value."""


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def where(path: Path) -> str:
    """Return a module as a path below src/caspr."""
    return path.relative_to(ROOT).as_posix()


def source_of(name: str) -> Path | None:
    """Return where a module of ours is, if the name is one of ours."""
    if name.partition(".")[0] != "caspr":
        return None
    path = ROOT.joinpath(*name.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Return the modules that a module imports, anywhere in it."""
    names: list[str] = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            names += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{where(path)} has a relative import"
            module = node.module or ""
            parts = {f"{module}.{alias.name}" for alias in node.names}
            modules = {name for name in parts if (file := source_of(name)) is not None and file.exists()}
            names += [*sorted(modules), *([module] if parts != modules else [])]
    return tuple(names)


def all_imports() -> Iterator[tuple[Path, str]]:
    for path in modules():
        for name in imports(path):
            yield path, name


def test_nothing_that_only_posix_has_is_imported_with_a_module() -> None:
    """Allow `fcntl` and the like only inside of functions, which ask whether there is such a module."""
    for path in modules():
        for node in tree(path).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert POSIX.isdisjoint(name.partition(".")[0] for name in names), f"{where(path)}:{node.lineno}"


def layer(name: str) -> int:
    return next(number for number, names in enumerate(LAYERS) if name in names)


def test_imports_point_downwards() -> None:
    for path, name in all_imports():
        here = path.relative_to(ROOT).with_suffix("").parts[0]
        parts = name.split(".")
        if here == "__init__" or parts[0] != "caspr" or len(parts) < 2 or parts[1] in (here, "__version__"):
            continue
        assert layer(parts[1]) <= layer(here), f"{where(path)} imports {name} from above"
        if here in ALONE:
            assert layer(parts[1]) < layer(here), f"{where(path)} imports its neighbour {name}"


def test_walls() -> None:
    for path, name in all_imports():
        home = WALLS.get(name.split(".")[0])
        assert home is None or where(path).startswith(home), f"{where(path)} imports {name}"


def test_walls_inside_a_room() -> None:
    for path, name in all_imports():
        for start, rooms in FORBIDDEN.items():
            if where(path).startswith(start):
                assert not f"{name}.".startswith(tuple(f"{room}." for room in rooms)), (
                    f"{where(path)}: {name}"
                )


def test_no_import_cycles() -> None:
    """Look at every folder: no two of the modules and folders in it import each other, not even in a ring."""
    graph: dict[Path, set[Path]] = defaultdict(set)
    for path, name in all_imports():
        target = source_of(name)
        if target is not None:
            ancestor = next(folder for folder in target.parents if folder in path.parents)
            importer, imported = (ancestor / file.relative_to(ancestor).parts[0] for file in (path, target))
            if importer != imported:
                graph[importer].add(imported)
    done: set[Path] = set()

    def visit(node: Path, trail: tuple[Path, ...]) -> None:
        assert node not in trail, f"import cycle: {' -> '.join(map(where, (*trail, node)))}"
        if node not in done:
            for imported in sorted(graph.get(node, ())):
                visit(imported, (*trail, node))
            done.add(node)

    for node in sorted(graph):
        visit(node, ())


def test_functions_stay_short() -> None:
    for path in modules():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
                size = node.end_lineno - node.lineno + 1
                doc = node.body[0]
                if ast.get_docstring(node) is not None and doc.end_lineno is not None:
                    size -= doc.end_lineno - doc.lineno + 1
                assert size <= 40, f"{where(path)}:{node.lineno} {node.name} has {size} lines"


def test_a_class_name_means_one_class() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(path.relative_to(ROOT).as_posix())
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_modules_are_named_after_what_they_hold() -> None:
    for path in modules():
        assert path.stem not in ("utils", "util", "helpers", "common", "core", "misc"), path
