"""Objects: JSON files that hold one object each."""

import json
from typing import Any

from caspr.errors import FormatError
from caspr.files import decode


def load_object(data: bytes, source: str, expected: str) -> dict[str, Any]:
    """Read a JSON object, or refuse what is none, cut off, or could not be written again."""
    text = decode(data, source)
    try:
        whole = json.loads(text)
        json.dumps(whole, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise FormatError(source, None, "JSON nested too deeply", expected) from None
    except UnicodeError:
        raise FormatError(source, None, "half a character, which is not UTF-8", expected) from None
    except ValueError as error:
        line = getattr(error, "lineno", None)
        raise FormatError(source, line, f"malformed JSON ({error})", expected) from None
    if not isinstance(whole, dict):
        raise FormatError(source, None, "another JSON value", expected)
    return whole
