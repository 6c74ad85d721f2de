"""The test command: what it runs, and that only `--all` installs programs."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import dev


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Keep commands from being run, and list them."""
    calls: list[tuple[str, ...]] = []
    monkeypatch.setattr(dev, "run", lambda *words: calls.append(words))
    monkeypatch.setattr(dev, "check_types", lambda: calls.append(("types",)))
    monkeypatch.setattr(dev, "install_programs", lambda: calls.append(("programs",)))
    monkeypatch.setattr(dev, "add_packages", lambda command: calls.append(("packages", command)))
    for name in ("CASPR_SWEEPS", "CASPR_WINDOWS", "CASPR_INTEGRATIONS"):
        monkeypatch.setenv(name, "")
    return calls


def pytest_calls(calls: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return [words for words in calls if "pytest" in words]


def test_the_plain_command_installs_no_programs_and_shortens_sweeps(called: list[tuple[str, ...]]) -> None:
    dev.test()
    assert ("programs",) not in called
    assert ("types",) in called
    [words] = pytest_calls(called)
    assert "--cov" in words and f"--ignore={dev.SLOW[0]}" in words
    assert os.environ["CASPR_SWEEPS"] == "short"


def test_chosen_tests_are_run_in_full(called: list[tuple[str, ...]]) -> None:
    dev.test("-k", "redo")
    assert ("programs",) not in called
    [words] = pytest_calls(called)
    assert words[-2:] == ("-k", "redo") and "--cov" not in words
    assert os.environ["CASPR_SWEEPS"] == ""


def test_all_installs_programs_first_and_runs_everything_in_full(called: list[tuple[str, ...]]) -> None:
    dev.test("--all")
    assert called[0] == ("programs",)
    chosen = pytest_calls(called)
    assert "--cov" in chosen[0] and set(dev.SLOW) <= set(chosen[1]) and set(dev.LONG) <= set(chosen[2])
    assert os.environ["CASPR_SWEEPS"] == ""


@pytest.mark.parametrize("root", [True, False])
def test_programs_that_are_missing_are_installed_where_we_may(
    root: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []
    there = {"chromium", "npm", "apt-get"}
    monkeypatch.setattr(shutil, "which", lambda name: name if name in there else None)
    monkeypatch.setattr(Path, "exists", lambda path: False)
    monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000, raising=False)
    monkeypatch.setattr(subprocess, "run", lambda command, **_: commands.append(command))
    dev.install_programs()
    if root:
        names = ["libuima-core-java", "default-jdk-headless", "wine", "wine64"]
        assert commands[-1][-5:] == ["--no-install-recommends", *names]
    else:
        assert commands == []


@pytest.mark.parametrize("path", [*dev.SLOW, *dev.LONG])
def test_what_is_left_to_all_exists(path: str) -> None:
    assert (dev.ROOT / path).exists()
