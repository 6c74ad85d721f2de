"""Expectation maximisation finds what annotators were made with, and says where it cannot."""

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from caspr.errors import InputError
from caspr.measures.reliability import (
    AVERAGE_ERRORS,
    Pattern,
    Patterns,
    Reliability,
    TooFewDisagreementsError,
    WeightsAdvice,
    copy_findings,
    learn_reliability,
    near_copies,
    weights_for,
)

NAMES = ("anna", "ben", "carla", "dora")
SENSITIVITY = {"anna": 0.95, "ben": 0.8, "carla": 0.6, "dora": 0.9}
SPECIFICITY = {"anna": 0.99, "ben": 0.995, "carla": 0.97, "dora": 0.9}


def patterns_of(pairs: dict[Pattern, int]) -> Patterns:
    """Count each pair of mentions as a disagreement of its own."""
    disputed = {one: count for one, count in pairs.items() if 0 < len(one.givers) < len(one.viewers)}
    return Patterns(Counter(pairs), Counter(disputed))


def simulated(seed: int, pairs: int = 20_000, prior: float = 0.1, share: float = 1.0) -> Patterns:
    """Draw pairs from the model; each annotator sees only a share of them."""
    rng = random.Random(seed)
    found: Counter[Pattern] = Counter()
    for _ in range(pairs):
        coreferent = rng.random() < prior
        viewers = tuple(name for name in NAMES if rng.random() < share)
        chance = SENSITIVITY if coreferent else {name: 1 - SPECIFICITY[name] for name in NAMES}
        found[Pattern(viewers, tuple(name for name in viewers if rng.random() < chance[name]))] += 1
    return patterns_of(found)


@pytest.mark.parametrize("share", [1.0, 0.85])
def test_the_annotators_that_drew_the_pairs_are_found(share: float) -> None:
    # Ten times the same pairs, so that errors of an average annotator count little beside so many.
    found = learn_reliability([simulated(1, share=share)] * 10)
    assert found.prior == pytest.approx(0.1, abs=0.01)
    for one in found.annotators:
        assert one.sensitivity == pytest.approx(SENSITIVITY[one.annotator], abs=0.025)
        assert one.specificity == pytest.approx(SPECIFICITY[one.annotator], abs=0.005)


def test_coefficients_are_logarithms_of_odds() -> None:
    found = learn_reliability([simulated(2)])
    for one in found.annotators:
        assert one.omit == round(10 * math.log(one.sensitivity / (1 - one.specificity)))
        assert one.use == round(10 * math.log(one.specificity / (1 - one.sensitivity)))
    assert found.constant == round(10 * math.log((1 - found.prior) / found.prior))
    assert [one.annotator for one in found.weights.annotators] == list(NAMES)
    assert found.weights.constant == found.constant
    assert found.findings == ()


def test_the_order_of_documents_does_not_matter() -> None:
    documents = [simulated(seed, pairs=700) for seed in range(5)]
    backwards = [patterns_of(dict(reversed(one.pairs.items()))) for one in reversed(documents)]
    assert learn_reliability(documents) == learn_reliability(backwards)


def by_the_book(patterns: Counter[Pattern]) -> tuple[float, dict[str, float], dict[str, float]]:
    """Run expectation maximisation pattern by pattern, without arrays."""
    known = [pattern for pattern in patterns if len(pattern.viewers) >= 3]
    belief = {pattern: len(pattern.givers) / len(pattern.viewers) for pattern in known}

    def shares(weight: dict[Pattern, float], *, link: bool) -> dict[str, float]:
        errors = {
            name: sum(weight[one] for one in known if name in one.viewers and (name in one.givers) != link)
            for name in NAMES
        }
        whole = {name: sum(weight[one] for one in known if name in one.viewers) for name in NAMES}
        average = (sum(errors.values()) + 1) / (sum(whole.values()) + 2)
        return {
            name: 1 - (errors[name] + AVERAGE_ERRORS) / (whole[name] + AVERAGE_ERRORS / average)
            for name in NAMES
        }

    for _ in range(300):
        yes = {one: patterns[one] * belief[one] for one in known}
        no = {one: patterns[one] * (1 - belief[one]) for one in known}
        prior = (sum(yes.values()) + 1) / (sum(yes.values()) + sum(no.values()) + 2)
        sensitivity, specificity = shares(yes, link=True), shares(no, link=False)
        for one in known:
            for_it, against = prior, 1 - prior
            for name in one.viewers:
                gave = name in one.givers
                for_it *= sensitivity[name] if gave else 1 - sensitivity[name]
                against *= 1 - specificity[name] if gave else specificity[name]
            belief[one] = for_it / (for_it + against)
    return prior, sensitivity, specificity


def test_arrays_give_what_the_book_says() -> None:
    patterns = simulated(3, pairs=3000, share=0.9)
    prior, sensitivity, specificity = by_the_book(patterns.pairs)
    found = learn_reliability([patterns])
    assert found.prior == pytest.approx(prior)
    for one in found.annotators:
        assert one.sensitivity == pytest.approx(sensitivity[one.annotator])
        assert one.specificity == pytest.approx(specificity[one.annotator])


def test_counts_of_links_and_pairs() -> None:
    patterns = simulated(4)
    for one in learn_reliability([patterns]).annotators:
        assert one.links == sum(
            count for pattern, count in patterns.pairs.items() if one.annotator in pattern.givers
        )
        assert one.pairs == 20_000


def table(*rows: tuple[str, int]) -> Reliability:
    """Learn from patterns written as the initials of those who linked, of anna, ben and carla."""
    found: Counter[Pattern] = Counter()
    for givers, count in rows:
        found[Pattern(NAMES[:3], tuple(name for name in NAMES[:3] if name[0] in givers))] += count
    return learn_reliability([patterns_of(found)])


def test_a_vote_that_contradicts_the_others_counts_nothing() -> None:
    found = table(("ab", 300), ("abc", 20), ("", 500), ("c", 450), ("a", 20), ("b", 20))
    carla = found.annotators[2]
    assert (carla.omit, carla.use) == (0, 0)
    assert [(one.code, one.where) for one in found.findings] == [("negative-weight", "carla")] * 2


def test_a_prior_above_one_half_makes_no_negative_constant() -> None:
    found = table(
        ("abc", 9000), ("ab", 90), ("ac", 90), ("bc", 90), ("a", 40), ("b", 40), ("c", 40), ("", 50)
    )
    assert found.constant == 0
    assert [(one.code, one.where) for one in found.findings] == [("negative-weight", "*constant")]


def test_one_with_few_pairs_is_near_the_average() -> None:
    once = patterns_of({Pattern((*NAMES[:3], "emil"), ("emil",)): 1})
    found = {one.annotator: one for one in learn_reliability([simulated(5), once]).annotators}
    known = [found[name].specificity for name in NAMES]
    assert min(known) < found["emil"].specificity < max(known)


def test_too_little_is_refused_with_the_reason() -> None:
    two = patterns_of({Pattern(("anna", "ben"), ("anna",)): 1000})
    with pytest.raises(InputError, match="needs documents of 3 annotators or more"):
        learn_reliability([two])
    with pytest.raises(InputError, match="needs documents of 3 annotators or more"):
        learn_reliability([])
    with pytest.raises(InputError, match=r"needs 30 .* for each annotator, and 3 annotators have 89"):
        table(("abc", 900), ("ab", 89), ("", 5000))
    assert table(("abc", 900), ("ab", 90), ("", 5000)).annotators


def corpus_of(rates: Sequence[tuple[float, float]], seed: int, documents: int = 30) -> list[Patterns]:
    """Make documents of 60 pairs, with annotators of some sensitivity and specificity."""
    rng, names = random.Random(seed), [f"a{number}" for number in range(len(rates))]
    made = []
    for _ in range(documents):
        pairs: Counter[Pattern] = Counter()
        for _ in range(60):
            coreferent = rng.random() < 0.3
            gave = tuple(
                name
                for name, (sensitivity, specificity) in zip(names, rates, strict=True)
                if rng.random() < (sensitivity if coreferent else 1 - specificity)
            )
            pairs[Pattern(tuple(names), gave)] += 1
        disputed = Counter({one: n for one, n in pairs.items() if 0 < len(one.givers) < len(names)})
        made.append(Patterns(pairs, disputed, frozenset(names)))
    return made


def test_uneven_annotators_get_weights_and_equal_ones_seldom_do() -> None:
    good, bad = (0.9, 0.98), (0.5, 0.9)
    for seed in range(5):
        assert weights_for(corpus_of([good, good, good, bad], seed)).reliability is not None
    used = [weights_for(corpus_of([good] * 3, seed)).reliability is not None for seed in range(20)]
    assert sum(used) <= 2


def test_weights_that_never_overrule_two_of_three_are_not_used() -> None:
    good, bad = (0.9, 0.98), (0.5, 0.9)
    advice = weights_for(corpus_of([good, good, bad], 1))
    assert advice == WeightsAdvice(None, "learned weights would change next to none of the links")
    assert weights_for(corpus_of([(0.95, 0.99), bad, bad], 1)).reliability is not None


def copied(document: Patterns, whose: str, noise: float, rng: random.Random) -> Patterns:
    """Add an annotator z, who says what another one says, with some changes."""
    pairs: Counter[Pattern] = Counter()
    for pattern, number in sorted(document.pairs.items()):
        for _ in range(number):
            gave = (whose in pattern.givers) != (rng.random() < noise)
            pairs[Pattern((*pattern.viewers, "z"), (*pattern.givers, *(["z"] if gave else [])))] += 1
    return replace(patterns_of(pairs), annotators=document.annotators | {"z"})


@pytest.mark.parametrize("noise", [0.0, 0.03])
def test_a_copy_is_found_whoever_it_is_and_nobody_else(noise: float) -> None:
    documents = corpus_of([(0.8, 0.95), (0.8, 0.95), (0.8, 0.95)], 1)
    assert list(near_copies(sum(documents, Patterns()))) == []
    rng = random.Random(1)
    doubled = [copied(document, "a1", noise, rng) for document in documents]
    assert [found[:2] for found in near_copies(sum(doubled, Patterns()))] == [("a1", "z")]
    advice = weights_for(doubled)
    assert advice.reliability is None
    assert [finding.code for finding in copy_findings(advice.copies)] == ["near-copies"]


def test_advice_does_not_depend_on_the_order_of_annotators_and_says_why() -> None:
    documents = corpus_of([(0.9, 0.98), (0.9, 0.98), (0.5, 0.9)], 3)
    assert weights_for(documents[:4]).reason.startswith("there are fewer than 5 documents")
    assert "disagreements" in weights_for(documents[:5]).reason
    assert weights_for([]) == WeightsAdvice(None, "")


def test_too_few_disagreements_for_everybody_together_are_no_error_where_weights_are_asked_about() -> None:
    """Each saw all 40 to 90 disagreements, which is enough for one annotator and not for three."""
    for seed in range(3):
        documents = corpus_of([(0.9, 0.98), (0.9, 0.98), (0.5, 0.9)], seed)[:5]
        with pytest.raises(TooFewDisagreementsError):
            learn_reliability(documents)
        assert weights_for(documents).reason.startswith("learning weights needs 30 disagreements for each")


def test_advice_does_not_depend_on_the_order_of_documents() -> None:
    documents = corpus_of([(0.9, 0.98), (0.9, 0.98), (0.5, 0.9)], 3)
    assert weights_for(documents[::-1]) == weights_for(documents)
