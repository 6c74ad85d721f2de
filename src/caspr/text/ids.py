"""Ids of chains: which texts are valid ones."""

import re

_ID = re.compile(r"(?!=)[^()|\s]+")


def is_id(text: str) -> bool:
    """Return whether a text is a valid id of a chain.

    >>> is_id("person-1-Daniel"), is_id("a b"), is_id("=1"), is_id("")
    (True, False, False, False)
    """
    return _ID.fullmatch(text) is not None
