"""Read a proof that may hold anything JSON can: integers are integers, spans are pairs of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from caspr.errors import EngineError
from caspr.text.document import Span

Proof = Mapping[str, Any]
"""A proof, or a part of one, as read from JSON."""

MALFORMED = (
    KeyError,
    TypeError,
    ValueError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
)
"""What reading JSON of another shape than ours can raise; JSON of Python may hold `Infinity`."""


def require(condition: bool, message: str) -> None:
    """Refuse the certificate unless a condition holds."""
    if not condition:
        raise EngineError(f"certificate: {message}")


def read_integer(given: Any) -> int:
    """Read an integer; nothing is rounded or converted.

    >>> read_integer(2**64)
    18446744073709551616
    >>> read_integer(2.0)
    Traceback (most recent call last):
    TypeError: found 2.0, expected an integer
    """
    if type(given) is not int:
        raise TypeError(f"found {given!r}, expected an integer")
    return given


def read_spans(mentions: Sequence[Sequence[Any]]) -> list[Span]:
    """Read mentions given as pairs of tokens.

    >>> read_spans([[1, 3], [6, 6]])
    [Span(start=1, end=3), Span(start=6, end=6)]
    """
    return [Span(read_integer(start), read_integer(end)) for start, end in mentions]
