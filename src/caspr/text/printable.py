"""Text from files made safe for a terminal or a line of a message."""


def printable(text: str) -> str:
    r"""Escape control characters.

    >>> printable("a\x1b[31mb\u202ec")
    'a\\x1b[31mb\\u202ec'
    """
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
