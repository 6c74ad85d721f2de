"""XMI: a CAS as XML, edited in place.

1. Every object is an element below the root; its prefix stands for a package, `http:///a/b.ecore` for `a.b`.
2. The text is `sofaString` of the `cas:Sofa` called `_InitialView`, or of the only one.
3. `cas:View` lists the objects that are indexed; new ones are added there.
4. No type system is needed, and nothing but the chain layer changes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

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
    replaced = {structure.id: structure for structure in changes.replaced}
    for element in markup.root.children:
        id = element.attributes.get("xmi:id", "")
        if id in cas.structures and id in changes.removed:
            edits.append(removal(markup, element))
        elif id in replaced and id in cas.structures:
            edits.append((element.start, element.end, _element(replaced[id], element.name)))
    package = changes.layer.rpartition(".")[0]
    edits += [*added_edits(markup, package, changes), *view_edits(markup, cas, changes)]
    return edited(markup, [*edits, *gold_edits(markup, changes.gold)])


def added_edits(markup: Markup, package: str, changes: Changes) -> Iterator[Edit]:
    """Write new objects of a package after the others that stay."""
    if not changes.added:
        return
    prefix, declared = _prefix(markup.root, package)
    if not declared:
        yield with_attribute(markup, markup.root, f"xmlns:{prefix}", ecore_uri(package))
    kept = [
        element
        for element in markup.root.children
        if element.name.partition(":")[2] not in ("Sofa", "View")
        and element.attributes.get("xmi:id") not in changes.removed
    ]
    end = kept[-1].end if kept else markup.root.inner
    names = (f"{prefix}:{structure.type.rpartition('.')[2]}" for structure in changes.added)
    lines = map(_element, changes.added, names)
    yield end, end, "".join(f"\n    {line}" for line in lines)


def fresh_xmi(document: Document, text: str, offsets: Sequence[Extent], layer: str) -> bytes:
    """Make the file of a document that has none, with tokens and sentences and no chains."""
    words = segmentation(text, sentences(document.sentence_ends, offsets), offsets)
    return new_xmi(text, {"coref": layer.rpartition(".")[0]}, words, len(words))


def segmentation(text: str, sentences: Iterable[Extent], tokens: Iterable[Extent]) -> list[str]:
    """Write the sentences and tokens of a new file, numbered from 3."""
    units = Units(text)
    marked = [*(("Sentence", sentence) for sentence in sentences), *(("Token", token) for token in tokens)]
    return [
        f'<segmentation:{name} xmi:id="{number}" sofa="1" begin="{units.of(start)}" end="{units.of(end)}"/>'
        for number, (name, (start, end)) in enumerate(marked, 3)
    ]


def new_xmi(text: str, packages: Mapping[str, str], elements: Sequence[str], indexed: int) -> bytes:
    """Make a file with a text and elements, numbered from 3; the first `indexed` of them are in the index.

    `packages` are those of their types, by prefix, beside those that every file has.
    """
    usual = {"cas": "uima.cas", "tcas": "uima.tcas", "segmentation": TOKEN.rpartition(".")[0]}
    uris = {prefix: ecore_uri(package) for prefix, package in {**usual, **packages}.items()}
    whole = [("begin", "0"), ("end", str(Units(text).of(len(text)))), ("language", "x-unspecified")]
    sofa = [("xmi:id", "1"), ("sofaNum", "1"), ("sofaID", "_InitialView"), ("mimeType", "text")]
    lines = [
        '<cas:NULL xmi:id="0"/>',
        f"<tcas:DocumentAnnotation{attributes([('xmi:id', '2'), ('sofa', '1'), *whole])}/>",
        *elements,
        f"<cas:Sofa{attributes([*sofa, ('sofaString', text)])}/>",
        f'<cas:View sofa="1" members="{" ".join(map(str, range(2, indexed + 3)))}"/>',
    ]
    spaces = {"xmi": "http://www.omg.org/XMI", **uris}
    root = attributes((f"xmlns:{prefix}", uri) for prefix, uri in spaces.items())
    body = "".join(f"    {line}\n" for line in lines)
    start = f'<?xml version="1.0" encoding="UTF-8"?>\n<xmi:XMI{root} xmi:version="2.0">\n'
    return f"{start}{body}</xmi:XMI>\n".encode()


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


def view_edits(markup: Markup, cas: Cas, changes: Changes) -> Iterator[Edit]:
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
