"""Text from files made safe for a terminal or a line of a message."""


def printable(text: str) -> str:
    r"""Escape control characters.

    >>> printable("a\x1b[31mb\u202ec")
    'a\\x1b[31mb\\u202ec'
    """
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def is_encodable(text: str) -> bool:
    r"""Return whether text can be saved as UTF-8, which half a character (a lone surrogate) cannot.

    >>> is_encodable("a\U0001f600"), is_encodable("a\ud83d")
    (True, False)
    """
    return not any("\ud800" <= sign <= "\udfff" for sign in text)
