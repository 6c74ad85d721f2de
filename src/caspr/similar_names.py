"""Names that were probably meant where a file is not there."""

from difflib import get_close_matches
from pathlib import Path

_SIMILAR = 0.85
"""How similar names must be, from 0 to 1, unless they have the same letters in another order."""


def similar_file(path: Path, error: Exception) -> str:
    """Return which file or folder was probably meant, if a file could not be read because it is not there.

    A folder on the way to it may be the one that is mistyped.

    >>> similar_file(Path("nothing-like-it"), PermissionError())
    ''
    """
    if not isinstance(error, FileNotFoundError):
        return ""
    missing = next((one for one in (*reversed(path.parents), path) if not one.exists()), path)
    try:
        names = {
            one.name.lower(): one.name for one in missing.parent.iterdir() if not one.name.startswith(".")
        }
    except OSError:
        return ""
    wanted = missing.name.lower()
    like = [name for name in names if sorted(name) == sorted(wanted)]
    like = like or get_close_matches(wanted, names, n=1, cutoff=_SIMILAR)
    return f"; did you mean {missing.with_name(names[like[0]])}?" if like else ""
