"""The public names of `caspr`: what they are, when they are imported, and what checkers know of them."""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import caspr
from caspr.cli import cli
from caspr.task.settings import Settings, SettingValues, change
from caspr.task.stored_settings import write_settings
from caspr.task.weights import AnnotatorWeights, WeightsTable
from tests.cli.caller import PAPER

ROOT = Path(__file__).parents[1]


def start(*words: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run Python with some words."""
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, cwd=folder)


def run(code: str, *words: str) -> str:
    """Return what a program prints in a Python of its own."""
    done = start("-c", code, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class TestNames:
    def test_every_name_is_there(self) -> None:
        for name in caspr.__all__:
            assert getattr(caspr, name).__name__ == name
            assert name in dir(caspr)
        with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
            _ = caspr.nonsense  # type: ignore[attr-defined]

    def test_the_table_the_imports_for_checkers_and_all_agree(self) -> None:
        tree = ast.parse(Path(caspr.__file__).read_text(encoding="utf-8"))
        [checked] = [
            node
            for node in tree.body
            if isinstance(node, ast.If)
            and isinstance(node.test, ast.Name)
            and node.test.id == "TYPE_CHECKING"
        ]
        seen = {
            alias.name: node.module
            for node in checked.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        assert seen == caspr._HOMES
        assert sorted(seen) == caspr.__all__

    def test_no_submodule_has_the_name_of_something_public(self) -> None:
        modules = {path.stem for path in Path(caspr.__file__).parent.iterdir()}
        assert not modules.intersection(caspr.__all__)

    def test_every_name_is_documented(self) -> None:
        page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
        for name in caspr.__all__:
            assert re.search(rf"\b{name}\b", page), name


class TestImport:
    @pytest.mark.parametrize(
        "before",
        [
            "",
            "import caspr.adjudication",
            "from caspr.adjudication import by_document",
            "import caspr.cli.adjudicate",
            "from caspr.cli import adjudicate as command",
            "import caspr.corpus.worker",
        ],
    )
    @pytest.mark.parametrize(
        "use", ["from caspr import adjudicate", "import caspr; adjudicate = caspr.adjudicate"]
    )
    def test_adjudicate_is_the_function_whatever_was_imported(self, before: str, use: str) -> None:
        code = f"{before}\n{use}\nprint(type(adjudicate).__name__, adjudicate.__module__)"
        assert run(code) == "function caspr.adjudication"
        assert run(f"{use}\n{before}\nimport caspr\nprint(type(caspr.adjudicate).__name__)") == "function"

    def test_importing_caspr_imports_nothing_else(self) -> None:
        code = "import sys, caspr; print([name for name in sys.modules if name.startswith('caspr.')])"
        assert run(code) == "[]"

    def test_importing_caspr_leaves_signals_alone(self) -> None:
        code = (
            "import signal, sys\nsys.argv[0] = 'bin/caspr'\nimport caspr, caspr.__main__\n"
            "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
        )
        assert run(code) == "True"

    def test_reading_needs_no_solver(self) -> None:
        code = (
            "import sys, caspr\nassert caspr.read(sys.argv[1])\n"
            "print({'clingo', 'numpy', 'scipy', 'click'}.intersection(sys.modules))"
        )
        assert run(code, PAPER[0]) == "set()"

    def test_a_package_that_imports_caspr_can_be_run_as_a_module(self, tmp_path: Path) -> None:
        package = tmp_path / "mypkg"
        package.mkdir()
        (package / "__init__.py").write_text("import caspr\nread = caspr.read\n")
        (package / "tool.py").write_text("import sys, mypkg\nprint(len(mypkg.read(sys.argv[1])))\n")
        done = start("-m", "mypkg.tool", PAPER[0], folder=tmp_path)
        assert (done.returncode, done.stdout.strip()) == (0, "1"), done.stderr

    def test_all_names_at_once(self) -> None:
        assert run("from caspr import *\nprint(callable(adjudicate), Span(1, 2).end)") == "True 2"


SNIPPET = """
import caspr
from caspr import Annotation, Decisions, Result

files = [caspr.read("a.conll"), caspr.read("b.conll")]
reveal_type(caspr.adjudicate)
results = caspr.adjudicate(files, objective="va", prices=1.5, decisions={"d": Decisions()})
reveal_type(results)
reveal_type(results[0].gold)
reveal_type(caspr.score)
caspr.adjudicate(files, objektive="va")
caspr.adjudicate(files, max_solutions="many")
caspr.nonsense
"""


def test_checkers_see_types(tmp_path: Path) -> None:
    (tmp_path / "snippet.py").write_text(SNIPPET)
    cache = f"--cache-dir={tmp_path / 'cache'}"
    done = start("-m", "mypy", "--strict", "--config-file=", cache, "snippet.py", folder=tmp_path)
    lines = [line.partition(": ")[2] for line in done.stdout.splitlines()]
    function, results, gold, score, *errors = lines
    assert "def (files: typing.Sequence[typing.Iterable[caspr.text.document.Annotation]]" in function
    assert "max_solutions" in function
    assert 'Revealed type is "list[caspr.result.Result]"' in results.replace("builtins.", "")
    assert 'Revealed type is "caspr.text.document.Annotation"' in gold
    assert "caspr.measures.scores.Scores" in score
    assert 'Unexpected keyword argument "objektive"' in errors[0]
    assert 'Argument "max_solutions" to "adjudicate" has incompatible type "str"' in "".join(errors)
    assert any("has no attribute" in error for error in errors)


OTHER_VALUES: SettingValues = {
    "objective": "ua",
    "omit_cost": 5,
    "use_cost": 6,
    "invent_cost": 7,
    "preset": "paper",
    "nested": "always",
    "weight": {"anna": 2.5},
    "weights": WeightsTable((AnnotatorWeights("anna", 3, 1),)),
    "coverage": "marks",
    "variants": True,
    "rules": "same-type",
    "singletons": "vote",
    "forced_votes": True,
    "encoding": "cm",
    "engine": "clingo",
    "time_limit": 9.0,
    "memory_limit": 900,
    "prices": 3.0,
    "max_solutions": 4,
    "solver_option": ["--opt-strategy=bb"],
}
"""A value that is not the default for each setting."""


class TestSettings:
    """One name for each setting, on the command line, in Python and in a review file."""

    SHORTHANDS = frozenset({"all_solutions"})
    """`--all` stands for `--max-solutions 100`."""

    def options(self) -> Iterator[str]:
        from caspr.cli.shared.options import search_options, settings_options

        @settings_options
        @search_options
        def function() -> None: ...

        for option in function.__click_params__:  # type: ignore[attr-defined]
            yield option.name

    def test_options_are_the_settings(self) -> None:
        assert set(self.options()) - self.SHORTHANDS == set(SettingValues.__annotations__)
        command = cli.get_command(None, "adjudicate")  # type: ignore[arg-type]
        assert command is not None
        assert set(self.options()) <= {parameter.name for parameter in command.params}

    def test_keywords_are_the_settings(self) -> None:
        last = list(inspect.signature(caspr.adjudicate).parameters.values())[-1]
        assert last.annotation == "Unpack[SettingValues]" or SettingValues in last.annotation.__args__
        documented = (
            (ROOT / "docs" / "adjudicate.md").read_text(encoding="utf-8").partition("## Settings\n")[2]
        )
        assert caspr.adjudicate.__doc__ is not None
        for name in SettingValues.__annotations__:
            assert name in caspr.adjudicate.__doc__
            assert f"`{name}`" in documented

    @pytest.mark.parametrize("name", SettingValues.__annotations__)
    def test_every_setting_changes_something(self, name: str) -> None:
        value = OTHER_VALUES[name]  # type: ignore[literal-required]
        changed = change(Settings(), {name: value})  # type: ignore[misc]
        assert changed != Settings()
        assert change(changed, {name: None}) == changed  # type: ignore[misc]

    def test_a_review_file_keeps_settings_by_the_same_names(self) -> None:
        assert set(write_settings(Settings())) < set(SettingValues.__annotations__)

    def test_unknown_and_impossible_settings(self) -> None:
        files = [caspr.read(path) for path in PAPER]
        with pytest.raises(TypeError, match="unknown setting 'objektive'"):
            caspr.adjudicate(files, objektive="va")  # type: ignore[call-arg]
        for bad in ({"prices": -1.0}, {"max_solutions": 0}, {"objective": "w"}, {"engine": "steam"}):
            with pytest.raises(caspr.CasprError):
                caspr.adjudicate(files, **bad)

    def test_an_objective_of_ones_own(self) -> None:
        files = [caspr.read(path) for path in PAPER]
        [named] = caspr.adjudicate(files, objective="va")
        [own] = caspr.adjudicate(files, objective=caspr.Objective(2, 1, 1))
        assert own.solution == named.solution

    def test_settings_reach_the_engine(self) -> None:
        files = [caspr.read(path) for path in PAPER]
        [result] = caspr.adjudicate(files, preset="paper", prices=5.0, max_solutions=10)
        assert result.change_prices
        assert len(result.golds) == 2


class TestDecisions:
    def files(self, *names: str) -> list[list[caspr.Annotation]]:
        """Return what two annotators say of documents that look the same."""
        chains = [caspr.Chain.of("1", [(1, 1), (2, 2), (3, 3)])]
        return [
            [caspr.Annotation.of(who, caspr.Document(name, ("a", "b", "c")), chains) for name in names]
            for who in ("ann", "bob")
        ]

    def test_of_the_only_document(self) -> None:
        decisions = caspr.Decisions.of([], empty=[2])
        [result] = caspr.adjudicate(self.files("one"), decisions=decisions)
        assert [chain.mentions for chain in result.chains] == [((1, 1), (3, 3))]

    def test_of_each_document_by_name(self) -> None:
        decisions = {"two": caspr.Decisions.of([], empty=[2])}
        one, two = caspr.adjudicate(self.files("one", "two"), decisions=decisions)
        assert [len(chain.mentions) for chain in one.chains] == [3]
        assert [len(chain.mentions) for chain in two.chains] == [2]

    def test_of_documents_that_are_not_there(self) -> None:
        decisions = caspr.Decisions.of([], empty=[2])
        with pytest.raises(caspr.CasprError, match="found document 'three', expected one of 'one', 'two'"):
            caspr.adjudicate(self.files("one", "two"), decisions={"three": decisions})
        with pytest.raises(caspr.CasprError, match="for 2 documents, expected a mapping"):
            caspr.adjudicate(self.files("one", "two"), decisions=decisions)

    def test_forced_votes_count(self) -> None:
        enforced = caspr.Decisions.of([caspr.Chain.of("1", [(1, 1), (3, 3)])], empty=[2])
        [free] = caspr.adjudicate(self.files("one"), decisions=enforced)
        [voted] = caspr.adjudicate(self.files("one"), decisions=enforced, forced_votes=True)
        assert voted.instance.votes.annotators == free.instance.votes.annotators + 1


def test_representations_are_one_short_line() -> None:
    tokens = tuple(f"token{number}" for number in range(1, 5001))
    document = caspr.Document("act\n1", tokens)
    chains = [
        caspr.Chain.of(str(first), [(number, number) for number in range(first, 5001, 250)])
        for first in range(1, 251)
    ]
    files = [[caspr.Annotation.of(name, document, chains)] for name in ("ann", "bob")]
    [result] = caspr.adjudicate(files)
    for value in (result, result.gold, result.document, result.solution, result.instance):
        assert len(repr(value)) < 200
        assert "\n" not in repr(value)
        assert repr(value).startswith(f"<{type(value).__name__} ")
    assert repr(result) == "<Result for 'act\\n1': 250 chains, optimal, cost 0>"


@pytest.mark.parametrize("words", [["-m", "caspr"], ["-c", "from caspr.__main__ import main; main()"]])
def test_messages_name_the_program_however_it_is_started(words: list[str]) -> None:
    done = start(*words, "adjudicate", "--nonsense")
    assert done.returncode == 2
    assert "Usage: caspr adjudicate" in done.stderr
