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
so in `bench.equivalents`, with its function, line and operators and the reason. Such mutants are run too and
counted apart; one that is killed is reported, since its entry is wrong. The exit status is 1 if a mutant
survived or an entry is wrong.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory

from bench.equivalents import EQUIVALENTS, Equivalent
from bench.mutation import Mutant, Mutator

ROOT = Path(__file__).parents[1]
COPIED = ("src", "tests", "bench", "examples", "conftest.py", "pyproject.toml")
"""What the tests need."""
MEMORY = 8 << 30
"""How much address space the tests of a mutant get: one that adds to a list for ever is killed by this."""
PYTEST = f"""
import resource, sys, pytest
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
sys.exit(pytest.main(sys.argv[1:]))
"""
NATIVE, PRICE, PROOF = "tests/engines/native", "tests/task", "tests/proof"
RULES = (
    "tests/proof/verify/test_own_rules.py",
    "tests/engines/test_own_rules.py::test_native_agrees_with_brute_force_and_its_proofs_hold",
    "tests/engines/test_own_rules.py::test_a_proof_holds_for_no_other_rules_unless_they_have_the_same_optimum",
)

TESTS: Mapping[str, Sequence[str]] = {
    "proof/verify/tree.py": (
        f"{PROOF}/verify/test_tree.py",
        f"{PROOF}/verify/test_rules.py",
        f"{PROOF}/verify/test_demands.py",
        f"{PROOF}/test_prove.py::test_a_certificate_proves_the_value",
    ),
    "proof/verify/graph.py": (
        f"{PROOF}/verify/test_graph.py",
        f"{PROOF}/verify/test_tree.py",
        f"{PROOF}/verify/test_rules.py",
        f"{PROOF}/verify/test_demands.py",
        f"{PROOF}/test_prove.py::test_a_certificate_proves_the_value",
    ),
    "proof/verify/cores.py": (f"{PROOF}/verify/test_cores.py",),
    "proof/verify/facts.py": (
        "src/caspr/proof/verify/facts.py",
        f"{PROOF}/verify/test_tree.py",
        f"{PROOF}/verify/test_cases.py",
        f"{PROOF}/verify/test_parts.py",
        f"{PROOF}/verify/test_demands.py",
        *RULES,
    ),
    "proof/verify/parts.py": (
        f"{PROOF}/verify/test_parts.py",
        f"{PROOF}/verify/test_cases.py",
        f"{PROOF}/verify/test_demands.py",
        *RULES,
    ),
    "proof/verify/__init__.py": (f"{PROOF}/verify/test_parts.py", f"{PROOF}/verify/test_cases.py"),
    "proof/certificate.py": (f"{PROOF}/test_certificate.py", f"{PROOF}/verify/test_documents.py"),
    "proof/prove.py": (f"{PROOF}/verify/test_documents.py",),
    "proof/certify.py": (f"{PROOF}/test_certify.py",),
    "task/pair_price.py": (
        f"{PRICE}/test_pair_price.py",
        f"{PRICE}/test_pricing.py",
        "src/caspr/task/pair_price.py",
    ),
    "task/pricing.py": (
        f"{PRICE}/test_pricing.py",
        f"{PRICE}/test_pair_price.py",
        f"{PRICE}/test_rules.py",
        f"{PROOF}/test_certify.py",
        "src/caspr/task/pricing.py",
        *RULES,
    ),
    "task/contradictions.py": (f"{PRICE}/test_contradictions.py", f"{PRICE}/test_demands.py"),
    "task/demands.py": (f"{PRICE}/test_demands.py",),
    "engines/native/state.py": (f"{NATIVE}/test_state.py", f"{NATIVE}/test_flip_prices.py"),
    "engines/native/partition/lp.py": (
        f"{NATIVE}/partition/test_lp_checks.py",
        f"{NATIVE}/partition/test_two_partitions.py",
        f"{NATIVE}/partition/test_pentagons.py",
        f"{NATIVE}/partition/test_lp.py",
    ),
}
"""The modules below src/caspr that are mutated, and their tests, the quickest first."""


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
        # Bytecode must lie beside the copied modules, where `run` removes it: a mutant written in the same
        # second and of the same length would pass for the module that was compiled before.
        for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"):
            environment.pop(name, None)
        if not keep_bytecode:
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
        tests = [test for test in self.tests[path] if (self.folder / test.partition("::")[0]).exists()]
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


def mutants_of(
    root: Path, paths: Sequence[str], equivalents: Sequence[Equivalent] = EQUIVALENTS
) -> list[Mutant]:
    """Make all mutants of some modules."""
    sources = {path: (root / "src/caspr" / path).read_text(encoding="utf-8") for path in paths}
    return [
        mutant for path, source in sources.items() for mutant in Mutator(path, source, equivalents).mutants()
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
