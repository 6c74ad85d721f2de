"""Verify a proof of optimality from the annotations alone: no solver, no floats, no numpy.

A proof names chains and their value, and shows that no chains cost less. `verify` recomputes everything from
the annotations, in Python's integers, which cannot wrap. The proof is data from a file and may be forged: it
may make the check fail, but never make it accept a value that is not optimal.

**Gains.** Chains cost what omitting every link would cost, minus what the pairs inside chains *gain*. What a
pair gains at its cheaper choice, link used or not, is its *gain* g, which follows from its evidence
(`task.pair_price`); it is at most 0 for a pair that nobody linked. A pair whose link is enforced and
free gains what omitting it would cost. So it suffices to bound what the pairs inside chains gain; to count
every pair at g, and to leave out some rules, can only make the bound weaker, never wrong.

**What is checked, and why it suffices.**

1. The chains break no rule and cost the value (`task.pricing`). So the value can be reached.
2. *Conflicts* (`parts`): pairs that the proof says share no chain are kept apart by a decision, by the rule
   against nested mentions, or by a rule of one's own.
3. *Nodes* (`parts`) are a single mention; a *bundle*, which is all mentions that are assumed to be in one
   chain (at first those that decisions put there); or *twins*: mentions outside of all bundles with equal
   signatures, in conflict with the same others, and g > 0 among themselves. Some best clustering has twins
   together: of two that are apart, move the one that gains less to the other; it gains there what the other
   does, may be there because the other may, and g of the two comes on top.
4. *Parts* (`parts`) are disjoint sets of mentions in scope. A mention in scope and in no part is in no
   bundle. No pair whose mentions are in no part, or in two, has g > 0: all pairs of signatures that share an
   annotator's chain are looked at. So the pairs outside of parts gain nothing, and the gains of parts add up.
5. *Proofs of parts* (`tree`, about a `graph`): statements that some best clustering puts nodes together or
   apart, each checked by its rule; star inequalities with multipliers, which bound every clustering by weak
   duality and decide pairs; pairs decided both ways; independent parts.
6. *Demands* (`parts`, `tree`): an enforced mention that is a bundle alone must not stay alone. One of the
   nodes with a mention that is linked with it is its first partner, and the link may cost something. All that
   it is linked with is in its part, or could be swapped with something there.
7. *Cases* (`parts`): the above leaves out that used links connect a bundle. Where this costs something, a
   part is proven by cases: a *piece* of a bundle must be linked to something, so there is a case for
   everything it can be linked to. The part gains at most what the best case does. A case is proven like the
   whole, with more assumed, on the mentions of the part. A mention that must not stay alone is a piece, too.

8. *Costs of rules* (`task.own_rules`) are part of g for pairs that have some: their mentions are not twins,
   and a pair that gains lies within a part. A mention that rules charge c for being in a chain adds -c to its
   part, and its *marker*, a node that gains c with it and must be with nothing else, says that it is alone.
   One that they charge d for being alone adds d, and may be demanded, with its marker as a partner at the
   cost d: in every solution it is alone, or used links hold its chain together. Without markers, the first
   adds 0 and the second d, which makes the bound weaker and not wrong.

The bound that follows must equal the value. What a proof does not mention (nested pairs without a vote,
connectedness) is left out of the bound.
"""

from caspr.errors import EngineError
from caspr.proof.verify.facts import MALFORMED, Assumptions, Facts, Proof, read_integer, read_spans, require
from caspr.proof.verify.parts import bound_gain
from caspr.task.instance import Instance
from caspr.task.pricing import price, violations
from caspr.task.solution import canonical


def verify(proof: Proof, instance: Instance) -> int:
    """Check a proof and return the optimal value it proves; raise `EngineError` if it does not."""
    try:
        return _verify(proof, instance)
    except MALFORMED as error:
        raise EngineError(f"certificate: malformed ({error!r})") from error


def _verify(proof: Proof, instance: Instance) -> int:
    value = read_integer(proof["value"])
    chains = canonical(read_spans(chain) for chain in proof["chains"])
    for broken in violations(instance, chains):
        raise EngineError(f"certificate: {broken}")
    require(price(instance, chains).total == value, "the chains do not cost the value")
    facts = Facts(instance)
    gain = bound_gain(facts, proof, facts.allowed, Assumptions.of(instance))
    bound = None if gain is None else instance.all_apart - gain
    require(bound == value, f"it proves the bound {bound}, not the value {value}")
    return value
