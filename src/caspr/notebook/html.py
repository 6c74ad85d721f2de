"""What Jupyter shows of a result, an annotation or an agreement: a few lines, and a table.

The fragments come from the templates of reports. They are small whatever the document is: a novel shows its
first passage and its largest entities, and says how many there are. All text is escaped.
"""

from caspr.measures.comparison import Comparison, coverage_of
from caspr.measures.typology import classify
from caspr.report.disagreements import disagreement_sentence
from caspr.report.html_pages import fragment
from caspr.report.passages import passages
from caspr.report.summary_text import outcome
from caspr.result import Result
from caspr.text.document import Annotation, Chain
from caspr.text.findings import times

LARGEST = 8
"""How many entities are shown."""


def result_html(result: Result) -> str:
    """Return a result as a fragment of HTML."""
    counts = classify(result.annotations, coverage=coverage_of(result)).counts
    annotators = times(len(result.annotations), "annotator")
    sentence = f"{annotators}. {disagreement_sentence(counts)}"
    return _chains_html(f"Result for {result.document.title}", [sentence], result.gold, [outcome(result)])


def annotation_html(annotation: Annotation) -> str:
    """Return an annotation as a fragment of HTML."""
    title = f"{annotation.document.title}, annotated by {annotation.annotator}"
    return _chains_html(title, [], annotation, [])


def comparison_html(comparison: Comparison) -> str:
    """Return an agreement as a fragment of HTML."""
    annotators = times(len(comparison.annotators), "annotator")
    return fragment(
        "notebook_comparison.html",
        title=f"Agreement, {comparison.title}",
        lines=[f"{annotators}. {disagreement_sentence(comparison.disagreement)}"],
        comparison=comparison,
    )


def _chains_html(title: str, before: list[str], annotation: Annotation, after: list[str]) -> str:
    largest = sorted(annotation.chains, key=lambda chain: (-len(chain.mentions), chain.mentions))[:LARGEST]
    mentions = sum(len(chain.mentions) for chain in annotation.chains)
    alone = f", {times(len(annotation.singletons), 'singleton')}" if annotation.singletons else ""
    entities = times(len(annotation.chains), "entity", "entities")
    return fragment(
        "notebook_chains.html",
        title=title,
        lines=[*before, f"{entities} with {times(mentions, 'mention')}{alone}", *after],
        document=annotation.document,
        largest=largest,
        left=len(annotation.chains) - len(largest),
        names={chain.id: chain.name for chain in annotation.all_chains if chain.name},
        colours=_colours(annotation.all_chains),
        passage=next(passages(annotation.document, annotation.all_chains), None),
    )


def _colours(chains: tuple[Chain, ...]) -> dict[str, int]:
    """Return a hue for each chain, neighbours in the text far apart."""
    return {chain.id: number * 137 % 360 for number, chain in enumerate(chains)}
