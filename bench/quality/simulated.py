"""Annotators made from a gold standard by errors of known frequency.

    python -m bench.quality FOLDER --simulate 4,12,30 --set "" --set weights=learn

An annotator with an error rate of 12 % splits 12 % of the longer chains, joins a third as many with another
one, and in what is left moves or forgets 12 % of the mentions: half of them end in a chain drawn by chance,
half in none. Errors of annotators are independent of each other, unlike those of people, who find the same
passages hard.
"""

import random
from collections.abc import Sequence

from bench.quality.judged import Judged, JudgedSet
from caspr.text.document import Annotation, Chain, Span


def simulate(judged: JudgedSet, rates: Sequence[float], seed: int) -> JudgedSet:
    """Replace the annotators of each document that has chains by simulated ones, one for each rate."""
    documents = []
    for one in judged.documents:
        if one.gold.chains:
            # A document has the same annotators, whichever others are read.
            rng = random.Random(f"{seed} {one.name}")
            made = tuple(
                _annotator(one.gold, f"{rate:.0%} {n}", rng, rate) for n, rate in enumerate(rates, 1)
            )
            documents.append(Judged(one.gold, made))
    shown = " ".join(f"{rate:.0%}" for rate in rates)
    return JudgedSet(f"{judged.name}, simulated {shown}", tuple(documents))


def _annotator(gold: Annotation, name: str, rng: random.Random, rate: float) -> Annotation:
    chains = _joined(list(_split(gold, rng, rate)), rng, rate / 3)
    homeless: list[Span] = []
    for chain in chains:
        for mention in [one for one in chain if rng.random() < rate]:
            chain.remove(mention)
            homeless += [mention] if rng.random() < 0.5 else []
    for mention in homeless:
        rng.choice(chains).append(mention)
    kept = [Chain.of(str(number), chain) for number, chain in enumerate(chains) if len(chain) > 1]
    return Annotation.of(name, gold.document, kept)


def _split(gold: Annotation, rng: random.Random, rate: float) -> Sequence[list[Span]]:
    found: list[list[Span]] = []
    for chain in gold.chains:
        mentions = list(chain.mentions)
        place = len(mentions)
        if place > 2 and rng.random() < rate:
            rng.shuffle(mentions)
            place = rng.randint(1, place - 1)
        found += [part for part in (mentions[:place], mentions[place:]) if part]
    return found


def _joined(chains: list[list[Span]], rng: random.Random, rate: float) -> list[list[Span]]:
    joined: list[list[Span]] = []
    for chain in chains:
        if joined and rng.random() < rate:
            rng.choice(joined).extend(chain)
        else:
            joined.append(chain)
    return joined
