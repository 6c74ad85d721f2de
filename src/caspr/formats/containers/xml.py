"""Markup: the only place that parses XML. Files become elements that know their place, and are edited there.

1. Entity declarations are refused, and with them all that can be built from entities; nothing is ever
   fetched. A document type declaration without entities is tolerated and means nothing.
   XML 1.1 is read as 1.0.
2. Names are kept as the file has them, with their prefix.
3. A file is changed by replacing stretches of it, so that all the rest (comments, order, blanks, other
   elements) stays as it is to the byte, in the encoding the file declares.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from caspr.errors import FormatError, OutputError
from caspr.formats.format import CUT_OFF, JOINED, quoted

Edit = tuple[int, int, str]
"""A stretch of a file, start and end, and what comes in its place."""

_DECLARED = re.compile(rb"""\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_VERSION = re.compile(rb"""(<\?xml\s+version\s*=\s*["'])1\.1""")
_TAG = re.compile(rb"""<[^"'>]*(?:"[^"]*"[^"'>]*|'[^']*'[^"'>]*)*>""")
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PLAIN = re.compile(r"[\w .,:/#-]*")
_ASIDE = re.compile(rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>", re.DOTALL)
_ENTITY = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)[^#\s;]{1,60};")
_DEEPEST = 200
_GOLD = "<!-- caspr gold: the result of an adjudication -->"


@dataclass
class Element:
    """One element of a file, with its place."""

    name: str
    """With its prefix, as in the file."""
    attributes: dict[str, str]
    """In the order of the file."""
    line: int
    start: int
    inner: int
    """The first byte of its content; for `<a/>` this is its end."""
    end: int = 0
    outer: int = 0
    """The byte after its content."""
    text: str = ""
    offset: int = 0
    """How many characters of the element around it come before it."""
    children: list["Element"] = field(default_factory=list)

    def all(self) -> Iterator["Element"]:
        """List this element and all inside it, in order."""
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))

    def named(self, name: str) -> Iterator["Element"]:
        """List the elements of a name directly in it."""
        return (child for child in self.children if child.name == name)

    def first(self, name: str) -> "Element | None":
        """Return the first element of a name directly in it."""
        return next(self.named(name), None)


@dataclass(frozen=True)
class Markup:
    """A file and its elements."""

    body: bytes
    """Its text in UTF-8, to which the places of elements refer."""
    encoding: str
    """The encoding it declares and is written in."""
    root: Element = field(compare=False)

    def refuse(self, element: Element, found: str, expected: str) -> FormatError:
        """Make the error for something wrong with an element."""
        return FormatError(element.line, found, expected)

    def attribute(self, element: Element, name: str) -> str:
        """Return an attribute that must be there."""
        if name not in element.attributes:
            raise self.refuse(element, f"<{element.name}> without {name}", f'{name}="..."')
        return element.attributes[name]

    def number(self, element: Element, name: str) -> int:
        """Return an attribute that must be a whole number of 0 or more."""
        value = self.attribute(element, name)
        if not re.fullmatch(r"[0-9]{1,12}", value):
            raise self.refuse(element, f"{name}={quoted(value)}", f"{name} to be a whole number")
        return int(value)


_HINTS = {
    "no element found": CUT_OFF,
    "unclosed token": CUT_OFF,
    "unclosed CDATA section": CUT_OFF,
    "junk after document element": JOINED,
}
"""What probably happened to a file, by the error of the parser."""


def parse(data: bytes) -> Markup:
    """Read a file, or raise `FormatError` at what is not well-formed or not allowed."""
    text, encoding = _decode(data)
    body = text.encode("utf-8")
    # What XML 1.1 has besides, control characters, is refused where it occurs.
    builder = _Builder(_VERSION.sub(rb"\g<1>1.0", body, count=1))
    try:
        root = builder.build()
    except expat.ExpatError as error:
        if not text.strip():
            raise FormatError(None, "an empty file", "XML: get or export the file again") from None
        problem = expat.ErrorString(error.code)
        expected = f"well-formed XML{_HINTS.get(problem, '')}"
        raise FormatError(error.lineno, f"broken XML ({problem})", expected) from None
    if builder.foreign:
        _refuse_hidden_entities(body)
    return Markup(body, encoding, root)


def edited(markup: Markup, edits: Iterable[Edit]) -> bytes:
    """Return the file with some stretches replaced."""
    pieces: list[bytes] = []
    position = 0
    for start, end, text in sorted(edits, key=lambda edit: (edit[0], edit[1])):
        pieces += (markup.body[position:start], text.encode("utf-8"))
        position = end
    whole = b"".join([*pieces, markup.body[position:]]).decode("utf-8")
    return whole.encode(markup.encoding, "xmlcharrefreplace")


def is_gold(markup: Markup) -> bool:
    """Return whether a comment says that a file holds the result of an adjudication."""
    return _GOLD.encode() in markup.body


def gold_edits(markup: Markup, wanted: bool) -> Iterator[Edit]:
    """Put that comment into a file, or take it out; other programs pass over it."""
    start = markup.body.find(_GOLD.encode())
    if wanted and start < 0 and markup.root.end > markup.root.outer:
        yield markup.root.inner, markup.root.inner, f"\n{_GOLD}"
    elif not wanted and start >= 0:
        yield start - markup.body.startswith(b"\n", start - 1), start + len(_GOLD), ""


def escaped(text: str) -> str:
    """Write characters as content of an element.

    >>> escaped("a < b & c")
    'a &lt; b &amp; c'
    """
    _refuse_illegal(text)
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\r", "&#13;")):
        text = text.replace(character, entity)
    return text


def attributes(values: Iterable[tuple[str, str]]) -> str:
    """Write attributes, with a blank before each.

    >>> attributes([("a", 'say "x"'), ("b", "1")])
    ' a="say &quot;x&quot;" b="1"'
    """
    return "".join(f' {name}="{_quotable(value)}"' for name, value in values)


def with_attribute(markup: Markup, element: Element, name: str, value: str) -> Edit:
    """Set an attribute of an element, in its place or after the others."""
    tag = markup.body[element.start : element.inner]
    pattern = rb"""(?<=\s)%s\s*=\s*(?:"[^"]*"|'[^']*')""" % re.escape(name.encode("utf-8"))
    match = re.search(pattern, tag) if name in element.attributes else None
    text = attributes([(name, value)])
    if match:
        return element.start + match.start(), element.start + match.end(), text[1:]
    end = element.inner - (2 if tag.endswith(b"/>") else 1)
    return end, end, text


def removal(markup: Markup, element: Element) -> Edit:
    """Take an element out, with the line it stands on if nothing else does."""
    before = markup.body.rfind(b"\n", 0, element.start) + 1
    after = markup.body.find(b"\n", element.end) + 1
    alone = (
        after
        and not markup.body[before : element.start].strip()
        and not markup.body[element.end : after].strip()
    )
    return (before, after, "") if alone else (element.start, element.end, "")


def _quotable(value: str) -> str:
    if _PLAIN.fullmatch(value):
        return value
    text = escaped(value).replace('"', "&quot;")
    return text.replace("\n", "&#10;").replace("\t", "&#9;")


def _refuse_illegal(text: str) -> None:
    if illegal := _ILLEGAL.search(text):
        raise OutputError(
            f"cannot write U+{ord(illegal[0]):04X}, which no XML file can hold: use another format"
        )


def _refuse_hidden_entities(body: bytes) -> None:
    """Refuse entities of a foreign definition in attributes, where the parser drops them without a word."""
    plain = _ASIDE.sub(lambda aside: b" " * len(aside[0]), body)
    if entity := _ENTITY.search(plain):
        line = body.count(b"\n", 0, entity.start()) + 1
        name = entity[0].decode("utf-8", "replace")
        raise FormatError(line, f"entity {name}", "characters, or references such as &#233;")


def _decode(data: bytes) -> tuple[str, str]:
    """Decode a file as it declares, or as UTF-8."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    else:
        declared = _DECLARED.match(data.removeprefix(codecs.BOM_UTF8), 0, 300)
        encoding = declared[1].decode("ascii").lower() if declared else "utf-8"
    try:
        text = data.decode(encoding)
        text.encode("utf-8")
    except LookupError:
        raise FormatError(1, f"unknown encoding {quoted(encoding)}", "a known one, best UTF-8") from None
    except UnicodeError as error:
        position = getattr(error, "start", 0)
        line = data.count(b"\n", 0, position) + 1
        raise FormatError(line, f"a byte that is not {encoding}", f"{encoding}, as declared") from None
    if not isinstance(text, str):
        raise FormatError(1, f"encoding {quoted(encoding)}", "an encoding of text")
    return text.removeprefix("\ufeff"), encoding


class _Builder:
    """Make elements of what expat reports."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.stack: list[Element] = []
        self.texts: list[list[str]] = []
        self.lengths: list[int] = []
        self.root: Element | None = None
        self.foreign = False
        self.parser = expat.ParserCreate(encoding="utf-8")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.open
        self.parser.EndElementHandler = self.close
        self.parser.CharacterDataHandler = self.add
        self.parser.EntityDeclHandler = self.refuse_declaration
        self.parser.StartDoctypeDeclHandler = self.note_doctype
        self.parser.SkippedEntityHandler = self.refuse_entity

    def build(self) -> Element:
        """Parse everything and return the outermost element."""
        self.parser.Parse(self.body, True)
        assert self.root is not None
        return self.root

    def open(self, name: str, values: dict[str, str]) -> None:
        """Begin an element."""
        start = self.parser.CurrentByteIndex
        tag = _TAG.match(self.body, start)
        inner = tag.end() if tag else start
        element = Element(name, values, self.parser.CurrentLineNumber, start, inner)
        element.offset = self.lengths[-1] if self.lengths else 0
        if len(self.stack) >= _DEEPEST:
            raise FormatError(element.line, f"{_DEEPEST} elements inside each other", "fewer")
        if self.stack:
            self.stack[-1].children.append(element)
        else:
            self.root = element
        self.stack.append(element)
        self.texts.append([])
        self.lengths.append(0)

    def close(self, name: str) -> None:  # noqa: ARG002
        """End an element."""
        element = self.stack.pop()
        self.lengths.pop()
        element.text = "".join(self.texts.pop())
        if self.body[element.inner - 2 : element.inner] == b"/>":
            element.outer = element.end = element.inner
        else:
            element.outer = self.parser.CurrentByteIndex
            element.end = self.body.index(b">", element.outer) + 1

    def add(self, text: str) -> None:
        """Take characters."""
        self.texts[-1].append(text)
        self.lengths[-1] += len(text)

    def note_doctype(self, name: str, system: str | None, *_: object) -> None:  # noqa: ARG002
        """Remember whether a definition is in another file, which is never read."""
        self.foreign = system is not None

    def refuse_declaration(self, name: str, *_: object) -> None:
        """Refuse what entity attacks are made of."""
        line = self.parser.CurrentLineNumber
        raise FormatError(line, f"a declaration of entity {quoted(name)}", "no entities")

    def refuse_entity(self, name: str, is_parameter: bool) -> None:  # noqa: ARG002
        """Refuse an entity that only a foreign file could explain."""
        line = self.parser.CurrentLineNumber
        raise FormatError(line, f"entity &{name};", "characters, or references such as &#233;")


def ecore_uri(package: str) -> str:
    """Return the name of a package of UIMA's types as XMI declares it.

    >>> ecore_uri("uima.cas")
    'http:///uima/cas.ecore'
    """
    return f"http:///{package.replace('.', '/')}.ecore"
