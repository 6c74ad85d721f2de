"""Read files of rules: refuse what is not safe or cannot work, and tell which rules are about what.

A rule file is an answer set program in clingo's language. It may come from a stranger, so it is read as a
syntax tree and only what is known to be harmless goes on: rules, constraints, weak constraints, `#const`,
`#defined` and `#show` (which shows nothing here). `#script` and `#include` are refused before anything is
parsed, anywhere in the text, since clingo's parser opens the files that `#include` names; `#external`,
`#theory` and other directives, theory atoms, and `@functions` are refused where they stand.

**Which rule is about what.** Facts about the input are in `VOCABULARY`, what a solution is, in `SOLUTION`. A
rule is about the *solution* if it mentions one of the latter, or what other rules derive from them, or is a
weak constraint. All other rules are about the *input*: they have one head without choice, and are run once
(`grounding`). Rules about the solution are added to the program of the ASP engines, together with those about
the input that they build on.
"""

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from textwrap import shorten
from typing import Any

from clingo import Function, SymbolType, ast
from clingo.ast import ASTType, Sign, Transformer

from caspr.engines.asp.program import encodings
from caspr.engines.asp.rule_errors import IF, code_of, explained, refuse_foreign, refuse_large
from caspr.errors import InputError
from caspr.task.decisions import Rule
from caspr.task.own_rules import Effect, RuleFile
from caspr.text.findings import Finding, warning

Signature = tuple[str, int]
"""The name of a predicate, and how many arguments it has."""
Atom = tuple[str, tuple[str, ...]]
"""The name of a predicate, and its arguments as they are written."""

VOCABULARY: dict[Signature, str] = {
    ("annotator", 1): "annotator(A): an annotator, numbered from 1 in the given order",
    ("annotator_name", 2): 'annotator_name(A,"anna")',
    ("token", 2): 'token(T,"Word"): the words, numbered from 1',
    ("lower", 2): 'lower(T,"word"): the same in lower case',
    ("sentence", 2): "sentence(T,S): token T is in sentence S, numbered from 1, where files have sentences",
    ("column", 3): 'column(T,N,"NN"): column N of the line of token T, in formats with columns',
    ("speaker", 2): 'speaker(T,"Anna"): who says token T, where CoNLL or CorefUD files tell',
    ("mention", 4): "mention(A,Am,S,E): annotator A marked tokens S to E and calls this mention Am",
    ("cm", 3): "cm(A,C,Am): annotator A put mention Am into chain C",
    ("acmen", 3): "acmen(A,Am,M): annotator A's mention Am is the canonical mention M",
    ("in_chain", 3): "in_chain(A,C,M): annotator A put the canonical mention M into chain C",
    ("linked", 3): "linked(A,M1,M2): annotator A put both into one chain, M1 before M2",
    ("text", 2): 'text(M,"the old baker")',
    ("lower_text", 2): 'lower_text(M,"the old baker"): the same in lower case',
    ("span", 3): "span(M,S,E): mention M = mid(S,E) has the tokens S to E",
    ("head", 2): "head(M,T): token T is the head of mention M, in formats with dependency trees",
    ("zero", 1): "zero(M): mention M is a dropped word, an empty node of CorefUD",
    ("in_sentence", 2): "in_sentence(M,N): mention M begins in sentence N",
    ("entity_type", 3): 'entity_type(A,M,"person"): the type of the chain that A put M into',
    ("entity_name", 3): 'entity_name(A,M,"Sir William"): its name',
    ("label", 3): 'label(A,M,"pronoun"): the label that A gave the mention itself',
}
"""What rules may ask about the input."""
LINKS: frozenset[Signature] = frozenset({("caspr_kind", 2), ("caspr_linked", 2)})
"""What rules that ask whether anybody linked two mentions are turned into: kinds K of mentions, and which
are linked."""
SOLUTION: dict[Signature, str] = {
    ("clink", 2): "clink(M1,M2): the link is used",
    ("cc", 2): "cc(M1,M2): both are in one chain (encoding mm)",
    ("result_cm", 2): "result_cm(C,M): M is in chain C of the result",
    ("resultchain", 1): "resultchain(C): there is a chain C",
}
"""What rules may ask about a solution."""
EFFECTS: dict[Signature, Effect] = {(effect.value, effect.arity): effect for effect in Effect}
_UNSAFE = ("#script", "#include")
_ARGUMENT = r'[ \t]*(?:-?(?:0|[1-9]\d*)|[a-z]\w*|"(?:[^"\\\n]|\\[\\n"])*")[ \t]*'
_FACT = re.compile(rf"(?!not\b)([a-z]\w*)\(({_ARGUMENT}(?:,{_ARGUMENT})*)\)[ \t]*\.")
_FACTS = re.compile(rf"(?:[ \t]*{_FACT.pattern})+[ \t\r]*")
"""Facts such as `name("anna"). name("ben").`, alone in their line."""
_ARGUMENTS = re.compile(_ARGUMENT)
_WORD = re.compile(r"I|[A-Z][a-z]\w*")
"""Variables that look like a word of a text."""
_NAME = re.compile(r"'*[a-z][\w']*")
_SMALL = re.compile(r"[a-z]\d*")
"""Names that are probably meant as variables."""
_CONSTANT = re.compile(r'[a-z]\w*|-?\d+|"(?:[^"\\]|\\.)*"')
"""Arguments that stand for themselves only."""
_OURS = "caspr_"
"""How predicates of the generated program begin."""


@dataclass(frozen=True)
class ParsedRule:
    """One statement of a file."""

    rule: Rule
    text: str
    """The statement in one line, as clingo prints it."""
    head: Signature | None = None
    """What it derives; `None` for a constraint."""
    arguments: tuple[str, ...] = ()
    """The arguments of the head."""
    body: str = ""
    asks: frozenset[Signature] = frozenset()
    """The predicates that it asks about."""
    atoms: tuple[Atom, ...] = ()
    """What it asks about, with arguments."""
    weak: bool = False
    constant: bool = False
    """Whether it is a `#const` or `#defined`, which concerns all others."""
    choice: bool = False
    """Whether its head leaves a choice."""
    derives: frozenset[Signature] = frozenset()
    """All predicates of its head, where there are several."""
    odd: tuple[str, ...] = ()
    """What is allowed, but hardly meant."""
    quoted: tuple[tuple[str, int, str], ...] = ()
    """The quoted words that it asks for: the name of the predicate, which argument, and the word."""
    linked: frozenset[frozenset[str]] = frozenset()
    """The variables for two mentions of which it asks whether they are linked."""


@dataclass(frozen=True)
class ParsedRules:
    """All rules of some files, sorted by what they are about."""

    about_input: tuple[ParsedRule, ...]
    about_solution: tuple[ParsedRule, ...]
    findings: tuple[Finding, ...] = ()
    asked: frozenset[Signature] = field(default=frozenset())
    """All predicates that any rule asks about."""

    @property
    def facts(self) -> frozenset[str]:
        """The names of the facts that any rule asks about; a name with other arguments is none."""
        return frozenset(one[0] for one in self.asked if one in VOCABULARY or one in LINKS)


def parse_rules(files: Iterable[RuleFile]) -> ParsedRules:
    """Read files of rules; raise `InputError` with file and line for what is wrong or not allowed."""
    return _parsed(tuple(files))


@lru_cache(maxsize=8)
def _parsed(files: tuple[RuleFile, ...]) -> ParsedRules:
    """Read files of rules, once for all documents of a corpus and all chains that are asked about."""
    rules = list(
        _told_apart(rule for file in files for rule in sorted(_parse(file), key=lambda one: one.rule.line))
    )
    late = _about_solution(rules)
    for rule in rules:
        _refuse_misplaced(rule, rule in late)
        if late:
            _refuse_taken(rule)
    asked = frozenset(signature for rule in rules for signature in rule.asks)
    about_input = tuple(rule for rule in rules if rule not in late)
    odd = (warning("odd-rule", f"{_place(rule.rule)}: {words}") for rule in rules for words in rule.odd)
    findings = (*_empty(files, rules), *_unknown(rules), *_never_so(rules), *_unused(rules, asked), *odd)
    return ParsedRules(about_input, tuple(late), findings, asked)


def _told_apart(rules: Iterable[ParsedRule]) -> Iterator[ParsedRule]:
    """Number rules of one name in one line, or of files of one name: what they derive adds up."""
    found: Counter[tuple[Rule, Signature | None]] = Counter()
    for parsed in rules:
        named, rule = parsed.rule, parsed.rule
        while found[rule, parsed.head]:
            found[named, parsed.head] += 1
            rule = replace(named, title=f"{named.title} ({found[named, parsed.head]})")
        found[rule, parsed.head] += 1
        yield parsed if rule is named else replace(parsed, rule=rule)


def _parse(file: RuleFile) -> Iterator[ParsedRule]:
    lines = file.text.split("\n")
    for number, line in enumerate(lines, 1):
        for word in _UNSAFE:
            if word in line:
                raise InputError(
                    f"{file.name}:{number}: found {word}, expected rules only: a rule file runs no code and "
                    "reads no other file (give several files with --rules)"
                )
    refuse_foreign(file)
    refuse_large(file)
    facts, text = _without_facts(file, lines)
    yield from facts
    statements: list[Any] = []
    messages: list[str] = []
    try:
        ast.parse_string(text, statements.append, logger=lambda _, text: messages.append(text))
    except RuntimeError as error:
        raise InputError(explained(file, messages[0] if messages else str(error))) from None
    for statement in statements:
        try:
            parsed = _statement(file, lines, statement)
        except RecursionError:
            where = f"{file.name}:{statement.location.begin.line}"
            raise InputError(f"{where}: found terms nested too deeply, expected a simpler rule") from None
        if parsed is not None:
            yield parsed


def _without_facts(file: RuleFile, lines: Sequence[str]) -> tuple[list[ParsedRule], str]:
    """Read lines of plain facts, and return all others: clingo's syntax trees are slow for long lists."""
    facts: list[ParsedRule] = []
    others, before = list(lines), "."
    for number, code in enumerate(code_of(file.text).split("\n")):
        line = lines[number]
        plain = before == "." and "%" not in line and _FACTS.fullmatch(code)
        found = [_fact(file, number + 1, *words) for words in _FACT.findall(line)] if plain else []
        if found and not any(_is_meant(signature) for fact in found for signature in fact.derives):
            others[number] = ""
            facts += found
        before = code.rstrip()[-2:].replace("..", "")[-1:] if code.strip() else before
    return facts, "\n".join(others)


def _fact(file: RuleFile, line: int, name: str, words: str) -> ParsedRule:
    arguments = tuple(word.strip() for word in _ARGUMENTS.findall(words))
    text, signature = f"{name}({','.join(arguments)}).", (name, len(arguments))
    rule = Rule(file.name, line, text)
    return ParsedRule(rule, text, signature, arguments, derives=frozenset({signature}))


def _is_meant(signature: Signature) -> bool:
    """Return whether a predicate means something to CaspR, so that facts may be refused."""
    name = signature[0]
    known = signature in VOCABULARY or signature in SOLUTION
    return known or name in list(Effect) or name.startswith(_OURS)


def _statement(file: RuleFile, lines: Sequence[str], statement: Any) -> ParsedRule | None:
    kind, begin = statement.ast_type, statement.location.begin.line
    if kind in (ASTType.Comment, ASTType.ShowSignature, ASTType.ShowTerm):
        return None
    if kind is ASTType.Program:
        if statement.name == "base" and not statement.parameters:
            return None
        raise InputError(f"{file.name}:{begin}: found #program, expected rules without parts")
    rule = Rule(file.name, begin, _title(lines, statement.location))
    if kind in (ASTType.Definition, ASTType.Defined):
        return ParsedRule(rule, str(statement), constant=True)
    if kind not in (ASTType.Rule, ASTType.Minimize):
        word = str(statement).split(maxsplit=1)[0]
        raise InputError(
            f"{file.name}:{begin}: found {word}, expected rules, constraints or weak constraints"
        )
    look, weak = _Look(rule), kind is ASTType.Minimize
    derives = look.within(() if weak else [statement.head])
    asks = look.within((*statement.body, *((statement.weight, *statement.terms) if weak else ())))
    odd, atoms = tuple(_oddities(look, statement)), tuple(look.atoms)
    linked = frozenset(frozenset(_linked_variables(literal)[1:]) for literal in statement.body)
    if ("linked", 3) in asks:
        statement = _unfolded(statement)
        asks = _Look(rule).within(statement.body)
    body = "; ".join(map(str, statement.body))
    if weak:
        _refuse_weight(file, statement)
        return ParsedRule(
            rule, str(_marked_own(statement)), body=body, asks=asks, atoms=atoms, weak=True, odd=odd
        )
    made, quoted = _with_head(rule, statement, body, asks, derives), tuple(_quoted(statement))
    return replace(made, odd=odd, atoms=atoms, quoted=quoted, linked=linked)


def _refuse_weight(file: RuleFile, statement: Any) -> None:
    """Refuse weak constraints at other levels, and such as reward."""
    begin = statement.location.begin.line
    if str(statement.priority) != "1":
        raise InputError(
            f"{file.name}:{begin}: found a weak constraint at level {statement.priority}, expected level "
            f"1, where all costs are: [{statement.weight}@1,...]"
        )
    if re.fullmatch(r"-\d+", str(statement.weight)):
        raise InputError(
            f"{file.name}:{begin}: found a cost of {statement.weight}, expected one from 0; to reward "
            "what is so, let it cost that it is not: `not` before it"
        )


class _Look(Transformer):
    """Gathers what a statement mentions, and refuses terms that would run something."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.atoms: dict[Atom, None] = {}
        self.variables: Counter[str] = Counter()
        self.capitals: dict[str, str] = {}
        """Words with capitals that are asked of what is in lower case."""
        self.unquoted: dict[str, None] = {}
        """Arguments of the vocabulary that are names."""

    def visit_SymbolicAtom(self, atom: Any) -> Any:  # noqa: N802 - the names are clingo's
        pool = atom.symbol.ast_type is ASTType.Pool
        for symbol in getattr(atom.symbol, "arguments", ()) if pool else [atom.symbol]:
            while symbol.ast_type is ASTType.UnaryOperation:
                symbol = symbol.argument
            if symbol.ast_type is ASTType.Function:
                self.atoms[symbol.name, tuple(map(str, symbol.arguments))] = None
        return self.visit_children(atom) or atom

    def visit_Variable(self, variable: Any) -> Any:  # noqa: N802
        self.variables[variable.name] += 1
        return variable

    def visit_Function(self, function: Any) -> Any:  # noqa: N802
        if function.external:
            raise InputError(
                f"{_place(self.rule)}: found @{function.name}, expected a term that runs no code"
            )
        name, arguments = function.name, function.arguments
        if (name, len(arguments)) in VOCABULARY:
            words = list(map(str, arguments))
            self.unquoted.update(dict.fromkeys(filter(_NAME.fullmatch, words)))
            said = name in ("lower", "lower_text") and arguments[1].ast_type is ASTType.SymbolicTerm
            if said and words[1] != words[1].lower():
                self.capitals[name] = words[1]
        return self.visit_children(function) or function

    def visit_TheoryAtom(self, atom: Any) -> Any:  # noqa: N802
        raise InputError(f"{_place(self.rule)}: found {atom}, expected no theory atoms")

    def within(self, nodes: Iterable[Any]) -> frozenset[Signature]:
        """Look at some nodes, and return the predicates in them."""
        self.atoms = {}
        for node in nodes:
            self(node)
        return frozenset((name, len(arguments)) for name, arguments in self.atoms)


def _oddities(look: _Look, statement: Any) -> Iterator[str]:
    """Say what in a rule means something else than people expect who write their first ones."""
    small = dict.fromkeys((*_small_in_head(statement), *filter(_SMALL.fullmatch, look.unquoted)))
    for word in small:
        yield f"{word} begins with a small letter, so it is only itself: write {word.upper()}"
    for word in [word for word in look.unquoted if word not in small]:
        yield f'{word} stands without double quotes: a word of the text is written "{word.strip(chr(39))}"'
    for name, count in look.variables.items():
        if count == 1 and _WORD.fullmatch(name):
            yield f'{name} stands only once, so it is anything: a word needs quotes, "{name}"; anything is _'
    for name, word in look.capitals.items():
        yield f"{name} never has capitals: write {word.lower()} for {word}"


def _quoted(statement: Any) -> Iterator[tuple[str, int, str]]:
    """Yield the quoted words that a rule asks the vocabulary for, without those after `not`."""
    for literal in statement.body:
        symbol = getattr(getattr(literal, "atom", None), "symbol", None)
        if symbol is None or symbol.ast_type is not ASTType.Function or literal.sign:
            continue
        for place, argument in enumerate(symbol.arguments):
            term = getattr(argument, "symbol", None)
            if term is not None and term.type is SymbolType.String:
                yield symbol.name, place, term.string


def _small_in_head(statement: Any) -> Iterator[str]:
    """Yield arguments of a consequence that begin with a small letter."""
    symbol: Any = getattr(getattr(getattr(statement, "head", None), "atom", None), "symbol", None)
    if symbol is None or symbol.ast_type is not ASTType.Function:
        return
    if (symbol.name, len(symbol.arguments)) in EFFECTS:
        yield from filter(_NAME.fullmatch, map(str, symbol.arguments))


def _marked_own(statement: Any) -> Any:
    """Begin what is in a weak constraint's brackets with a word that the encoding's brackets do not have."""
    mark = ast.SymbolicTerm(statement.location, Function(f"{_OURS}own"))
    return statement.update(terms=[mark, *statement.terms])


_LINKED = "in_chain({0},{3},{1}), in_chain({0},{3},{2}), {1} < {2}"
_LINKED_BY_ANY = "caspr_kind({0},{1}), caspr_linked({0},{3}), caspr_kind({3},{2}), {1} < {2}"


def _unfolded(statement: Any) -> Any:
    """Say `linked(A,M1,M2)` in other words, so that clingo need not be given all links one by one."""
    literals: list[Any] = []
    for number, literal in enumerate(statement.body):
        variables = _linked_variables(literal)
        if not variables:
            literals.append(literal)
            continue
        names = [f"CASPR_{number}{place}" if name == "_" else name for place, name in enumerate(variables)]
        said = _LINKED_BY_ANY if variables[0] == "_" else _LINKED
        ast.parse_string(
            f":- {said.format(*names, f'CASPR_{number}')}.",
            lambda parsed: literals.extend(parsed.body if parsed.ast_type is ast.ASTType.Rule else ()),
        )
    return statement.update(body=literals)


def _linked_variables(literal: Any) -> list[str]:
    """Return the three variables of a body literal such as `linked(A,M1,M2)`; none for all others."""
    atom = getattr(literal, "atom", None)
    symbol = getattr(atom, "symbol", None)
    if symbol is None or symbol.ast_type is not ASTType.Function or literal.sign != Sign.NoSign:
        return []
    plain = all(term.ast_type is ASTType.Variable for term in symbol.arguments)
    named = symbol.name == "linked" and len(symbol.arguments) == 3
    return [term.name for term in symbol.arguments] if named and plain else []


def _with_head(
    rule: Rule, statement: Any, body: str, asks: frozenset[Signature], derives: frozenset[Signature]
) -> ParsedRule:
    head, text = statement.head, str(statement)
    if head.ast_type is not ASTType.Literal:
        return ParsedRule(rule, text, None, (), body, asks, choice=True, derives=derives)
    if head.atom.ast_type is ASTType.BooleanConstant:
        return ParsedRule(rule, text, None, (), body, asks)
    symbol = getattr(head.atom, "symbol", None)
    if symbol is None or symbol.ast_type is not ASTType.Function or head.sign:
        hint = f"; {IF}" if " < -" in text else ""
        raise InputError(
            f"{_place(rule)}: found the head {head}, expected a predicate such as forbid(M1,M2){hint}"
        )
    signature = symbol.name, len(symbol.arguments)
    return ParsedRule(
        rule, text, signature, tuple(map(str, symbol.arguments)), body, asks, derives=frozenset({signature})
    )


def _title(lines: Sequence[str], location: Any) -> str:
    """Return the comment on the line before a rule, or the rule itself."""
    begin, end = location.begin, location.end
    above = lines[begin.line - 2].strip() if begin.line >= 2 else ""
    words = above.lstrip("%* ").rstrip("*% .")
    if not (above.startswith("%") and words):
        own = [line.encode() for line in lines[begin.line - 1 : end.line]]
        own[-1] = own[-1][: end.column - 1]
        own[0] = own[0][begin.column - 1 :]
        words = b" ".join(own).decode()
    return shorten(words, 80, placeholder=" ...")


def _place(rule: Rule) -> str:
    return f"{rule.file}:{rule.line}"


def _about_solution(rules: Sequence[ParsedRule]) -> dict[ParsedRule, None]:
    """Return the rules that mention a solution, or what is derived from one, in order."""
    known = set(SOLUTION)
    late: dict[ParsedRule, None] = {}
    size = -1
    while len(known) != size:
        size = len(known)
        for rule in rules:
            if not rule.constant and (rule.weak or not known.isdisjoint(rule.asks | rule.derives)):
                late[rule] = None
                known |= rule.derives - SOLUTION.keys()
    return {rule: None for rule in rules if rule in late}


def _refuse_misplaced(rule: ParsedRule, about_solution: bool) -> None:
    """Refuse heads that are given, choices about the input, and effects that depend on a solution."""
    given = sorted(rule.derives & VOCABULARY.keys())
    if given:
        raise InputError(
            f"{_place(rule.rule)}: found a rule for {_named(given[0])}, which the annotations give"
            f"{f'; {IF}' * rule.choice}"
        )
    if any(name.startswith(_OURS) for name, _ in (*rule.derives, *rule.atoms)):
        raise InputError(f"{_place(rule.rule)}: found a predicate {_OURS}..., expected another name")
    wrong = [head for head in rule.derives if head[0] in list(Effect) and head not in EFFECTS]
    if wrong:
        effect = Effect(wrong[0][0])
        raise InputError(
            f"{_place(rule.rule)}: found {_named(wrong[0])}, expected {effect} with {effect.arity} arguments"
        )
    if about_solution:
        effects = sorted(rule.derives & EFFECTS.keys())
        if effects:
            raise InputError(
                f"{_place(rule.rule)}: found {effects[0][0]} derived from the solution, expected from the "
                "input; about the solution, write a constraint (:- ...) or a weak constraint (:~ ...)"
            )
    elif rule.choice:
        raise InputError(
            f"{_place(rule.rule)}: found a head with a choice, expected a single predicate: rules about the "
            "input leave no choice"
        )


def _refuse_taken(rule: ParsedRule) -> None:
    """Refuse words of the encoding where rules are added to it: they would change what it says."""
    constant = re.match(r"#const (\w+)", rule.text) if rule.constant else None
    derives = {(constant[1], 0)} if constant else rule.derives - EFFECTS.keys()
    for signature in sorted(derives & _taken()):
        expected = "a constraint (:- ...) on what solutions are" if signature in SOLUTION else "another name"
        found = f"a rule for {_named(signature)}, which the encoding uses"
        raise InputError(f"{_place(rule.rule)}: found {found}, expected {expected}")


@cache
def _taken() -> frozenset[Signature]:
    """Return the predicates of the encodings, and their constants as if they were some without arguments."""
    text = encodings()
    statements: list[Any] = []
    ast.parse_string(text, statements.append)
    constants = re.findall(r"\b[a-z]\w*\b(?!\()", re.sub("%.*", "", text))
    return _Look(Rule("", 0, "")).within(statements).union((name, 0) for name in constants)


def _empty(files: Iterable[RuleFile], rules: Iterable[ParsedRule]) -> Iterator[Finding]:
    """Warn of files without a rule."""
    filled = {rule.rule.file for rule in rules}
    for file in files:
        if file.name not in filled:
            yield warning("no-rules", f"{file.name}: no rule in this file, only comments or empty lines")


def _unknown(rules: Sequence[ParsedRule]) -> Iterator[Finding]:
    """Warn of predicates that nothing derives, with the nearest name."""
    known, defined = _known(rules), _defined(rules)
    for rule in rules:
        for signature in sorted(rule.asks - known - defined - LINKS):
            message = f"{_place(rule.rule)}: nothing gives {_named(signature)}{_hint(signature, known)}"
            yield warning("unknown-predicate", message)


def _never_so(rules: Sequence[ParsedRule]) -> Iterator[Finding]:
    """Warn of constants that no rule gives, where rules give only others, such as a misspelt `persn`."""
    given: dict[tuple[Signature, int], set[str]] = defaultdict(set)
    for rule in rules:
        for signature in rule.derives:
            arguments = rule.arguments if rule.head == signature else ("_",) * signature[1]
            for place, argument in enumerate(arguments):
                given[signature, place].add(argument)
    declared = {match[1] for rule in rules if (match := re.match(r"#const (\w+)", rule.text))}
    defined = _defined(rules)
    closed = {
        key: values
        for key, values in given.items()
        if all(map(_CONSTANT.fullmatch, values)) and not declared & values and key[0] not in defined
    }
    for rule in rules:
        for name, arguments in rule.atoms:
            for place, argument in enumerate(arguments):
                values = closed.get(((name, len(arguments)), place), {argument})
                if argument not in values | declared and _CONSTANT.fullmatch(argument):
                    said = f"nothing gives {name}({','.join(arguments)}){_meant(argument, values)}"
                    yield warning("unknown-predicate", f"{_place(rule.rule)}: {said}")


def _meant(constant: str, values: Iterable[str]) -> str:
    """Ask for a variable or a known constant that a constant may stand for."""
    near = difflib.get_close_matches(constant, sorted(values), n=1)
    meant = constant.upper() if _SMALL.fullmatch(constant) else "".join(near)
    return f"; did you mean {meant}?" if meant else ""


def _unused(rules: Sequence[ParsedRule], asked: frozenset[Signature]) -> Iterator[Finding]:
    """Warn of what rules derive and nothing asks about, such as a misspelt `forbidd`; once for each.

    Where it is asked about under another name that nothing gives, that warning names it.
    """
    known = EFFECTS.keys() | (asked - VOCABULARY.keys() - SOLUTION.keys())
    given = _known(rules)
    named = {_nearest(signature, given) for signature in asked - given - _defined(rules)}
    used = known | SOLUTION.keys() | _defined(rules) | named
    first: dict[Signature, ParsedRule] = {}
    for rule in rules:
        for signature in sorted(rule.derives - used):
            first.setdefault(signature, rule)
    for signature, rule in first.items():
        message = f"{_place(rule.rule)}: nothing uses {_named(signature)}{_hint(signature, known)}"
        yield warning("unused-predicate", message)


def _known(rules: Iterable[ParsedRule]) -> set[Signature]:
    """Return the predicates that mean something: those of CaspR, and what rules derive."""
    return {*VOCABULARY, *SOLUTION, *EFFECTS, *(signature for rule in rules for signature in rule.derives)}


def _defined(rules: Iterable[ParsedRule]) -> set[Signature]:
    """Return what `#defined` declares: predicates that need not be given or used."""
    declared = (re.fullmatch(r"#defined (\w+)/(\d+)\.", rule.text) for rule in rules if rule.constant)
    return {(match[1], int(match[2])) for match in declared if match is not None}


def _named(signature: Signature) -> str:
    return f"{signature[0]}/{signature[1]}"


def _hint(signature: Signature, known: Iterable[Signature]) -> str:
    near = _nearest(signature, known)
    return f"; did you mean {_shown(near)}?" if near else ""


def _nearest(signature: Signature, known: Iterable[Signature]) -> Signature | None:
    """Return the predicate with the same name or the one most like it, if there is one."""
    name, names = signature[0], {name for name, _ in known}
    near = [name] if name in names else difflib.get_close_matches(name, sorted(names), n=1, cutoff=0.5)
    return min((one for one in known if one[0] in near), default=None)


def _shown(signature: Signature) -> str:
    """Return a predicate as one writes it, with arguments where they are known."""
    if signature in EFFECTS:
        return EFFECTS[signature].written
    described = VOCABULARY.get(signature) or SOLUTION.get(signature) or _named(signature)
    return described.split(": ")[0].split(" (")[0]
