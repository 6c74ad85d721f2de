"""jsonlines: what most neural resolvers read and write, one JSON object for each document on a line.

    {"doc_key": "nw/wsj_0001", "sentences": [["A", "girl", "sang"]], "clusters": [[[0, 1]]]}

1. A mention is its first and last token, both included, counted from 0 over all sentences.
2. `clusters` are read; where they are missing or empty, `predicted_clusters`; `--layer` overrides that.
3. With `subtoken_map`, `sentences` hold sub-tokens, and the map gives the word of each. Words are read and
   sub-tokens written; `[CLS]` and its like belong to no word. Such words cannot be cut: a mention that begins
   inside one is widened.
4. A `doc_key` of the form `(name); part 000` is a name and a part. Everything else in the object is kept.
5. Where a mention cuts a word (see `text_layer.cut_words`), fields with a text for each token are cut, too;
   those that may count tokens, lists of numbers, would be wrong and are left out.
"""

from pathlib import Path

from caspr.formats.containers.json import has_fields
from caspr.formats.format import Format
from caspr.formats.jsonlines.reading import read, read_each
from caspr.formats.jsonlines.writing import losses, write


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether the beginning of a file looks like this format."""
    return has_fields(head, "sentences") and not has_fields(head, "mention_clusters")


FORMAT = Format(
    name="jsonlines",
    suffixes=(".jsonlines", ".jsonl"),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    many_documents=True,
    read_each=read_each,
)
