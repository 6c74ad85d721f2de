import errno
import os
import random
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from caspr.errors import FormatError, InputError, OutputError
from caspr.storage import (
    back_up,
    decode,
    read_text,
    refuse_overwriting,
    write_all,
)

OLD, NEW = "old\n", "new\r\nzweite Zeile ü\u2028\n"
CALLS = ["open", "fchmod", "write", "fsync", "close", "replace", "stat", "readlink"]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_writing_translates_nothing(tmp_path: Path) -> None:
    path = tmp_path / "out"
    write_all({path: NEW})
    assert path.read_bytes() == NEW.encode()
    assert read_text(path) == NEW
    assert names(tmp_path) == {"out"}


def test_permissions(tmp_path: Path) -> None:
    path = tmp_path / "out"
    before = os.umask(0o027)
    try:
        write_all({path: OLD})
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
    finally:
        os.umask(before)
    path.chmod(0o604)
    write_all({path: NEW})
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text(OLD)
    (tmp_path / "link").symlink_to("middle")
    (tmp_path / "middle").symlink_to(tmp_path / "folder" / "file")
    (tmp_path / "dangling").symlink_to("born")
    write_all({tmp_path / "link": NEW, tmp_path / "dangling": NEW})
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "middle").is_symlink()
    assert (tmp_path / "dangling").is_symlink()
    assert (tmp_path / "folder" / "file").read_bytes() == (tmp_path / "born").read_bytes() == NEW.encode()


class Saboteur:
    """Let the n-th call of any watched function fail, after it did its work where `late`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, number: int, late: bool) -> None:
        self.left = number
        self.late = late
        self.failed = ""
        for name in CALLS:
            monkeypatch.setattr(os, name, self.watched(name, getattr(os, name)))

    def watched(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                self.failed = name
                if name == "close" or (self.late and name in ("write", "fsync")):
                    function(*arguments, **options)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return function(*arguments, **options)

        return call


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("existing", [False, True])
def test_a_fault_at_any_call_leaves_the_old_or_the_new_version(
    existing: bool, late: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = []
    for number in range(1, 100):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / "out"
        if existing:
            path.write_text(OLD)
        with monkeypatch.context() as context:
            saboteur = Saboteur(context, number, late)
            try:
                write_all({path: NEW})
                raised = False
            except OutputError as error:
                raised = True
                assert str(error) == f"{path}: cannot write: No space left on device; nothing was changed"
        failed.append(saboteur.failed)
        content = path.read_bytes().decode() if path.exists() else None
        assert content == ((OLD if existing else None) if raised else NEW)
        assert names(folder) <= {"out"}
        if not saboteur.failed:
            break
    assert {"open", "write", "fsync", "close", "replace", "stat"} | (
        {"fchmod"} if existing else set()
    ) <= set(failed)
    assert failed[-1] == ""


@pytest.mark.parametrize("interrupted", ["write", "fsync", "replace"])
def test_an_interrupt_leaves_no_temporary_file(
    interrupted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "out").write_text(OLD)
    with monkeypatch.context() as context, pytest.raises(KeyboardInterrupt):
        context.setattr(os, interrupted, interrupt)
        write_all({tmp_path / "out": NEW})
    assert names(tmp_path) == {"out"}
    assert (tmp_path / "out").read_text() == OLD


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    with monkeypatch.context() as context:
        context.setattr(os, "write", lambda descriptor, data: write(descriptor, bytes(data)[:3]))
        write_all({tmp_path / "out": NEW})
    assert (tmp_path / "out").read_bytes() == NEW.encode()


def test_a_read_only_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulated, because to root no folder is read-only."""
    opened = os.open

    def refuse(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return opened(path, flags, mode)

    (tmp_path / "out").write_text(OLD)
    with monkeypatch.context() as context:
        context.setattr(os, "open", refuse)
        with pytest.raises(OutputError, match="cannot write: Permission denied; nothing was changed"):
            write_all({tmp_path / "out": NEW})
        with pytest.raises(OutputError, match="Permission denied"):
            back_up(tmp_path / "out")
    assert (tmp_path / "out").read_text() == OLD


@pytest.mark.parametrize(
    ("name", "reason"),
    [(".", "Is a directory"), ("none/out", "No such file"), ("a\0b", "null"), ("loop", "symbolic links")],
)
def test_impossible_places(name: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OutputError, match=f"cannot write: .*{reason}"):
        write_all({tmp_path / name: NEW})
    assert names(tmp_path) == {"loop"}


def test_text_that_utf8_cannot_hold(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"lone surrogate U\+D800"):
        write_all({tmp_path / "out": "a\ud800"})
    assert names(tmp_path) == set()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk() -> None:
    with pytest.raises(OutputError, match="/dev/full: cannot write: No space left on device"):
        write_all({Path("/dev/full"): NEW})


def python(code: str) -> list[str]:
    return [sys.executable, "-c", f"from pathlib import Path; from caspr.storage import *; {code}"]


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="no /dev/stdout here")
def test_standard_output_is_written_directly(tmp_path: Path) -> None:
    command = python("write_all({Path('/dev/stdout'): 'new\\n'})")
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"new\n"
    path = tmp_path / "out"
    path.write_text(OLD)
    with path.open("a") as output:
        subprocess.run(command, stdout=output, check=True)
    assert path.read_text() == OLD + "new\n"
    assert names(tmp_path) == {"out"}


def test_a_pipe_is_written_directly(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(
        python(f"print(Path({str(pipe)!r}).read_text())"), stdout=subprocess.PIPE
    ) as reader:
        write_all({pipe: "new"})
        assert reader.communicate(timeout=10)[0] == b"new\n"


def test_all_or_none(tmp_path: Path) -> None:
    first, second, bad = tmp_path / "1", tmp_path / "2", tmp_path / "none" / "3"
    first.write_text(OLD)
    with pytest.raises(OutputError, match="nothing was changed"):
        write_all({first: NEW, second: NEW, bad: NEW})
    assert names(tmp_path) == {"1"}
    assert first.read_text() == OLD
    write_all({first: NEW, second: NEW})
    assert names(tmp_path) == {"1", "2"}


def test_a_fault_between_replacements_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace, calls = os.replace, []

    def second_fails(source: Path, target: Path) -> None:
        calls.append(target)
        if len(calls) == 2:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        replace(source, target)

    first, second = tmp_path / "1", tmp_path / "2"
    with monkeypatch.context() as context:
        context.setattr(os, "replace", second_fails)
        with pytest.raises(OutputError) as refusal:
            write_all({first: NEW, second: NEW})
    assert str(refusal.value) == f"{second}: cannot write: Input/output error; only {first} was written"
    assert names(tmp_path) == {"1"}


def test_two_names_of_one_output_are_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    with pytest.raises(OutputError, match="the same file as"):
        write_all({tmp_path / "link": OLD, tmp_path / "file": NEW})


def test_inputs_are_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given, other = tmp_path / "in", tmp_path / "other"
    given.write_text(OLD)
    other.write_text(OLD)
    (tmp_path / "soft").symlink_to("in")
    (tmp_path / "hard").hardlink_to(given)
    (tmp_path / "dangling").symlink_to("future")
    monkeypatch.chdir(tmp_path)
    for output in (
        given,
        Path("in"),
        Path("../") / tmp_path.name / "in",
        tmp_path / "soft",
        tmp_path / "hard",
    ):
        with pytest.raises(InputError, match="would be overwritten"):
            refuse_overwriting(output, [other, given])
    with pytest.raises(InputError, match="the same file as"):
        refuse_overwriting(tmp_path / "dangling", [tmp_path / "future"])
    refuse_overwriting(tmp_path / "out", [given, other, tmp_path / "missing"])
    refuse_overwriting(other, [given])
    refuse_overwriting(Path("/dev/null"), [Path("/dev/null")])


def test_backups_are_numbered_and_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "review.conll"
    path.write_bytes(b"\xff one")
    path.chmod(0o600)
    (tmp_path / "review.conll.2.bak").symlink_to("nowhere")
    assert back_up(path) == tmp_path / "review.conll.1.bak"
    assert back_up(path) == tmp_path / "review.conll.3.bak"
    assert (tmp_path / "review.conll.3.bak").read_bytes() == b"\xff one"
    assert stat.S_IMODE((tmp_path / "review.conll.1.bak").stat().st_mode) == 0o600
    with pytest.raises(OutputError, match="No such file"):
        back_up(tmp_path / "none")


def test_a_failed_backup_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "a").write_text(OLD)
    with monkeypatch.context() as context:
        context.setattr(os, "write", full)
        with pytest.raises(OutputError, match="No space left"):
            back_up(tmp_path / "a")
    assert names(tmp_path) == {"a"}


def test_killed_at_random_moments(tmp_path: Path) -> None:
    path = tmp_path / "out"
    versions = {letter * 300_000 for letter in "abc"}
    write = f"write_all({{Path({str(path)!r}): 'abc'[i % 3] * 300_000}})"
    code = f"\nfor i in range(10**9):\n    {write}\n    if i == 0: print(flush=True)"
    generator = random.Random(5)
    until = time.monotonic() + 2
    while time.monotonic() < until:
        with subprocess.Popen(python(code), stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(generator.random() / 50)
            writer.kill()
        assert path.read_text() in versions


@pytest.mark.parametrize(("data", "line"), [(b"a\nb\n\xe4", 3), (b"\xef\xbb\xbf\n\xff", 2), (b"\n\0", 2)])
def test_what_is_not_utf8_is_refused_with_its_line(data: bytes, line: int) -> None:
    with pytest.raises(FormatError) as refusal:
        decode(data, "in")
    assert refusal.value.line == line


def test_a_byte_order_mark_is_dropped() -> None:
    assert decode(b"\xef\xbb\xbfa\r\n", "in") == "a\r\n"


def test_a_stream_replaces_a_file_whole_or_not_at_all(tmp_path: Path) -> None:
    def broken() -> Iterator[str]:
        yield "half"
        raise KeyboardInterrupt

    path = tmp_path / "summary.csv"
    write_all({path: ["a\n", "b\n"]})
    assert path.read_bytes() == b"a\nb\n"
    with pytest.raises(KeyboardInterrupt):
        write_all({path: broken()})
    assert path.read_bytes() == b"a\nb\n"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(OutputError, match="cannot write"):
        write_all({tmp_path / "nowhere" / "x": ["a"]})


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_a_stream_keeps_the_permissions_of_the_file_it_replaces(tmp_path: Path) -> None:
    path = tmp_path / "summary.csv"
    path.write_text("old")
    path.chmod(0o640)
    write_all({path: ["new"]})
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
