"""What is counted from arrays of marks is what the annotations say one by one."""

import random
from itertools import combinations

import pytest

from caspr.measures.comparison import CoveredPair, keyed, score_pairs
from caspr.measures.marks import Marks
from caspr.measures.matching import align_marks
from caspr.measures.scores import SCORES
from caspr.text.coverage import Coverage
from caspr.text.document import Annotation, Chain, Document

NAMES = ("ann", "bob", "cem")


def drawn(rng: random.Random, tokens: int = 9) -> list[Annotation]:
    """Draw annotations of nested, crossing and single mentions, some in two chains; some may be empty."""
    document = Document("d", ("w",) * tokens)
    pool = [(start, min(tokens, start + rng.choice([0, 0, 1, 3]))) for start in range(1, tokens + 1)]
    found = []
    for name in NAMES:
        chains: list[list[tuple[int, int]]] = [[] for _ in range(4)]
        for span in (*pool, *pool) if rng.random() < 0.3 else pool:
            if rng.random() < 0.7:
                rng.choice(chains).append(span)
        kept = [chain for chain in chains if chain and rng.random() < 0.9]
        found.append(
            Annotation.of(name, document, [Chain.of(str(n), set(chain)) for n, chain in enumerate(kept)])
        )
    return found


@pytest.mark.parametrize("seed", range(60))
def test_pairs_of_spans_are_those_that_share_tokens_and_those_that_nest(seed: int) -> None:
    marks = Marks.of(drawn(random.Random(seed)))
    assert marks.spans == sorted(marks.spans)
    both = list(combinations(marks.spans, 2))
    found = [
        [(marks.spans[first], marks.spans[second]) for first, second in zip(*pairs, strict=True)]
        for pairs in (marks.overlapping, marks.nested)
    ]
    assert found[0] == [(one, other) for one, other in both if one.overlaps(other)]
    nested = [(one, other) for pair in both for one, other in (pair, pair[::-1]) if one.contains(other)]
    assert sorted(found[1]) == sorted(nested)


@pytest.mark.parametrize("seed", range(60))
def test_scores_are_those_of_annotations_that_are_cut_to_what_both_saw(seed: int) -> None:
    rng = random.Random(seed)
    annotations = drawn(rng)
    starts = {name: rng.randint(1, 9) for name in NAMES if rng.random() < 0.5}
    coverage = Coverage.of({name: [(start, rng.randint(start, 9))] for name, start in starts.items()})
    marks = Marks.of(annotations)
    for who in combinations(range(3), 2):
        for singletons in (False, True):
            pair = CoveredPair(tuple(annotations[number] for number in who), coverage)
            aligned = align_marks(marks, who, marks.seen(coverage), singletons=singletons)
            expected = score_pairs(keyed([pair]), singletons).counts
            assert {name: count(aligned) for name, count in SCORES.items()} == expected
