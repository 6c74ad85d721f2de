"""Names of entities in a review file: those that annotators voted for, and those of the adjudicator.

    # caspr name: 3 "William"                                                     voted by the annotators
    # caspr name: 3 "Sir William" by "Ann" at 2026-11-17T09:30:05Z                given by Ann
    # caspr type: 3 "person" by "Ann" at 2026-11-17T09:30:05Z
    # caspr name: - "Lady Mary" of 7-8 12-12 by "Ann" at 2026-11-17T09:30:05Z     waits for its mentions

1. The id is that of a chain in the result column, as the file has it. `of` names the mentions instead, where
   no chain has most of them.
2. A line without `by` and `of` whose text an annotator gave to some entity is a vote, and computed anew. Any
   other was written by hand, and is a decision.
3. An empty text says that the entity has no name, or no type, whatever annotators voted.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from caspr.errors import FormatError
from caspr.formats.columns.blocks import Line
from caspr.formats.columns.cells import parse
from caspr.formats.containers.json import parse_value
from caspr.formats.messages import quoted
from caspr.formats.review_file.authors import Authors, signed, split_signature
from caspr.formats.review_file.statements import read_mention, spelled
from caspr.task.authorship import Authorship
from caspr.task.names import EntityName, match_names
from caspr.text.document import Annotation, Chain, Span

NOWHERE = "-"
"""Stands for the id of an entity that no chain has most mentions of."""
_LINE = re.compile(r'# caspr (name|type): (\S+) +("(?:[^"\\]|\\.)*")(.*)', re.DOTALL)
_RESULT = re.compile(r"# caspr (name|type):")
_OF = re.compile(r"\s+of((?:\s+[0-9]+-[0-9]+)+)(.*)", re.DOTALL)
_EXPECTED = (
    '`# caspr name: 3 "Sir William"`, the id of a chain in the result column and a text in double quotes, '
    "or the mentions behind it: `of 1-3 6-6`"
)
Homes = Mapping[str, Sequence[Span]]
"""The mentions of each id in the result column."""


def is_name(line: Line) -> bool:
    """Return whether a line names a chain of the result."""
    return _RESULT.match(line.text) is not None


def name_lines(chains: Iterable[Chain], names: Sequence[EntityName], authors: Authors) -> list[str]:
    """Write names and types of the chains of the result, in the order of the chains, then those that wait."""
    given = list(chains)
    matched = match_names(given, names)
    own = {chain: names[name] for name, chain in matched.items()}
    lines: list[str] = []
    for number, chain in enumerate(given):
        name = own.get(number)
        if name is not None:
            lines += _decided(name, chain.id, authors.names.get(name))
        lines += [
            _line(keyword, chain.id, voted)
            for keyword, voted, decided in (
                ("name", chain.name, name and name.name),
                ("type", chain.type, name and name.type),
            )
            if voted and decided is None
        ]
    for number, name in enumerate(names):
        if number not in matched:
            lines += _decided(name, NOWHERE, authors.names.get(name))
    return lines


def _decided(name: EntityName, id: str, made: Authorship | None) -> list[str]:
    # Without an author, the mentions tell the line from a vote.
    where = f" of {' '.join(map(spelled, name.mentions))}" if id == NOWHERE or made is None else ""
    return [
        signed(_line(keyword, id, value) + where, made)
        for keyword, value in (("name", name.name), ("type", name.type))
        if value is not None
    ]


def _line(keyword: str, id: str, value: str) -> str:
    return f"# caspr {keyword}: {id} {json.dumps(value, ensure_ascii=False)}"


def read_names(
    lines: Iterable[Line],
    source: str,
    tokens: int,
    annotations: Iterable[Annotation],
    homes: Callable[[], Homes],
) -> dict[EntityName, Authorship | None]:
    """Read what the adjudicator called entities, each with its author if known.

    `homes` finds the mentions of the ids in the result column; it is called if a line needs it.
    """
    voted = {
        said
        for annotation in annotations
        for chain in annotation.all_chains
        for said in (("name", chain.name), ("type", chain.type))
    }
    found: dict[tuple[Span, ...], dict[str, str]] = {}
    authors: dict[tuple[Span, ...], Authorship | None] = {}
    known: Homes | None = None
    for line in filter(is_name, lines):
        keyword, id, value, mentions, made = _read(line, source, tokens)
        if not mentions:
            if made is None and (keyword, value) in voted:
                continue
            known = homes() if known is None else known
            mentions = tuple(sorted(known.get(id, ())))
        if not mentions:
            raise FormatError(source, line.number, f"a {keyword} for chain {quoted(id)}", _EXPECTED)
        found.setdefault(mentions, {})[keyword] = value
        authors[mentions] = made or authors.get(mentions)
    return {
        EntityName(mentions, said.get("name"), said.get("type")): authors[mentions]
        for mentions, said in found.items()
    }


def _read(line: Line, source: str, tokens: int) -> tuple[str, str, str, tuple[Span, ...], Authorship | None]:
    """Split a line into keyword, id, text, mentions if it names any, and author."""
    said = _LINE.fullmatch(line.text)
    if said is None:
        raise FormatError(source, line.number, quoted(line.text), _EXPECTED)
    value = parse_value(said[3], source, _EXPECTED, line=line.number)
    rest, mentions = said[4], tuple[Span, ...]()
    if stated := _OF.fullmatch(rest):
        spans = {read_mention(line, word, source, tokens, _EXPECTED) for word in stated[1].split()}
        rest, mentions = stated[2], tuple(sorted(spans))
    rest, made = split_signature(rest, source, line.number)
    if rest.strip() or not isinstance(value, str):
        raise FormatError(source, line.number, quoted(line.text), _EXPECTED)
    return said[1], said[2], value, mentions, made


def result_homes(results: Sequence[str], aliases: Mapping[str, str]) -> Homes:
    """Find the chains of the result column; what is malformed in it is left out, as it is computed anew.

    >>> result_homes(["=(1", "(2)", "1)", "2)"], {})
    {'2': [Span(start=2, end=2)], '1': [Span(start=1, end=3)]}
    """
    found: dict[str, list[Span]] = defaultdict(list)
    opened: dict[str, list[int]] = defaultdict(list)
    for token, cell in enumerate(results, 1):
        try:
            items = parse(cell.removeprefix("="))
        except ValueError:
            continue
        for item in items:
            if item.opens:
                opened[item.id].append(token)
            if item.closes and opened[item.id]:
                found[aliases.get(item.id, item.id)].append(Span(opened[item.id].pop(), token))
    return dict(found)
