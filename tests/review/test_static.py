"""No part of the page's JavaScript and styles is unused."""

import re
from pathlib import Path

import caspr.review

STATIC = Path(caspr.review.__file__).parent / "static"
MODULES = sorted(path for path in STATIC.rglob("*.js") if path.name != "theme.js")


def imports(path: Path) -> dict[Path, set[str]]:
    """Return the names that a module imports, by the file they come from; types in comments count too."""
    found: dict[Path, set[str]] = {}
    text = path.read_text(encoding="utf-8")
    for names, source in re.findall(r"import \{([^}]*)\} from \"([^\"]+)\"", text):
        target = (path.parent / source).resolve()
        found.setdefault(target, set()).update(re.findall(r"\w+", names))
    return found


def test_every_import_exists_and_every_export_is_imported() -> None:
    used: dict[Path, set[str]] = {}
    for path in MODULES:
        for target, names in imports(path).items():
            used.setdefault(target, set()).update(names)
    types = (STATIC / "state" / "types.js").resolve()
    for target in used.keys() - {types}:
        assert target.is_file(), target
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        exported = set(re.findall(r"^export (?:async )?(?:function|class|const) (\w+)", text, re.M))
        unused = exported - used.get(path.resolve(), set())
        assert not unused, f"{path}: {unused}"


def test_every_module_is_loaded() -> None:
    loaded: set[Path] = set()
    templates = (STATIC.parent / "templates").glob("*.html")
    named = (re.findall(r'type="module" src="/static/([^"]+)"', path.read_text()) for path in templates)
    waiting = [(STATIC / name).resolve() for names in named for name in names]
    while waiting:
        path = waiting.pop()
        if path not in loaded and path.suffix == ".js" and path.is_file():
            loaded.add(path)
            waiting += imports(path)
    assert loaded == {path.resolve() for path in MODULES}


def test_every_style_names_an_element_of_the_page() -> None:
    """A class or id that only a style sheet knows styles nothing."""
    sources = [*STATIC.rglob("*.js"), *STATIC.parent.glob("templates/*.html")]
    known = set(re.findall(r"[\w-]+", " ".join(path.read_text(encoding="utf-8") for path in sources)))
    for path in STATIC.rglob("*.css"):
        text = re.sub(r"/\*.*?\*/|\{[^{}]*\}|\"[^\"]*\"", " ", path.read_text(encoding="utf-8"), flags=re.S)
        for name in re.findall(r"[.#]([a-z][\w-]*)", text):
            assert name in known or re.fullmatch(r"k\d+", name), f"{path}: {name}"
