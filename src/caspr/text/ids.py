"""Ids of chains: what every part of CaspR takes for one."""

import re

_ID = re.compile(r"(?!=)[^()|\s]+")


def is_id(text: str) -> bool:
    """Tell whether a chain of this id can be written.

    >>> is_id("person-1-Daniel"), is_id("a b"), is_id("=1"), is_id("")
    (True, False, False, False)
    """
    return _ID.fullmatch(text) is not None
