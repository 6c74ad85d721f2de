"""Settings that are chosen, or weights that are learned, on one half of a dataset and measured on the other.

Documents are drawn into two halves with a fixed seed. Each half is answered with what the other half
showed: with the weights that were learned there, or with the settings that score best there. Answers of both
halves together are scored as those of one dataset.
"""

import random
from collections.abc import Sequence

from bench.quality.judged import JudgedSet
from bench.quality.responses import LEARN, Response, adjudicated, learn_weights, read_values
from bench.quality.scoring import score_documents
from caspr.text.document import Annotation

Halves = tuple[JudgedSet, JudgedSet]


def halves(judged: JudgedSet, seed: int) -> Halves:
    """Draw the documents of a dataset into two halves, each in the order of the dataset."""
    names = [one.name for one in judged.documents]
    drawn = set(random.Random(seed).sample(names, len(names) // 2))
    first, second = (
        tuple(one for one in judged.documents if (one.name in drawn) is inside) for inside in (True, False)
    )
    return JudgedSet(judged.name, first), JudgedSet(judged.name, second)


def held_back(both: Halves, words: str, *, seconds: float) -> Response:
    """Adjudicate each half; weights that are learned are learned from the other half."""
    values = read_values(words)
    found = []
    for half, other in (both, both[::-1]):
        weights = learn_weights(other, values) if values.get("weights") == LEARN else None
        found.append(adjudicated(half, words, seconds=seconds, weights=weights))
    answers = {name: gold for one in found for name, gold in one.answers.items()}
    return Response(f"{words or 'defaults'}, held back", answers, " + ".join(one.proven for one in found))


def chosen(both: Halves, responses: Sequence[Response]) -> Response:
    """Answer each half as the response does that scores best on the other half; the first in a tie."""
    answers: dict[str, Annotation] = {}
    names = []
    for half, other in (both, both[::-1]):
        scores = [score_documents(other.documents, one.answers, singletons=False) for one in responses]
        best = max(range(len(scores)), key=lambda number: scores[number].f1("conll"))
        names.append(responses[best].name)
        answers |= {one.name: responses[best].answers[one.name] for one in half.documents}
    return Response(f"best on the other half ({'; '.join(names)})", answers)
