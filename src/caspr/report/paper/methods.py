"""The paragraph for the methods section: what was annotated, how far annotators agree, how it was merged.

Every number comes with the convention it was computed under, so that another group can compute it again.
Settings are given in words, apart from those that only say how the search was done.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from caspr.measures.comparison import (
    Comparison,
    Standings,
    against_gold,
    compare_results,
    coverage_of,
)
from caspr.measures.intervals import Interval, comparison_intervals
from caspr.report.comparison_tables import NumberStyle
from caspr.report.disagreements import PHRASES, share
from caspr.result import Result
from caspr.task.objectives import OBJECTIVES, Objective
from caspr.task.settings import Settings
from caspr.task.settings.words import in_words
from caspr.task.solution import Status
from caspr.text.findings import times

CITATION = (
    "Schüller, Peter (2018): Adjudication of Coreference Annotations via Answer Set Optimization. "
    "Journal of Experimental & Theoretical Artificial Intelligence."
)
"""What to cite for the method."""
_STYLE = NumberStyle(digits=2)


def methods_text(results: Sequence[Result], version: str) -> str:
    """Return the paragraph about some results, made with a version of CaspR."""
    comparison = compare_results(results)
    intervals = comparison_intervals(
        [result.annotations for result in results], coverages=[coverage_of(one) for one in results]
    )
    sentences = [
        _annotated(results, comparison),
        _disputed(comparison),
        _alpha(comparison, intervals.alpha["passonneau"] if intervals else None),
        _pairs(comparison, intervals.between["conll"] if intervals else None),
        *(["Intervals are 95% percentile intervals of 1,000 draws of documents."] if intervals else []),
        _merged(results, version),
        *_decided(results),
        _proven(results),
        _gold(results),
        _against(against_gold(results)),
    ]
    return f"{' '.join(sentences)}\n\n{CITATION}\n"


def _annotated(results: Sequence[Result], comparison: Comparison) -> str:
    tokens = sum(len(result.document.tokens) for result in results)
    each = sorted({len(result.annotations) for result in results})
    who = times(len(comparison.annotators), "annotator")
    if each != [len(comparison.annotators)]:
        who += f" ({each[0]} of them each)" if len(each) == 1 else f" ({each[0]} to {each[-1]} of them each)"
    return (
        f"Coreference in {times(len(results), 'document')} ({times(tokens, 'token')}) was annotated "
        f"independently by {who}, who marked {times(comparison.disagreement.mentions, 'mention')}."
    )


def _disputed(comparison: Comparison) -> str:
    counts = comparison.disagreement
    if not counts.disputed:
        return "They agree about all of them."
    kinds = ", ".join(f"{number:,} {PHRASES[kind]}" for kind, number in counts.kinds.items() if number)
    return f"They disagree about {share(counts.disputed, counts.mentions)}: {kinds}."


def _alpha(comparison: Comparison, bounds: Interval | None) -> str:
    return (
        f"Agreement is {_number(comparison.alpha['passonneau'], bounds)} (Krippendorff's alpha over "
        "coreference sets with the distance of Passonneau 2004; a mention is in its own set, and one that an "
        "annotator did not mark is a chain of one)."
    )


def _pairs(comparison: Comparison, bounds: Interval | None) -> str:
    return (
        f"The mean CoNLL score of two annotators is {_number(comparison.between('conll'), bounds)} (mean F1 "
        "of MUC, B3 and CEAFe, from 0 to 1; chains of one count between annotators who both have some)."
    )


def _merged(results: Sequence[Result], version: str) -> str:
    objectives = list(dict.fromkeys(result.instance.objective for result in results))
    named = " and ".join(_objective(one) for one in objectives)
    given = [result.given.settings for result in results if result.given is not None]
    different = list(dict.fromkeys(", ".join(_rules(one)) for one in given))
    rest = different[0] if len(different) == 1 else "settings differ between documents"
    return (
        f"Their annotations were merged with CaspR {version} (Schüller 2018), which finds the chains of "
        f"least cost: {named}{f'; settings: {rest}' if given else ''}."
    )


def _objective(objective: Objective) -> str:
    name = next((name.upper() for name, one in OBJECTIVES.items() if one == objective), "of our own")
    invented = (
        "pairs that no used link connects are forbidden"
        if objective.invent is None
        else f"a pair in one chain without a used link costs {objective.invent}"
    )
    return (
        f"objective {name} (an omitted link costs {objective.omit} for each annotator who gave it, a used "
        f"one {objective.use} for each who did not, {invented})"
    )


def _rules(settings: Settings) -> Sequence[str]:
    """Return the settings in words; the objective's costs are said already."""
    words = list(in_words(settings))
    return words[1:] if settings.weights is None else words


def _decided(results: Sequence[Result]) -> Iterator[str]:
    decided = sum(bool(result.instance.decisions) for result in results)
    if decided:
        yield f"An adjudicator reviewed and corrected {decided:,} of {times(len(results), 'result')} by hand."


def _proven(results: Sequence[Result]) -> str:
    proven = sum(result.status is Status.OPTIMAL for result in results)
    if proven == len(results):
        return "All results are proven optimal." if proven > 1 else "The result is proven optimal."
    return f"{proven:,} of {times(len(results), 'result')} are proven optimal, the others best known."


def _gold(results: Sequence[Result]) -> str:
    chains = sum(len(result.gold.chains) for result in results)
    linked = sum(len(chain.mentions) for result in results for chain in result.gold.chains)
    alone = sum(len(result.gold.singletons) for result in results)
    more = f" and {times(alone, 'entity', 'entities')} of one mention" if alone else ""
    entities = times(chains, "entity", "entities")
    return f"The gold standard has {entities} with {times(linked, 'mention')}{more}."


def _against(standings: Standings) -> str:
    known = [(rates["conll"].f1, name) for name, rates in standings.items() if rates["conll"].f1 is not None]
    if not known:
        return "No annotator can be scored against it."
    low, high = min(known), max(known)
    return (
        f"Against it, annotators have CoNLL scores from {_STYLE.text(low[0])} ({low[1]}) to "
        f"{_STYLE.text(high[0])} ({high[1]})."
    )


def _number(number: Fraction | None, bounds: Interval | None) -> str:
    return f"{_STYLE.text(number)} {_STYLE.interval(bounds)}".strip()
