"""Which relations between mentions mean that they are of one entity, by what they are called."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from caspr.formats.messages import quoted
from caspr.text.findings import Finding, note, times, warning

_COREFERENCE = re.compile(r"coref|identi|ident$|equiv|same|anaph|antecedent", re.IGNORECASE)
_OTHER = re.compile(r"bridg|split", re.IGNORECASE)


def means_coreference(names: Iterable[str], wanted: Sequence[str] = ()) -> bool:
    """Return whether a relation is one of those that the user names, or else is named like coreference.

    >>> means_coreference(["Coref"]), means_coreference(["part of"])
    (True, False)
    >>> means_coreference(["Part of"], wanted=["part of"])
    True
    """
    if wanted:
        return bool({name.lower() for name in names} & {name.lower() for name in wanted})
    return any(_COREFERENCE.search(name) for name in names)


def means_something_else(name: str) -> bool:
    """Return whether a relation is named like one that links mentions of different entities."""
    return bool(_OTHER.search(name))


def unread_relations(
    unread: Iterable[str], read: Iterable[str], wanted: Sequence[str], where: str
) -> Iterator[Finding]:
    """Report the relations of an annotator's file that are not read, by type, and the option that reads them.

    An annotator whose relations are called otherwise would vote against every link. It is a warning,
    therefore, unless they are called like something else, or the user named other types that the file has.

    >>> for finding in unread_relations(["Verweis", "Verweis"], ["Coref"], [], "ben.ann"):
    ...     print(finding.message.partition(": ")[2])
    if they link mentions of one entity, use --relation Coref --relation Verweis
    """
    types, known = Counter(unread), list(dict.fromkeys(filter(None, read)))
    if not types:
        return
    meant = all(map(means_something_else, types)) or (wanted and known)
    message = _unread_message(types, known or wanted)
    if meant:
        yield note("other-relations", message, count=types.total(), where=where)
    else:
        yield warning("unread-relations", message, count=types.total(), where=where)


def _unread_message(types: Counter[str], known: Sequence[str]) -> str:
    """Name the types and the option that reads them, which must name again what is read now."""
    total = times(types.total(), "relation")
    named = [name for name, _ in types.most_common() if name]
    if not named:
        return f"{total} without a type not read"
    option = " ".join(f"--relation {_argument(one)}" for one in (*known, *named))
    others = "" if known else ", and name the type of the other annotators, too, if theirs is another"
    if len(types) > 1:
        listed = ", ".join(f"{quoted(name)} ({types[name]:,})" for name in named)
        remedy = f"name those that link mentions of one entity, as in {option}{others}"
        return f"{total} not read, of type {listed}: {remedy}"
    they = "it links" if types.total() == 1 else "they link"
    remedy = f"if {they} mentions of one entity, use {option}{others}"
    return f"{total} of type {quoted(named[0])} not read: {remedy}"


def _argument(name: str) -> str:
    return f'"{name}"' if re.search(r"\s", name) else name
