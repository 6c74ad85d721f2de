"""Results, annotations, agreement and scores as pandas DataFrames.

A column that holds what one annotator says is called by that annotator's name. Undefined numbers are
missing values. Numbers go from 0 to 1. Token numbers are from 1, both ends included, as everywhere in
CaspR.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any

from caspr.disputes.reasons import shorten
from caspr.errors import CasprError, InputError
from caspr.measures.comparison import Comparison, coverage_of
from caspr.measures.intervals import score_intervals
from caspr.measures.scores import TITLES, Scores
from caspr.measures.typology import DisagreementKind, classify
from caspr.report.disagreements import named, says
from caspr.report.explained_report import decided, explain
from caspr.report.paper.agreement import HEAD, agreement_rows
from caspr.report.paper.scores import score_rows
from caspr.report.shared_ids import shared_ids
from caspr.result import Result
from caspr.text.document import Annotation, Chain, Span

if TYPE_CHECKING:
    from pandas import DataFrame

MOST = 2_000_000
"""How many pairs of mentions a frame of votes may have."""

Row = dict[str, Any]
"""One row of a frame, by column."""
ENTITY = ("chain", "name", "type")
"""The columns of an entity: the id of its chain, its name and its type."""


def result_frame(result: Result, what: str = "mentions") -> "DataFrame":
    """Return `mentions`, `chains`, `votes` or `conflicts` of a result."""
    tables = {"mentions": _mentions, "chains": _chains, "votes": _votes, "conflicts": _conflicts}
    if what not in tables:
        raise InputError(f"to_frame: found {what!r}, expected one of {', '.join(tables)}")
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
        rows = [dict(zip(HEAD, map(_plain, row), strict=True)) for row in agreement_rows(comparison)]
        return _frame(HEAD, rows)
    if what == "kinds":
        return _frame(*_kinds(comparison))
    if what == "disagreements":
        return _frame(*_disagreements(comparison))
    known = ", ".join((*comparison.matrices, "numbers", "kinds", "disagreements"))
    raise InputError(f"to_frame: found {what!r}, expected one of {known}")


def scores_frame(scores: Scores) -> "DataFrame":
    """Return a row for each measure; with several documents, F1 has an interval."""
    bounds = score_intervals(scores)
    names = ("measure", "recall", "precision", "f1", "low", "high")[: 6 if bounds else 4]
    found = score_rows("all documents", scores, bounds)
    rows = [dict(zip(names, (TITLES[str(row[1])], *map(_plain, row[2:])), strict=False)) for row in found]
    return _frame(names, rows).set_index("measure").astype(float)


def _frame(columns: Iterable[str], rows: Sequence[Row]) -> "DataFrame":
    try:
        from pandas import DataFrame
    except ImportError as error:
        raise CasprError(
            "to_frame: found no pandas, expected that it is installed: pip install pandas"
        ) from error
    return DataFrame(list(rows), columns=list(columns))


def _plain(cell: object) -> Any:
    return float(cell) if isinstance(cell, Fraction) else cell


def _span(annotation: Annotation, span: Span) -> Row:
    return {"start": span.start, "end": span.end, "text": annotation.document.text(span)}


def _entity(chain: Chain | None) -> Row:
    """Return the columns of an entity; a name or a type that it does not have is a missing value."""
    known = (None, None, None) if chain is None else (chain.id, chain.name or None, chain.type or None)
    return dict(zip(ENTITY, known, strict=True))


def _columns(annotators: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """Return the column of each annotator: the name, unless a column is called so already."""
    used = set(taken)
    return {name: f"{name} (annotator)" if name in used else name for name in annotators}


def _mentions(result: Result) -> tuple[list[str], list[Row]]:
    annotations, gold = result.annotations, result.gold
    columns = shared_ids(gold, annotations)
    home = {span: chain for chain in result.chains for span in chain.mentions}
    typology = classify(annotations, coverage=coverage_of(result))
    kinds = {span: str(one.kind) for one in typology.disagreements for span in one.spans if span is not None}
    head = ["start", "end", "text", *ENTITY, "marked_by", "disputed"]
    names = _columns((one.annotator for one in annotations), head)
    rows = []
    for span in sorted({*home, *(span for column in columns for span in column)}):
        given = {
            names[one.annotator]: "|".join(column.get(span, ())) or None
            for one, column in zip(annotations, columns, strict=True)
        }
        marked = sum(cell is not None for cell in given.values())
        place = {**_span(gold, span), **_entity(home.get(span))}
        rows.append({**place, "marked_by": marked, "disputed": kinds.get(span), **given})
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
        for pair in _pairs(annotation):
            pairs.setdefault(pair, set()).add(annotation.annotator)
            if len(pairs) > MOST:
                raise InputError(
                    f"to_frame: found more than {MOST:,} links, expected fewer; to_frame('conflicts') has "
                    "links that are alike in one row"
                )
    home = {span: chain.id for chain in result.chains for span in chain.mentions}
    head = ["first_start", "first_end", "first", "second_start", "second_end", "second", "votes", "linked"]
    names = _columns((one.annotator for one in annotations), head)
    text = result.document.text
    rows = [
        {
            **dict(zip(head, (*one, text(one), *other, text(other)), strict=False)),
            "votes": len(voters),
            "linked": one in home and home[one] == home.get(other),
            **{column: name in voters for name, column in names.items()},
        }
        for (one, other), voters in sorted(pairs.items())
    ]
    return [*head, *names.values()], rows


def _pairs(annotation: Annotation) -> Iterator[tuple[Span, Span]]:
    for chain in annotation.chains:
        yield from combinations(chain.mentions, 2)


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
            "in_every_optimum": dispute.certainty.always,
            "price": dispute.certainty.flip,
        }
        for dispute, explanation in explain(result).disputes
    ]
    head = [
        "first",
        "second",
        "links",
        "for",
        "against",
        "decided",
        "entities",
        "reason",
        "why",
        "in_every_optimum",
        "price",
    ]
    return head, rows


def _kinds(comparison: Comparison) -> tuple[list[str], list[Row]]:
    head = ["annotator", "other", "mentions", "disputed", *map(str, DisagreementKind)]
    rows: list[Row] = []
    for (one, other), counts in comparison.pairs.items():
        kinds: Mapping[str, int] = {str(kind): number for kind, number in counts.kinds.items()}
        rows.append(
            {
                "annotator": one,
                "other": other,
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
            "start": one.place.start,
            "end": one.place.end,
            "text": document.text(one.place),
            "kind": str(one.kind),
            "who": named(says(document, typology, one)),
        }
        for document, typology in comparison.typologies
        for one in typology.disagreements
    ]
    return ["document", "start", "end", "text", "kind", "who"], rows
