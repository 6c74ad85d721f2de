"""File names made from document and annotator names: safe, and different for different names.

Slashes make folders. Every character that is not a letter, a digit or harmless becomes `%` and its code;
so does a leading dot, so that no name leads out of the folder or is hidden, and what Windows forbids (`CON`,
a dot at the end). The names are the same on every system.
"""

import hashlib
import re

from caspr.files import portable_name

_STRANGE = re.compile(r"[^\w .,+=@()~-]|^\.")
_LONGEST = 150


def file_name(name: str) -> str:
    """Return a relative path for a name.

    >>> file_name("bc/cctv_0001"), file_name("../a:b"), file_name(""), file_name("50%"), file_name("nul/x.")
    ('bc/cctv_0001', '%2E%2E/a%3Ab', '%', '50%25', '%6Eul/x%2E')
    """
    return "/".join(map(_part, name.split("/")))


def _part(part: str) -> str:
    safe = portable_name(_STRANGE.sub(lambda match: f"%{ord(match[0]):02X}", part)) or "%"
    if len(safe.encode()) <= _LONGEST:
        return safe
    digest = hashlib.sha256(part.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{safe[: _LONGEST // 4]}%{digest}"
