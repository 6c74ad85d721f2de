"""Spans inside others, crossing others and in stretches without marks: found as the definitions say."""

from itertools import combinations, permutations
from random import Random

from caspr.text.checks import check
from caspr.text.coverage import partial_coverage
from caspr.text.document import Annotation, Chain, Document, Span, nested_pairs

DOCUMENT = Document("text", tuple("abcdefghijkl"))


def some_spans(random: Random, count: int) -> list[Span]:
    drawn = (sorted((random.randint(1, 12), random.randint(1, 12))) for _ in range(count))
    return list(dict.fromkeys(Span(*pair) for pair in drawn))


def marked_by(name: str, spans: list[Span], document: Document = DOCUMENT) -> Annotation:
    return Annotation.of(name, document, [Chain.of("1", spans)])


def test_nested_pairs_are_all_pairs_of_which_one_contains_the_other() -> None:
    for seed in range(200):
        spans = some_spans(Random(seed), 8)
        expected = {(one, other) for one, other in permutations(spans, 2) if one.contains(other)}
        found = list(nested_pairs(spans))
        assert (set(found), len(found)) == (expected, len(expected)), seed


def test_spans_that_cross_an_earlier_one_are_counted() -> None:
    for seed in range(100):
        spans = some_spans(Random(seed), 6)
        crossing = {
            later
            for one, two in combinations(spans, 2)
            for earlier, later in ((one, two), (two, one))
            if earlier.start < later.start <= earlier.end < later.end
        }
        findings = check([marked_by("a", spans)])
        counts = [finding.count for finding in findings if finding.code == "crossing-mentions"]
        assert counts == ([len(crossing)] if crossing else []), seed


def test_the_longest_stretch_without_marks_is_the_one_that_the_definition_gives() -> None:
    document, reported = Document("text", tuple(f"w{n}" for n in range(60))), 0
    for seed in range(100):
        random = Random(seed)
        others = [Span(start, start + random.randint(0, 2)) for start in random.sample(range(1, 58), 20)]
        own = random.sample(others, random.randint(1, 3))
        covered = {token for span in own for token in range(span.start, span.end + 1)}
        stretches: dict[int, list[Span]] = {}
        for span in sorted(others):
            if covered.isdisjoint(range(span.start, span.end + 1)):
                before = sum(token < span.start for token in covered)
                stretches.setdefault(before, []).append(span)
        longest = max(map(len, stretches.values()), default=0)
        annotations = [marked_by("one", own, document), marked_by("other", others, document)]
        counts = [finding.count for finding in partial_coverage(annotations)]
        assert counts == ([longest] if longest >= 10 else []), seed
        reported += bool(counts)
    assert 10 < reported < 90
