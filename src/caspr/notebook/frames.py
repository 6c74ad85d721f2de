"""Results, annotations, agreement and scores in a notebook: as pandas DataFrames, and as HTML.

A column that holds what one annotator says is called by that annotator's name. Undefined numbers are
missing values. Numbers go from 0 to 1. Token numbers are from 1, both ends included, as everywhere in
CaspR.

The HTML that Jupyter shows comes from the templates of reports. It is small whatever the document is: a novel
shows its first passage and its largest entities, and says how many there are. All text is escaped.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caspr.adjudication import by_document
from caspr.confidence import Confidence
from caspr.errors import CasprError, InputError
from caspr.measures.agreement import Conventions, Unmarked
from caspr.measures.comparison import Comparison, compare, coverage_of
from caspr.measures.intervals import score_intervals
from caspr.measures.scores import TITLES, Scores
from caspr.measures.typology import DisagreementKind, classify
from caspr.report.disagreements import disagreement_sentence, named, says
from caspr.report.explained_report import decided, explain, shared_ids
from caspr.report.html_pages import fragment, passages
from caspr.report.paper.tables import AGREEMENT_HEAD, agreement_rows, score_rows
from caspr.report.summary import entities, outcome
from caspr.result import Result
from caspr.task.settings import Settings, change
from caspr.text.alignment import align
from caspr.text.arguments import files_of
from caspr.text.coverage import Coverage, CoverageTable
from caspr.text.document import Annotation, Chain, Span
from caspr.text.findings import shorten, times

if TYPE_CHECKING:
    from pandas import DataFrame

MOST = 2_000_000
"""How many pairs of mentions a frame of votes may have."""

Row = dict[str, Any]
"""One row of a frame, by column."""
ENTITY = ("chain", "name", "type")
"""The columns of an entity: the id of its chain, its name and its type."""
CONFIDENCE = ("confidence", "votes_against", "voters", "tie")
"""The columns that say how sure a decision is: how often such ones are right, and the votes."""


def result_frame(result: Result, what: str = "mentions") -> "DataFrame":
    """Return `mentions`, `chains`, `votes` or `conflicts` of a result."""
    tables = {"mentions": _mentions, "chains": _chains, "votes": _votes, "conflicts": _conflicts}
    if what not in tables:
        raise InputError(f"to_frame({what!r}): choose one of {', '.join(tables)}")
    return _frame(*tables[what](result))


def annotation_frame(annotation: Annotation) -> "DataFrame":
    """Return a row for each mention of an annotation."""
    rows = [
        {**_span(annotation, span), **_entity(chain), "size": len(chain.mentions)}
        for chain in annotation.all_chains
        for span in chain.mentions
    ]
    rows.sort(key=lambda row: (row["start"], row["end"]))
    return _frame(["start", "end", "text", *ENTITY, "size"], rows)


def comparison_frame(comparison: Comparison, what: str = "conll") -> "DataFrame":
    """Return a matrix by its name, or `numbers`, `kinds` or `disagreements` of a comparison."""
    if what in comparison.matrices:
        names = list(comparison.annotators)
        cells = [dict(zip(names, map(_plain, row), strict=True)) for row in comparison.matrices[what]]
        return _frame(names, cells).set_axis(names).astype(float)
    if what == "numbers":
        rows = [
            dict(zip(AGREEMENT_HEAD, map(_plain, row), strict=True)) for row in agreement_rows(comparison)
        ]
        return _frame(AGREEMENT_HEAD, rows)
    if what == "kinds":
        return _frame(*_kinds(comparison))
    if what == "disagreements":
        return _frame(*_disagreements(comparison))
    known = ", ".join((*comparison.matrices, "numbers", "kinds", "disagreements"))
    raise InputError(f"to_frame({what!r}): choose one of {known}")


def scores_frame(scores: Scores) -> "DataFrame":
    """Return a row for each measure; with enough documents, F1 has an interval."""
    bounds = score_intervals(scores)
    names = ("measure", "recall", "precision", "f1", "low", "high")[: 6 if bounds else 4]
    measured = score_rows("all documents", scores, bounds)
    rows = [dict(zip(names, (TITLES[str(row[1])], *map(_plain, row[2:])), strict=False)) for row in measured]
    return _frame(names, rows).set_index("measure").astype(float)


def _frame(columns: Iterable[str], rows: Sequence[Row]) -> "DataFrame":
    try:
        from pandas import DataFrame
    except ImportError as error:
        raise CasprError("This needs pandas: pip install 'caspr[notebook]'") from error
    return DataFrame(list(rows), columns=list(columns))


def _plain(cell: object) -> Any:
    return float(cell) if isinstance(cell, Fraction) else cell


def _span(annotation: Annotation, span: Span) -> Row:
    return {"start": span.start, "end": span.end, "text": annotation.document.text(span)}


def _entity(chain: Chain | None) -> Row:
    """Return the columns of an entity; a name or a type that it does not have is a missing value."""
    known = (None, None, None) if chain is None else (chain.id, chain.name or None, chain.type or None)
    return dict(zip(ENTITY, known, strict=True))


def _confidence(confidence: Confidence) -> Row:
    """Return the columns that say how sure a decision is."""
    known = (confidence.value, confidence.against, confidence.seen, confidence.is_tie)
    return dict(zip(CONFIDENCE, known, strict=True))


def _columns(annotators: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """Return the column of each annotator: the name, unless a column is called so already."""
    used = set(taken)
    return {name: f"{name} (annotator)" if name in used else name for name in annotators}


def _mentions(result: Result) -> tuple[list[str], list[Row]]:
    annotations, gold = result.annotations, result.gold
    columns = shared_ids(gold, annotations)
    home = {span: chain for chain in result.chains for span in chain.mentions}
    typology = classify(annotations, coverage=coverage_of(result))
    disputes = typology.disagreements
    kinds = {span: str(dispute.kind) for dispute in disputes for span in dispute.spans if span is not None}
    head = ["start", "end", "text", *ENTITY, "marked_by", "disputed", *CONFIDENCE]
    names = _columns((annotation.annotator for annotation in annotations), head)
    united = result.given.variants.boundaries if result.given else {}
    rows = []
    for span in sorted({*home, *(span for column in columns for span in column)}):
        cells = {
            names[annotation.annotator]: "|".join(column.get(span, ())) or None
            for annotation, column in zip(annotations, columns, strict=True)
        }
        marked = sum(cell is not None for cell in cells.values())
        mention = {**_span(gold, span), **_entity(home.get(span))}
        sure = _confidence(result.confidences.mention(united.get(span, span)))
        rows.append({**mention, "marked_by": marked, "disputed": kinds.get(span), **sure, **cells})
    return [*head, *names.values()], rows


def _chains(result: Result) -> tuple[list[str], list[Row]]:
    text = result.document.text
    rows = [
        {
            **_entity(chain),
            "size": len(chain.mentions),
            "start": chain.mentions[0].start,
            "first": text(chain.mentions[0]),
            "mentions": [text(span) for span in chain.mentions],
        }
        for chain in result.chains
    ]
    return [*ENTITY, "size", "start", "first", "mentions"], rows


def _votes(result: Result) -> tuple[list[str], list[Row]]:
    annotations = result.annotations
    pairs: dict[tuple[Span, Span], set[str]] = {}
    for annotation in annotations:
        for pair in (pair for chain in annotation.chains for pair in combinations(chain.mentions, 2)):
            pairs.setdefault(pair, set()).add(annotation.annotator)
            if len(pairs) > MOST:
                raise InputError(
                    f"to_frame('votes'): there are more than {MOST:,} links, too many for a frame; "
                    "to_frame('conflicts') has links that are alike in one row"
                )
    home = {span: chain.id for chain in result.chains for span in chain.mentions}
    head = ["first_start", "first_end", "first", "second_start", "second_end", "second", "votes", "linked"]
    head += CONFIDENCE
    names = _columns((annotation.annotator for annotation in annotations), head)
    text, sure = result.document.text, result.confidences.link
    united = result.given.variants.boundaries if result.given else {}
    rows = [
        {
            **dict(zip(head, (*first, text(first), *second, text(second)), strict=False)),
            "votes": len(voters),
            "linked": first in home and home[first] == home.get(second),
            **_confidence(sure(united.get(first, first), united.get(second, second))),
            **{column: name in voters for name, column in names.items()},
        }
        for (first, second), voters in sorted(pairs.items())
    ]
    return [*head, *names.values()], rows


_CONFLICTS = "first second links for against decided entities reason why"


def _conflicts(result: Result) -> tuple[list[str], list[Row]]:
    text, titles = result.document.text, {chain.id: chain.title for chain in result.chains}
    rows = [
        {
            "first": ", ".join(shorten(text(span)) for span in dispute.first),
            "second": ", ".join(shorten(text(span)) for span in dispute.second),
            "links": dispute.links,
            "for": ", ".join(dispute.supporters),
            "against": ", ".join(dispute.opponents),
            "decided": decided(dispute),
            "entities": " and ".join(
                "none" if id is None else titles[id] for id in dict.fromkeys(dispute.chains)
            ),
            "reason": str(explanation.reason),
            "why": explanation.sentence,
            **_confidence(dispute.confidence),
            "price": dispute.change.price,
        }
        for dispute, explanation in explain(result).disputes
    ]
    return [*_CONFLICTS.split(), *CONFIDENCE, "price"], rows


def _kinds(comparison: Comparison) -> tuple[list[str], list[Row]]:
    head = ["annotator", "other", "mentions", "disputed", *map(str, DisagreementKind)]
    rows: list[Row] = []
    for (first, second), counts in comparison.pairs.items():
        kinds: Mapping[str, int] = {str(kind): number for kind, number in counts.kinds.items()}
        rows.append(
            {
                "annotator": first,
                "other": second,
                "mentions": counts.mentions,
                "disputed": counts.disputed,
                **kinds,
            }
        )
    return head, rows


def _disagreements(comparison: Comparison) -> tuple[list[str], list[Row]]:
    rows = [
        {
            "document": document.title,
            "start": disagreement.place.start,
            "end": disagreement.place.end,
            "text": document.text(disagreement.place),
            "kind": str(disagreement.kind),
            "who": named(says(document, typology, disagreement)),
        }
        for document, typology in comparison.typologies
        for disagreement in typology.disagreements
    ]
    return ["document", "start", "end", "text", "kind", "who"], rows


def agreement(
    files: Sequence[Iterable[Annotation]],
    *,
    own_set: bool = True,
    unmarked: str = "singleton",
    singletons: bool | None = None,
    coverage: str | Path | CoverageTable | Coverage | None = None,
) -> Comparison:
    """Say how far annotators agree, given what was read from the file of each.

    The conventions are those of `caspr agreement`: whether a mention is in its own set, what a mention is
    for an annotator who did not mark it (`singleton`, `missing` or `empty`), whether chains of one count in
    scores (`None`: where both sides have some), and who saw what (a file, or `marks`; `None`: everything).
    """
    documents, _ = by_document(files_of(files, "caspr.agreement"))
    aligned = [align(annotations) for annotations in documents]
    settings = change(Settings(), {"coverage": coverage})
    return compare(
        aligned,
        conventions=Conventions(own_set, Unmarked(unmarked)),
        singletons=singletons,
        coverages=[settings.coverage_of(annotations) for annotations in aligned],
    )


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
    return fragment(
        "notebook_chains.html",
        title=title,
        lines=[*before, entities([annotation]), *after],
        document=annotation.document,
        largest=largest,
        left=len(annotation.chains) - len(largest),
        names={chain.id: chain.name for chain in annotation.all_chains if chain.name},
        # A hue for each chain, neighbours in the text far apart.
        colours={chain.id: number * 137 % 360 for number, chain in enumerate(annotation.all_chains)},
        passage=next(passages(annotation.document, annotation.all_chains), None),
    )
