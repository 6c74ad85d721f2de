"""The review file: all annotators and the result side by side, for people to look at and correct.

    # caspr review: {"annotators": ["AK", "JA"], "columns": 2, "settings": {...}, "sums": {...}, ...}
    #begin document (name);
    1    The     (1    (4    =(1
    2    girl    1)    4)    =1)
    3    sang    -     -     -
    #end document

1. Columns separated by tabs and aligned by blanks: those of the first annotator's file without coreference,
   one of cells for each annotator with that annotator's own ids, and the result.
2. A result cell that starts with `=` is *enforced*: exactly these mentions start and end here. `=-` or a
   bare `=` means that none does. All other result cells are output, and ignored when the file is read.
3. Brackets are matched among enforced cells only, so both ends of a mention must be enforced.
4. The file is complete: annotations, decisions and settings are all in it. Comments and blank lines,
   those inside a document included, are kept.
5. What cells cannot express, and notes, stand in comment lines before the document: see `statements`. Which
   decisions are written as cells: see `cells`.
6. `# caspr same-chain: 57 3` stands for the result, `# caspr same-chain[2]: 57 3` for the second annotator.
7. The header has checksums, so that what was changed and is not enforced is reported: see `review`.
8. An editor may have changed the line ends, added a byte order mark, or turned tabs into blanks.
"""

from caspr.formats.review_file.cells import in_cells, opened
from caspr.formats.review_file.reading import parse, parse_apart, parse_beside, read
from caspr.formats.review_file.review import Review, is_review, review_of, strayed_ids
from caspr.formats.review_file.writing import Filler, prepare, write

__all__ = [
    "COLUMNS",
    "Filler",
    "Review",
    "in_cells",
    "is_review",
    "opened",
    "parse",
    "parse_apart",
    "parse_beside",
    "prepare",
    "read",
    "review_of",
    "strayed_ids",
    "write",
]


COLUMNS = "conll"
"""The format whose cells a review file has: what that cannot carry, a review file cannot either."""
