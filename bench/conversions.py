"""Convert every file below a folder to every format and back, and print which come back the same.

    python3 -m bench.conversions FOLDER

For folders of real files, which need not be part of this repository. A row is what an annotator did in a
file, a column a format: `=` means that the chains are the same, over the same characters, after going there
and back to the file's own format (to the first one, if that holds not any annotation), both times into files
made anew. `g` means the same, with gaps in mentions lost on the way, as the format says beforehand. `own` is
the file written with its own chains: `=` to the byte, `~` with the same chains; of several annotators in a
file, each is written into one made anew. Anything else in a cell is a fault, described below the table.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from caspr.errors import CasprError
from caspr.formats.naming import plain_ids, stem
from caspr.formats.registry import EXPORTED, FORMATS, losses, made_below, recognise, render
from caspr.formats.sources import read_one
from caspr.storage import write_all
from caspr.text.alignment import align
from caspr.text.document import Annotation, Span

TARGETS = EXPORTED
"""The formats that hold any annotation; a project archive can only be made of one."""


def main(folder: Path) -> int:
    """Print the table and what is wrong, and return how much that is."""
    faults: list[str] = []
    print(f"{'':60}{'own':5}" + " ".join(f"{name[:6]:6}" for name in TARGETS))
    for path in _files(folder):
        name = str(path.relative_to(folder))
        try:
            rows = [(work, _cells(work, path, alone=alone)) for work, alone in _works(path)]
        except CasprError as error:
            faults.append(f"{name}: {error}")
            continue
        for work, cells in rows:
            print(f"{name[-58:]:60}{cells[0][:1]:5}" + " ".join(f"{cell[:1]:6}" for cell in cells[1:]))
            print(f"  {_counts(work)}")
            faults += [f"{name}: {cell}" for cell in cells if cell not in ("=", "~", "g")]
    print("\n".join([*faults, f"{len(faults)} faults"]))
    return len(faults)


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix not in (".md", ".txt") and recognise(path) is not None:
            yield path


def _works(path: Path) -> Iterator[tuple[list[Annotation], bool]]:
    """Yield the work of each annotator in a file, and whether it is the only one there."""
    annotations = read_one(path)
    people = list(dict.fromkeys(one.annotator for one in annotations))
    for who in people:
        yield [one for one in annotations if one.annotator == who], len(people) == 1


def _cells(annotations: Sequence[Annotation], path: Path, *, alone: bool) -> list[str]:
    own = _own(annotations, path) if alone else _cell(annotations, _own_format(annotations))
    return [own if alone or own != "=" else "~", *(_cell(annotations, format) for format in TARGETS)]


def _counts(annotations: Sequence[Annotation]) -> str:
    chains = sum(len(one.chains) for one in annotations)
    mentions = sum(len(chain.mentions) for one in annotations for chain in one.chains)
    alone = sum(len(one.singletons) for one in annotations)
    form = annotations[0].document.format
    return f"{form}: {len(annotations)} annotations, {chains} chains of {mentions} mentions, {alone} of one"


def _own(annotations: Sequence[Annotation], path: Path) -> str:
    format = _own_format(annotations)
    files = render(annotations, path, format=format)
    texts = {place: text.encode() if isinstance(text, str) else text for place, text in files.items()}
    if all(place.exists() and place.read_bytes() == text for place, text in texts.items()):
        return "="
    return _difference(annotations, _travel(annotations, format, anew=False)) or "~"


def _own_format(annotations: Sequence[Annotation]) -> str:
    format = FORMATS[annotations[0].document.format]
    return format.name if format.name in EXPORTED else next(iter(FORMATS))


def _cell(annotations: Sequence[Annotation], format: str) -> str:
    try:
        there = _travel(annotations, format)
        back = _travel(there, _own_format(annotations))
    except CasprError as error:
        return f"! {format}: {error}"
    if difference := _difference(annotations, back):
        return f"! {format}: {difference}"
    return "g" if any(one.code == "covered-gaps" for one in losses(annotations, format)) else "="


def _difference(annotations: Sequence[Annotation], others: Sequence[Annotation]) -> str:
    for one, two in zip(annotations, others, strict=True):
        first, second = align([one, replace(two, annotator="other")])
        lost, new = _chains(first) - _chains(second), _chains(second) - _chains(first)
        if lost or new:
            return f"{one.document.title}: {lost.total()} chains lost, {new.total()} new"
    return ""


def _travel(annotations: Sequence[Annotation], format: str, *, anew: bool = True) -> list[Annotation]:
    """Write annotations, as if a program had made them, and read them again."""
    given = [plain_ids(one) if anew else one for one in annotations]
    if anew:
        given = [replace(one, document=replace(one.document, layout=None)) for one in given]
    chosen = FORMATS[format]
    with TemporaryDirectory() as folder:
        path = Path(folder) / (f"out{chosen.suffixes[0]}" if chosen.many_documents else "out")
        files = render(given, path, format=format)
        write_all(files, below=made_below(path, files))
        found = {one.document.title: one for one in read_one(path, format=format)}
    lone = next(iter(found.values())) if len(found) == 1 else None
    return [lone or found.get(one.document.title) or found[stem(one.document)] for one in given]


def _chains(annotation: Annotation) -> Counter[tuple[Span, ...]]:
    return Counter(chain.mentions for chain in annotation.all_chains)


if __name__ == "__main__":
    sys.exit(bool(main(Path(sys.argv[1]))))
