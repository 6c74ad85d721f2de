"""Mutants that behave like the original, each with the reason why no test can kill it; see `bench.mutants`.

They are found again by the name of their function and the text of their line, so that a function may move to
another module, and lines may be added around it.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Equivalent:
    """Mutants of one line."""

    function: str
    line: str
    """The first line of the change, without its indentation."""
    operators: tuple[str, ...]
    """As the list of mutants names and numbers them: `always 2` is the second of its kind on the line."""
    because: str


@dataclass(frozen=True)
class Steering:
    """Functions that only choose what is tried next: whatever they answer, what is proven holds.

    Whether and when the search ends does depend on them: that has tests of its own. A mutant of theirs that
    survives makes a search slower or quicker, so none is tried: `bench.performance` tells which.
    """

    path: str
    """Their module, below src/caspr."""
    functions: frozenset[str]
    because: str


STEERING = (
    Steering(
        "engines/native/partition/search.py",
        frozenset(
            {
                "_begin",
                "_beginning",
                "_count",
                "_cut_off",
                "_effort",
                "_gap",
                "_is_worth_rounding",
                "_kept",
                "_look_between",
                "_next",
                "_pace",
                "_progress",
                "_round",
                "_tolerance",
                "_tried_harder",
                "_violated",
                "first_clustering",
                "first_cuts",
                "is_crowded",
                "new_cuts",
                "stalled",
                "undecided_pair",
            }
        ),
        "all cuts are inequalities that hold, all clusterings are valued before they count, and the search "
        "may branch on any pair: the docstring of the module proves each step whatever these answer",
    ),
)

OPEN = "any open pair may be branched on, and this one is open, too"

EQUIVALENTS = (
    Equivalent(
        "_below",
        "if problem.breaks(groups):",
        ("never",),
        "what joins a forbidden pair is no clustering and has no value: that side is searched for nothing",
    ),
    Equivalent(
        "_below",
        "return max(raised(outcome.bound, constant), self.threshold), outcome.proof",
        ("drop-operand 1",),
        "a bound below the threshold says no more than the threshold, and none is reported",
    ),
    Equivalent(
        "_cut",
        "if narrowed.hopeless or narrowed.breaks(groups):",
        ("never", "drop-operand 1", "drop-operand 2"),
        "that no clustering is left shows again where the search starts anew, only later",
    ),
    Equivalent(
        "fix",
        "while found and not self.stalled and self._goes_on and not smaller:",
        ("drop-operand 1", "drop-operand 2", "drop-operand 3", "drop-operand 4"),
        "when to stop fixing is steering: what is decided by then holds",
    ),
    Equivalent(
        "_fixed",
        "if narrowed.demands:",
        ("always",),
        "where there are no demands, none of their partners is forgotten",
    ),
    Equivalent(
        "_offer",
        "if labels is not None and value is not None and value > self.best.value:",
        ("drop-operand 1",),
        "no labels have no value: this tells the type checker so",
    ),
    Equivalent(
        "run",
        "cuts = self.cuts if self.first else NO_CUTS",
        ("always",),
        "inequalities that are kept hold, and only change where a similar search starts",
    ),
    Equivalent(
        "_exhausted",
        "if not problem.demands:",
        ("never",),
        "without demands, too, all clusterings may be tried one by one, only slower",
    ),
    Equivalent(
        "_exhausted",
        "assert optima is not None  # all nodes alone reach the floor of 0",
        ("always",),
        "it tells the type checker what the remark says",
    ),
    Equivalent(
        "_exhausted",
        "if reached > value:",
        ("boundary",),
        "of two clusterings with one value, either may stand: the rule for ties decides later",
    ),
    Equivalent(
        "__init__",
        "self.turn, self.rounds, self.shaken, self.fine = 0, 0, not self.first, False",
        ("negate",),
        "shaking a clustering only finds a better one sooner",
    ),
    Equivalent(
        "__init__",
        "self.cuts, self.near = NO_CUTS, start.near or Nearby((problem.gains > 0).astype(np.float64), {})",
        ("drop-operand 1",),
        "a relaxation may start anywhere, only slower",
    ),
    Equivalent(
        "closed",
        "return (self.shown if self.start.record else self.best.bound) <= self.threshold",
        ("always",),
        "a bound that was handed down only ends it sooner: what is shown here closes it, too",
    ),
    Equivalent("undecided", "unclear = np.minimum(x, 1 - x)", ("drop-operand 2",), OPEN),
    Equivalent(
        "undecided",
        "around = (unclear * np.maximum(problem.gains, 0)).sum(axis=1)",
        ("drop-operand 1", "drop-operand 2"),
        OPEN,
    ),
    Equivalent(
        "undecided", "chance = x * x * (1 - x) if is_crowded(problem) else unclear", ("always", "never"), OPEN
    ),
    Equivalent("undecided", "if stake[first, second] <= 1e-3:", ("always", "boundary"), OPEN),
    Equivalent(
        "replace",
        "if value >= self.values[number]:",
        ("boundary",),
        "of two clusterings with one value, either may stand: the rule for ties decides later",
    ),
    Equivalent(
        "start_of",
        "known=self.found[number] if piece.has_demands and self.values[number] != UNMET else None,",
        ("never", "drop-operand 1"),
        "what is known of a piece is kept beside its search, which only begins elsewhere without it",
    ),
    Equivalent(
        "_bound_of",
        "if start.bound is None or UNMET in rest:",
        ("drop-operand 2",),
        "what a value that counts as unmet leaves is more than any piece can gain, so it bounds nothing",
    ),
    Equivalent(
        "_reporting",
        "if on_found is ignore_found:",
        ("never",),
        "nobody is told, and the outcome of the piece brings the same clustering",
    ),
    Equivalent(
        "_searched",
        "if problem.size <= TINY:",
        ("never", "boundary"),
        "the loop finds and proves the optimum of a tiny problem, too, only slower",
    ),
    Equivalent(
        "restrict",
        "if self.common is None:",
        ("never",),
        "the other branch lists the same pairs, only slower",
    ),
    Equivalent(
        "restrict",
        "if gain is not None:",
        ("always",),
        "where nothing is common, a pair that is listed as forbidden is like one that is not listed",
    ),
    Equivalent(
        "attach",
        "if self.common is not None:",
        ("always",),
        "where nothing is common, a pair that is listed as forbidden is like one that is not listed",
    ),
    Equivalent(
        "_gaining",
        "if first < second:",
        ("boundary",),
        "a node has no gain with itself",
    ),
    Equivalent(
        "component",
        "if node not in self.components:",
        ("always",),
        "what is found again is the same, only slower",
    ),
    Equivalent(
        "best",
        "if key not in self.known:",
        ("always",),
        "what is found again is the same, only slower",
    ),
    Equivalent(
        "sharpens",
        "return [(rank[leaf], times) for leaf in leaves if rank.get(leaf, -1) > begin]",
        ("boundary",),
        "only the centre has that rank, and a star whose centre is a leaf was refused before",
    ),
    Equivalent(
        "spare",
        "listed = ((graph.rows[u].keys() | graph.rows[v].keys()) & inside) - {u, v}",
        ("drop-operand 3",),
        "a pair that is not listed loses the same as what is common, node by node",
    ),
    Equivalent(
        "join",
        "assert gained is not None",
        ("always",),
        "it is for the type checker; nobody joins a forbidden pair",
    ),
    Equivalent(
        "may_swap",
        "return beside is not None and instead is not None and beside - instead >= change",
        ("drop-operand 1",),
        "`spare` has refused a forbidden pair before",
    ),
    Equivalent(
        "prove_results",
        "assert given is not None",
        ("always",),
        "the next line fails, too, without what was given",
    ),
    Equivalent(
        "_demand",
        "cost, node = facts.extra(mention, partner) or 0, where[partner]",
        ("drop-operand 2",),
        "a link that an annotator gave has a price",
    ),
    Equivalent(
        "later",
        "if not rest:",
        ("never",),
        "nothing is divided where nothing is left",
    ),
    Equivalent(
        "later",
        "same = self.chains[chain] & rest",
        ("drop-operand 1",),
        "only the rest is divided",
    ),
    Equivalent(
        "later",
        "if same:",
        ("always",),
        "who gave nothing divides nothing",
    ),
    Equivalent(
        "_divided",
        "if mentions & ~same == 0:",
        ("never", "drop-operand 1", "drop-operand 2"),
        "all are divided off otherwise",
    ),
    Equivalent(
        "_counted",
        "if carried:",
        ("always",),
        "a digit that no mention has divides nothing",
    ),
    Equivalent(
        "_told_apart",
        "if inside:",
        ("always",),
        "sets without mentions are left out in the end",
    ),
    Equivalent(
        "_told_apart",
        "if inside != some:",
        ("always",),
        "sets without mentions are left out in the end",
    ),
    Equivalent(
        "connect",
        "if self.parts == 1:",
        ("never",),
        "what is in one component takes 1 + 0 - 1 links below, too",
    ),
    Equivalent(
        "connect",
        "if links:",
        ("always",),
        "without links the component only takes its own place",
    ),
    Equivalent(
        "_pairs_within",
        "if others:",
        ("always",),
        "there are no pairs in an empty table, however many mentions are looked up in it",
    ),
    Equivalent(
        "_pairs_within",
        "if first < second:",
        ("boundary",),
        "no mention is paired with itself: `consequence` refuses that",
    ),
    Equivalent(
        "_span",
        "if isinstance(tokens, Span) and 1 <= tokens.start <= tokens.end <= last:",
        ("never", "boundary 1", "boundary 2", "boundary 3"),
        "what is below makes the same span again, if these are some of the tokens",
    ),
    Equivalent(
        "explain",
        "if changed and not holds(background):",
        ("drop-operand 1",),
        "a background that did not change still holds",
    ),
    Equivalent(
        "counted",
        "return all(len(set(numbers)) <= 1 for numbers in (self.coefficients.omit, self.coefficients.use))",
        ("boundary",),
        "the prices are the same without it, only slower",
    ),
    Equivalent(
        "_computed",
        "gain = omitted - used if extra == 0 else -(invented or 0)",
        ("drop-operand 3",),
        "`extra` is 0 where `invented` is `None`",
    ),
    Equivalent(
        "_sum",
        "if self.counted:",
        ("never",),
        "the sum is the same, only slower",
    ),
    Equivalent(
        "price_chain",
        "listed = listed or listed_pairs(instance, chain)",
        ("drop-operand 1",),
        "the pairs are the same, only listed again",
    ),
    Equivalent(
        "price_chain",
        "used += 0 if pairs.free else pairs.number * (cost.used or 0)",
        ("drop-operand 2",),
        "a link that connects has a price",
    ),
    Equivalent(
        "price_chain",
        "used += added * (cost.used or 0)",
        ("drop-operand 2",),
        "a link that costs something extra has both prices",
    ),
    Equivalent(
        "price_chain",
        "invented -= added * (cost.invented or 0)",
        ("drop-operand 2",),
        "a link that costs something extra has both prices",
    ),
    Equivalent(
        "pairwise_bound",
        "total += count * min(cost.omitted, cost.used or 0)",
        ("drop-operand 4",),
        "a link has a price",
    ),
    Equivalent(
        "chain_faults",
        "listed = listed or listed_pairs(instance, chain)",
        ("drop-operand 1",),
        "the pairs are the same, only listed again",
    ),
    Equivalent(
        "price",
        "if instance.rules",
        ("always",),
        "without rules, what they add is nothing",
    ),
    Equivalent(
        "_used_by_rules",
        "used += given.used or 0",
        ("drop-operand 2",),
        "a link that a rule gives has a price",
    ),
    Equivalent(
        "listed_pairs",
        "if not instance.rules.given:",
        ("never",),
        "the pairs are the same without it, only slower",
    ),
    Equivalent(
        "flips",
        "if not self.apart and not self.joined:",
        ("never",),
        "where there is nothing to flip, all of it is flipped",
    ),
    Equivalent(
        "_gain_alone",
        "counts = gain > 0 or node[0] in facts.instance.demands or node[0] in markers",
        ("boundary",),
        "a gain of 0 adds nothing",
    ),
    Equivalent(
        "_check_parts",
        "gaining = {span for span, gain in facts.instance.chain_gains.items() if gain > 0}",
        ("boundary",),
        "no gain is 0 there",
    ),
    Equivalent(
        "_read_demands",
        "paying = mention in markers and facts.instance.chain_gains[mention] > 0",
        ("boundary",),
        "no gain is 0 there",
    ),
    Equivalent(
        "_graph",
        "unlinked.gain if everywhere and unlinked.allowed else None,",
        ("drop-operand 1",),
        "where not everybody saw the same, all pairs are listed or forbidden",
    ),
    Equivalent(
        "_graph",
        "pairs = _linked_pairs(classes) if everywhere else combinations(range(len(nodes)), 2)",
        ("never",),
        "all pairs are listed then, which is the same, only slower",
    ),
    Equivalent(
        "holds",
        "listed = {d for s in self.weights for d in self.graph.rows[s]} & self.component",
        ("drop-operand 2",),
        "nodes without listed pairs pull the same one by one, or not at all, only slower",
    ),
    Equivalent(
        "takes_place",
        "stays = 0 if beside is None or theirs is None else theirs - (own or 0)",
        ("drop-operand 5",),
        "nodes that keep a guest away forbid each other, so a node that r allows is one that v allows",
    ),
    Equivalent(
        "_pull",
        "most, firm = (0, 0) if allowing[d] == total else self._most(d, allowing)",
        ("never",),
        "where all allow a node, neither number is used",
    ),
    Equivalent(
        "_pull_of_rest",
        "assert graph.common is not None",
        ("always",),
        "it is for the type checker, and so asked before the call",
    ),
    Equivalent(
        "_hold",
        "if reached >= half:",
        ("boundary",),
        "where exactly half is reached, the r of this node and of the next give the same",
    ),
    Equivalent(
        "_grown",
        "return SearchOutcome(labels, part.problem.value(labels) or 0, part.problem.ceiling)",
        ("drop-operand 2",),
        "it is for the type checker; what has grown holds no forbidden pair, and nothing is demanded",
    ),
    Equivalent(
        "program_of",
        "if problem.demands:",
        ("always",),
        "where there are no demands, there are no partners, shared links, ties and rows of their own to add",
    ),
)
"""All that are known."""
