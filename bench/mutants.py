"""Mutate every check of the modules that trust rests on, one at a time; print the mutants that no test kills.

python -m bench.mutants                 all modules of `TESTS`
python -m bench.mutants proof/verify    those whose path contains a word
python -m bench.mutants --list          print the mutants, run nothing

A mutant is the source with one small change, inside a function:

    always, never      the condition of an `if`, `assert` or comprehension is true or false (`while`: false)
    drop-operand       `a and b`, `a or b`, `a & b`, `a | b`, `min(a, b)`, `max(a, b)` lose an operand,
                       `a - b` and `clip(a, ...)` all but the first
    negate             a comparison that is not itself a condition says the opposite; `not a` becomes `a`
    boundary           `<` becomes `<=`, `<=` becomes `<`, and so on
    swap               `all` becomes `any`, `any` becomes `all`
    delete             a statement that calls, raises, yields, adds to something, breaks or continues is gone

The tests of `TESTS` that reach its function are run until the first fails (`bench.trial` says how). A mutant
is killed if a test fails, and stopped if the tests take much longer than without it, or all the memory; what
is stopped is printed, because it may be merely slow. If the tests pass, it survived: then a check has no
test, or is not needed. Where a mutant behaves like the original, say so in `bench.equivalents`, with its
function, line and operators and the reason. Such mutants are run too and counted apart; one that is killed is
reported, since its entry is wrong. What only steers a search (`bench.equivalents.STEERING`) may survive, so
it is not tried. The exit status is 1 if a mutant survived or an entry is wrong.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.equivalents import EQUIVALENTS, Equivalent
from bench.mutation import Mutant, Mutator
from bench.trial import try_mutants

ROOT = Path(__file__).parents[1]
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
        f"{PROOF}/verify/test_cores.py",
        f"{PROOF}/verify/test_demands.py",
        f"{PROOF}/test_prove.py::test_a_certificate_proves_the_value",
    ),
    "proof/verify/graph.py": (
        f"{PROOF}/verify/test_graph.py",
        f"{PROOF}/verify/test_tree.py",
        f"{PROOF}/verify/test_rules.py",
        f"{PROOF}/verify/test_cores.py",
        f"{PROOF}/verify/test_own_rules.py",
        f"{PROOF}/verify/test_demands.py",
        f"{PROOF}/test_prove.py::test_a_certificate_proves_the_value",
    ),
    "proof/verify/cores.py": (f"{PROOF}/verify/test_cores.py",),
    "proof/verify/facts.py": (
        "src/caspr/proof/verify/facts.py",
        f"{PROOF}/verify/test_tree.py",
        f"{PROOF}/verify/test_rules.py",
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
    "task/own_rules.py": (f"{PRICE}/test_own_rules.py",),
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
    "engines/native/partition/search.py": (
        f"{NATIVE}/partition/test_cutting_planes.py",
        f"{NATIVE}/partition/test_reports.py",
        f"{NATIVE}/partition/test_warm_start.py",
        f"{NATIVE}/partition/test_demands.py",
        f"{NATIVE}/partition/test_proofs.py::test_nothing_is_recorded_that_nobody_wants",
        f"{NATIVE}/partition/test_proofs.py::test_small_problems",
        f"{NATIVE}/partition/test_proofs.py::test_demands",
        f"{NATIVE}/partition/test_proofs.py::test_a_pair_that_fixing_put_together_is_not_decided_both_ways",
        f"{NATIVE}/partition/test_search.py",
    ),
    "engines/native/state.py": (f"{NATIVE}/test_state.py", f"{NATIVE}/test_flip_prices.py"),
    "engines/native/partition/lp.py": (
        f"{NATIVE}/partition/test_lp_checks.py",
        f"{NATIVE}/partition/test_two_partitions.py",
        f"{NATIVE}/partition/test_pentagons.py",
        f"{NATIVE}/partition/test_lp.py",
        f"{NATIVE}/partition/test_overflow.py",
        f"{NATIVE}/partition/test_warm_start.py",
        f"{NATIVE}/partition/test_demands.py",
    ),
}
"""The modules below src/caspr that are mutated, and their tests, the quickest first."""


@dataclass(frozen=True)
class Outcome:
    """What the tests said of a mutant."""

    mutant: Mutant
    fate: str
    """`killed`, `stopped` or `survived`."""

    @property
    def verdict(self) -> str:
        """Return its fate, or `equivalent`, or `wrongly marked` as equivalent."""
        if self.mutant.equivalent:
            return "wrongly marked" if self.fate == "killed" else "equivalent"
        return self.fate


def mutants_of(
    root: Path, paths: Sequence[str], equivalents: Sequence[Equivalent] = EQUIVALENTS
) -> list[Mutant]:
    """Make the mutants of some modules, without those of functions that only steer."""
    sources = {path: (root / "src/caspr" / path).read_text(encoding="utf-8") for path in paths}
    return [
        mutant
        for path, source in sources.items()
        for mutant in Mutator(path, source, equivalents).mutants()
        if not mutant.steers
    ]


def run(
    mutants: Sequence[Mutant],
    *,
    root: Path = ROOT,
    tests: Mapping[str, Sequence[str]] = TESTS,
    timeout: float = 600,
) -> Iterator[Outcome]:
    """Try mutants, module by module; yield what the tests said, in the order of the mutants."""
    for path in dict.fromkeys(mutant.path for mutant in mutants):
        own = [mutant for mutant in mutants if mutant.path == path]
        for number, verdict in try_mutants(root, path, tests[path], own, timeout):
            yield Outcome(own[number], verdict)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; see the docstring of this module."""
    parser = argparse.ArgumentParser(prog="bench.mutants", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("words", nargs="*", help="only modules whose path contains one of these")
    parser.add_argument("--list", action="store_true", help="print the mutants, run nothing")
    chosen = parser.parse_args(arguments)
    paths = [path for path in TESTS if not chosen.words or any(word in path for word in chosen.words)]
    mutants = mutants_of(ROOT, paths)
    if chosen.list:
        print(*mutants, f"{len(mutants)} mutants of {len(paths)} modules", sep="\n")
        return 0
    counts: dict[str, Counter[str]] = {path: Counter() for path in paths}
    for outcome in run(mutants):
        counts[outcome.mutant.path][outcome.verdict] += 1
        if outcome.verdict not in ("killed", "equivalent"):
            print(f"{outcome.verdict}: {outcome.mutant}", flush=True)
    for path, count in counts.items():
        print(f"{path}: " + ", ".join(f"{number} {verdict}" for verdict, number in sorted(count.items())))
    total = sum(counts.values(), Counter())
    print("all: " + ", ".join(f"{number} {verdict}" for verdict, number in sorted(total.items())))
    return 1 if total["survived"] or total["wrongly marked"] else 0


if __name__ == "__main__":
    sys.exit(main())
