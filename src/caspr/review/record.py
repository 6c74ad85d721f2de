"""The record of a review: every step with who took it and when, on the disk beside the review file.

    .review.conll.history.jsonl      a line of JSON for each step
    {"do": "together", "label": "...", "by": "Ann", "at": "2026-11-17T09:30:05Z", "add": [...], ...}

The review file is the state; the record is how it came about. It makes undo and redo survive a restart, and
answers who did what since when. A line holds only what a step changed:

    open       everything: where the record of a document begins; where mentions have variants, as well those
               that stay what they are
    undo redo  nothing: the steps before say what they lead to
    improve    a better result for the same decisions; no step of its own
    others     a step forward

Where annotations change, by `annotators` or by undoing that, the line holds those before as well, packed.

A line is written before the review file, with a digest of the text that the file is going to have for the
document. A process killed in between leaves lines more than needed, one for each document that was to be
written: then the file has the text of the line before it, and the line is dropped. A file whose text fits
neither was edited outside meanwhile.

The file is the truth. Every line says which digest was before it, so that a line that is missing or cannot be
read is noticed; and where the record claims to lead to the text of the file, the decisions that it leads to
are compared with those in the file. A record that does not fit is *damaged*: its steps stay on the disk for
whoever asks who did what, but nothing is taken from them, and the record begins anew with what the file says.
"""

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any, cast
from zlib import compress, decompressobj
from zlib import error as zlib_error

from caspr.formats.containers.gzip import largest
from caspr.review.solver import Snapshot
from caspr.storage import explained
from caspr.task.decisions import Authorship, Decision, Note, read_spelled, signature_values, spelled
from caspr.task.solution import Costs
from caspr.task.stored_settings import read_groups
from caspr.text.document import Chain
from caspr.text.variants import VariantGroup

Line = dict[str, Any]
HistoryEntry = tuple[Snapshot, str]
"""A snapshot, and the label of the step that left it."""


@dataclass
class Record:
    """The record of one review file."""

    path: Path
    lines: dict[str, list[Line]] = field(default_factory=dict)
    """What is recorded, by the title of the document."""
    end: int = 0
    """Where the last whole line ends."""
    _starts: list[tuple[str, int]] = field(default_factory=list)
    """The documents of the lines that were read, and where these begin."""

    @classmethod
    def beside(cls, review: Path) -> "Record":
        """Read the record of a review file; a last line that is not whole was cut off by a crash.

        Other lines that are not readable stay where they are, and what needs them is damaged.
        """
        record = cls(cls.path_beside(review))
        with suppress(OSError):
            texts = record.path.read_bytes().splitlines(keepends=True)
            for number, text in enumerate(texts):
                line = _parsed(text) if text.endswith(b"\n") else None
                if line is None and number == len(texts) - 1:
                    break
                if line is not None:
                    record.lines.setdefault(line["document"], []).append(line)
                    record._starts.append((line["document"], record.end))
                record.end += len(text)
        return record

    @staticmethod
    def path_beside(review: Path) -> Path:
        """Return the path of the record of a review file."""
        target = Path(os.path.realpath(review))
        return target.with_name(f".{target.name}.history.jsonl")

    def append(self, title: str, line: Line) -> int:
        """Write a line, synced when this returns; return what `retract` needs to take it back."""
        before = self.lines.get(title)
        line = {"document": title, **line, "was": before[-1]["digest"] if before else ""}
        data = json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n"
        position = self.end
        with explained(self.path):
            self.path.touch()
            with self.path.open("r+b") as stream:
                stream.seek(position)
                stream.truncate()
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
        self.end += len(data)
        self.lines.setdefault(title, []).append(line)
        return position

    def retract(self, title: str, position: int) -> None:
        """Take the line back that was appended at a position."""
        self.lines[title].pop()
        self.truncate(position)

    def truncate(self, position: int) -> None:
        """Cut off whatever was written after a position."""
        self.end = position
        with suppress(OSError), self.path.open("r+b") as stream:
            stream.truncate(position)

    def drop_unwritten(self, texts: Mapping[str, str]) -> None:
        """Drop the last lines whose documents have the texts of the lines before: they were not written."""
        while self._starts:
            title, position = self._starts.pop()
            lines = self.lines.get(title, ())
            if len(lines) < 2 or title not in texts:
                return
            digest = digest_of(texts[title])
            if not lines[-1]["digest"] != digest == lines[-2]["digest"]:
                return
            self.retract(title, position)

    def steps(self, title: str, since: str = "") -> list[Line]:
        """Return who did what when in a document, the newest last."""
        steps = []
        for line in self.lines.get(title, ()):
            if (line["do"] not in ("open", "improve") or line["label"]) and line["at"] >= since:
                added = line.get("add", ())
                judged = [values for values in added if values.get("category") or values.get("confidence")]
                said = judged[-1] if judged else {}
                step = {name: line[name] for name in ("do", "label", "by", "at")}
                if line.get("annotators"):
                    step["label"] += f": {', '.join(line['annotators'])}"
                steps.append({**step, **{name: said.get(name, "") for name in ("category", "confidence")}})
        return steps

    def replay(self, title: str, digest: str, tokens: int) -> "Replay | None":
        """Return what the record leads to, or `None` if there is none for a document of this many tokens.

        Raise `DamagedError` if lines are missing or say what cannot be.
        """
        lines = self.lines.get(title, [])
        start = next((n for n in reversed(range(len(lines))) if lines[n]["do"] == "open"), None)
        if start is None:
            if lines:
                raise DamagedError
            return None
        recorded = lines[start:]
        if next((line["tokens"] for line in reversed(recorded) if "tokens" in line), None) != tokens:
            return None
        if any(line.get("was", before["digest"]) != before["digest"] for before, line in pairwise(recorded)):
            raise DamagedError
        try:
            return replace(Replay.of(recorded), is_current=recorded[-1]["digest"] == digest)
        except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
            raise DamagedError from error


class DamagedError(Exception):
    """Say that a record does not fit its file, or not itself."""


@dataclass
class Replay:
    """The history of a document as its record tells it."""

    snapshot: Snapshot
    past: list[HistoryEntry] = field(default_factory=list)
    """What undo leads to, the next one last."""
    future: list[HistoryEntry] = field(default_factory=list)
    """What redo leads to, the next one last."""
    last_ids: tuple[int, int] = (0, 0)
    """The last number given to a decision, and to a note."""
    is_current: bool = True
    """Whether the file has the text that the record ends with."""
    kept: tuple[VariantGroup, ...] | None = None
    """The variants that stayed what they are, since the record began or annotators came; `None` if unknown.

    The file keeps those of its last decisions, which may be others than those of an earlier step.
    """

    @classmethod
    def of(cls, lines: Iterable[Line]) -> "Replay":
        """Follow lines that begin with everything."""
        replay = cls(Snapshot((), (), (), 0, 0, Costs(0, 0, 0), recorded=True))
        for line in lines:
            replay._follow(line)
        return replay

    def _follow(self, line: Line) -> None:
        verb = line["do"]
        if "kept" in line:
            self.kept = read_groups(line["kept"])
        left = replace(self.snapshot, under=unpacked(line.get("under", "")))
        if verb in ("undo", "redo"):
            source, target = (self.past, self.future) if verb == "undo" else (self.future, self.past)
            snapshot, label = source.pop()
            target.append((left, label))
            self.snapshot = replace(snapshot, under="")
            return
        if verb not in ("open", "improve"):
            self.past.append((left, line["label"]))
            self.future.clear()
        self.snapshot = _after(self.snapshot, line)
        numbers = [[int(item["id"][1:]) for item in line[name]] for name in ("add", "notes")]
        last = self.last_ids
        self.last_ids = max([last[0], *numbers[0]]), max([last[1], *numbers[1]])


def digest_of(text: str) -> str:
    """Return what tells the text of a document from any other."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def packed(text: str) -> str:
    """Return a text as the record keeps it: small, and of letters only.

    >>> unpacked(packed("the same " * 1000)) == "the same " * 1000, len(packed("the same " * 1000)) < 100
    (True, True)
    """
    return b64encode(compress(text.encode("utf-8", "surrogatepass"))).decode("ascii") if text else ""


def unpacked(text: str) -> str:
    """Return a text that `packed` made; raise `ValueError` for anything else, and for far too much."""
    if not text:
        return ""
    data, machine = b64decode(text), decompressobj()
    try:
        content = machine.decompress(data, largest(len(data)))
    except zlib_error as error:
        raise ValueError(str(error)) from error
    if not machine.eof:
        raise ValueError("cut off, or too large")
    return content.decode("utf-8", "surrogatepass")


def change_line(before: Snapshot | None, after: Snapshot) -> Line:
    """Return what differs between two snapshots, or everything."""
    old = {entry.id: entry for entry in before.entries} if before else {}
    noted = dict(before.notes) if before else {}
    chains = {chain.id: chain for chain in before.chains} if before else {}
    now = {chain.id: chain for chain in after.chains}
    return {
        "add": [entry.values() for entry in after.entries if old.get(entry.id) != entry],
        "drop": sorted(old.keys() - {entry.id for entry in after.entries}),
        "notes": [note_values(id, note) for id, note in after.notes if noted.get(id) != note],
        "unnote": sorted(noted.keys() - dict(after.notes).keys()),
        "chains": {
            **dict.fromkeys(sorted(chains.keys() - now.keys())),
            **{
                id: list(map(spelled, chain.mentions)) for id, chain in now.items() if chains.get(id) != chain
            },
        },
        "cost": [after.value, after.bound, *_kinds(after.costs)],
        "done": None if after.done is None else signature_values(after.done),
    }


def _kinds(costs: Costs) -> list[int]:
    """Return costs by kind; those of rules only where there are any."""
    return list(costs.by_kind.values())


def _after(before: Snapshot, line: Line) -> Snapshot:
    """Return the snapshot that a line leads to."""
    full = line["do"] == "open"
    entries = {} if full else {entry.id: entry for entry in before.entries}
    entries.update({values["id"]: Decision.of_values(values) for values in line["add"]})
    notes = {} if full else dict(before.notes)
    notes.update({values["id"]: _note(values) for values in line["notes"]})
    chains = {} if full else {chain.id: chain for chain in before.chains}
    for id, mentions in line["chains"].items():
        if mentions is not None:
            chains[id] = Chain(id, tuple(map(read_spelled, mentions)))
    gone = {*line["drop"], *line["unnote"]}
    kept = [chain for id, chain in chains.items() if line["chains"].get(id, ()) is not None]
    value, bound, *costs = line["cost"]
    return Snapshot(
        tuple(entry for id, entry in entries.items() if id not in gone),
        tuple((id, note) for id, note in notes.items() if id not in gone),
        tuple(sorted(kept, key=lambda chain: chain.mentions)),
        value,
        bound,
        Costs(*costs),
        _made(line["done"]),
        recorded=True,
    )


def note_values(id: str, note: Note) -> Line:
    """Return a note as JSON, for the page and for the record."""
    about = None if note.mention is None else spelled(note.mention)
    said = {"id": id, "mention": about, "text": note.text, "flag": note.flag}
    return {**said, **signature_values(note.made)}


def _note(values: Mapping[str, Any]) -> Note:
    about = values["mention"]
    mention = None if about is None else read_spelled(about)
    return Note(values["text"], mention, _made(values), values.get("flag", ""))


def _made(values: Mapping[str, Any] | None) -> Authorship | None:
    return None if values is None or values["by"] is None else Authorship(values["by"], values["at"])


def _parsed(text: bytes) -> Line | None:
    """Read one line, or return `None` if it is not one of ours."""
    try:
        line = json.loads(text)
        known = all(isinstance(line[name], str) for name in ("document", "do", "label", "by", "at", "digest"))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return line if known and all(_SHAPES[name](line[name]) for name in _SHAPES.keys() & line.keys()) else None


def _are(kind: type, values: object) -> bool:
    return isinstance(values, list) and all(type(value) is kind for value in values)


def _have_ids(values: object) -> bool:
    return _are(dict, values) and all(isinstance(line.get("id"), str) for line in cast(list[Line], values))


def _are_chains(values: object) -> bool:
    return isinstance(values, dict) and all(ids is None or _are(str, ids) for ids in values.values())


_SHAPES: dict[str, Callable[[Any], bool]] = {
    "add": _have_ids,
    "notes": _have_ids,
    "drop": partial(_are, str),
    "unnote": partial(_are, str),
    "annotators": partial(_are, str),
    "chains": _are_chains,
    "cost": lambda values: _are(int, values) and len(values) == 5,
    "done": lambda value: value is None or isinstance(value, dict),
    "was": lambda value: isinstance(value, str),
    "under": lambda value: isinstance(value, str),
}
"""What a line may hold, with what tells whether it does."""
