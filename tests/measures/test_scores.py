"""All measures against published numbers, against slow definitions, and against what must always hold."""

import random
import time
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caspr.errors import InputError
from caspr.measures.scores import SCORES, Blanc, Scores, score
from caspr.text.document import Annotation, Chain, Document
from tests.measures.scores_slow import SLOW, Chains, annotation, blanc_links
from tests.sweeps import how_many, some

KEY = ["a", "bc", "def"]
PUBLISHED: list[tuple[str, Chains, Chains, dict[str, tuple[float, float]]]] = [
    ("perfect", KEY, KEY, {"muc": (1, 1), "b3": (1, 1), "ceafm": (1, 1), "ceafe": (1, 1), "blanc": (1, 1)}),
    (
        "missing mentions",
        KEY,
        ["a", "de"],
        {"muc": (1 / 3, 1), "b3": (7 / 18, 1), "ceafm": (0.5, 1), "ceafe": (0.6, 0.9), "blanc": (19 / 88, 1)},
    ),
    (
        "false alarms",
        KEY,
        ["a", "bcx", "defy", "z"],
        {
            "muc": (1, 3 / 5),
            "b3": (1, 55 / 108),
            "ceafm": (1, 2 / 3),
            "ceafe": (93 / 105, 93 / 140),
            "blanc": (1, (4 / 9 + 11 / 27) / 2),
        },
    ),
    (
        "both",
        KEY,
        ["a", "bcx", "dy", "z"],
        {
            "muc": (1 / 3, 1 / 3),
            "b3": (5 / 9, 17 / 42),
            "ceafm": (4 / 6, 4 / 7),
            "ceafe": (2.2 / 3, 0.55),
            "blanc": ((1 / 4 + 5 / 11) / 2, (1 / 4 + 5 / 17) / 2),
        },
    ),
    (
        "repeated in the same chain",
        KEY,
        ["a", "bcxB", "dy", "z"],
        {"muc": (1 / 3, 1 / 3), "b3": (5 / 9, 17 / 42)},
    ),
    (
        "repeated in another chain",
        KEY,
        ["a", "bcx", "dy", "Bz"],
        {"muc": (1 / 3, 1 / 3), "b3": (5 / 9, 17 / 42), "ceafm": (4 / 6, 4 / 7), "ceafe": (2.2 / 3, 0.55)},
    ),
    ("only singletons", KEY, list("abcdef"), {"muc": (0, 0), "b3": (0.5, 1), "blanc": (0.5, 11 / 30)}),
    ("one chain", KEY, ["abcdef"], {"muc": (1, 3 / 5), "b3": (1, 7 / 18), "blanc": (0.5, 2 / 15)}),
    ("links", ["ab", "cde"], ["bcx", "de"], {"blanc": ((1 / 4 + 2 / 6) / 2, (1 / 4 + 2 / 6) / 2)}),
]
"""The content of the reference scorer's own test cases, with the recall and precision they state."""


@pytest.mark.parametrize(
    ("name", "key", "response", "expected"), PUBLISHED, ids=[case[0] for case in PUBLISHED]
)
def test_published_cases(
    name: str, key: Chains, response: Chains, expected: dict[str, tuple[float, float]]
) -> None:
    scores = score_pair(annotation(key), annotation(response))
    for measure, (recall, precision) in expected.items():
        counts = scores.counts[measure]
        assert float(counts.recall.value or 0) == pytest.approx(recall, abs=1e-12), measure
        assert float(counts.precision.value or 0) == pytest.approx(precision, abs=1e-12), measure


def score_pair(
    key: Annotation, response: Annotation, *, singletons: bool = True, overlap: bool = False
) -> Scores:
    return score([key], [response], singletons=singletons, match="overlap" if overlap else "exact")


def random_chains(rng: random.Random, letters: str) -> Chains:
    chains = [""] * rng.randint(1, 5)
    for letter in letters:
        if rng.random() < 0.85:
            place = rng.randrange(len(chains))
            chains[place] += letter
    return [chain for chain in chains if chain]


def test_thousands_of_random_pairs_equal_the_definitions() -> None:
    rng = random.Random(7)
    for _ in some(range(2000), 200):
        letters = "abcdefghijk"[: rng.randint(1, 11)]
        key, response = random_chains(rng, letters), random_chains(rng, letters)
        scores = score_pair(annotation(key), annotation(response))
        for measure, slow in SLOW.items():
            counts = scores.counts[measure]
            for ratio, (part, whole) in (
                (counts.recall, slow(key, response)),
                (counts.precision, slow(response, key)),
            ):
                assert (ratio.part, ratio.whole) == (part, whole), (measure, key, response)
        check_blanc(scores, key, response)


def check_blanc(scores: Scores, key: Chains, response: Chains) -> None:
    blanc = scores.counts["blanc"]
    assert isinstance(blanc, Blanc)
    pairs = zip(blanc_links(key), blanc_links(response), strict=True)
    for counts, (right, given_links) in zip((blanc.coreference, blanc.non_coreference), pairs, strict=True):
        common = len(right & given_links)
        assert counts.recall.values() == [common, len(right)]
        assert counts.precision.values() == [common, len(given_links)]


partitions = st.lists(st.integers(0, 4), min_size=10, max_size=10).map(
    lambda places: [
        chain
        for chain in (
            "".join(x for x, y in zip("abcdefghij", places, strict=True) if y == n) for n in range(4)
        )
        if chain
    ]
)


@given(partitions, partitions)
@settings(deadline=None, max_examples=how_many(200))
def test_what_always_holds(one: Chains, other: Chains) -> None:
    forth, back = (
        score_pair(annotation(one), annotation(other)),
        score_pair(annotation(other), annotation(one)),
    )
    shuffled = score_pair(annotation(one[::-1]), annotation(other[::-1]))
    for measure in SCORES:
        counts = forth.counts[measure]
        for number in (counts.recall.value, counts.precision.value, counts.f1):
            assert number is None or 0 <= number <= 1
        assert counts.values() == shuffled.counts[measure].values()
        if measure != "blanc":
            assert counts.f1 == back.counts[measure].f1
            assert counts.recall == back.counts[measure].precision


@given(partitions)
@settings(deadline=None)
def test_a_copy_scores_one(chains: Chains) -> None:
    scores = score_pair(annotation(chains), annotation(chains))
    for measure in (*SCORES, "conll"):
        assert scores.f1(measure) in (1, None), measure
    assert scores.f1("b3") == (1 if chains else None)


def test_nothing_on_both_sides_is_undefined() -> None:
    values = score_pair(annotation([]), annotation([])).values()
    assert all(values[measure]["f1"] is None for measure in (*SCORES, "conll"))
    assert values["b3"]["recall"] == [0, 0]


def test_nothing_on_one_side_is_zero() -> None:
    for key, response in ((KEY, []), ([], KEY)):
        scores = score_pair(annotation(key), annotation(response))
        assert all(scores.f1(measure) == 0 for measure in (*SCORES, "conll"))


def test_only_singletons_have_no_links() -> None:
    scores = score_pair(annotation(["a", "b"]), annotation(["a", "b"]))
    assert scores.f1("muc") is None
    assert scores.conll is None
    assert scores.f1("lea") == scores.f1("blanc") == 1
    assert score_pair(annotation(["a"]), annotation(["a"])).f1("blanc") is None


def test_singletons_can_be_left_out() -> None:
    key, response = annotation(["ab", "c"]), annotation(["ab", "d"])
    assert score_pair(key, response).f1("b3") == Fraction(2, 3)
    assert score_pair(key, response, singletons=False).f1("b3") == 1


def spans(*chains: list[tuple[int, int]]) -> Annotation:
    """Make an annotation of nine tokens."""
    document = Document("d", tuple("abcdefghi"))
    return Annotation.of("x", document, [Chain.of(str(id), chain) for id, chain in enumerate(chains)])


class TestOverlap:
    """Spans that are not equal can match where they overlap."""

    KEY = spans([(1, 3), (5, 5), (7, 9)])

    def test_the_longest_common_stretch_wins(self) -> None:
        response = spans([(1, 1), (2, 3), (5, 5), (8, 8)])
        assert score_pair(self.KEY, response).counts["mentions"].recall.values() == [1, 3]
        counts = score_pair(self.KEY, response, overlap=True).counts
        assert counts["mentions"].recall.values() == [3, 3]
        assert counts["mentions"].precision.values() == [3, 4]
        assert counts["muc"].recall.values() == [2, 2]
        assert counts["muc"].precision.values() == [2, 3]

    def test_equal_spans_match_first(self) -> None:
        key, response = spans([(1, 5), (7, 7)], [(2, 5), (8, 8)]), spans([(2, 5), (7, 7)])
        assert score_pair(key, response, overlap=True).counts["muc"].recall.values() == [0, 2]

    def test_ties_go_by_text_order(self) -> None:
        key = spans([(1, 2), (9, 9)], [(3, 4), (8, 8)])
        response = spans([(2, 3), (8, 8)])
        assert score_pair(key, response, overlap=True).counts["muc"].recall.values() == [0, 2]

    def test_apart_is_apart(self) -> None:
        assert score_pair(spans([(1, 2), (9, 9)]), spans([(3, 4), (8, 8)]), overlap=True).conll == 0

    def test_both_ways_alike_and_never_worse(self) -> None:
        rng = random.Random(11)
        for _ in some(range(300)):
            one, other = (
                spans(
                    *(
                        [(start, min(9, start + rng.randint(0, 3))) for start in rng.sample(range(1, 10), 2)]
                        for _ in range(rng.randint(1, 3))
                    )
                )
                for _ in range(2)
            )
            if any(
                len(a.mentions) < sum(len(c.mentions) for c in (*a.chains, *a.singletons))
                for a in (one, other)
            ):
                continue
            there, back = score_pair(one, other, overlap=True), score_pair(other, one, overlap=True)
            exact = score_pair(one, other)
            for measure in SCORES:
                if measure != "blanc":
                    assert there.f1(measure) == back.f1(measure)
            assert (there.f1("mentions") or 0) >= (exact.f1("mentions") or 0)
            assert score_pair(one, one, overlap=True).f1("b3") == 1


class TestRepetitions:
    """Numbers computed with the reference scorer v8.01."""

    def test_spans_outside_the_key_all_stay(self) -> None:
        scores = score_pair(annotation(["ab", "cd"]), annotation(["abxX", "cdX"]))
        assert scores.counts["b3"].precision.values() == [7, 21]
        assert scores.counts["mentions"].precision.values() == [4, 5]
        assert scores.counts["muc"].precision.values() == [2, 5]
        blanc = scores.counts["blanc"]
        assert isinstance(blanc, Blanc)
        assert blanc.coreference.precision.values() == [2, 7]
        assert blanc.non_coreference.precision.values() == [4, 9]

    def test_in_the_key_they_are_an_error(self) -> None:
        for chains in (["abA", "c"], ["ab", "Ac"]):
            with pytest.raises(
                InputError, match="as a mention 2 times, expected each mention of the key once"
            ):
                score_pair(annotation(chains), annotation(["ab"]))


def test_documents_are_pooled_by_adding() -> None:
    key = [annotation(["ab"], "one"), annotation(["cde"], "two"), annotation(["fg"], "lost")]
    response = [annotation(["cd"], "two"), annotation(["ab"], "one"), annotation(["xyz"], "extra")]
    scores = score(key, response)
    assert scores.counts["muc"].recall.values() == [2, 4]
    assert scores.counts["mentions"].precision.values() == [4, 4]
    assert [title for title, _ in scores.documents] == ["one", "two", "lost"]
    assert [finding.code for finding in scores.findings] == ["missing-response", "missing-key"]
    with pytest.raises(InputError, match="no document in common"):
        score(key[:1], response[:1])


def test_other_words_are_said_and_other_lengths_refused() -> None:
    one, other = annotation(KEY), annotation(KEY)
    longer = Annotation.of("y", Document("d", (*other.document.tokens, "!")), other.chains)
    with pytest.raises(InputError, match="found 27 tokens in document 'd', expected 26"):
        score_pair(one, longer)
    words = Annotation.of("y", Document("d", tuple(map(str.upper, other.document.tokens))), other.chains)
    (finding,) = score_pair(one, words).findings
    assert (finding.code, finding.count) == ("different-words", 26)


def test_two_thousand_entities_take_seconds() -> None:
    rng = random.Random(3)
    document = Document("d", ("x",) * 8000)

    def annotated() -> Annotation:
        chains: dict[int, list[tuple[int, int]]] = {}
        for token in range(1, 8001):
            chains.setdefault(rng.randrange(2000), []).append((token, token))
        return Annotation.of("x", document, [Chain.of(str(id), spans) for id, spans in chains.items()])

    started = time.process_time()
    scores = score_pair(annotated(), annotated())
    assert time.process_time() - started < 20
    assert 0 < (scores.f1("ceafe") or 0) < 1


def test_reversed_scores_are_those_of_key_and_response_exchanged() -> None:
    rng = random.Random(5)
    for _ in range(200):
        one, other = (annotation(random_chains(rng, "abcdefg")) for _ in range(2))
        assert score([one], [other]).reversed().counts == score([other], [one]).counts
