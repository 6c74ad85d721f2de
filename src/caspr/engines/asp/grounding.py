"""Derive what rules of one's own say of a document: facts about it, then one run of clingo.

    files --parse_rules--> rules about the input --+
    Instance --facts--> what they ask about -------+--clingo, once--> DerivedRules

Every rule with an effect, such as `forbid(M1,M2) :- body`, is run as `caspr_derived(7,forbid(M1,M2)) :-
body`, where 7 is its number: so each consequence knows its rule. Only facts are given that some rule asks
about. There must be exactly one answer set; a constraint about the input that is violated refuses the
document.

**Large texts.** In a novel, a rule that forbids pairs of two kinds has two hundred million instances.
Forbidden pairs and costs of being together only make solutions dearer: without them, the optimum is a
*relaxation*, and one that breaks none of them is an optimum with them (the argument of
`engines.native.nesting`). So in a document of more than `MANY` pairs these rules are asked at first about the
pairs that annotators linked, unless these are more than `MANY_LINKS`, and then about the other pairs that a
solution puts into one chain, again and again until nothing new is derived: `derive_within` asks,
`adjudication` goes round. How one asks about some pairs: `AskedPairs`. All other rules are asked about
everything, once.

Clingo runs in a child process where there are limits or Ctrl-C must end it, as in `solve` (`answer_set`).
"""

import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import combinations
from pathlib import Path
from typing import Any

from caspr.engines.asp.answer_set import CIRCLE, answer_set
from caspr.engines.asp.asked_pairs import AskedPairs, Profiles
from caspr.engines.asp.pipes import OutOfMemoryError, TimeOutError, run_pipe
from caspr.engines.asp.rule_errors import unsafe
from caspr.engines.asp.rule_files import (
    EFFECTS,
    VOCABULARY,
    ParsedRule,
    ParsedRules,
    Signature,
    parse_rules,
)
from caspr.errors import EngineError, InputError, LimitError
from caspr.processes import free_megabytes
from caspr.task.contradictions import minimal_subset
from caspr.task.decisions import Rule
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.own_rules import Consequence, DerivedRules, Effect, RuleFile, consequence
from caspr.task.solution import Partition
from caspr.text.document import Annotation, Document, Span
from caspr.text.findings import Finding, note, shorten, times, warning
from caspr.text.trees import head_of, is_empty, with_tree

MANY = 200_000
"""In documents with more pairs of mentions, rules about pairs are not asked about all of them."""
MANY_LINKS = 1_000_000
"""Where annotators gave more links, rules about pairs are asked only about the chains of solutions."""
ALIKE = frozenset(
    {"annotator", "annotator_name", "text", "lower_text", "entity_type", "entity_name", "label"}
)
"""Facts that say what mentions are like, and not where they are."""
_ORDER = re.compile(r"\bmid\(|[<>]")
_EXTREME = re.compile(r"#(?:min|max) *\{([^}]*)\}")
_SET = re.compile(r"\{[^}]*\}")
_VARIABLE = re.compile(r"\b_*[A-Z][\w']*")
_COUNTED = re.compile(r"(?<!not )\b([A-Z][\w']*) = #(?:count|sum)\b")
_PLAIN = re.compile(r"(\w+)\(([^()]*)\)")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_LAZY = frozenset({Effect.FORBID, Effect.TOGETHER_COST})
"""What only makes solutions dearer."""
_NOT = re.compile(r"\bnot |#")
_COMMAND = (sys.executable, "-P", str(Path(__file__).with_name("answer_set.py")))
"""What runs a program in a process of its own."""
_LINE = re.compile(r"<\w+>:(\d+):\d+(?:-\d+)?(?::\d+)?:?")

_DERIVED = "caspr_derived("
_ATOM = re.compile(
    r"caspr_derived\((\d+),\w+"
    r"(?:\((?:mid\((-?\d+),(-?\d+)\))(?:,mid\((-?\d+),(-?\d+)\))?(?:,(-?\d+))?\))?\)(?: |$)"
)
"""A derived atom: the number of its rule, what it is about, and a cost."""

_MENTION = re.compile(r"mid\((\d+),(\d+)\)")

Fact = tuple[str, tuple[Any, ...]]
_Derived = tuple[int, tuple[Span, ...], int]
"""The number of a rule, what it is about, and a cost."""


def derive(
    instance: Instance, files: Sequence[RuleFile], limits: Limits | None = None
) -> tuple[DerivedRules, tuple[Finding, ...]]:
    """Return what the rules of some files derive for an instance, and what is odd about them.

    Raise `InputError` with file, line and reason for rules that cannot be used.
    """
    parsed = parse_rules(files)
    _refuse_unsafe((*parsed.about_input, *parsed.about_solution))
    mentions = len(_marked(instance))
    waiting = [rule for rule in parsed.about_input if _is_lazy(rule, parsed, instance)]
    lazy = mentions * (mentions - 1) // 2 > MANY and bool(waiting)
    linked = list(map(frozenset, instance.votes.members.values())) if lazy and _are_few(instance) else []
    derived = _asked(instance, parsed, AskedPairs.about(linked) if lazy else None, limits or Limits())
    marked = _marked(instance)
    kept = tuple(one for one in derived if marked.issuperset(one.mentions))
    findings = list(parsed.findings)
    if len(kept) < len(derived):
        lost = times(len(derived) - len(kept), "consequence")
        findings.append(
            warning("unmarked-by-rules", f"{lost} of rules about mentions that nobody marked ignored")
        )
    effective = {one.rule for one in kept}
    for rule in parsed.about_input:
        if rule.head in EFFECTS and rule.rule not in effective and not (lazy and rule in waiting):
            findings.append(
                note("rule-idle", f"{rule.rule}: nothing derived here{_lacking(instance, rule, parsed)}")
            )
    program = _solution_program(instance, parsed) if parsed.about_solution else ""
    later = {rule.rule: _lacking(instance, rule, parsed) for rule in waiting if lazy}
    return DerivedRules(kept, tuple(files), lazy, program, tuple(linked), later), tuple(findings)


def _refuse_unsafe(rules: Sequence[ParsedRule]) -> None:
    """Refuse variables that stand for nothing, before anything is derived: no rule has an instance here."""
    answer = answer_set("\n".join(map(_never, rules)))
    if unsafe(answer.get("error", "")):
        raise InputError(_located(rules, answer["error"]))


def _never(rule: ParsedRule) -> str:
    """Return a rule that asks for what is never so, too."""
    if rule.constant or (rule.weak and not rule.body):
        return ""
    if rule.weak:
        return rule.text.replace(":~ ", ":~ caspr_never; ", 1)
    head = rule.text.removesuffix(f"{' :- ' * bool(rule.body)}{rule.body}.")
    return f"{head} :- caspr_never{'; ' * bool(rule.body)}{rule.body}."


def _lacking(instance: Instance, rule: ParsedRule, parsed: ParsedRules) -> str:
    """Say which facts a rule asks for, itself or by others, that a document does not have."""
    asks = _all_asked(rule, parsed.about_input)
    names = sorted(name for name, arity in asks if (name, arity) in VOCABULARY)
    given: set[str] = set()
    unmet = dict.fromkeys(one for one in rule.quoted if one[0] != "annotator_name")
    for name, arguments in _facts(instance, frozenset(names)):
        given.add(name)
        for place, argument in enumerate(arguments) if unmet else ():
            unmet.pop((name, place, argument), None)
    missing = [name for name in names if name not in given]
    missing += [f'{name} "{word}"' for name, _, word in unmet if name in given]
    if missing:
        return f", since these files have no {' and no '.join(missing)}"
    called = ", ".join(f'"{annotation.annotator}"' for annotation in instance.annotations)
    return f" (the annotators are {called})" if "annotator_name" in names else ""


def _all_asked(rule: ParsedRule, rules: Iterable[ParsedRule]) -> set[Signature]:
    """Return the predicates that a rule asks about, itself or by what other rules derive."""
    asks, size = set(rule.asks), 0
    while len(asks) != size:
        size = len(asks)
        asks |= {one for other in rules if other.head in asks for one in other.asks}
    return asks


def refuse_forged(
    instance: Instance, files: Sequence[RuleFile], partition: Partition = (), limits: Limits | None = None
) -> None:
    """Refuse an instance whose rules are said to have derived something else than they do.

    Where they were asked only about some pairs, they are asked about these again, and about the chains of
    the partition that is said to break none of them.
    """
    parsed, said = parse_rules(files), set(instance.rules.consequences)
    limits, marked, partial = limits or Limits(), _marked(instance), instance.rules.partial
    asked = AskedPairs.about([one.mentions for one in said if one.effect in _LAZY]) if partial else None
    derived = {one for one in _run(instance, parsed, asked, limits) if marked.issuperset(one.mentions)}
    missing = {one for one in derived - said if not (partial and one.effect in _LAZY)}
    wrong = (said - derived) | missing
    if wrong:
        one = min(wrong, key=lambda one: (one.rule.file, one.rule.line, one.mentions))
        verb = "does not derive" if one in said else "also derives"
        raise EngineError(
            f"certificate: {one.rule} {verb} {one.effect} of {[tuple(span) for span in one.mentions]}"
        )
    rules = replace(instance.rules, files=tuple(files), asked=())
    if rules.partial and derive_within(instance.under(rules), partition, limits) is not rules:
        raise EngineError("certificate: its chains break rules, or cost more by them, than it says")


def derive_within(instance: Instance, partition: Partition, limits: Limits | None = None) -> DerivedRules:
    """Return the rules with what they say of pairs that share a chain; the same ones if that is known.

    What was asked of a chain need not be asked of a part of it.
    """
    rules = instance.rules
    chains = [frozenset(chain) for chain in partition]
    new = [chain for chain in chains if not any(chain <= known for known in rules.asked)]
    pairs = AskedPairs.about(new, rules.asked)
    if not pairs.near:
        return rules
    derived = _asked(instance, parse_rules(rules.files), pairs, limits or Limits())
    home = {span: number for number, chain in enumerate(new) for span in chain}
    lazy = (one for one in derived if one.effect in _LAZY)
    within = (one for one in lazy if len({home.get(span, span) for span in one.mentions}) == 1)
    return rules.extended(within, new)


def _asked(
    instance: Instance, parsed: ParsedRules, pairs: AskedPairs | None, limits: Limits
) -> list[Consequence]:
    """Run the rules, those about pairs only for some pairs, if these are given."""
    if pairs is None or not pairs.near or not _are_alike(parsed):
        return _run(instance, parsed, pairs, limits)
    profiles = _profiles(instance, parsed)
    return list(pairs.spread(_run(instance, parsed, pairs.sample(profiles), limits), profiles))


def _are_few(instance: Instance) -> bool:
    """Return whether rules can be asked about all links that annotators gave."""
    return instance.votes.total <= MANY_LINKS


def _marked(instance: Instance) -> frozenset[Span]:
    return frozenset(instance.votes.marks)


def _is_lazy(rule: ParsedRule, parsed: ParsedRules, instance: Instance) -> bool:
    """Return whether a rule is asked only about pairs that may be joined; not if others build on it.

    One about links has few instances where there are few links.
    """
    if rule.head not in EFFECTS or EFFECTS[rule.head] not in _LAZY or rule.head in parsed.asked:
        return False
    pair = rule.arguments[:2]
    return not any(";" in mention for mention in pair) and not (
        _are_few(instance) and frozenset(pair) in rule.linked
    )


def _are_alike(parsed: ParsedRules) -> bool:
    """Return whether rules look only at what mentions are like."""
    texts = [_STRING.sub('""', rule.text) for rule in parsed.about_input]
    return parsed.facts <= ALIKE and not (any(map(_ORDER.search, texts)) or _takes_first(parsed.about_input))


def _takes_first(rules: Sequence[ParsedRule]) -> bool:
    """Return whether a rule may take the first or the last of some mentions, by `#min` or `#max`.

    It surely does not where all it looks at are words, each given by the only condition of its term.
    """
    places = {("text", 0), ("lower_text", 0), ("entity_type", 1), ("entity_name", 1), ("label", 1)}
    size = 0
    while len(places) != size:  # the arguments that may be mentions, also of words of one's own
        size = len(places)
        for rule in rules:
            body = _STRING.sub('""', rule.body)
            for element in ";".join(_EXTREME.findall(body)).split(";"):
                terms, _, condition = element.partition(":")
                if not _given(condition.split(";"), places).issuperset(_VARIABLE.findall(terms)):
                    return True
            known = _given(_SET.sub("", body).split(";"), places).union(_COUNTED.findall(body))
            if rule.head is not None:
                held = [not known.issuperset(_VARIABLE.findall(argument)) for argument in rule.arguments]
                places |= {(rule.head[0], place) for place, holds in enumerate(held) if holds}
    return False


def _given(literals: Iterable[str], places: Collection[tuple[str, int]]) -> set[str]:
    """Return the arguments that plain literals give which are no mentions."""
    atoms = (_PLAIN.fullmatch(literal.strip()) for literal in literals)
    return {
        argument.strip()
        for atom in atoms
        if atom is not None
        for place, argument in enumerate(atom[2].split(","))
        if (atom[1], place) not in places
    }


def _profiles(instance: Instance, parsed: ParsedRules) -> Profiles:
    """Return, for every mention, what the facts that are asked about say of it."""
    profiles: dict[Span, set[str]] = defaultdict(set)
    for name, arguments in _facts(instance, parsed.facts):
        for argument in arguments:
            if isinstance(argument, Span):
                rest = [term for term in arguments if term is not argument]
                profiles[argument].add(f"{name}{rest}")
    return {span: frozenset(profile) for span, profile in profiles.items()}


def _run(
    instance: Instance, parsed: ParsedRules, pairs: AskedPairs | None, limits: Limits
) -> list[Consequence]:
    """Ground the rules about the input; those about pairs only for some pairs, if these are given."""
    limited, near = pairs is not None, () if pairs is None else pairs.near
    lazy = {rule for rule in parsed.about_input if limited and _is_lazy(rule, parsed, instance)}
    rules = [rule for rule in parsed.about_input if near or rule not in lazy]
    lines = [_line(number, rule, parsed, lazy=rule in lazy) for number, rule in enumerate(rules)]
    idle = all(rule.constant or (rule.head is not None and rule.head not in EFFECTS) for rule in rules)
    if idle and limited:
        return []
    # Where nothing can be derived, rules are only checked.
    given = () if idle else _facts(instance, parsed.facts)
    questions = () if pairs is None else pairs.facts("caspr_in", "caspr_ask")
    facts = [f"{name}({','.join(map(_term, arguments))})." for name, arguments in (*given, *questions)]
    program = "\n".join([*lines, "#show caspr_derived/2.", *facts])
    answer = _grounded(program, partial(_located, rules), limits)
    document = instance.annotations[0].document
    return _consequences(answer, rules, document)


def _consequences(answer: str, rules: Sequence[ParsedRule], document: Document) -> list[Consequence]:
    """Read and check what was derived, and return it in the order of rules and mentions."""
    atoms = _ATOM.findall(answer)
    if len(atoms) < answer.count(_DERIVED):
        raise _odd(_ATOM.sub("", answer), rules, document)

    @cache
    def mention(start: str, end: str) -> tuple[Span, ...]:
        return (Span(int(start), int(end)),) if start else ()

    derived: set[_Derived] = set()
    for number, start, end, other_start, other_end, cost in atoms:
        first, second = mention(start, end), mention(other_start, other_end)
        if first != second or not first:  # and not a mention with itself: a rule without M1 != M2
            mentions = first + second if first < second or not second else second + first
            derived.add((int(number), mentions, int(cost or 0)))
    return list(_checked(sorted(derived), rules, document))


def _checked(
    derived: Iterable[_Derived], rules: Sequence[ParsedRule], document: Document
) -> Iterator[Consequence]:
    """Yield consequences; raise `InputError` for a constraint that is broken, or what makes no sense."""
    sound: set[Span] = set()
    costs: set[tuple[int, int]] = set()
    for number, mentions, cost in derived:
        rule = rules[number]
        if rule.head is None:
            where = "".join(f", first at {quoted}" for quoted in _quotes(mentions, document))
            raise InputError(f"{rule.rule}: this document breaks it{where}")
        effect = EFFECTS[rule.head]
        if (number, cost) not in costs or not sound.issuperset(mentions):  # each is checked once
            consequence(effect, mentions, cost, rule.rule, len(document.tokens))
            costs.add((number, cost))
            sound.update(mentions)
        if cost or not effect.costs:
            yield Consequence(effect, mentions, rule.rule, cost)


def _line(number: int, rule: ParsedRule, parsed: ParsedRules, *, lazy: bool) -> str:
    """Return what is run for a rule, in one line."""
    if rule.constant:
        return rule.text
    if rule.head is None:
        return f"caspr_derived({number},violated{_broken_by(rule)}) :- {rule.body}."
    if rule.head not in EFFECTS:
        return rule.text
    body = [rule.body] if rule.body else []
    if lazy:
        first, second = rule.arguments[:2]
        body += [f"caspr_in(CASPR_G,{first})", "caspr_ask(CASPR_G,CASPR_H)", f"caspr_in(CASPR_H,{second})"]
    derived = f"{rule.head[0]}({','.join(rule.arguments)})"
    own = f" {rule.text}" if rule.head in parsed.asked else ""
    return f"caspr_derived({number},{derived}){' :- ' * bool(body)}{'; '.join(body)}.{own}"


def _broken_by(rule: ParsedRule) -> str:
    """Return the variable for a mention in what a constraint forbids, in parentheses, if there is one."""
    body = _STRING.sub('""', rule.body)
    match = re.search(r"\bM1?\b", body)
    return "" if match is None or re.search("[:{]", body) else f"({match[0]})"


def _located(rules: Sequence[ParsedRule], message: str) -> str:
    """Say where clingo's message is about, in the user's files."""
    match = _LINE.search(message)
    number = int(match[1]) - 1 if match else -1
    words = " ".join(_LINE.sub("", message).replace("[#inc_base];", "").split())
    words = re.sub(r"caspr_derived\(\d+,((?:[^()]|\([^()]*\))*)\)", r"\1", words)
    if not 0 <= number < len(rules):
        return f"rules: {unsafe(message) or words}{_circle(rules) if CIRCLE in words else ''}"
    rule = rules[number].rule
    return f"{rule.file}:{rule.line}: {unsafe(message, rules[number].text) or words}"


def _circle(rules: Sequence[ParsedRule]) -> str:
    """Name the rules that ask with `not`, or count, what depends on themselves."""
    asking = [rule for rule in rules if _NOT.search(_STRING.sub('""', rule.body))]
    circle = [str(rule.rule) for rule in asking if rule.head in _all_asked(rule, rules)]
    return f": {'; '.join(circle)}" if circle else ""


def _term(value: Any) -> str:
    r"""Write an argument of a fact.

    >>> _term(Span(1, 3)), _term('say "no"'), _term(7)
    ('mid(1,3)', '"say \\"no\\""', '7')
    """
    if isinstance(value, Span):
        return f"mid({value.start},{value.end})"
    if isinstance(value, int):
        return str(value)
    text = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'


def _facts(instance: Instance, asked: frozenset[str]) -> Iterator[Fact]:
    """Yield the facts that rules ask about."""
    document = _document(instance)
    yield from (fact for name, facts in _token_facts(document) if name in asked for fact in facts())
    sentences = _sentences(document.sentence_ends, len(document.tokens)) if "in_sentence" in asked else ()
    for span in sorted(_marked(instance)):
        about: dict[str, tuple[Any, ...]] = {"span": (span, *span)}
        if "text" in asked or "lower_text" in asked:
            words = document.text(span)
            about |= {"text": (span, words), "lower_text": (span, words.lower())}
        if sentences:
            about["in_sentence"] = (span, sentences[span.start - 1])
        if document.tree is not None and "head" in asked:
            about["head"] = (span, head_of(document, range(span.start, span.end + 1)))
        if (
            document.tree is not None
            and "zero" in asked
            and all(map(partial(is_empty, document), range(span.start, span.end + 1)))
        ):
            about["zero"] = (span,)
        yield from ((name, arguments) for name, arguments in about.items() if name in asked)
    for number, annotation in enumerate(instance.annotations, 1):
        yield from (fact for fact in _annotation_facts(number, annotation, asked) if fact[0] in asked)
    if "caspr_linked" in asked:
        chains = [chain.mentions for annotation in instance.annotations for chain in annotation.all_chains]
        yield from AskedPairs.within(chains).facts("caspr_kind", "caspr_linked")


def _document(instance: Instance) -> Document:
    """Return the document as the first annotator has it whose file has trees, if one does, with these."""
    documents = [with_tree(annotation.document) for annotation in instance.annotations]
    return next((document for document in documents if document.tree is not None), documents[0])


def _token_facts(document: Document) -> Iterator[tuple[str, Callable[[], Iterator[Fact]]]]:
    """Yield the names of facts about tokens, and how to make them."""

    def facts(name: str, rows: Callable[[], Iterable[tuple[Any, ...]]]) -> Callable[[], Iterator[Fact]]:
        return lambda: ((name, tuple(row)) for row in rows())

    words = document.tokens
    for name, rows in (
        ("token", lambda: enumerate(words, 1)),
        ("lower", lambda: ((number, word.lower()) for number, word in enumerate(words, 1))),
        ("sentence", lambda: enumerate(_sentences(document.sentence_ends, len(words)), 1)),
        ("column", partial(_columns, document)),
        ("speaker", partial(_speakers, document)),
    ):
        yield name, facts(name, rows)


_SPEAKER = 10
"""The column of CoNLL-2012 that names the speaker."""
_TREE_COLUMNS = 9
"""The columns of CoNLL-U, without the last one, in which CorefUD has entities."""


def _sentences(ends: Sequence[int], tokens: int) -> list[int]:
    """Return the number of the sentence of each token; none if files have no sentences."""
    if not ends:
        return []
    last, numbers, sentence = set(ends), [], 1
    for token in range(1, tokens + 1):
        numbers.append(sentence)
        sentence += token in last
    return numbers


def _columns(document: Document) -> Iterator[tuple[int, int, str]]:
    """Yield token, number and value of the columns of a token's line, without those of coreference."""
    tree = document.tree
    lines = document.rows if tree is None else map(tree.line, range(1, len(document.tokens) + 1))
    for token, line in enumerate(lines, 1):
        values = line.split("\t") if "\t" in line else line.split()
        for number, value in enumerate(values if tree is None else values[:_TREE_COLUMNS], 1):
            yield token, number, value.strip()


def _speakers(document: Document) -> Iterator[tuple[int, str]]:
    if document.tree is None:
        yield from ((token, value) for token, number, value in _columns(document) if number == _SPEAKER)
        return
    said = ((token, document.tree.speaker(token)) for token in range(1, len(document.tokens) + 1))
    yield from ((token, speaker) for token, speaker in said if speaker)


def _annotation_facts(number: int, annotation: Annotation, asked: frozenset[str]) -> Iterator[Fact]:
    """Yield what an annotator says; mentions are numbered in text order."""
    yield "annotator", (number,)
    yield "annotator_name", (number, annotation.annotator)
    own = {span: place for place, span in enumerate(sorted(annotation.mentions), 1)}
    for span, place in own.items():
        yield "mention", (number, place, *span)
        yield "acmen", (number, place, span)
        label = annotation.marks[span].label if span in annotation.marks else ""
        if label:
            yield "label", (number, span, label)
    for place, chain in enumerate(annotation.all_chains, 1):
        for span in chain.mentions:
            yield "cm", (number, place, own[span])
            yield "in_chain", (number, place, span)
            if chain.type:
                yield "entity_type", (number, span, chain.type)
            if chain.name:
                yield "entity_name", (number, span, chain.name)
        if "linked" in asked:
            yield from (("linked", (number, *pair)) for pair in combinations(chain.mentions, 2))


_IN_PROGRAM = frozenset({"annotator", "mention", "cm", "acmen"})
"""Facts that the program of an ASP engine has anyway."""


def unsolvable(instance: Instance, has_solution: Callable[[Instance], bool]) -> list[Rule]:
    """Return fewest rules about the solution that leave none, given that all of them do.

    None are returned if there is no solution even without the constraints among them.
    """
    parsed = parse_rules(instance.rules.files)
    blamed = [rule for rule in parsed.about_solution if rule.head is None and not (rule.weak or rule.choice)]

    def holds(chosen: Sequence[int]) -> bool:
        kept = {blamed[number] for number in chosen}
        late = tuple(rule for rule in parsed.about_solution if rule not in blamed or rule in kept)
        program = _solution_program(instance, replace(parsed, about_solution=late))
        return has_solution(instance.under(replace(instance.rules, program=program)))

    return [blamed[number].rule for number in minimal_subset(range(len(blamed)), holds)] if holds(()) else []


def _solution_program(instance: Instance, parsed: ParsedRules) -> str:
    """Return the rules about the solution, those they build on, and the facts that these ask about."""
    asked = parsed.facts - _IN_PROGRAM
    facts = (f"{name}({','.join(map(_term, arguments))})." for name, arguments in _facts(instance, asked))
    helpers = (
        rule.text for rule in parsed.about_input if rule.head not in EFFECTS and (rule.head or rule.constant)
    )
    return "\n".join(
        ["% Rules of one's own", *facts, *helpers, *(rule.text for rule in parsed.about_solution)]
    )


def _odd(atoms: str, rules: Sequence[ParsedRule], document: Document) -> InputError:
    """Say what is wrong with the first of some atoms."""
    own = atoms.split(f" {_DERIVED}", 1)[0].removeprefix(_DERIVED)
    number, derived = own.strip().removesuffix(")").split(",", 1)
    place = rules[int(number)].rule
    if derived.startswith("violated"):
        return InputError(f"{place}: this document breaks it")
    effect = Effect(derived.partition("(")[0])
    quoted = re.search(r',"(-?\d+)"\)$', derived) if effect.costs else None
    if quoted is not None:
        spans = (Span(int(ends[1]), int(ends[2])) for ends in _MENTION.finditer(derived))
        about = " and ".join(_quotes(spans, document))
        return InputError(f'{place}: found "{quoted[1]}" ({about}), expected {quoted[1]} without quotes')
    arguments = ["mid(1,3)", "mid(7,7)"][: effect.mentions] + ["2"] * effect.costs
    return InputError(f"{place}: found {shorten(derived)}, expected such as {effect}({','.join(arguments)})")


def _quotes(spans: Iterable[Span], document: Document) -> Iterator[str]:
    """Yield the words of mentions, and where they begin."""
    for span in spans:
        if 1 <= span.start <= span.end <= len(document.tokens):
            yield f"{document.text(span)!r} at token {span.start}"


def _grounded(program: str, located: Callable[[str], str], limits: Limits) -> str:
    """Run a program within limits and return what it derives, in one line.

    A program of its own may have the memory that is free, so that rules without an end harm no machine.
    """
    if limits.seconds is None and limits.megabytes is None and not limits.interruptible:
        answer = answer_set(program)
    else:
        memory = free_megabytes() if limits.megabytes is None else limits.megabytes
        limited = replace(limits, megabytes=max(1, memory))
        try:
            lines = list(run_pipe([_COMMAND], program, limited, success=frozenset({0})))
        except TimeOutError:
            raise LimitError(
                "rules: deriving took longer than the time limit; allow more with --time-limit"
            ) from None
        except OutOfMemoryError:
            free = "than is free here; does a rule derive ever more, such as p(N+1) :- p(N)?"
            which = free if limits.megabytes is None else "than the memory limit (--memory-limit)"
            raise LimitError(f"rules: deriving took more memory {which}") from None
        if not lines:
            raise EngineError("rules: clingo ended without an answer")
        answer = json.loads("".join(lines))
    if "error" in answer:
        raise InputError(located(answer["error"]))
    return answer["atoms"]
