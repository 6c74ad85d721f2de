"""The paragraph for the methods section: what was annotated, how far annotators agree, how it was merged.

Every number comes with the convention it was computed under, so that another group can compute it again.
Settings are given in words, apart from those that only say how the search was done.
"""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from importlib import resources
from operator import attrgetter

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
from caspr.report.paper.tables import latex_escape
from caspr.report.summary import answered, entities
from caspr.result import Given, Result
from caspr.task.objectives import OBJECTIVES, Objective
from caspr.task.settings import MARKS, Settings, in_words
from caspr.task.solution import Status
from caspr.task.weights import AnnotatorWeights, WeightsTable
from caspr.text.coverage import Coverage
from caspr.text.findings import times

CITATION = (
    "Schüller, Peter (2018): Adjudication of Coreference Annotations via Answer Set Optimization. "
    "Journal of Experimental & Theoretical Artificial Intelligence 30(4), 525-546. "
    "https://doi.org/10.1080/0952813X.2018.1456793"
)
MEASURES = (
    "Krippendorff, Klaus (2004): Content Analysis: An Introduction to Its Methodology. 2nd edition. "
    "Thousand Oaks: Sage.",
    "Passonneau, Rebecca J. (2004): Computing Reliability for Coreference Annotation. Proceedings of the "
    "Fourth International Conference on Language Resources and Evaluation (LREC), 1503-1506.",
    "Pradhan, Sameer, Xiaoqiang Luo, Marta Recasens, Eduard Hovy, Vincent Ng and Michael Strube (2014): "
    "Scoring Coreference Partitions of Predicted Mentions: A Reference Implementation. Proceedings of the "
    "52nd Annual Meeting of the Association for Computational Linguistics (Volume 2: Short Papers), 30-35.",
)
"""What to cite for agreement and scores, in alphabetic order."""
KEYS = {
    "Krippendorff 2004": "krippendorff2004content",
    "Passonneau 2004": "passonneau2004computing",
    "Pradhan et al. 2014": "pradhan2014scoring",
    "Schüller 2018": "schueller2018adjudication",
}
"""The BibTeX keys of what the paragraph cites, as `docs/citing.md` has them."""
_ABOUT_ENTRIES = "The BibTeX entries: copy them into your .bib file, without the % before each line.\n"
_NESTED = {
    "vote": "a mention and one inside it may be in one entity where at least half of the annotators agree",
    "never": "a mention and one inside it are never in one entity",
    "always": "a mention and one inside it may be in one entity",
}
_SINGLETONS = {
    "drop": "mentions that end up in no chain are left out",
    "vote": "mentions that end up in no chain are kept as entities of one mention where the votes favour it",
}
"""The rules as a paper says them, by the value of the setting."""
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_STYLE = NumberStyle(digits=2)


def methods_text(results: Sequence[Result], version: str, acts: int = 0) -> str:
    """Return the paragraph about some results, made with a version of CaspR.

    `acts` is how often somebody decided something, where that is known (`answered`).
    """
    comparison = compare_results(results)
    intervals = comparison_intervals(
        [result.annotations for result in results], coverages=list(map(coverage_of, results))
    )
    sentences = [
        _annotated(results, comparison),
        *_nothing_marked(results),
        _disputed(comparison),
        _alpha(comparison, intervals.alpha["passonneau"] if intervals else None),
        _pairs(comparison, intervals.between["conll"] if intervals else None),
        *(
            ["Intervals are 95% percentile intervals over 1,000 samples of documents drawn with replacement."]
            if intervals
            else []
        ),
        _merged(results, version),
        *filter(None, [answered(results, acts)]),
        _proven(results),
        f"The gold standard has {entities([result.gold for result in results])}.",
        _against(against_gold(results)),
    ]
    references = "".join(f"{reference}\n" for reference in (*MEASURES, CITATION))
    return f"{' '.join(sentences)}\n\n{references}"


def methods_latex(text: str) -> str:
    """Return the paragraph for LaTeX: citations by their keys, and BibTeX entries in place of references."""
    paragraph = latex_escape(text.partition("\n\n")[0])
    for cited, key in KEYS.items():
        paragraph = paragraph.replace(f"({latex_escape(cited)})", f"\\cite{{{key}}}")
        paragraph = paragraph.replace(latex_escape(cited), f"\\cite{{{key}}}")
    entries = resources.files("caspr.report.paper").joinpath("references.bib").read_text(encoding="utf-8")
    return f"{paragraph}\n\n{textwrap.indent(_ABOUT_ENTRIES + entries, '% ')}"


def _annotated(results: Sequence[Result], comparison: Comparison) -> str:
    """Say who annotated how much; where annotators shared the documents, how many annotated each."""
    tokens = times(sum(len(result.document.tokens) for result in results), "token")
    everybody = _spelled(len(comparison.annotators))
    least, *_, most = 2 * sorted({len(result.annotations) for result in results})
    shared = ""
    if least < len(comparison.annotators):
        to = f" {'or' if most == least + 1 else 'to'} {_spelled(most)}" if most > least else ""
        shared = f" Each document was annotated by {_spelled(least)}{to} of {everybody} annotators."
    marked = times(comparison.disagreement.mentions, "mention")
    text = f"{times(len(results), 'document')} ({tokens})"
    return f"{everybody.capitalize()} annotators annotated coreference in {text} and marked {marked}.{shared}"


def _spelled(number: int) -> str:
    return _WORDS[number] if number < len(_WORDS) else f"{number:,}"


def _nothing_marked(results: Sequence[Result]) -> Iterator[str]:
    """Say who marked nothing of what they saw: silence counts in every number that follows."""
    empty = [(result, name) for result in results for name in _empty_handed(result)]
    annotated = {work.annotator for result in results for work in result.annotations if work.mentions}
    never = {name for _, name in empty} - annotated
    if never:
        where = " in any document" if len(results) > 1 else ""
        yield f"{_spelled(len(never)).capitalize()} of the annotators marked nothing{where}."
    documents = {result.document.key for result, name in empty if name not in never}
    if documents:
        number = times(len(documents), "document")
        yield f"In {number}, an annotator who marked mentions elsewhere marked none."


def _empty_handed(result: Result) -> list[str]:
    """Return the annotators who marked nothing, although they saw what others marked."""
    coverage = coverage_of(result)
    marked = {span for annotation in result.annotations for span in annotation.mentions}
    names = [annotation.annotator for annotation in result.annotations if not annotation.mentions]
    return [name for name in names if coverage is None or any(coverage.sees(name, span) for span in marked)]


def _disputed(comparison: Comparison) -> str:
    counts = comparison.disagreement
    if not counts.disputed:
        return "The annotators agree about all of them."
    kinds = ", ".join(f"{number:,} {PHRASES[kind]}" for kind, number in counts.kinds.items() if number)
    return f"The annotators disagree about {share(counts.disputed, counts.mentions)}: {kinds}."


def _alpha(comparison: Comparison, bounds: Interval | None) -> str:
    return (
        f"Agreement is {_number(comparison.alpha['passonneau'], bounds)} (Krippendorff's alpha over "
        "coreference sets, Krippendorff 2004, with the distance of Passonneau 2004; the set of a "
        "mention is its chain, itself included, and a mention that an annotator did not mark is a chain of "
        "one)."
    )


def _pairs(comparison: Comparison, bounds: Interval | None) -> str:
    return (
        f"The mean CoNLL score of two annotators is {_number(comparison.between('conll'), bounds)} (mean F1 "
        "of MUC, B3 and CEAFe, Pradhan et al. 2014, from 0 to 1; chains of one count where both annotators "
        "have some)."
    )


def _merged(results: Sequence[Result], version: str) -> str:
    objectives = list(dict.fromkeys(result.instance.objective for result in results))
    named = " and ".join(map(_objective, objectives))
    settings = _chosen([result.given for result in results if result.given is not None])
    different = list(dict.fromkeys("; ".join(_rules(chosen)) for chosen in settings))
    rest = different[0] if len(different) == 1 else "the settings differ between documents"
    return (
        f"The annotations were merged with CaspR {version} (Schüller 2018), which finds the chains of "
        f"least cost: {named}{f'; {rest}' if settings else ''}."
    )


def _chosen(given: Sequence[Given]) -> list[Settings]:
    """Return the settings of some documents with the weights and the coverage of all of them.

    Those of a document are about its own annotators, although they were chosen for all.
    """
    known = [one.settings.coverage for one in given if isinstance(one.settings.coverage, Coverage)]
    seen = Coverage({name: parts for coverage in known for name, parts in coverage.seen.items()})
    weights = _pooled_weights(given)
    return [
        replace(
            one.settings,
            coverage=one.settings.coverage if one.settings.coverage == MARKS else seen or None,
            weights=weights or one.settings.weights,
        )
        for one in given
    ]


def _pooled_weights(given: Sequence[Given]) -> WeightsTable | None:
    """Return the weights of all annotators; nothing where documents weigh somebody differently."""
    rows: set[AnnotatorWeights] = set()
    for one in given:
        omit, use = one.settings.objective.omit, one.settings.objective.use
        equal = [AnnotatorWeights(annotation.annotator, omit, use) for annotation in one.annotations]
        rows.update(one.settings.weights.annotators if one.settings.weights else equal)
    tables = [one.settings.weights for one in given]
    constants = {table.constant if table else None for table in tables}
    if not any(tables) or len(constants) > 1 or len({row.annotator for row in rows}) < len(rows):
        return None
    return WeightsTable(tuple(sorted(rows, key=attrgetter("annotator"))), constants.pop())


def _objective(objective: Objective) -> str:
    name = next((name.upper() for name, known in OBJECTIVES.items() if known == objective), "of our own")
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
    """Return the settings in words of a paper; the objective's costs are said already."""
    said = {f"nested {value}": words for value, words in _NESTED.items()}
    said |= {f"singletons {value}": words for value, words in _SINGLETONS.items()}
    words = [said.get(phrase, phrase) for phrase in in_words(settings)]
    return words[1:] if settings.weights is None else words


def _proven(results: Sequence[Result]) -> str:
    proven = sum(result.status is Status.OPTIMAL for result in results)
    under = " under these decisions" if any(result.instance.decisions for result in results) else ""
    if proven == len(results):
        return f"{'All results are' if proven > 1 else 'The result is'} proven optimal{under}."
    return f"{proven:,} of {times(len(results), 'result')} are proven optimal{under}, the others best known."


def _against(standings: Standings) -> str:
    """Say how close annotators are to the gold standard, without names: a paper is public."""
    known = [rates["conll"].f1 for rates in standings.values() if rates["conll"].f1 is not None]
    if not known:
        return "No annotator can be scored against it."
    low, high = _STYLE.text(min(known)), _STYLE.text(max(known))
    return (
        f"The annotators' CoNLL scores against it range from {low} to {high} (chains of one count where both "
        "sides have some)."
    )


def _number(number: Fraction | None, bounds: Interval | None) -> str:
    return f"{_STYLE.text(number)} {_STYLE.interval(bounds)}".strip()
