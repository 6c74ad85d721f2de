"""Chains of one: whether a run keeps them, decided from how the annotators worked.

Some projects mark every mention, others only those that corefer. An annotator *marks chains of one* if at
least 5 % of the annotator's chains, over all documents, have one mention. If at least half of the
annotators do, mentions that end in no chain are kept where votes favour it; otherwise they are dropped, as
in the paper.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from caspr.task.instance import Singletons
from caspr.text.document import Annotation
from caspr.text.findings import Finding, note, times

SHARE = 20
"""One chain in so many, at least, has one mention where an annotator marks chains of one."""


def decide_singletons(annotations: Iterable[Annotation]) -> tuple[Singletons, tuple[Finding, ...]]:
    """Decide what becomes of mentions in no chain; say so where anybody marked chains of one.

    >>> from caspr.text.document import Chain, Document
    >>> text = Document("d", ("a", "b", "c"))
    >>> both = Annotation.of("anna", text, [Chain.of("1", [(1, 1), (2, 2)]), Chain.of("2", [(3, 3)])])
    >>> decide_singletons([both, Annotation.of("ben", text, [])])[0]
    <Singletons.VOTE: 'vote'>
    """
    alone: dict[str, int] = defaultdict(int)
    chains: dict[str, int] = defaultdict(int)
    for annotation in annotations:
        alone[annotation.annotator] += len(annotation.singletons)
        chains[annotation.annotator] += len(annotation.all_chains)
    return decide(alone, chains)


def decide(alone: Mapping[str, int], chains: Mapping[str, int]) -> tuple[Singletons, tuple[Finding, ...]]:
    """Decide from how many chains of one, and chains, each annotator has."""
    marking = sum(count > 0 and SHARE * count >= chains[name] for name, count in alone.items())
    who = f"{marking} of {times(len(chains), 'annotator')} marked chains of one"
    if 2 * marking >= len(chains) and marking:
        message = f"mentions in no chain are kept where votes favour it, since {who} (--singletons auto)"
        return Singletons.VOTE, (note("singletons-kept", message, count=marking),)
    if not any(alone.values()):
        return Singletons.DROP, ()
    message = f"mentions in no chain are dropped, since only {who} (--singletons auto)"
    return Singletons.DROP, (note("singletons-dropped", message, count=marking),)
