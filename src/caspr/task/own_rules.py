"""Rules of one's own: what they derived for one document, as data that every engine takes.

A rule file is a small answer set program (`docs/rules.md`); `engines.asp.grounding` runs it once. What it
derived is a list of *consequences*, each with the rule that it came from:

    forbid(M1,M2)            never in one chain                         as if decided to be apart
    require(M1,M2)           in one chain                               as if decided to be together
    forbid_mention(M)        in no chain, and not kept alone            as if decided to be absent
    require_mention(M)       in some chain with others                  as if decided to exist
    together_cost(M1,M2,W)   W is paid if they share a chain
    apart_cost(M1,M2,W)      W is paid if they do not
    mention_cost(M,W)        W is paid if M is in a chain with others;
                             -W if it is not, where W is negative

So hard consequences are statements like those of the adjudicator (`DerivedRules.statements`), and whoever
respects decisions respects them: `Instance.constraints` joins the two. There are two differences.

*Required pairs.* What the adjudicator joins is exempt from all costs; for a required pair, votes cost what
they cost. But a pair that is in one chain in every solution costs the same in every solution. So its link
is free like an enforced one, and `Instance.required_costs` is what these pairs cost once and for all.

*Costs of being apart.* Such a rule says that two mentions belong together: it *gives* their link, as an
annotator does. So the link may hold a chain together, also where nobody else gave it (`PairPrices.given`),
and a pair gains in one chain what it saves by votes, plus what being apart costs, minus what being together
does. This is what keeps the engines' argument about chains in pieces true: a pair that gains is linked.

No cost is negative, so no solution costs less than nothing. Costs of several rules add up. What one rule
derives several times, or in both orders of a pair, counts once.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

from caspr.errors import InputError
from caspr.task.decisions import Pair, Rule, Statement, StatementKind
from caspr.task.objectives import LARGEST_COEFFICIENT
from caspr.text.document import Span
from caspr.text.findings import Finding, note, times


class Effect(StrEnum):
    """What a rule says of one mention or two; the names are those of the predicates."""

    FORBID = "forbid"
    REQUIRE = "require"
    FORBID_MENTION = "forbid_mention", 1
    REQUIRE_MENTION = "require_mention", 1
    TOGETHER_COST = "together_cost"
    APART_COST = "apart_cost"
    MENTION_COST = "mention_cost", 1

    mentions: int
    """How many mentions it is about."""
    costs: bool
    """Whether it is a cost, and no constraint."""

    def __new__(cls, name: str, mentions: int = 2) -> "Effect":
        """Make an effect of a name and what is known of it."""
        effect = str.__new__(cls, name)
        effect._value_ = name
        effect.mentions = mentions
        effect.costs = name.endswith("cost")
        return effect

    @property
    def arity(self) -> int:
        """How many arguments its predicate has."""
        return self.mentions + self.costs

    @property
    def written(self) -> str:
        """How one writes it: `together_cost(M1,M2,W)`."""
        arguments = ["M"] if self.mentions == 1 else ["M1", "M2"]
        return f"{self.value}({','.join(arguments + ['W'] * self.costs)})"


_KINDS = {
    Effect.FORBID: StatementKind.APART,
    Effect.REQUIRE: StatementKind.TOGETHER,
    Effect.FORBID_MENTION: StatementKind.ABSENT,
    Effect.REQUIRE_MENTION: StatementKind.EXISTS,
}


@dataclass(frozen=True)
class RuleFile:
    """A file of rules, by its content: what settings keep of it."""

    name: str
    """The file's name, for messages."""
    text: str


LIBRARY = (
    "same-type",
    "different-names",
    "predicates",
    "speaker",
    "relative-clause",
    "trust-pronouns",
    "distance",
)
"""The rule files that ship with CaspR, by name."""


@dataclass(frozen=True)
class Consequence:
    """One thing that a rule says of a document."""

    effect: Effect
    mentions: tuple[Span, ...]
    """One mention, or two in text order."""
    rule: Rule
    cost: int = 0
    """What it costs, for effects that do; negative only for a mention that is to be in a chain."""

    @property
    def statement(self) -> Statement:
        """The same as a statement; only for effects that cost nothing."""
        return Statement(_KINDS[self.effect], self.mentions, rule=self.rule)


@dataclass(frozen=True)
class DerivedRules:
    """All that rules derived for one document."""

    consequences: tuple[Consequence, ...] = ()
    files: tuple[RuleFile, ...] = ()
    """The rules themselves, where more may have to be derived (`partial`) or they are about solutions."""
    partial: bool = False
    """Whether rules about pairs were asked only about some pairs: those that are linked or share a chain."""
    program: str = ""
    """Rules about the solution, for the program of an ASP engine; empty if there are none."""
    asked: tuple[frozenset[Span], ...] = field(default=(), compare=False, repr=False)
    """The chains within which rules about pairs were asked, where they are `partial`."""
    waiting: Mapping[Rule, str] = field(default_factory=dict, compare=False, repr=False)
    """The rules that were asked only there, each with what the document lacks for it, in words."""

    def __bool__(self) -> bool:
        """Return whether there is anything to respect."""
        return bool(self.consequences or self.program)

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """What must hold, in the order of rules and mentions."""
        return tuple(dict.fromkeys(one.statement for one in self.consequences if not one.effect.costs))

    @cached_property
    def together(self) -> Mapping[Pair, int]:
        """What it costs that two mentions share a chain."""
        return self._sums(Effect.TOGETHER_COST)

    @cached_property
    def apart(self) -> Mapping[Pair, int]:
        """What it costs that they do not; rules give the links of these pairs."""
        return self._sums(Effect.APART_COST)

    def _sums(self, effect: Effect) -> dict[Pair, int]:
        sums: dict[Pair, int] = defaultdict(int)
        for one in self.consequences:
            if one.effect is effect:
                sums[one.mentions[0], one.mentions[1]] += one.cost
        return dict(sums)

    @cached_property
    def joining(self) -> Mapping[Span, int]:
        """What it costs that a mention is in a chain with others."""
        return self._mention_costs(1)

    @cached_property
    def leaving(self) -> Mapping[Span, int]:
        """What it costs that a mention is in no chain with others."""
        return self._mention_costs(-1)

    def _mention_costs(self, sign: int) -> dict[Span, int]:
        costs: dict[Span, int] = defaultdict(int)
        for one in self.consequences:
            if one.effect is Effect.MENTION_COST and sign * one.cost > 0:
                costs[one.mentions[0]] += sign * one.cost
        return dict(costs)

    @cached_property
    def paired(self) -> Mapping[Span, Mapping[Span, int]]:
        """For each mention of a pair with costs: the others, and what it costs less to be together.

        That is what being apart costs, minus what being together does.
        """
        paired: dict[Span, dict[Span, int]] = defaultdict(dict)
        for pair in self.together.keys() | self.apart.keys():
            saved = self.apart.get(pair, 0) - self.together.get(pair, 0)
            paired[pair[0]][pair[1]] = paired[pair[1]][pair[0]] = saved
        return dict(paired)

    @cached_property
    def given(self) -> Mapping[Span, frozenset[Span]]:
        """For each mention in links that rules give, the mentions at their other ends."""
        given: dict[Span, set[Span]] = defaultdict(set)
        for first, second in self.apart:
            given[first].add(second)
            given[second].add(first)
        return {span: frozenset(ends) for span, ends in given.items()}

    @cached_property
    def forbidden(self) -> Mapping[Span, frozenset[Span]]:
        """For each mention in forbidden pairs, the others."""
        forbidden: dict[Span, set[Span]] = defaultdict(set)
        for one in self.consequences:
            if one.effect is Effect.FORBID:
                first, second = one.mentions
                forbidden[first].add(second)
                forbidden[second].add(first)
        return {span: frozenset(spans) for span, spans in forbidden.items()}

    def faults(self, mentions: Collection[Span]) -> Iterator[Pair]:
        """Yield the forbidden pairs among some mentions."""
        return _pairs_within(mentions, self.forbidden)

    @cached_property
    def required(self) -> frozenset[Span]:
        """The mentions of required pairs."""
        return frozenset(
            span for one in self.consequences if one.effect is Effect.REQUIRE for span in one.mentions
        )

    @cached_property
    def by_pair(self) -> Mapping[tuple[Span, ...], tuple[Consequence, ...]]:
        """The consequences about each pair, and about each mention as a tuple of one."""
        about: dict[tuple[Span, ...], list[Consequence]] = defaultdict(list)
        for one in self.consequences:
            about[one.mentions].append(one)
        return {mentions: tuple(said) for mentions, said in about.items()}

    def gives(self, first: Span, second: Span) -> bool:
        """Return whether a rule gives the link of two mentions."""
        return second in self.given.get(first, ())

    def pairs_within(self, mentions: Collection[Span]) -> Iterator[Pair]:
        """Yield the pairs with costs among some mentions."""
        return _pairs_within(mentions, self.paired)

    def links_within(self, mentions: Collection[Span]) -> Iterator[Pair]:
        """Yield the pairs among some mentions whose links rules give."""
        return _pairs_within(mentions, self.given)

    def extended(self, more: Iterable[Consequence], asked: Iterable[frozenset[Span]]) -> "DerivedRules":
        """Return these with what was derived within some chains; the same if that is nothing new."""
        every = tuple(dict.fromkeys((*self.consequences, *more)))
        if len(every) == len(self.consequences):
            return self
        return replace(self, consequences=every, partial=True, asked=(*self.asked, *asked))


def _pairs_within(mentions: Collection[Span], others: Mapping[Span, Collection[Span]]) -> Iterator[Pair]:
    """Yield the pairs among some mentions, each once, of a table that has both orders."""
    if others:
        inside = others.keys() & mentions
        for first in sorted(inside):
            for second in inside.intersection(others[first]):
                if first < second:
                    yield first, second


_SAID = {
    Effect.FORBID: ("pair", "kept apart"),
    Effect.REQUIRE: ("pair", "put together"),
    Effect.FORBID_MENTION: ("mention", "ruled out"),
    Effect.REQUIRE_MENTION: ("mention", "required"),
    Effect.TOGETHER_COST: ("pair", "charged if together"),
    Effect.APART_COST: ("pair", "charged if apart"),
    Effect.MENTION_COST: ("mention", "charged"),
}


def rule_findings(derived: DerivedRules) -> Iterator[Finding]:
    """Say of each rule how much it derived.

    Rules about the pairs of a large text (`partial`) are asked about pairs that solutions joined on the way.
    """
    counts = Counter((one.rule, one.effect) for one in derived.consequences)
    for (rule, effect), count in counts.items():
        what, done = _SAID[effect]
        asked = ", of those asked about" * (rule in derived.waiting)
        yield note("rule-derived", f"{rule}: {times(count, what)} {done}{asked}", count=count)
    for rule, lacking in derived.waiting.items():
        if not any(rule == one for one, _ in counts):
            why = lacking or ": it is not needed, or says something else than you mean (a shorter text shows)"
            yield note("rule-idle", f"{rule}: it fits no pair asked about{why}")


def write_derived(derived: DerivedRules) -> dict[str, Any]:
    """Write what was derived as JSON values, for a certificate."""
    rules = list(dict.fromkeys(one.rule for one in derived.consequences))
    number = {rule: position for position, rule in enumerate(rules)}
    return {
        "rules": [[rule.file, rule.line, rule.title] for rule in rules],
        "partial": derived.partial,
        "derived": [
            [str(one.effect), [list(span) for span in one.mentions], one.cost, number[one.rule]]
            for one in derived.consequences
        ],
    }


def read_derived(values: Any, tokens: int) -> DerivedRules:
    """Read back what `write_derived` wrote, which may be anything; raise `ValueError` for anything else."""
    rules = [_read_rule(*row) for row in values["rules"]]
    consequences = tuple(_read_consequence(row, rules, tokens) for row in values["derived"])
    if type(values["partial"]) is not bool:
        raise ValueError(f"{values['partial']!r} as yes or no")
    return DerivedRules(consequences, partial=values["partial"])


def _read_rule(file: Any, line: Any, title: Any) -> Rule:
    if not isinstance(file, str) or type(line) is not int or not isinstance(title, str):
        raise ValueError(f"{(file, line, title)!r} as a rule")
    return Rule(file, line, title)


def _read_consequence(row: Any, rules: list[Rule], tokens: int) -> Consequence:
    name, spans, cost, number = row
    if type(number) is not int or not 0 <= number < len(rules):
        raise ValueError(f"{number!r} as the number of a rule")
    return consequence(Effect(name), [tuple(span) for span in spans], cost, rules[number], tokens)


def consequence(
    effect: Effect, spans: Iterable[tuple[Any, ...]], cost: Any, rule: Rule, tokens: int
) -> Consequence:
    """Make a consequence from what may be anything; raise `InputError` if it makes no sense."""
    mentions = tuple(sorted({_span(rule, span, tokens) for span in spans}))
    if len(mentions) != effect.mentions:
        raise InputError(f"{rule}: found {effect} of {len(mentions)} mentions, expected {effect.mentions}")
    if type(cost) is not int or abs(cost) > LARGEST_COEFFICIENT or (cost and not effect.costs):
        raise InputError(
            f"{rule}: found {cost!r} as a cost, expected a whole number up to {LARGEST_COEFFICIENT:,}"
        )
    if cost < 0 and effect is not Effect.MENTION_COST:
        other = Effect.APART_COST if effect is Effect.TOGETHER_COST else Effect.TOGETHER_COST
        raise InputError(
            f"{rule}: found {effect} {cost}, expected a cost from 0; to reward the one, let the other cost: "
            f"{other} {-cost}"
        )
    return Consequence(effect, mentions, rule, cost)


def _span(rule: Rule, tokens: tuple[Any, ...], last: int) -> Span:
    if isinstance(tokens, Span) and 1 <= tokens.start <= tokens.end <= last:
        return tokens
    if len(tokens) != 2 or any(type(token) is not int for token in tokens):
        raise InputError(f"{rule}: found {tokens!r} as a mention, expected mid(first token, last token)")
    if not 1 <= tokens[0] <= tokens[1] <= last:
        raise InputError(f"{rule}: found tokens {tokens[0]} to {tokens[1]}, expected some of 1 to {last}")
    return Span(*tokens)
