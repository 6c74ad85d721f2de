"""The paragraph for the methods section holds every number, with its convention, and what to cite."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from caspr import adjudicate
from caspr.adjudication import made_concrete
from caspr.cli.shared.reports import report_text
from caspr.measures.comparison import against_gold, compare
from caspr.measures.intervals import comparison_intervals
from caspr.report.comparison_tables import NumberStyle
from caspr.report.paper.methods import CITATION, KEYS, methods_latex, methods_text
from caspr.report.summary import summary_lines
from caspr.result import Result
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.instance import Instance
from caspr.task.objectives import OBJECTIVES
from caspr.task.settings import Settings
from caspr.task.solution import Status
from caspr.task.weights import AnnotatorWeights, WeightsTable
from caspr.text.coverage import Coverage, coverage_by_marks
from caspr.text.document import Annotation
from tests.report.results import annotated, decided_result, hostile_result, random_results, renamed, result_of

ROOT = Path(__file__).parents[3]


def paragraph(results: list[Result]) -> str:
    return methods_text(results, "9.9.9")


def test_every_number_is_there() -> None:
    given = [*random_results(21, 6), hostile_result()]
    results = [renamed(result, str(number)) for number, result in enumerate(given)]
    text = paragraph(results)
    comparison = compare([result.instance.annotations for result in results])
    counts = comparison.disagreement
    two = NumberStyle(digits=2)
    assert f"{counts.disputed} of {counts.mentions} mentions" in text
    assert f"Agreement is {two.text(comparison.alpha['passonneau'])} [" in text
    assert f"is {two.text(comparison.between('conll'))} [" in text
    scores = [rates["conll"].f1 for rates in against_gold(results).values()]
    assert f"from {two.text(min(one for one in scores if one is not None))} to " in text
    assert "7 documents" in text
    assert "CaspR 9.9.9" in text
    assert (
        "a mention and one inside it may be in one entity where at least half of the annotators agree; "
        in text
    )
    assert not any(name in text for name in comparison.annotators if len(name) > 2)
    assert "All results are proven optimal." in text
    assert "by hand" not in text
    assert text == paragraph(results)


def test_agreement_and_its_interval_count_those_who_saw_a_mention() -> None:
    results = [renamed(result, str(number)) for number, result in enumerate(random_results(22, 8))]
    covered = [_seen_by_marks(result) for result in results]
    documents = [result.annotations for result in covered]
    seen = [coverage_by_marks(annotations) for annotations in documents]
    intervals = comparison_intervals(documents, coverages=seen)
    assert intervals is not None
    two = NumberStyle(digits=2)
    number = two.text(compare(documents, coverages=seen).alpha["passonneau"])
    said = f"Agreement is {number} {two.interval(intervals.alpha['passonneau'])}"
    assert said in paragraph(covered)
    blind = comparison_intervals(documents)
    assert blind is not None
    assert two.interval(blind.alpha["passonneau"]) not in paragraph(covered)


def _seen_by_marks(result: Result) -> Result:
    assert result.given is not None
    return replace(result, given=replace(result.given, settings=Settings(coverage="marks")))


def test_decisions_and_gaps_are_said() -> None:
    result = decided_result()
    number = len(result.instance.decisions.in_words())
    assert number > 0
    assert f"gave {number} answer" in paragraph([result])
    assert "The result is proven optimal under these decisions." in paragraph([result])
    open_one = replace(result, solution=replace(result.solution, status=Status.FEASIBLE, bound=0))
    assert "1 of 2 results are proven optimal under these decisions, the others best known" in paragraph(
        [result, renamed(open_one, "2")]
    )


def test_the_citation_is_the_one_of_the_citation_file() -> None:
    file = (ROOT / "CITATION.cff").read_text(encoding="utf-8").partition("preferred-citation:")[2]
    for field in ("title", "journal", "family-names", "given-names", "year"):
        found = re.search(rf'{field}: "?([^"\n]+)', file)
        assert found is not None
        assert found[1] in CITATION


@pytest.mark.parametrize(("number", "expected"), [(0.125, "0.13"), (-0.001, "0.00"), (-0.625, "-0.63")])
def test_numbers_are_rounded_half_up(number: float, expected: str) -> None:
    assert NumberStyle(digits=2).text(number) == expected


def test_settings_are_said_in_words() -> None:
    import caspr
    from tests.cli.caller import SONG

    [result] = caspr.adjudicate([caspr.read(path) for path in SONG], objective="ua", nested="never")
    text = paragraph([result])
    assert "objective UA (an omitted link costs 2 for each annotator who gave it" in text
    assert "a mention and one inside it are never in one entity; mentions that end up in no chain" in text
    assert not re.search("nested|singletons", text.partition("The annotations were merged")[2])


def test_entities_of_one_mention_are_among_the_entities() -> None:
    words = ["the", "girl", "sang", "her"]
    team = [annotated(name, [[(1, 2), (4, 4)], [(3, 3)]], words) for name in "abc"]
    [result] = adjudicate([[one] for one in team], singletons="vote")
    said = "2 entities with 3 mentions (1 of the entities has only one)"
    assert f"The gold standard has {said}." in paragraph([result])
    assert f"-> {said}" in "\n".join(summary_lines([result]))
    assert f"<dt>Result</dt><dd>{said}</dd>" in report_text([result], "html")
    assert said in result._repr_html_()
    both = "\n".join(summary_lines([result, renamed(result, "other")]))
    assert "2 documents: 4 entities with 6 mentions (2 of the entities have only one)" in both


def test_settings_that_were_chosen_once_do_not_differ_between_documents() -> None:
    words = ["the", "girl", "sang", "her"]
    spans: list[list[tuple[int, int]]] = [[(1, 2), (4, 4)], [(2, 2), (4, 4)]]
    texts = [
        [annotated(name, [chain], words) for name, chain in zip(names, spans, strict=True)]
        for names in ("ab", "cd")
    ]
    weights = WeightsTable(tuple(AnnotatorWeights(name, 3, 1) for name in "abcd"))
    seen = (Coverage.of({"a": [(1, 3)]}), None)
    chosen = [Settings(variants=True, weights=weights, coverage=coverage) for coverage in seen]

    def merged(settings: Sequence[Settings]) -> str:
        decisions = (Decisions.of(statements=[Statement.of(StatementKind.TOGETHER, spans[0])]), Decisions())
        results = []
        for number, (text, own, decided) in enumerate(zip(texts, settings, decisions, strict=True)):
            given, _ = made_concrete(text, decided, own)
            result = result_of(given.settings.instance(given.annotations, decided))
            assert result is not None
            named = renamed(result, str(number))
            assert named.given is not None
            results.append(replace(named, given=replace(named.given, settings=given.settings)))
        return paragraph(results)

    text = merged(chosen)
    assert "omit/use by annotator: a 3/1, b 3/1, c 3/1, d 3/1; " in text
    assert "1 annotator saw only a part; variants of boundaries united." in text
    assert "differ between" not in text
    assert "the settings differ between documents" in merged([chosen[0], replace(chosen[1], variants=False)])
    other = WeightsTable(tuple(AnnotatorWeights(name, 2, 1) for name in "abcd"))
    same = [[annotated(name, spans[:1], words) for name in "ab"]] * 2
    texts[:] = same
    assert "the settings differ between documents" in merged([chosen[0], replace(chosen[1], weights=other)])


def test_variants_of_mentions_that_are_decided_about_are_no_decisions_about_boundaries() -> None:
    spans = {"ann": [[(1, 2), (4, 4)]], "bob": [[(2, 2), (4, 4)]]}
    files = [[annotated(name, chains, ["the", "girl", "sang", "her"])] for name, chains in spans.items()]
    same = Statement.of(StatementKind.TOGETHER, [(1, 2), (4, 4)])
    [result] = adjudicate(files, decisions=Decisions.of(statements=[same]), variants=True)
    assert result.given is not None
    assert result.given.settings.kept_variants, "what was decided about stays what it is"
    text = paragraph([result])
    assert "variants of boundaries united" in text
    assert "as decided" not in text


def test_what_is_named_is_in_the_references() -> None:
    text, _, references = paragraph([decided_result()]).partition("\n\n")
    named = set(re.findall(r"([A-Z]\w+)(?: et al\.)? (20\d\d)", text))
    listed = {(name, year) for name, year in re.findall(r"^(\w+),.*?\((20\d\d)\)", references, re.MULTILINE)}
    assert named == listed


def test_how_many_annotators_shared_the_documents_is_said() -> None:
    words = ["Ann", "sees", "herself", "here"]
    team = [annotated(name, [[(1, 1), (3, 3)]], words) for name in "abcd"]

    def documents(*groups: list[Annotation]) -> str:
        results = [result_of(Instance(tuple(group), OBJECTIVES["va"])) for group in groups]
        return paragraph([renamed(result, str(n)) for n, result in enumerate(results) if result is not None])

    mixed = documents(team, team[1:])
    assert mixed.startswith("Four annotators annotated coreference in 2 documents (8 tokens) and marked 4 ")
    assert "Each document was annotated by three or four of four annotators." in mixed
    assert "annotated by two to four of four annotators." in documents(team, team[2:])
    assert "annotated by two of four annotators." in documents(team[:2], team[2:])
    assert "Each document" not in documents(team, team)


def test_who_marked_nothing_is_said() -> None:
    words = ["Ann", "sees", "herself", "here"]
    both = [annotated("a", [[(1, 1), (3, 3)]], words), annotated("b", [[(1, 1), (3, 3)]], words)]
    result = result_of(Instance((*both, annotated("c", [], words)), OBJECTIVES["va"]))
    other = result_of(Instance((*both, annotated("c", [[(1, 1), (3, 3)]], words)), OBJECTIVES["va"]))
    assert result is not None
    assert other is not None
    assert (
        "and marked 2 mentions. One of the annotators marked nothing. The annotators disagree"
        in paragraph([result])
    )
    assert "marked nothing" not in paragraph([other])
    several = [renamed(result, "1"), renamed(result, "2")]
    assert "One of the annotators marked nothing in any document." in paragraph(several)
    mixed = [renamed(result, "1"), renamed(other, "2")]
    assert "In 1 document, an annotator who marked mentions elsewhere marked none." in paragraph(mixed)
    assert "marked no" not in paragraph([_seen_by_marks(one) for one in several])


def test_latex_cites_entries_that_it_brings_and_that_the_documentation_has() -> None:
    latex = methods_latex("See (Schüller 2018) and Krippendorff 2004.\n\nSchüller, Peter (2018): ...\n")
    paragraph, _, entries = latex.partition("\n\n")
    assert paragraph == r"See \cite{schueller2018adjudication} and \cite{krippendorff2004content}."
    assert all(line.startswith("% ") for line in entries.splitlines())
    bibtex = textwrap.dedent("\n".join(line[2:] for line in entries.splitlines()))
    found = dict(re.findall(r"^(@\w+\{(\w+),.*?^\}$)", bibtex, re.DOTALL | re.MULTILINE))
    assert sorted(found.values()) == sorted(KEYS.values())
    page = (ROOT / "docs/citing.md").read_text(encoding="utf-8")
    assert all(entry in page for entry in found)
