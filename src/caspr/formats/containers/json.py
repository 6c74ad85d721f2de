"""JSON: values read from text, with one set of messages for all that can be wrong with them."""

import json
import re
from typing import Any

from caspr.errors import FormatError
from caspr.formats.format import CUT_OFF, JOINED
from caspr.storage import decode

_KINDS = {list: "a list", str: "a text", bool: "a truth value", int: "a number", float: "a number"}


def has_fields(head: str, *names: str, begin: str = "{") -> bool:
    """Return whether a file begins like a JSON object that has fields of these names, at any depth.

    The same words in a text are not names. `begin` lists the signs with which the file may begin.

    >>> has_fields('{"a": ["b"]}', "a"), has_fields('{"a": ["b"]}', "b"), has_fields('[{"a": 1}]', "a")
    (True, False, False)
    """
    starts = head.lstrip().startswith(tuple(begin))
    return starts and all(re.search(rf'"{name}"\s*:', head) for name in names)


def parse_value(text: str, expected: str, *, line: int = 1) -> Any:
    """Read a JSON value that begins in some line of a file, or refuse what is malformed or cut off."""
    try:
        return json.loads(text)
    except RecursionError:
        raise FormatError(line, "JSON nested too deeply", expected) from None
    except json.JSONDecodeError as error:
        if line == 1 and not text.strip():
            raise FormatError(None, "an empty file", f"{expected}: get or export it again") from None
        where = f"column {error.colno}"
        found, hint = f"malformed JSON ({error.msg}, {where})", ""
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            found, hint = f"malformed JSON (it breaks off, {where})", CUT_OFF
        elif error.msg == "Extra data":
            found, hint = f"malformed JSON (more after its end, {where})", JOINED
        raise FormatError(line + error.lineno - 1, found, f"{expected}{hint}") from None
    except ValueError as error:
        raise FormatError(line, f"malformed JSON ({error})", expected) from None


def parse_object(text: str, expected: str, *, line: int = 1) -> dict[str, Any]:
    """Read a JSON object that begins in some line of a file, or refuse what is none."""
    value = parse_value(text, expected, line=line)
    if not isinstance(value, dict):
        found = f"{_KINDS.get(type(value), 'null')}, not an object, in JSON"
        raise FormatError(line, found, expected)
    return value


def parse_kept(text: str, expected: str, *, line: int = 1) -> dict[str, Any]:
    """Read a JSON object that is going to be written again, or refuse one that UTF-8 cannot hold."""
    value = parse_object(text, expected, line=line)
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise FormatError(line, "JSON nested too deeply", expected) from None
    except UnicodeError:
        raise FormatError(line, "a lone surrogate, which is not UTF-8", expected) from None
    return value


def load_object(data: bytes, expected: str) -> dict[str, Any]:
    """Read a file that holds one JSON object and is going to be written again."""
    return parse_kept(decode(data), expected)
