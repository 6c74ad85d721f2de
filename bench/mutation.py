"""Make the mutants of a module: its source with one small change, by syntax tree; see `bench.mutants`."""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

from bench.equivalents import STEERING, Equivalent

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
    """What kind of change it is, as `bench.mutants` names it."""
    line: int
    """The line of the change."""
    source: str
    """That line."""
    change: str
    """What stands there instead, on one line."""
    text: str
    """The whole changed module."""
    equivalent: bool
    """Whether the list beside the bench says that it behaves like the original."""
    steers: bool
    """Whether that list says that its function only chooses what is tried next."""

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
    equivalents: Sequence[Equivalent] = ()

    def mutants(self) -> list[Mutant]:
        """Make every mutant that differs from the original and from the others."""
        tree = ast.parse(self.source)
        conditions = set(_conditions(tree))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        made = []
        for statement in (statement for function in functions for statement in function.body):
            seen = {ast.dump(statement)}
            for node, operator, new in self._walk(statement):
                if operator == "negate" and node in conditions:
                    continue
                dumped = ast.dump(self._changed(statement, node, new))
                if dumped not in seen:
                    seen.add(dumped)
                    made.append(self._mutant(node, operator, new))
        return _numbered(sorted(made, key=lambda mutant: mutant.line), functions, self.equivalents)

    def _changed(self, statement: ast.stmt, node: ast.AST, new: str) -> ast.stmt:
        """Return a statement with a change inside it."""
        (begin, end), (start, stop) = self._extent(statement), self._extent(node)
        text = (self._encoded[begin:start] + new.encode() + self._encoded[stop:end]).decode()
        (around,) = ast.parse(f"if True:\n{' ' * statement.col_offset}{text}").body
        assert isinstance(around, ast.If)
        return around.body[0]

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
            case ast.BinOp(right=ast.Constant(value=None)):
                return  # a type
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
                # Without the cell that `super()` brings, the code would not fit into its method.
                uses_super = any(isinstance(one, ast.Name) and one.id == "super" for one in ast.walk(node))
                yield node, "delete", "__class__" if uses_super else "pass"

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
        start, end = self._extent(node)
        text = (self._encoded[:start] + new.encode() + self._encoded[end:]).decode()
        source = self._lines[node.lineno - 1].decode().strip()
        change = " ".join(new.split())
        return Mutant(self.path, operator, node.lineno, source, change, text, equivalent=False, steers=False)

    @cached_property
    def _encoded(self) -> bytes:
        return self.source.encode()

    @cached_property
    def _lines(self) -> list[bytes]:
        return self._encoded.splitlines(keepends=True)

    @cached_property
    def _begins(self) -> list[int]:
        """Where each line begins."""
        return [0, *accumulate(map(len, self._lines))]

    def _extent(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends, in bytes."""
        assert isinstance(node, ast.expr | ast.stmt)
        assert node.end_lineno is not None and node.end_col_offset is not None
        begins = self._begins
        return begins[node.lineno - 1] + node.col_offset, begins[node.end_lineno - 1] + node.end_col_offset


def _tests(node: ast.AST) -> list[ast.expr]:
    """Return the conditions that belong to a node."""
    if isinstance(node, ast.comprehension):
        return node.ifs
    return [node.test] if isinstance(node, ast.If | ast.IfExp | ast.Assert | ast.While) else []


def _conditions(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield every condition, for which `always` and `never` say more than `negate`."""
    for node in ast.walk(tree):
        yield from _tests(node)


def _numbered(
    mutants: Sequence[Mutant], functions: Sequence[ast.FunctionDef], equivalents: Sequence[Equivalent]
) -> list[Mutant]:
    """Number those of one operator on one line, and see which of them are known to be equivalent."""
    total = Counter((mutant.line, mutant.operator) for mutant in mutants)
    seen: Counter[tuple[int, str]] = Counter()
    known = {(one.function, one.line, operator) for one in equivalents for operator in one.operators}
    steering = {(some.path, function) for some in STEERING for function in some.functions}
    named = []
    for mutant in mutants:
        place = mutant.line, mutant.operator
        seen[place] += 1
        name = mutant.operator if total[place] == 1 else f"{mutant.operator} {seen[place]}"
        function = _function_at(functions, mutant.line)
        equivalent, steers = (function, mutant.source, name) in known, (mutant.path, function) in steering
        named.append(replace(mutant, operator=name, equivalent=equivalent, steers=steers))
    return named


def _function_at(functions: Sequence[ast.FunctionDef], line: int) -> str:
    """Return the name of the innermost function that holds a line."""
    around = (node for node in functions if node.lineno <= line <= (node.end_lineno or 0))
    return max(around, key=lambda node: node.lineno).name
