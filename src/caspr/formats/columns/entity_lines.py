"""Lines before a document about its chains: what entities are called, and whether this is a gold.

    # caspr gold: the result of an adjudication
    # caspr name: 3 "Sir William"
    # caspr type: 3 "person"
    # caspr name[2]: 3 "William"        of the second annotator, in a review file

The reference scorer takes comments inside a document for tokens, so that these stand before it. Names and
types are JSON texts, on one line whatever they hold.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from caspr.errors import FormatError
from caspr.formats.columns.blocks import Line
from caspr.formats.containers.json import parse_value
from caspr.formats.messages import quoted
from caspr.text.document import Chain

GOLD_LINE = "# caspr gold: the result of an adjudication"
"""Stands before every document that is one."""
KEYWORDS = ("name", "type", "gold")
"""What stands behind `# caspr` in such lines."""
_SAID = re.compile(r"# caspr (name|type)(?:\[([0-9]{1,9})\])?: (\S+) (.*)", re.DOTALL)
_EXPECTED = '`# caspr name: 3 "Sir William"`, the id of a chain and a text in double quotes'
Said = Mapping[int | None, Mapping[str, Mapping[str, str]]]
"""For each column (`None` for the result), `name` or `type`, and id, what was said."""


def entity_lines(chains: Iterable[Chain], column: int | None = None) -> list[str]:
    """Write names and types of chains, in the order of the chains."""
    place = "" if column is None else f"[{column}]"
    return [
        f"# caspr {keyword}{place}: {chain.id} {json.dumps(value, ensure_ascii=False)}"
        for chain in chains
        for keyword, value in (("name", chain.name), ("type", chain.type))
        if value
    ]


def is_gold(lines: Iterable[Line]) -> bool:
    """Return whether the lines before a document say that it is a gold."""
    return any(line.text.startswith("# caspr gold:") for line in lines)


def read_entities(lines: Iterable[Line], source: str) -> Said:
    """Read back what `entity_lines` wrote."""
    found: dict[int | None, dict[str, dict[str, str]]] = {}
    for line in lines:
        if not line.text.startswith(("# caspr name", "# caspr type")):
            continue
        said = _SAID.fullmatch(line.text)
        value = parse_value(said[4], source, _EXPECTED, line=line.number) if said else None
        if said is None or not isinstance(value, str):
            raise FormatError(source, line.number, quoted(line.text), _EXPECTED)
        column = int(said[2]) if said[2] else None
        found.setdefault(column, {}).setdefault(said[1], {})[said[3]] = value
    return found


def with_entities(chains: Sequence[Chain], said: Said, column: int | None = None) -> list[Chain]:
    """Give chains the names and types that were said of their ids."""
    own = said.get(column)
    if not own:
        return list(chains)
    names, types = own.get("name", {}), own.get("type", {})
    return [
        replace(chain, name=names.get(chain.id, chain.name), type=types.get(chain.id, chain.type))
        for chain in chains
    ]
