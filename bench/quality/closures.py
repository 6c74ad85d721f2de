"""Make one annotation of several by counting links or antecedents, and taking the transitive closure.

    union       a link that anybody gave
    majority    a link that more than half of the annotators gave
    antecedent  for each mention, the nearest mention before it in its chain is an annotator's answer, "none"
                for the first one; the answer of most wins, the nearest in a tie, and "none" last

A mention that ends in no chain is a chain of one where enough annotators marked it: one for the union, more
than half otherwise.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise

from caspr.text.document import Annotation, Chain, Span
from caspr.text.grouping import Groups

Pair = tuple[Span, Span]
"""Two mentions, in text order."""


def links(annotation: Annotation) -> set[Pair]:
    """Return the pairs of mentions that an annotator put into one chain."""
    return {pair for chain in annotation.chains for pair in combinations(chain.mentions, 2)}


def count_links(annotations: Iterable[Annotation]) -> Counter[Pair]:
    """Count for each pair the annotators who linked it."""
    return Counter(pair for annotation in annotations for pair in links(annotation))


def union_closure(annotations: Sequence[Annotation]) -> Annotation:
    """Join what any annotator linked."""
    return closure(annotations, count_links(annotations), least=1)


def majority_closure(annotations: Sequence[Annotation]) -> Annotation:
    """Join what more than half of the annotators linked."""
    half = len(annotations) / 2
    return closure(annotations, (pair for pair, count in count_links(annotations).items() if count > half))


def antecedent_majority(annotations: Sequence[Annotation]) -> Annotation:
    """Join every mention with the antecedent that most annotators gave it."""
    answers: dict[Span, Counter[Span | None]] = {}
    for annotation in annotations:
        for mention, antecedent in _antecedents(annotation):
            answers.setdefault(mention, Counter())[antecedent] += 1
    chosen = [(_winner(counts), mention) for mention, counts in answers.items()]
    return closure(annotations, [(antecedent, mention) for antecedent, mention in chosen if antecedent])


def _antecedents(annotation: Annotation) -> Iterator[tuple[Span, Span | None]]:
    """Yield one answer for each mention an annotator marked; of several chains, the nearest antecedent."""
    nearest: dict[Span, Span | None] = dict.fromkeys(sorted(annotation.mentions))
    for chain in annotation.chains:
        for before, mention in pairwise(chain.mentions):
            known = nearest[mention]
            nearest[mention] = before if known is None else max(known, before)
    yield from nearest.items()


def _winner(counts: Counter[Span | None]) -> Span | None:
    return max(
        counts, key=lambda antecedent: (counts[antecedent], antecedent is not None, antecedent or (0, 0))
    )


def closure(
    annotations: Sequence[Annotation], pairs: Iterable[Pair], *, least: int | None = None
) -> Annotation:
    """Join pairs, and keep alone other mentions that enough annotators marked; default: more than half."""
    enough = len(annotations) // 2 + 1 if least is None else least
    marked = Counter(span for annotation in annotations for span in annotation.mentions)
    groups = Groups(sorted(marked))
    for one, other in pairs:
        groups.join(one, other)
    kept = [chain for chain in groups.lists() if len(chain) > 1 or marked[chain[0]] >= enough]
    chains = [Chain.of(str(number), chain) for number, chain in enumerate(kept, 1)]
    return Annotation.of("closure", annotations[0].document, chains)
