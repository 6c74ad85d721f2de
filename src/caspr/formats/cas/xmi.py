"""XMI: a CAS as XML, edited in place.

1. Every object is an element below the root; its prefix stands for a package, `http:///a/b.ecore` for `a.b`.
2. The text is `sofaString` of the `cas:Sofa` called `_InitialView`, or of the only one.
3. `cas:View` lists the objects that are indexed; new ones are added there.
4. No type system is needed, and nothing but the chain layer changes.
"""

import re
from collections.abc import Iterator

from caspr.formats.cas.chains import TOKEN, Cas, Changes, Structure
from caspr.formats.containers.xml import (
    Edit,
    Element,
    Markup,
    attributes,
    ecore_uri,
    edited,
    gold_edits,
    is_gold,
    parse,
    removal,
    with_attribute,
)
from caspr.formats.format import quoted
from caspr.formats.text_layer import Extent, Units, sentences
from caspr.text.document import Document

_PACKAGE = re.compile(r"http:///(.*)\.ecore")


def read_xmi(data: bytes) -> Cas:
    """Read a file, or raise `FormatError`."""
    markup = parse(data)
    if not markup.root.name.endswith(":XMI"):
        raise markup.refuse(markup.root, f"<{markup.root.name}>", "<xmi:XMI>")
    packages = _packages(markup.root)
    names = {element.name for element in markup.root.children}
    types = {name: _type(name, packages) for name in names}
    sofas = [element for element in markup.root.children if types[element.name] == "uima.cas.Sofa"]
    named = [element for element in sofas if element.attributes.get("sofaID") == "_InitialView"] or sofas
    if not named:
        raise markup.refuse(markup.root, "no cas:Sofa", "a text")
    sofa = named[0]
    number = markup.attribute(sofa, "xmi:id")
    structures: dict[str, Structure] = {}
    for element in markup.root.children:
        id = element.attributes.get("xmi:id")
        if id is None or element is sofa or element.attributes.get("sofa", number) != number:
            continue
        if not id.isascii() or not id.isdecimal() or len(id) > 12:
            raise markup.refuse(element, f"xmi:id={quoted(id)}", "a whole number")
        if id in structures:
            raise markup.refuse(element, f"xmi:id {id} for the second time", "each number once")
        values = dict(element.attributes)
        del values["xmi:id"]
        structures[id] = Structure(id, types[element.name], values, element.line)
    numbers = (element.attributes.get("xmi:id", "") for element in markup.root.children)
    largest = max((int(id) for id in numbers if id.isascii() and id.isdecimal()), default=0)
    text = sofa.attributes.get("sofaString", "")
    views = [element for element in markup.root.children if element.name.endswith(":View")]
    members = [set(view.attributes.get("members", "").split()) for view in views if _is_of(view, number)]
    indexed = frozenset(set().union(*members)) if members else None
    gold = is_gold(markup)
    return Cas(text, number, structures, frozenset(types.values()), largest, markup, indexed, gold)


def _is_of(view: Element, sofa: str) -> bool:
    return view.attributes.get("sofa") == sofa


def write_xmi(cas: Cas, changes: Changes) -> bytes:
    """Return the file with some objects changed."""
    markup = cas.file
    assert isinstance(markup, Markup)
    edits: list[Edit] = []
    prefix, declared = _prefix(markup.root, changes.layer.rpartition(".")[0])
    if not declared and changes.added:
        uri = ecore_uri(changes.layer.rpartition(".")[0])
        edits.append(with_attribute(markup, markup.root, f"xmlns:{prefix}", uri))
    replaced = {structure.id: structure for structure in changes.replaced}
    last: Element | None = None
    for element in markup.root.children:
        id = element.attributes.get("xmi:id", "")
        if id in cas.structures and id in changes.removed:
            edits.append(removal(markup, element))
        elif id in replaced and id in cas.structures:
            edits.append((element.start, element.end, _element(replaced[id], element.name)))
            last = element
        elif element.name.partition(":")[2] not in ("Sofa", "View"):
            last = element
    new = "".join(
        f"\n    {_element(structure, f'{prefix}:{structure.type.rpartition(chr(46))[2]}')}"
        for structure in changes.added
    )
    end = last.end if last else markup.root.inner
    edits.append((end, end, new))
    edits += [*_view_edits(markup, cas, changes), *gold_edits(markup, changes.gold)]
    return edited(markup, [edit for edit in edits if edit[0] != edit[1] or edit[2]])


def fresh_xmi(document: Document, text: str, offsets: tuple[Extent, ...], layer: str) -> bytes:
    """Make the file of a document that has none, with tokens and sentences and no chains."""
    units = Units(text)
    spaces = [
        ("xmi", "http://www.omg.org/XMI"),
        ("cas", ecore_uri("uima.cas")),
        ("coref", ecore_uri(layer.rpartition(".")[0])),
        ("tcas", ecore_uri("uima.tcas")),
        ("segmentation", ecore_uri(TOKEN.rpartition(".")[0])),
    ]
    lines = ['<cas:NULL xmi:id="0"/>', _numbered("tcas:DocumentAnnotation", 2, units, (0, len(text)))]
    for number, (name, extent) in enumerate(
        [("Sentence", sentence) for sentence in sentences(document.sentence_ends, offsets)]
        + [("Token", extent) for extent in offsets],
        3,
    ):
        lines.append(_numbered(f"segmentation:{name}", number, units, extent))
    sofa = [
        ("xmi:id", "1"),
        ("sofaNum", "1"),
        ("sofaID", "_InitialView"),
        ("mimeType", "text"),
        ("sofaString", text),
    ]
    members = " ".join(str(number) for number in range(2, len(lines) + 1))
    lines += [f"<cas:Sofa{attributes(sofa)}/>", f'<cas:View sofa="1" members="{members}"/>']
    root = attributes((f"xmlns:{prefix}", uri) for prefix, uri in spaces)
    body = "".join(f"    {line}\n" for line in lines)
    start = f'<?xml version="1.0" encoding="UTF-8"?>\n<xmi:XMI{root} xmi:version="2.0">\n'
    return f"{start}{body}</xmi:XMI>\n".encode()


def _numbered(name: str, number: int, units: Units, extent: Extent) -> str:
    values = [
        ("xmi:id", str(number)),
        ("sofa", "1"),
        ("begin", str(units.of(extent[0]))),
        ("end", str(units.of(extent[1]))),
    ]
    if name == "tcas:DocumentAnnotation":
        values.append(("language", "x-unspecified"))
    return f"<{name}{attributes(values)}/>"


def _packages(root: Element) -> dict[str, str]:
    """Return the package of each prefix."""
    packages = {}
    for name, uri in root.attributes.items():
        package = _PACKAGE.fullmatch(uri)
        if name.startswith("xmlns:") and package:
            packages[name.removeprefix("xmlns:")] = package[1].replace("/", ".")
    return packages


def _type(name: str, packages: dict[str, str]) -> str:
    prefix, _, bare = name.rpartition(":")
    return f"{packages.get(prefix, prefix)}.{bare}"


def _prefix(root: Element, package: str) -> tuple[str, bool]:
    """Return the prefix of a package, and whether it is declared."""
    known = {package: prefix for prefix, package in _packages(root).items()}
    if package in known:
        return known[package], True
    names = (f"chains{number or ''}" for number in range(1000))
    return next(name for name in names if f"xmlns:{name}" not in root.attributes), False


def _element(structure: Structure, name: str) -> str:
    return f"<{name}{attributes([('xmi:id', structure.id), *structure.values.items()])}/>"


def _view_edits(markup: Markup, cas: Cas, changes: Changes) -> Iterator[Edit]:
    """Add new objects to the index, and remove those that are gone."""
    views = [
        element
        for element in markup.root.children
        if element.name.endswith(":View") and _is_of(element, cas.sofa)
    ]
    for view in views:
        old = view.attributes.get("members", "").split()
        members = [id for id in old if id not in changes.removed]
        members += [new.id for new in changes.added]
        known = {*old, *(new.id for new in changes.added)}
        members += sorted(changes.indexed - known, key=int)
        if members != old:
            yield with_attribute(markup, view, "members", " ".join(members))
    made = [*changes.replaced, *changes.added]
    if made and not views:
        values = [("sofa", cas.sofa), ("members", " ".join(structure.id for structure in made))]
        prefix = _prefix(markup.root, "uima.cas")[0]
        yield markup.root.outer, markup.root.outer, f"<{prefix}:View{attributes(values)}/>\n"
