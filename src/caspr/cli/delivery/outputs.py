"""The outputs of a command: refused before any work is done, or delivered together.

Every path that a command writes to is an `Output`, named by the option it came from. `Outputs` holds them
all, with the files that the command reads:

    caspr adjudicate a.conll b.conll -o gold.conll --json x.json --report x.json
    x.json: found the same output twice, as --json and --report, expected a file for each

Two outputs are the same if they lead to one file, whatever they are called: by another path, by a link, or
because standard output was redirected to it. An output that is also an input is refused in the same way,
except for the one file that `redo` rewrites in place, of which a backup is kept.

Decisions, and annotations that CaspR did not write, are not replaced: `replacing` has the rules.

Which files a format makes of an output, and how many, is known only when they are rendered. `Outputs.write`
therefore looks again at each file it is given, before the first one is written.
"""

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path

from caspr.cli.delivery.replacing import Content, refuse_before, refuse_replacing
from caspr.errors import InputError, OutputError
from caspr.files import back_up, identity, is_stream, refuse_overwriting, refuse_unwritable, write_all
from caspr.formats.registry import STANDARD_OUTPUT, made_below
from caspr.locks import FileLock
from caspr.text.findings import times

Files = Mapping[Path, str | bytes]
"""What to write, by path."""

_NAMED = 2
"""How many files of a folder are named."""
_STANDARD_OUTPUTS = (str(STANDARD_OUTPUT), "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
"""The names of standard output."""


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
    """The file or folder; `-` is standard output."""
    kind: OutputKind = OutputKind.FILE
    """What it may be on the disk."""
    files: tuple[Path, ...] = ()
    """The files to be written into a folder, as far as they are known beforehand."""
    parents: bool = False
    """Whether missing folders above a folder are made, too."""
    content: Content = Content.OTHER
    """What it holds, which says what it may replace."""
    decided: bool = False
    """Whether it may hold the decisions of a review file that it replaces."""


def requested(
    option: str,
    path: Path | None,
    kind: OutputKind = OutputKind.FILE,
    content: Content = Content.OTHER,
) -> tuple[Output, ...]:
    """Return the output of an option, or none if the option was not given."""
    return () if path is None else (Output(option, path, kind, content=content),)


@dataclass(frozen=True)
class Outputs:
    """All outputs of a command, and the files it must not overwrite."""

    outputs: tuple[Output, ...]
    """Every place that the command writes to."""
    inputs: tuple[Path, ...] = ()
    """Every file that the command reads."""
    rewritten: Path | None = None
    """The input that is rewritten in place, which is an output, too."""
    known: bytes = b""
    """What was read from it: if it holds anything else when it is to be replaced, nothing is written."""
    review: Path | None = None
    """The review file among the outputs, which is locked while it is written."""

    def refuse(self) -> None:
        """Refuse, before any work is done, what cannot be written or would overwrite something."""
        places: dict[object, tuple[Path, Output]] = {}
        for output in self.outputs:
            for path in (output.path, *output.files):
                other, owner = places.setdefault(_identity(path), (path, output))
                if owner is not output and not (_is_folder(path, output) and _is_folder(other, owner)):
                    _refuse_twins(path, owner.option, output.option)
                if output.kind is not OutputKind.FOLDER or path != output.path:
                    self._refuse_overwriting(path)
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
        files = {path: text for given in contents.values() for path, text in given.items()}
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
        places = {output.option: output.path for output in self.outputs}
        for option, files in contents.items():
            kept = [
                path
                for path in files
                if path not in (STANDARD_OUTPUT, self.rewritten) and not is_stream(path)
            ]
            place = places.get(option)
            if len(kept) > _NAMED and place is not None and place.is_dir():
                names.append(f"{place} ({times(len(kept), 'file')})")
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
                if _same_bytes(copy, path):
                    copy.unlink()
            raise
        return kept

    def _refuse_changed(self) -> None:
        """Refuse to write what was made from a file that somebody saved since it was read."""
        if self.rewritten is not None and self.rewritten.read_bytes() != self.known:
            raise OutputError(
                f"{self.rewritten}: found it saved by another program meanwhile, expected it unchanged: "
                "nothing was written; run the command again"
            )

    def _refuse_clashes(self, contents: Mapping[str, Files]) -> None:
        options: dict[object, str] = {}
        for option, files in contents.items():
            for path in files:
                if (place := _identity(path)) in options:
                    _refuse_twins(path, options[place], option)
                options[place] = option
                self._refuse_overwriting(path)
        content = {output.option: output.content for output in self.outputs}
        for option, files in contents.items():
            kept = {path: text for path, text in files.items() if path != self.rewritten}
            refuse_replacing(kept, content.get(option, Content.OTHER))

    def _refuse_overwriting(self, path: Path) -> None:
        given = self._input_of.get(_identity(path))
        if given is None or path == self.rewritten:
            return
        if path == STANDARD_OUTPUT:
            raise InputError(
                f"standard output goes to {given}, which is an input: choose another output file"
            )
        refuse_overwriting(path, [given])

    @cached_property
    def _input_of(self) -> dict[object, Path]:
        return {identity(path): path for path in self.inputs}

    def _made_below(self, contents: Mapping[str, Files]) -> Path | None:
        """Return the folder below which a format that made several files of an output may make folders."""
        several = (
            made_below(output.path, contents[output.option])
            for output in self.outputs
            if output.kind is not OutputKind.FOLDER and output.option in contents
        )
        return next((folder for folder in several if folder is not None), None)

    def _folders(self, contents: Mapping[str, Files]) -> list[Path]:
        return [
            output.path
            for output in self.outputs
            if output.kind is OutputKind.FOLDER and output.option in contents
        ]


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


def _refuse_twins(path: Path, one: str, other: str) -> None:
    options = f"as {one} and {other}, " if one != other else ""
    raise InputError(f"{path}: found the same output twice, {options}expected a file for each")


def _refuse_unwritable(output: Output) -> None:
    path = output.path
    if output.kind is OutputKind.FOLDER:
        if path == STANDARD_OUTPUT:
            raise InputError(f"{output.option}: found '-', expected a folder")
        if path.exists() and not path.is_dir():
            raise OutputError(f"{path}: cannot make this folder: there is a file of this name")
        if not output.parents and not path.exists():
            refuse_unwritable(path)
    elif path != STANDARD_OUTPUT and not (output.kind is OutputKind.EITHER and path.is_dir()):
        refuse_unwritable(path)


def _same_bytes(one: Path, other: Path) -> bool:
    try:
        return one.read_bytes() == other.read_bytes()
    except OSError:
        return False


def _print(content: str | bytes) -> None:
    text = content if isinstance(content, str) else content.decode("utf-8")
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
    sys.stdout.write(text)
    sys.stdout.flush()
