"""Mutants are made, killed and survive as they should, on a toy module with its own tests."""

import os
from pathlib import Path

import pytest

from bench.equivalents import EQUIVALENTS, STEERING, Equivalent
from bench.mutants import ROOT, TESTS, main, mutants_of, run
from bench.mutation import Mutant, Mutator

TOY = '''"""A toy."""

def checked(number: int | None, names: list[str]) -> int:
    """Return a number that is positive and has a name."""
    if number is None or number <= 0:
        raise ValueError(f"{number or 'nothing'} is not positive")
    if "one" not in names:
        names.append("one")
    # A comment
    # of two lines.
    return number if number > 0 and all(names) else min(number, len(names) - 1)
'''
KNOWN = [
    Equivalent(
        "checked",
        "return number if number > 0 and all(names) else min(number, len(names) - 1)",
        ("boundary",),
        "the number is positive here",
    )
]
TEST = '''"""Tests of the toy; nothing tests that the name is added."""
import pytest
from caspr.toy import checked

def test_checked():
    assert checked(1, ["one"]) == 1
    assert checked(3, ["one", ""]) == 1
    assert checked(2, ["", "", "one"]) == 2
    assert checked(1, ["", "one", "", ""]) == 1
    for number in (0, None):
        with pytest.raises(ValueError):
            checked(number, [])
'''
METHODS = '''"""A toy with methods."""
from functools import cache, cached_property

class Toy:
    def __init__(self, numbers):
        self.numbers = numbers

    @cached_property
    def positive(self):
        return [number for number in self.numbers if number > 0]
    @classmethod
    def of(cls, numbers):
        return cls(numbers or [])

@cache
def cached(number):
    return number or 1

def idle(number):
    del number[0]
    number.clear()

class Named(list):
    def append(self, item):
        super().append(item)
'''


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src/caspr").mkdir(parents=True)
    (tmp_path / "src/caspr/__init__.py").touch()
    (tmp_path / "src/caspr/toy.py").write_text(TOY)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_toy.py").write_text(TEST)
    return tmp_path


FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="mutants are tried in forks")


def described(mutant: Mutant) -> tuple[int, str, str]:
    return mutant.line, mutant.operator, mutant.change


def test_every_check_has_its_mutants() -> None:
    made = Mutator("toy.py", TOY, KNOWN).mutants()
    assert [described(mutant) for mutant in made] == [
        (5, "always", "True"),
        (5, "never", "False"),
        (5, "drop-operand 1", "((number <= 0))"),
        (5, "drop-operand 2", "((number is None))"),
        (5, "negate 1", "((number) is not (None))"),
        (5, "negate 2", "((number) > (0))"),
        (5, "boundary", "((number) < (0))"),
        (6, "delete", "pass"),
        (7, "always", "True"),
        (7, "never", "False"),
        (8, "delete", "pass"),
        (11, "always", "True"),
        (11, "never", "False"),
        (11, "drop-operand 1", "((all(names)))"),
        (11, "drop-operand 2", "((number > 0))"),
        (11, "negate", "((number) <= (0))"),
        (11, "boundary", "((number) >= (0))"),
        (11, "swap", "any"),
        (11, "drop-operand 3", "(number)"),
        (11, "drop-operand 4", "(len(names) - 1)"),
        (11, "drop-operand 5", "(len(names))"),
    ]
    assert [mutant.operator for mutant in made if mutant.equivalent] == ["boundary"]
    assert all(mutant.text != TOY and mutant.source in TOY for mutant in made)


@FORKS
def test_mutants_are_killed_survive_or_are_equivalent(tree: Path) -> None:
    tests = {"toy.py": ["tests/test_toy.py"]}
    outcomes = list(run(mutants_of(tree, ["toy.py"], KNOWN), root=tree, tests=tests))
    verdicts = {(one.mutant.line, one.mutant.operator): one.verdict for one in outcomes}
    survivors = {place for place, verdict in verdicts.items() if verdict == "survived"}
    assert survivors == {(7, "never"), (8, "delete"), (11, "drop-operand 1")}
    assert verdicts[11, "boundary"] == "equivalent"
    assert verdicts[5, "boundary"] == verdicts[11, "swap"] == "killed"
    assert (tree / "src/caspr/toy.py").read_text() == TOY


@FORKS
def test_a_mutant_that_hangs_is_stopped_and_a_wrong_entry_reported(tree: Path) -> None:
    toy = tree / "src/caspr/toy.py"
    toy.write_text("def checked(number, names):\n    while names:\n        names.pop()\n")
    (tree / "tests/test_toy.py").write_text(
        "from caspr.toy import checked\n"
        "def test_checked():\n"
        "    names = [1]\n"
        "    checked(1, names)\n"
        "    assert not names\n"
    )
    wrong = [Equivalent("checked", "while names:", ("never",), "somebody said so")]
    outcomes = run(mutants_of(tree, ["toy.py"], wrong), root=tree, tests={"toy.py": ["tests/test_toy.py"]})
    verdicts = {one.mutant.operator: one.verdict for one in outcomes}
    assert verdicts == {"never": "wrongly marked", "delete": "stopped"}


@FORKS
def test_methods_and_decorated_functions_are_changed_where_they_are(tree: Path) -> None:
    (tree / "src/caspr/toy.py").write_text(METHODS)
    (tree / "tests/test_toy.py").write_text(
        "from caspr.toy import Named, Toy, cached\n"
        "def test_methods():\n"
        "    assert Toy.of([1, -1]).positive == [1]\n"
        "def test_cached():\n"
        "    assert cached(2) == 2\n"
        "def test_inherited():\n"
        "    names = Named()\n"
        "    names.append('one')\n"
        "    assert names == ['one']\n"
    )
    outcomes = run(mutants_of(tree, ["toy.py"]), root=tree, tests={"toy.py": ["tests/test_toy.py"]})
    fates = {(outcome.mutant.line, outcome.mutant.operator): outcome.fate for outcome in outcomes}
    assert fates == {
        (10, "always"): "killed",
        (10, "never"): "killed",
        (10, "boundary"): "survived",
        (13, "drop-operand 1"): "killed",
        (13, "drop-operand 2"): "survived",
        (17, "drop-operand 1"): "killed",
        (17, "drop-operand 2"): "survived",
        (21, "delete"): "survived",
        (25, "delete"): "killed",
    }


@FORKS
def test_tests_that_fail_without_a_mutant_are_reported(tree: Path) -> None:
    (tree / "tests/test_toy.py").write_text("def test_nothing():\n    assert False\n")
    with pytest.raises(SystemExit, match="fail without any mutant"):
        list(run(mutants_of(tree, ["toy.py"]), root=tree, tests={"toy.py": ["tests/test_toy.py"]}))


def test_the_table_names_modules_and_tests_that_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    for path, tests in TESTS.items():
        assert (ROOT / "src/caspr" / path).exists(), path
        for test in tests:
            assert (ROOT / test.partition("::")[0]).exists(), test
    assert main(["--list", "task/demands", "task/pricing"]) == 0
    assert "mutants of 2 modules" in capsys.readouterr().out


def test_functions_that_only_steer_are_there_and_not_tried() -> None:
    for some in STEERING:
        text = (ROOT / "src/caspr" / some.path).read_text()
        assert all(f"def {function}(" in text for function in some.functions)
        every = Mutator(some.path, text, EQUIVALENTS).mutants()
        assert 0 < len(mutants_of(ROOT, [some.path])) < len(every)


def test_every_entry_of_the_list_is_about_a_mutant_that_there_is() -> None:
    made = {(one.source, one.operator) for one in mutants_of(ROOT, list(TESTS)) if one.equivalent}
    assert made == {(one.line, operator) for one in EQUIVALENTS for operator in one.operators}
