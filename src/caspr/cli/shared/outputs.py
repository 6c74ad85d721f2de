"""The outputs of a command: refused before any work is done, or delivered together.

Every path that a command writes to is an `Output`, named by the option it came from. `Outputs` holds them
all, with the files that the command reads:

    caspr adjudicate a.conll b.conll -o gold.conll --json x.json --report x.json
    x.json: --json and --report would be written to the same place; choose different names

What a command reads is every file that its arguments and options name (`named_inputs`), and what is found in
folders among them, which the command adds.

Two outputs are the same if they lead to one file, whatever they are called: by another path, by a link, or
because standard output was redirected to it. An output that is also an input is refused in the same way,
except for the one file that `redo` rewrites in place, of which a backup is kept.

A command may be repeated, so outputs of an earlier call are replaced; what may be somebody's work is not:

    a review file       is replaced if it holds no decisions, no notes and no mark that it is done, or if the
                        new one holds them, too;
    a gold standard     is replaced, and only such a file or a review file becomes one;
    other annotations   become a file that was converted, if they are in the format that is written;
    a companion         such as brat's text is replaced with the file it belongs to, if that was there;
    reports, tables     replace anything but review files with decisions, and annotations.

An empty file, and one that holds already what is to be written, are never refused. Which files a format makes
of an output is known only when they are rendered, so `Outputs.write` looks again at each file before the
first one is written. Lines for people go to standard error, where they do not mix with results.
"""

import json
import os
import re
import stat
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any

import click

from caspr.errors import CasprError, InputError, OutputError
from caspr.formats import review_file
from caspr.formats.registry import STANDARD_OUTPUT, by_content, made_below
from caspr.formats.review_file.review import DONE, HEADER, NOTE, Review
from caspr.formats.review_file.statements import number_of_acts
from caspr.formats.sources import is_gold
from caspr.storage import (
    FileLock,
    back_up,
    identity,
    is_stream,
    read_bytes,
    refuse_overwriting,
    refuse_unwritable,
    write_all,
)
from caspr.text.findings import Finding, condensed, harmless, times

Files = Mapping[Path, str | bytes]
"""What to write, by path."""

_NAMED = 2
"""How many files of a folder are named."""
_STANDARD_OUTPUTS = (str(STANDARD_OUTPUT), "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
_GOLD = re.compile(rb"caspr[ _=-]?gold", re.IGNORECASE)
"""How formats mark a gold standard."""
_REVIEW = re.compile(rb"^(?:\xef\xbb\xbf)?" + re.escape(HEADER.encode()), re.MULTILINE)
_REMEDY = "choose another name, or move or delete that file first"


class Content(Enum):
    """What an output holds."""

    RESULT = "result"
    """A gold standard or a review file."""
    CONVERTED = "converted"
    """Annotations of any origin."""
    OTHER = "other"
    """Anything else: reports, tables, figures, proofs."""


class OutputKind(Enum):
    """What an output may be on the disk."""

    FILE = "file"
    """One file, or standard output; a format may put others beside it."""
    FOLDER = "folder"
    """A folder, made if it is missing."""
    EITHER = "either"
    """A file or a folder, whichever its format makes of it."""


@dataclass(frozen=True)
class Output:
    """One place that a command writes to."""

    option: str
    """The option or argument that asked for it, as the user writes it."""
    path: Path
    kind: OutputKind = OutputKind.FILE
    files: tuple[Path, ...] = ()
    """The files to be written into a folder, as far as they are known beforehand."""
    parents: bool = False
    """Whether missing folders above a folder are made, too."""
    content: Content = Content.OTHER
    decided: bool = False
    """Whether it may hold the decisions of a review file that it replaces."""


def requested(
    option: str, path: Path | None, kind: OutputKind = OutputKind.FILE, content: Content = Content.OTHER
) -> tuple[Output, ...]:
    """Return the output of an option, or none if the option was not given."""
    return () if path is None else (Output(option, path, kind, content=content),)


@dataclass(frozen=True)
class Outputs:
    """All outputs of a command, and the files it must not overwrite."""

    outputs: tuple[Output, ...]
    inputs: tuple[Path, ...] = ()
    """What is read besides the files that options and arguments name: what is in folders, for example."""
    rewritten: Path | None = None
    """The input that is rewritten in place, which is an output, too."""
    known: bytes = b""
    """What was read from it: if it holds anything else when it is to be replaced, nothing is written."""
    review: Path | None = None
    """The review file among the outputs, which is locked while it is written."""

    def refuse_inputs(self) -> None:
        """Refuse outputs that are read."""
        for output in self.outputs:
            for path in (output.path, *output.files):
                if output.kind is not OutputKind.FOLDER or path != output.path:
                    self._refuse_overwriting(path)

    def refuse(self) -> None:
        """Refuse, before any work is done, what cannot be written or would overwrite something."""
        self.refuse_inputs()
        owners: dict[object, tuple[Path, Output]] = {}
        for output in self.outputs:
            for path in (output.path, *output.files):
                first, owner = owners.setdefault(_identity(path), (path, output))
                if owner is not output and not (_is_folder(path, output) and _is_folder(first, owner)):
                    _refuse_twins(path, owner.option, output.option)
        for output in self.outputs:
            _refuse_unwritable(output)
            for path in (output.path, *output.files):
                if path != self.rewritten:
                    refuse_before(path, output.content, decided=output.decided)

    def write(self, contents: Mapping[str, Files], *, keep_old: bool = False) -> dict[Path, Path]:
        """Write files by the option that asked for them: all of them, then standard output, or none.

        Return the backups by file: of the one that is rewritten or, to `keep_old` ones, of all.
        """
        self._refuse_clashes(contents)
        files = {path: text for group in contents.values() for path, text in group.items()}
        printed = files.pop(STANDARD_OUTPUT, None)
        if printed is not None and sys.stdout is None:
            raise OutputError("standard output is closed: nothing was written")
        with ExitStack() as stack:
            if self.review in files and self.review is not None:
                stack.enter_context(locked(self.review))
            kept = self._write_files(files, contents, keep_old=keep_old)
        if printed is not None:
            _print(printed)
        return kept

    def written(self, contents: Mapping[str, Files]) -> list[str]:
        """Return the line that says which files were written, if any were; a folder stands for its files."""
        names: list[str] = []
        targets = {output.option: output.path for output in self.outputs}
        for option, files in contents.items():
            kept = [
                path
                for path in files
                if path not in (STANDARD_OUTPUT, self.rewritten) and not is_stream(path)
            ]
            target = targets.get(option)
            if len(kept) > _NAMED and target is not None and target.is_dir():
                names.append(f"{target} ({times(len(kept), 'file')})")
            else:
                names += map(str, kept)
        return [f"wrote {', '.join(names)}"] if names else []

    def _write_files(
        self, files: Files, contents: Mapping[str, Files], *, keep_old: bool
    ) -> dict[Path, Path]:
        """Write all files or none, and return the backups that were made before."""
        old = [path for path in files if path == self.rewritten or (keep_old and path.is_file())]
        kept: dict[Path, Path] = {}
        self._refuse_changed()
        try:
            for path in old:
                kept[path] = back_up(path, files)
            write_all(
                files,
                below=self._made_below(contents),
                folders=self._folders(contents),
                before_replacing=self._refuse_changed,
            )
        except OutputError:
            for path, copy in kept.items():
                with suppress(OSError):
                    if copy.read_bytes() == path.read_bytes():
                        copy.unlink()
            raise
        return kept

    def _refuse_changed(self) -> None:
        """Refuse to write what was made from a file that somebody saved since it was read."""
        if self.rewritten is None:
            return
        try:
            now = self.rewritten.read_bytes()
        except FileNotFoundError:
            now = None
        if now != self.known:
            raise OutputError(
                f"{self.rewritten}: another program saved this file meanwhile, or removed it, so nothing was "
                "written; run the command again"
            )

    def _refuse_clashes(self, contents: Mapping[str, Files]) -> None:
        options: dict[object, str] = {}
        for option, files in contents.items():
            for path in files:
                if (identity := _identity(path)) in options:
                    _refuse_twins(path, options[identity], option)
                options[identity] = option
                self._refuse_overwriting(path)
        content = {output.option: output.content for output in self.outputs}
        for option, files in contents.items():
            kept = {path: text for path, text in files.items() if path != self.rewritten}
            refuse_replacing(kept, content.get(option, Content.OTHER))

    def _refuse_overwriting(self, path: Path) -> None:
        source = self._input_of.get(_identity(path))
        if source is None or path == self.rewritten:
            return
        if path == STANDARD_OUTPUT:
            raise InputError(
                f"standard output goes to {source}, which is an input: choose another output file"
            )
        refuse_overwriting(path, [source])

    @cached_property
    def _input_of(self) -> dict[object, Path]:
        named = named_inputs({output.option for output in self.outputs})
        return {identity(path): path for path in (*self.inputs, *named)}

    def _made_below(self, contents: Mapping[str, Files]) -> Path | None:
        """Return the folder below which a format that made several files of an output may make folders."""
        several = (
            made_below(output.path, contents[output.option])
            for output in self.outputs
            if output.kind is not OutputKind.FOLDER and output.option in contents
        )
        return next((folder for folder in several if folder is not None), None)

    def _folders(self, contents: Mapping[str, Files]) -> list[Path]:
        """Return the folders that are made, those inside others after them."""
        made = [
            folder
            for output in self.outputs
            if output.kind is OutputKind.FOLDER and output.option in contents
            for folder in (output.path, *(path.parent for path in contents[output.option]))
        ]
        return list(dict.fromkeys(made))


def named_inputs(outputs: Collection[str]) -> Iterator[Path]:
    """Yield the files that arguments and options of the running command name, apart from its `outputs`."""
    context = click.get_current_context(silent=True)
    for parameter in context.command.params if context is not None else ():
        value = context.params.get(parameter.name or "") if context is not None else None
        called = {*parameter.opts, parameter.metavar}
        if value is not None and isinstance(parameter.type, click.Path) and called.isdisjoint(outputs):
            for path in map(Path, value if isinstance(value, tuple) else (value,)):
                if path != STANDARD_OUTPUT and path.is_file():
                    yield path


@contextmanager
def locked(review: Path) -> Iterator[None]:
    """Hold the lock of a review file, so that no review page and no other command has it open."""
    if review == STANDARD_OUTPUT or is_stream(review) or not review.parent.is_dir():
        yield
    else:
        with FileLock(review):
            yield


def _identity(path: Path) -> object:
    """Return a value that two outputs share if one would overwrite, or be mixed into, the other.

    Terminals are distinguished by name: standard output and standard error may well be the same one. The
    null device keeps nothing, so that no two outputs meet there.
    """
    if str(path) in _STANDARD_OUTPUTS:
        return _standard_output()
    if path.is_char_device():
        return object() if str(path) == os.devnull else str(path)
    return identity(path)


def _standard_output() -> object:
    """Return the file that standard output was redirected to, if it was."""
    try:
        status = os.fstat(sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):  # It is closed, or not a file of the system.
        return STANDARD_OUTPUT
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else STANDARD_OUTPUT


def _is_folder(path: Path, output: Output) -> bool:
    """Return whether a path of an output may be a folder, which outputs may share."""
    return output.kind is not OutputKind.FILE and path == output.path


def _refuse_twins(path: Path, first: str, second: str) -> None:
    which = f"{first} and {second}" if first != second else f"two files of {first}"
    raise InputError(f"{path}: {which} would be written to the same place; choose different names")


def _refuse_unwritable(output: Output) -> None:
    path = output.path
    if output.kind is OutputKind.FOLDER:
        if path == STANDARD_OUTPUT:
            raise InputError(f"{output.option} needs a folder, and cannot be '-'")
        if path.exists() and not path.is_dir():
            raise OutputError(f"{path}: cannot make this folder: there is a file of this name")
        if not output.parents and not path.exists():
            refuse_unwritable(path)
    elif path != STANDARD_OUTPUT and not (output.kind is OutputKind.EITHER and path.is_dir()):
        refuse_unwritable(path)


def _print(content: str | bytes) -> None:
    text = content if isinstance(content, str) else content.decode("utf-8")
    if sys.stdout.isatty():
        text = "\t".join(map(harmless, text.split("\t")))
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
    sys.stdout.write(text)
    sys.stdout.flush()


def refuse_before(path: Path, content: Content, *, decided: bool) -> None:
    """Refuse a file that cannot be replaced, as far as that is known before there is anything to write.

    `decided` says that the new file may hold the decisions of the old one.
    """
    old = _old(path)
    if old is None:
        return
    if _REVIEW.search(old):
        if not decided:
            _refuse_losing(path, old, b"")
    elif content is Content.RESULT and not _is_gold(path, old):
        _refuse(path)


def refuse_replacing(files: Mapping[Path, str | bytes], content: Content) -> None:
    """Refuse files of one output that would replace what CaspR did not write, or what holds decisions."""
    new = {path: text.encode("utf-8") if isinstance(text, str) else text for path, text in files.items()}
    replaced = {path: old for path in new if (old := _old(path)) not in (None, new[path])}
    mains = [path for path, data in new.items() if by_content(path, data) is not None]
    result = any(_GOLD.search(data) or _REVIEW.search(data) for data in new.values())
    for path, old in replaced.items():
        assert old is not None
        if _REVIEW.search(old):
            _refuse_losing(path, old, new[path])
        elif content is Content.OTHER:
            if by_content(path, old) and not by_content(path, new[path]) and not _is_gold(path, old):
                _refuse(path)
        elif path not in mains and len(new) > 1:
            if not _has_owner(path, mains):
                _refuse(path, f", as a part of {', '.join(map(str, mains[:3]))}")
        elif not _is_gold(path, old) and (result or by_content(path, old) != by_content(path, new[path])):
            _refuse(path)


def _old(path: Path) -> bytes | None:
    """Return what a file holds that would be replaced; nothing for an empty one, or for no file."""
    if path == STANDARD_OUTPUT or not path.is_file() or is_stream(path):
        return None
    return read_bytes(path) or None


def _refuse(path: Path, part: str = "") -> None:
    raise InputError(f"{path}: CaspR did not write this file, so it is not overwritten{part}: {_REMEDY}")


def _refuse_losing(path: Path, old: bytes, new: bytes) -> None:
    """Refuse to replace a review file by something that lacks its decisions or notes."""
    try:
        reviews = _parsed(old, path)
        held = _work(reviews)
        kept = _work(_parsed(new, path)) if _REVIEW.search(new) else frozenset()
        if held <= kept:
            return
        noted = sum(what == NOTE for _, what, _ in held)
        done = sum(what == DONE for _, what, _ in held)
        made = sum(number_of_acts(review.decided) for review in reviews)
        counts = ((made, "decision", None), (noted, "note", None), (done, "mark as done", "marks as done"))
        held_words = " and ".join(times(*count) for count in counts if count[0])
        problem = f"this would lose the {held_words} in a review file"
    except CasprError:
        problem = "this would replace a review file that cannot be read, with all its decisions"
    raise InputError(
        f"{path}: {problem}: run `caspr redo {path}` to re-optimise around them, `caspr review {path}` to "
        f"resume it, or {_REMEDY}"
    )


def _parsed(data: bytes, path: Path) -> Sequence[Review]:
    return review_file.parse(data.decode("utf-8", "replace").removeprefix("\ufeff"), str(path))


def _work(reviews: Iterable[Review]) -> frozenset[tuple[object, str, object]]:
    """Return all that is somebody's work: in which document, what it is, and what it says."""
    return frozenset((review.gold.document.key, *entry) for review in reviews for entry in review.work)


def _is_gold(path: Path, data: bytes) -> bool:
    """Return whether a file is a gold standard; the mark may be in another file, or packed."""
    return _GOLD.search(data) is not None or is_gold(path)


def _has_owner(path: Path, mains: Sequence[Path]) -> bool:
    """Return whether the file to which a companion belongs was there before."""
    named = [main for main in mains if main.stem == path.stem]
    return any(main.exists() for main in named or mains)


def json_text(values: Mapping[str, Any], *, ascii: bool = False) -> str:
    """Render values for programs, and so that people can read them, too."""
    return json.dumps(values, indent=2, ensure_ascii=ascii) + "\n"


def print_findings(findings: Iterable[Finding]) -> None:
    """Print what was found while documents were sorted, one line for what holds of several documents."""
    print_lines(condensed(findings))


def print_lines(lines: Iterable[object]) -> None:
    """Print lines, or findings, on standard error, where they do not mix with results."""
    with suppress(OSError):
        for line in lines:
            echo(line, err=True)


def echo(line: object, *, err: bool = False) -> None:
    """Print a line for people; names in it that were taken from files are not commands to their terminal."""
    click.echo(harmless(str(line)), err=err)
