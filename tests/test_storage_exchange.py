"""Replacing a file only while it holds what is known: whoever saves it in any moment keeps what was saved."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from caspr import storage as module
from caspr.storage import ChangedError, stamp_of, write_unless_changed

OLD, OURS = b"old\n", b"ours\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "file").write_bytes(OLD)
    return tmp_path / "file"


def is_known(found: bytes) -> bool:
    return found == OLD


def save(path: Path, data: bytes) -> None:
    """Save as most editors do: another file takes the place."""
    other = path.with_name("editor's")
    other.write_bytes(data)
    other.replace(path)


def names(path: Path) -> list[str]:
    return sorted(one.name for one in path.parent.iterdir())


def test_known_content_is_replaced_and_the_stamp_is_that_of_the_new_file(path: Path) -> None:
    path.chmod(0o604)
    assert write_unless_changed(path, OURS, is_known) == stamp_of(path)
    assert (path.read_bytes(), path.stat().st_mode & 0o777, names(path)) == (OURS, 0o604, ["file"])


def test_unknown_content_stays(path: Path) -> None:
    save(path, b"editor's\n")
    with pytest.raises(ChangedError, match="another program has saved"):
        write_unless_changed(path, OURS, is_known)
    assert (path.read_bytes(), names(path)) == (b"editor's\n", ["file"])


def test_a_missing_file_is_written(path: Path) -> None:
    path.unlink()
    write_unless_changed(path, OURS, is_known)
    assert path.read_bytes() == OURS


def test_a_symbolic_link_stays_one(path: Path) -> None:
    link = path.with_name("link")
    link.symlink_to(path)
    write_unless_changed(link, OURS, is_known)
    assert link.is_symlink()
    assert path.read_bytes() == OURS


def in_place(path: Path, data: bytes) -> None:
    path.write_bytes(data)


@pytest.mark.parametrize("editor", [save, in_place])
@pytest.mark.parametrize("saves", [(1,), (1, 2), (1, 2, 3), (1, 3)])
def test_saves_between_comparing_and_replacing_are_kept_the_newest_last(
    saves: tuple[int, ...],
    editor: Callable[[Path, bytes], None],
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The editor saves before some of the exchanges: whatever it saved last must be there."""
    if not module.exchange(path, path.parent / "none") and module._system_exchange() is None:
        pytest.skip("this system exchanges no files")
    real, calls, saved = module.exchange, [0], [b""]

    def interrupted(one: Path, other: Path) -> bool:
        calls[0] += 1
        if calls[0] in saves:
            saved[0] = f"save {calls[0]}\n".encode()
            editor(path, saved[0])
        return real(one, other)

    monkeypatch.setattr(module, "exchange", interrupted)
    with pytest.raises(ChangedError):
        write_unless_changed(path, OURS, is_known)
    assert (path.read_bytes(), names(path)) == (saved[0], ["file"])
    assert calls[0] == next(number for number in count(1) if number not in saves)


def test_without_an_exchange_files_are_compared_and_replaced(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "exchange", lambda one, other: False)
    write_unless_changed(path, OURS, is_known)
    assert path.read_bytes() == OURS
    with pytest.raises(ChangedError):
        write_unless_changed(path, b"more", is_known)
    assert (path.read_bytes(), names(path)) == (OURS, ["file"])


def test_what_is_saved_while_windows_lets_nobody_replace_the_file_is_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "exchange", lambda one, other: False)
    monkeypatch.setattr("caspr.storage.sys.platform", "win32")
    replace = Path.replace

    def refused_once(self: Path, target: Path) -> Path:
        monkeypatch.setattr(Path, "replace", replace)
        path.write_bytes(b"editor's\n")
        raise PermissionError(5, "Access is denied")

    monkeypatch.setattr(Path, "replace", refused_once)
    with pytest.raises(ChangedError):
        write_unless_changed(path, OURS, is_known)
    assert (path.read_bytes(), names(path)) == (b"editor's\n", ["file"])
