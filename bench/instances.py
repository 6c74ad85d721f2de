"""Count the ground instances of every rule of an encoding, to see which rules cost the grounder most.

    python -m bench.instances FILE ... --encoding mm cm --objective ua

The paper got these numbers from a modified gringo. Here, each rule `head :- body` is copied into a part of
its own as `instance(V1,...,Vn) :- body`, where V1,...,Vn are all global variables of the body. Once the
encoding is grounded, that part is grounded, and every instance of the rule is exactly one new atom. The
rules themselves are not changed, so the grounder simplifies exactly what it simplifies in a normal run.
Ground rules are not kept.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import clingo
from clingo import ast

from bench.corpora import DS2, make_document, novel
from caspr.adjudication import by_document
from caspr.engines.asp.program import FIGURES, chain_limit, facts, figure
from caspr.formats import read_all
from caspr.task.decisions import Decisions
from caspr.task.instance import Instance
from caspr.task.objectives import OBJECTIVES
from caspr.task.settings import PRESETS
from caspr.text.alignment import align

ENCODINGS = ("mm", "cm")


@dataclass(frozen=True)
class Count:
    """How often a rule was instantiated."""

    rule: str
    """The rule as it is written."""
    place: str
    """File and line."""
    instances: int


def count_instances(instance: Instance, encoding: str) -> list[Count]:
    """Ground an encoding and return every rule with its number of instances, the largest first."""
    control = clingo.Control(["--warn=none"])
    # An observer that replaces the solver and observes nothing: ground rules are not kept.
    control.register_observer(clingo.Observer(), replace=True)
    rules: list[tuple[str, ast.AST]] = []
    with ast.ProgramBuilder(control) as builder:
        limit = f"chainlimit_is({chain_limit(instance)})." if encoding == "cm" else ""
        ast.parse_string("\n".join([*facts(instance), limit]), builder.add)
        for name, statement in _statements(encoding):
            builder.add(statement)
            if _is_rule(statement):
                _add_part(builder, statement, f"part{len(rules)}")
                rules.append((name, statement))
    control.ground([("base", [])])
    counts = [
        Count(_one_line(statement), f"{name}.lp:{statement.location.begin.line}", _ground(control, number))
        for number, (name, statement) in enumerate(rules)
    ]
    return sorted(counts, key=lambda count: -count.instances)


def _ground(control: clingo.Control, number: int) -> int:
    """Ground the part of a rule and return how many atoms it added."""
    before = len(control.symbolic_atoms)
    control.ground([(f"part{number}", [])])
    return len(control.symbolic_atoms) - before


def _statements(encoding: str) -> Iterator[tuple[str, ast.AST]]:
    """Yield the statements of an encoding with the file they are in."""
    for name in FIGURES[encoding]:
        statements: list[ast.AST] = []
        ast.parse_string(figure(name), statements.append)
        yield from ((name, statement) for statement in statements)


def _is_rule(statement: ast.AST) -> bool:
    return statement.ast_type in (ast.ASTType.Rule, ast.ASTType.Minimize)


def _add_part(builder: ast.ProgramBuilder, statement: ast.AST, name: str) -> None:
    """Add the copy of a rule whose atoms are the rule's instances, in a part of its own."""
    place = statement.location
    variables = [ast.Variable(place, variable) for variable in sorted(global_variables(statement))]
    head = ast.SymbolicAtom(ast.Function(place, f"__{name}", variables, 0))
    builder.add(ast.Program(place, name, []))
    builder.add(ast.Rule(place, ast.Literal(place, ast.Sign.NoSign, head), statement.body))
    builder.add(ast.Program(place, "base", []))


def global_variables(statement: ast.AST) -> set[str]:
    """Return the names of the variables of a rule's body that are not local to a condition.

    >>> found = []
    >>> ast.parse_string("a(X,N) :- b(X,_), N = #count { Y : c(X,Y) }, d(Z) : e(Z).", found.append)
    >>> sorted(global_variables(found[-1]))
    ['N', 'X']
    """
    names: set[str] = set()

    class Visitor(ast.Transformer):
        def visit_Variable(self, variable: ast.AST) -> ast.AST:  # noqa: N802 - clingo's name
            if variable.name != "_":
                names.add(variable.name)
            return variable

        def visit_BodyAggregateElement(self, element: ast.AST) -> ast.AST:  # noqa: N802
            return element

        def visit_ConditionalLiteral(self, literal: ast.AST) -> ast.AST:  # noqa: N802
            return literal

    Visitor().visit_sequence(statement.body)
    return names


def _one_line(statement: ast.AST) -> str:
    return " ".join(str(statement).split())


def table(counts: Sequence[Count]) -> str:
    """Return counts as a table in Markdown."""
    total = sum(count.instances for count in counts) or 1
    lines = ["| instances | share | where | rule |", "|---:|---:|---|---|"]
    for count in counts:
        rule = count.rule.replace("|", "\\|")
        lines.append(f"| {count.instances:,} | {count.instances / total:.1%} | {count.place} | `{rule}` |")
    return "\n".join(lines)


def main(words: Sequence[str] | None = None) -> None:
    """Print the table of each encoding."""
    parser = argparse.ArgumentParser(prog="python -m bench.instances", description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="the annotators' files of one document")
    parser.add_argument("--encoding", nargs="+", choices=ENCODINGS, default=ENCODINGS)
    parser.add_argument("--objective", choices=OBJECTIVES, default="ua")
    parser.add_argument("--document", help="which document, where the files have several")
    parser.add_argument("--quick", action="store_true", help="a tiny generated document instead of files")
    given = parser.parse_args(words)
    if given.quick:
        instance = _tiny(given.objective)
    elif given.files:
        instance = _read(given.files, given.document, given.objective)
    else:
        parser.error("found no files, expected those of two annotators or more, or --quick")
    for encoding in given.encoding:
        print(f"## {encoding.upper()}, {given.objective.upper()}\n")
        print(table(count_instances(instance, encoding)), end="\n\n")


def _read(files: Sequence[Path], name: str | None, objective: str) -> Instance:
    documents, _ = by_document(read_all(files))
    chosen = [one for one in documents if name in (None, one[0].document.name)]
    if len(chosen) != 1:
        names = ", ".join(one[0].document.name for one in documents)
        raise SystemExit(f"--document: found {len(chosen)} documents, expected to choose one of {names}")
    return replace(PRESETS["paper"], objective=OBJECTIVES[objective]).instance(align(chosen[0]), Decisions())


def _tiny(objective: str) -> Instance:
    shape = replace(novel(tokens=60, mentions=12, longest=5, annotators=3), chains=3, noise=DS2.noise)
    return replace(PRESETS["paper"], objective=OBJECTIVES[objective]).instance(
        make_document(shape, random.Random(1)).annotations, Decisions()
    )


if __name__ == "__main__":
    main()
