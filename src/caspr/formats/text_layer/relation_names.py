"""Which relations between mentions mean that they are of one entity, by what they are called."""

import re
from collections.abc import Iterable, Sequence

_COREFERENCE = re.compile(r"coref|identi|ident$|equiv|same|anaph|antecedent", re.IGNORECASE)


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
