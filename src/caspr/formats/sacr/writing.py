"""Write SACR: the text with a pair of braces for each mention."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from caspr.formats.chain_ids import numbered
from caspr.formats.losses import lost_edges, lost_entities, lost_marks
from caspr.formats.naming import collect, stem
from caspr.formats.sacr.reading import GOLD_LINE, MENTION, SacrLayout
from caspr.formats.text_layer.characters import spell
from caspr.formats.text_layer.standoff import Marked, plan, wide_pieces
from caspr.text.document import Annotation, Chain
from caspr.text.findings import Finding, times, warning

_CHAIN = re.compile(r"[^\s:{}]+")


def write(annotations: Iterable[Annotation]) -> dict[str, str | bytes]:
    """Write a file for each document."""
    return collect((f"{stem(one.document)}.sacr", _written(one)) for one in annotations)


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    marks = lost_marks(annotation, labels=True, gaps=False)
    lost = (*marks, *lost_edges(annotation), *lost_entities(annotation, names=True, types=True))
    hidden = len(_split(annotation)[1])
    if not hidden:
        return lost
    message = (
        f"{times(hidden, 'mention')} that cross others or have no characters, in lines that only CaspR reads"
    )
    return (*lost, warning("hidden-mentions", message, count=hidden, where=annotation.annotator))


def _called(chains: Iterable[Chain]) -> list[Chain]:
    """Call chains by the names of their entities where that is possible, and by their ids otherwise."""
    given = list(chains)
    names = [chain.name.replace(" ", "_") for chain in given]
    often, ids = Counter(names), {chain.id for chain in given}
    fits = [bool(_CHAIN.fullmatch(name)) and often[name] == 1 and name not in ids for name in names]
    own = [chain.called(name) if fit else chain for chain, name, fit in zip(given, names, fits, strict=True)]
    return numbered(own, lambda id: _CHAIN.fullmatch(id) is not None)


def _split(annotation: Annotation) -> tuple[list[Marked], list[Marked]]:
    """Return the mentions in the order of their opening braces, and those that braces cannot express."""
    layout = annotation.document.layout
    known = layout.marked if isinstance(layout, SacrLayout) else ()
    chains = _called(annotation.all_chains)
    renamed = annotation.with_chains(chains)
    every = [
        Marked(chain.id, one.pieces, one.label, one.key)
        for chain, mentions in plan(renamed, known, types=True)
        for one in wide_pieces(mentions)
    ]
    nested: list[Marked] = []
    hidden: list[Marked] = []
    opened: list[int] = []
    for one in sorted(every, key=lambda one: (one.pieces[0][0], -one.pieces[0][1], int(one.key or 0))):
        start, end = one.pieces[0]
        while opened and opened[-1] <= start:
            opened.pop()
        if start == end or (opened and opened[-1] < end):
            hidden.append(one)
        else:
            opened.append(end)
            nested.append(one)
    return nested, hidden


def _written(annotation: Annotation) -> str:
    text, _ = spell(annotation.document)
    layout = annotation.document.layout
    known = layout if isinstance(layout, SacrLayout) else SacrLayout((), {}, ())
    nested, hidden = _split(annotation)
    pieces: dict[int, list[str]] = {}
    for one in reversed(nested):
        start = one.pieces[0][0]
        pieces.setdefault(start, []).insert(0, f"{{{one.chain}{_properties(one, known)} ")
    closings: dict[int, int] = {}
    for one in nested:
        closings[one.pieces[0][1]] = closings.get(one.pieces[0][1], 0) + 1
    lines = "".join(_signs(text, pieces, closings)).split("\n")
    for place, comment in reversed(known.comments):
        lines.insert(place, comment)
    lines += [GOLD_LINE] if annotation.adjudicated else []
    lines += [_hidden_line(one) for one in hidden]
    # A reader takes the first byte order mark for that of the file: a text that begins with one gets two.
    mark = "\ufeff" if lines[0].startswith("\ufeff") else ""
    return mark + "".join(f"{line}\n" for line in lines)


def _hidden_line(one: Marked) -> str:
    start, end = one.pieces[0]
    return f"{MENTION} {one.chain} {start} {end} {' '.join(one.label.split())}".rstrip()


def _signs(text: str, openings: dict[int, list[str]], closings: dict[int, int]) -> Iterator[str]:
    for place in range(len(text) + 1):
        yield "}" * closings.get(place, 0)
        yield from openings.get(place, ())
        if place < len(text):
            first = place == 0 or text[place - 1] == "\n"
            escaped = text[place] in "{}\\" or (first and text[place] == "#")
            yield f"\\{text[place]}" if escaped else text[place]


def _properties(one: Marked, layout: SacrLayout) -> str:
    if one.key in layout.properties:
        return layout.properties[one.key]
    value = re.sub(r'["\\\n]', "_", one.label)
    return f':EN="{value}"' if value else ""
