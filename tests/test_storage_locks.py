"""The lock of a file: one holder at a time, whatever the file is called; killed holders hinder nobody."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from caspr.errors import InputError
from caspr.storage import FileLock, stage


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_one_at_a_time_by_any_name(tmp_path: Path) -> None:
    path, link = tmp_path / "review.conll", tmp_path / "link"
    path.write_text("x")
    link.symlink_to(path)
    with FileLock(path):
        assert ".review.conll.lock" in names(tmp_path)
        for name in (path, link):
            with pytest.raises(InputError, match=r"open in another `caspr` \(process \d+\)"):
                FileLock(name).acquire()
    with FileLock(link):
        pass
    assert names(tmp_path) == ["link", "review.conll"]


def test_a_file_with_several_names_is_refused(tmp_path: Path) -> None:
    path, other = tmp_path / "review.conll", tmp_path / "other.conll"
    path.write_text("x")
    other.hardlink_to(path)
    for name in (path, other):
        with pytest.raises(InputError, match=r"2 names \(hard links\).*copy it"):
            FileLock(name).acquire()
    assert names(tmp_path) == ["other.conll", "review.conll"]


HOLDER = """
import pathlib, sys, time
from caspr.storage import stage
from caspr.storage import FileLock
path = pathlib.Path(sys.argv[1])
lock = FileLock(path)
lock.acquire()
stage(path, b"half")
print("ready", flush=True)
time.sleep(60)
"""


def test_what_a_killed_holder_left_is_swept_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "review.conll"
    path.write_text("x")
    elsewhere = stage(tmp_path / "other.conll", b"somebody is writing this")
    (tmp_path / ".caspr-mine.tmp").write_text("not ours")
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"ready\n"
        with pytest.raises(InputError, match=f"process {holder.pid}"):
            FileLock(path).acquire()
        holder.send_signal(signal.SIGKILL)
    assert len(names(tmp_path)) == 5
    with FileLock(path):
        kept = [".caspr-mine.tmp", elsewhere.name, ".review.conll.lock", "review.conll"]
        assert names(tmp_path) == sorted(kept)
