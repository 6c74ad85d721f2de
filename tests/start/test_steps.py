"""Commands that buttons run: how far they are, what went wrong, and that a cancel ends them."""

import time
from pathlib import Path

import psutil

from caspr.start.steps import CommandRun, CommandStep
from tests.cli.caller import SONG
from tests.platforms.scenarios import write_hard


def run(folder: Path, *steps: CommandStep) -> CommandRun:
    return CommandRun(steps, folder, "/then", "/back")


def until(condition: object, seconds: float = 60) -> None:
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_steps_run_one_after_another_until_one_fails(tmp_path: Path) -> None:
    gold = tmp_path / "gold.conll"
    job = run(
        tmp_path,
        CommandStep("Merging", ("adjudicate", *SONG, "-o", str(gold))),
        CommandStep("Failing", ("adjudicate", "nothing.conll", "-o", "other.conll")),
        CommandStep("Never", ("adjudicate", *SONG, "-o", str(tmp_path / "never.conll"))),
    )
    job.start()
    assert job.wait(60)
    assert job.state == "failed"
    assert gold.is_file()
    assert not (tmp_path / "never.conll").exists()
    view = job.view()
    assert (view["step"], view["number"], view["steps"]) == ("Failing", 2, 3)
    assert "nothing.conll" in view["error"]
    assert not view["error"].startswith("caspr: error")
    assert any("proven optimal" in line for line in job.said)


def test_a_cancel_ends_the_process_and_all_that_it_started(tmp_path: Path) -> None:
    files = write_hard(tmp_path / "hard")
    gold = tmp_path / "gold.conll"
    words = ("adjudicate", *map(str, files), "--engine", "gringo-clasp", "-o", str(gold))
    before = {process.pid for process in psutil.Process().children(recursive=True)}

    def children() -> list[psutil.Process]:
        here = psutil.Process().children(recursive=True)
        return [process for process in here if process.pid not in before]

    job = run(tmp_path, CommandStep("Merging", words))
    job.start()
    until(lambda: len(children()) >= 2)
    until(lambda: job.view()["progress"])
    assert job.view()["progress"].startswith("Document 1 of 1, hard")
    job.cancel()
    assert job.wait(10)
    assert job.state == "cancelled"
    until(lambda: not children(), 10)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hard"]


def test_a_cancel_before_the_start_starts_nothing(tmp_path: Path) -> None:
    job = run(tmp_path, CommandStep("Merging", ("adjudicate", *SONG, "-o", str(tmp_path / "gold.conll"))))
    job._cancelled.set()
    job.start()
    assert job.wait(30)
    assert job.state == "cancelled"
    assert list(tmp_path.iterdir()) == []


def test_a_command_can_be_typed_as_it_is_shown(tmp_path: Path) -> None:
    folder = tmp_path / 'it\'s $HOME; "x"'
    assert CommandStep("", ("check", str(folder))).command.startswith("caspr check '")


def test_what_cannot_be_started_fails_in_words(tmp_path: Path) -> None:
    job = CommandRun([CommandStep("Trying", ("check", "a\0b"))], tmp_path, "/then", "/back")
    job.start()
    assert job.wait(60)
    assert job.state == "failed" and job.error.startswith("This could not be started")
