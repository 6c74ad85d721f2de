"""Mutate every check of the modules that trust rests on, one at a time; print the mutants that no test kills.

python -m bench.mutants                        all modules of `TESTS`
python -m bench.mutants proof/verify --jobs 2  those whose path contains a word
python -m bench.mutants --list                 print the mutants, run nothing

A mutant is the source with one small change, inside a function:

    always, never      the condition of an `if`, `assert` or comprehension is true or false (`while`: false)
    drop-operand       `a and b`, `a or b`, `a & b`, `a | b`, `min(a, b)`, `max(a, b)` lose an operand,
                       `a - b` and `clip(a, ...)` all but the first
    negate             a comparison that is not itself a condition says the opposite; `not a` becomes `a`
    boundary           `<` becomes `<=`, `<=` becomes `<`, and so on
    swap               `all` becomes `any`, `any` becomes `all`
    delete             a statement that calls, raises, yields, adds to something, breaks or continues is gone

Each is written into a copy of the tree in a temporary folder, where the tests of `TESTS` are run until the
first fails. A mutant is killed if a test fails, or if the tests take longer than the time-out. If they
pass, it survived: then a check has no test, or is not needed. Where a mutant behaves like the original, say
so in the source, on the line or in a comment above it, with the operators and a proof:

    # mutant: equivalent (boundary, always 2), because the number is never 0

where `always 2` is the second of its kind on the line, as the list of mutants numbers them.
Such mutants are run too and counted apart; one that is killed is reported, since its comment is wrong. The
exit status is 1 if a mutant survived or a comment is wrong.
"""

import argparse
import ast
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
COPIED = ("src", "tests", "bench", "examples", "conftest.py", "pyproject.toml")
"""What the tests need."""
MARK = re.compile(r"#\s*mutant: equivalent \(([a-z0-9, -]+)\), because \S")
MEMORY = 8 << 30
"""How much address space the tests of a mutant get: one that adds to a list for ever is killed by this."""
PYTEST = f"""
import resource, sys, pytest
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
sys.exit(pytest.main(sys.argv[1:]))
"""
NATIVE, PRICE, PROOF = "tests/engines/native", "tests/task/price", "tests/proof"

TESTS: Mapping[str, Sequence[str]] = {
    "proof/verify/reading.py": ("src/caspr/proof/verify/reading.py", f"{PROOF}/verify/test_tree.py"),
    "proof/verify/tree.py": (f"{PROOF}/verify/test_tree.py",),
    "proof/verify/facts.py": (f"{PROOF}/verify/test_cases.py", f"{PROOF}/verify/test_parts.py"),
    "proof/verify/parts.py": (f"{PROOF}/verify/test_parts.py", f"{PROOF}/verify/test_cases.py"),
    "proof/verify/cases.py": (f"{PROOF}/verify/test_cases.py",),
    "proof/verify/documents.py": (f"{PROOF}/verify/test_documents.py",),
    "proof/verify/__init__.py": (f"{PROOF}/verify/test_parts.py", f"{PROOF}/verify/test_cases.py"),
    "proof/certificate.py": (f"{PROOF}/test_certificate.py",),
    "proof/prove.py": (f"{PROOF}/verify/test_documents.py",),
    "proof/certify.py": (f"{PROOF}/test_certify.py",),
    "task/price/rules.py": (f"{PRICE}/test_rules.py", f"{PROOF}/test_certify.py"),
    "task/price/pricing.py": (f"{PRICE}/test_pricing.py", "src/caspr/task/price/pricing.py"),
    "task/price/contradictions.py": (f"{PRICE}/test_contradictions.py", f"{PRICE}/test_partners.py"),
    "task/price/partners.py": (f"{PRICE}/test_partners.py",),
    "engines/native/state.py": (f"{NATIVE}/test_state.py", f"{NATIVE}/test_flip_prices.py"),
    "engines/native/partition/lp.py": (
        f"{NATIVE}/partition/test_lp_checks.py",
        f"{NATIVE}/partition/test_lp.py",
    ),
}
"""The modules below src/caspr that are mutated, and their tests, the quickest first."""

COMPARISONS: Mapping[type[ast.cmpop], tuple[str, str, str | None]] = {
    ast.Eq: ("==", "!=", None),
    ast.NotEq: ("!=", "==", None),
    ast.Lt: ("<", ">=", "<="),
    ast.LtE: ("<=", ">", "<"),
    ast.Gt: (">", "<=", ">="),
    ast.GtE: (">=", "<", ">"),
    ast.In: ("in", "not in", None),
    ast.NotIn: ("not in", "in", None),
    ast.Is: ("is", "is not", None),
    ast.IsNot: ("is not", "is", None),
}
"""How each comparison is written, its opposite, and how it is written with another boundary."""
CHOOSING = ("min", "max", "minimum", "maximum")
LIMITING = ("clip", "nan_to_num")


@dataclass(frozen=True)
class Mutant:
    """A module with one small change."""

    path: str
    """The module, below src/caspr."""
    operator: str
    """What is changed, as the docstring of this module names it."""
    line: int
    """The line of the change."""
    source: str
    """That line."""
    change: str
    """What stands there instead, on one line."""
    text: str
    """The whole changed module."""
    equivalent: bool
    """Whether a comment says that it behaves like the original."""

    def __str__(self) -> str:
        """Say where it is and what it changes."""
        return f"src/caspr/{self.path}:{self.line} {self.operator}: {self.source}   [{self.change}]"


Change = tuple[ast.AST, str, str]
"""A piece of the source, an operator, and what stands there instead."""


@dataclass(frozen=True)
class Mutator:
    """Makes the mutants of one module."""

    path: str
    source: str

    def mutants(self) -> list[Mutant]:
        """Make every mutant that differs from the original and from the others."""
        tree = ast.parse(self.source)
        conditions = set(_conditions(tree))
        seen = {ast.dump(tree)}
        made = []
        for node, operator, new in self._changes(tree):
            if operator == "negate" and node in conditions:
                continue
            mutant = self._mutant(node, operator, new)
            dumped = ast.dump(ast.parse(mutant.text))
            if dumped not in seen:
                seen.add(dumped)
                made.append(mutant)
        return _numbered(sorted(made, key=lambda mutant: mutant.line), self.source.splitlines())

    def _changes(self, tree: ast.AST) -> Iterator[Change]:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                for statement in node.body:
                    yield from self._walk(statement)

    def _walk(self, node: ast.AST) -> Iterator[Change]:
        """Change a node, and everything below it but annotations and formatted texts."""
        if isinstance(node, ast.JoinedStr | ast.FunctionDef | ast.ClassDef):
            return
        for test in () if isinstance(node, ast.While) else _tests(node):
            yield test, "always", "True"
            yield test, "never", "False"
        yield from self._here(node)
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns"):
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        yield from self._walk(child)

    def _here(self, node: ast.AST) -> Iterator[Change]:
        match node:
            case ast.While(test=test):
                yield test, "never", "False"
            case ast.BoolOp(op=op, values=values):
                word = " and " if isinstance(op, ast.And) else " or "
                for left_out in values:
                    kept = [self._text(value) for value in values if value is not left_out]
                    yield node, "drop-operand", f"({word.join(kept)})"
            case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr(), right=right):
                yield node, "drop-operand", self._text(left)
                yield node, "drop-operand", self._text(right)
            case ast.BinOp(left=left, op=ast.Sub()):
                yield node, "drop-operand", self._text(left)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield node, "negate", self._text(operand)
            case ast.Compare():
                yield from self._comparison(node)
            case ast.Call():
                yield from self._call(node)
            case ast.Expr(value=ast.Yield() | ast.YieldFrom()):
                yield node, "delete", "yield from ()"
            case ast.Expr(value=ast.Call()) | ast.Raise() | ast.AugAssign() | ast.Break() | ast.Continue():
                yield node, "delete", "pass"

    def _comparison(self, node: ast.Compare) -> Iterator[Change]:
        for place, op in enumerate(node.ops):
            _, opposite, moved = COMPARISONS[type(op)]
            yield node, "negate", self._compared(node, place, opposite)
            if moved:
                yield node, "boundary", self._compared(node, place, moved)

    def _compared(self, node: ast.Compare, place: int, symbol: str) -> str:
        symbols = [COMPARISONS[type(op)][0] for op in node.ops]
        symbols[place] = symbol
        rest = (f"{one} {self._text(side)}" for one, side in zip(symbols, node.comparators, strict=True))
        return f"({self._text(node.left)} {' '.join(rest)})"

    def _call(self, node: ast.Call) -> Iterator[Change]:
        function = node.func
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        if isinstance(function, ast.Name) and name in ("all", "any"):
            yield function, "swap", "any" if name == "all" else "all"
        elif name in CHOOSING and len(node.args) == 2 and not node.keywords:
            for argument in node.args:
                yield node, "drop-operand", self._text(argument)
        elif name in LIMITING:
            yield node, "drop-operand", self._text(node.args[0])

    def _text(self, node: ast.expr) -> str:
        return f"({ast.get_source_segment(self.source, node)})"

    def _mutant(self, node: ast.AST, operator: str, new: str) -> Mutant:
        assert isinstance(node, ast.expr | ast.stmt)
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = self._offset(node.lineno, node.col_offset)
        end = self._offset(node.end_lineno, node.end_col_offset)
        encoded = self.source.encode()
        text = (encoded[:start] + new.encode() + encoded[end:]).decode()
        line, lines = node.lineno, self.source.splitlines()
        change = " ".join(new.split())
        return Mutant(self.path, operator, line, lines[line - 1].strip(), change, text, equivalent=False)

    def _offset(self, line: int, column: int) -> int:
        before = self.source.encode().splitlines(keepends=True)[: line - 1]
        return sum(map(len, before)) + column


def _tests(node: ast.AST) -> list[ast.expr]:
    """Return the conditions that belong to a node."""
    if isinstance(node, ast.comprehension):
        return node.ifs
    return [node.test] if isinstance(node, ast.If | ast.IfExp | ast.Assert | ast.While) else []


def _conditions(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield every condition, for which `always` and `never` say more than `negate`."""
    for node in ast.walk(tree):
        yield from _tests(node)


def _numbered(mutants: Sequence[Mutant], lines: Sequence[str]) -> list[Mutant]:
    """Number those of one operator on one line, and see which of them are marked as equivalent."""
    total = Counter((mutant.line, mutant.operator) for mutant in mutants)
    seen: Counter[tuple[int, str]] = Counter()
    named = []
    for mutant in mutants:
        place = mutant.line, mutant.operator
        seen[place] += 1
        name = mutant.operator if total[place] == 1 else f"{mutant.operator} {seen[place]}"
        equivalent = name in _marked(lines, mutant.line)
        named.append(replace(mutant, operator=name, equivalent=equivalent))
    return named


def _marked(lines: Sequence[str], line: int) -> set[str]:
    """Return the operators that comments on a line and directly above it call equivalent."""
    first = line - 1
    while first > 0 and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    found = (MARK.search(text) for text in lines[first:line])
    return {operator.strip() for mark in found if mark for operator in mark[1].split(",")}


@dataclass(frozen=True)
class Outcome:
    """What the tests said of a mutant."""

    mutant: Mutant
    survived: bool

    @property
    def verdict(self) -> str:
        """Return `killed`, `survived`, `equivalent`, or `wrongly marked` as equivalent."""
        if self.mutant.equivalent:
            return "equivalent" if self.survived else "wrongly marked"
        return "survived" if self.survived else "killed"


@dataclass(frozen=True)
class Laboratory:
    """A copy of the tree in which mutants are tried, one after another."""

    folder: Path
    tests: Mapping[str, Sequence[str]]
    timeout: float

    @classmethod
    def of(cls, root: Path, folder: Path, tests: Mapping[str, Sequence[str]], timeout: float) -> "Laboratory":
        """Copy what the tests need."""
        for name in COPIED:
            if (root / name).is_dir():
                shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            elif (root / name).exists():
                shutil.copy(root / name, folder / name)
        return cls(folder, tests, timeout)

    def passes(self, path: str, *, keep_bytecode: bool = False) -> bool:
        """Return whether the tests of a module pass within the time-out."""
        sources = os.pathsep.join((str(self.folder / "src"), str(self.folder)))
        environment = {**os.environ, "PYTHONPATH": sources, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        if not keep_bytecode:
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
        tests = [test for test in self.tests[path] if (self.folder / test).exists()]
        command = [sys.executable, "-c", PYTEST, "-x", "-q", "-p", "no:cacheprovider", *tests]
        with subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            try:
                return process.wait(self.timeout) == 0
            except subprocess.TimeoutExpired:
                return False
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)

    def run(self, mutant: Mutant) -> Outcome:
        """Put a mutant in the place of its module, run the tests, and put the module back."""
        module = self.folder / "src/caspr" / mutant.path
        original = module.read_text(encoding="utf-8")
        for compiled in module.parent.glob(f"__pycache__/{module.stem}.*"):
            compiled.unlink()
        module.write_text(mutant.text, encoding="utf-8")
        try:
            return Outcome(mutant, self.passes(mutant.path))
        finally:
            module.write_text(original, encoding="utf-8")


def mutants_of(root: Path, paths: Sequence[str]) -> list[Mutant]:
    """Make all mutants of some modules."""
    return [
        mutant
        for path in paths
        for mutant in Mutator(path, (root / "src/caspr" / path).read_text(encoding="utf-8")).mutants()
    ]


def run(
    mutants: Sequence[Mutant],
    *,
    root: Path = ROOT,
    tests: Mapping[str, Sequence[str]] = TESTS,
    jobs: int = 1,
    timeout: float = 120,
) -> Iterator[Outcome]:
    """Try mutants, each in a copy of the tree; yield what the tests said, in the order of the mutants."""
    with TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(jobs) as pool:
        free: SimpleQueue[Laboratory] = SimpleQueue()
        for number in range(jobs):
            place = Path(folder) / str(number)
            place.mkdir()
            free.put(Laboratory.of(root, place, tests, timeout))

        def tried(mutant: Mutant) -> Outcome:
            laboratory = free.get()
            try:
                return laboratory.run(mutant)
            finally:
                free.put(laboratory)

        def sound(path: str) -> None:
            laboratory = free.get()
            try:
                if not laboratory.passes(path, keep_bytecode=True):
                    raise SystemExit(f"mutants: the tests of {path} fail without any mutant")
            finally:
                free.put(laboratory)

        list(pool.map(sound, dict.fromkeys(mutant.path for mutant in mutants)))
        yield from pool.map(tried, mutants)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; see the docstring of this module."""
    parser = argparse.ArgumentParser(prog="bench.mutants", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("words", nargs="*", help="only modules whose path contains one of these")
    parser.add_argument("--jobs", type=int, default=1, help="how many to try at the same time")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for the tests of one mutant")
    parser.add_argument("--list", action="store_true", help="print the mutants, run nothing")
    chosen = parser.parse_args(arguments)
    paths = [path for path in TESTS if not chosen.words or any(word in path for word in chosen.words)]
    mutants = mutants_of(ROOT, paths)
    if chosen.list:
        print(*mutants, f"{len(mutants)} mutants of {len(paths)} modules", sep="\n")
        return 0
    counts: dict[str, Counter[str]] = {path: Counter() for path in paths}
    for outcome in run(mutants, jobs=chosen.jobs, timeout=chosen.timeout):
        counts[outcome.mutant.path][outcome.verdict] += 1
        if outcome.verdict != "killed":
            print(f"{outcome.verdict}: {outcome.mutant}", flush=True)
    for path, count in counts.items():
        print(f"{path}: " + ", ".join(f"{number} {verdict}" for verdict, number in sorted(count.items())))
    total = sum(counts.values(), Counter())
    print("all: " + ", ".join(f"{number} {verdict}" for verdict, number in sorted(total.items())))
    return 1 if total["survived"] or total["wrongly marked"] else 0


if __name__ == "__main__":
    sys.exit(main())
