"""Settings for a run and for a document: presets, weights, coverage, chains of one, variants, old files."""

import json
from dataclasses import replace

import pytest

from caspr.adjudication import adjudicate_document
from caspr.errors import InputError
from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.task.instance import Nesting, Singletons
from caspr.task.objectives import OBJECTIVES, Objective
from caspr.task.settings import PRESETS, Settings, boundary_decisions, change, decide, decided_groups
from caspr.task.stored_settings import read_settings, write_settings
from caspr.task.weights import AnnotatorWeights, Factor, WeightsTable, read_factors, weighted
from caspr.text.coverage import Coverage, CoverageRow, CoverageTable
from caspr.text.document import Annotation, Chain, Span
from caspr.text.variants import VariantGroup
from tests.instances import annotation

TABLE = WeightsTable(
    (AnnotatorWeights("a", 5, 3), AnnotatorWeights("b", 4, 2), AnnotatorWeights("c", 1, 1)), 7
)
PAIR = [[(1, 1), (2, 2)]]


def test_the_paper_preset_is_the_papers_and_options_count_more() -> None:
    paper = PRESETS["paper"]
    assert (paper.objective, paper.nested, paper.singletons) == (
        OBJECTIVES["v"],
        Nesting.NEVER,
        Singletons.DROP,
    )
    assert paper.forced_votes
    assert not change(Settings(), {"preset": "paper", "forced_votes": False}).forced_votes
    assert change(Settings(variants=True), {"preset": "paper"}) == paper
    assert change(Settings(), {"preset": "paper", "objective": "ua"}).objective == OBJECTIVES["ua"]
    assert change(Settings(engine="clingo"), {"preset": "paper"}).engine == "clingo"
    with pytest.raises(InputError, match="expected one of default, paper, systems"):
        change(Settings(), {"preset": "papper"})


@pytest.mark.parametrize("bad", ["anna", "anna=", "=2", "anna=-1", "anna=1e3", "anna=2.3.4", "anna=two"])
def test_factors_that_are_none(bad: str) -> None:
    with pytest.raises(InputError, match="expected an annotator and a number"):
        read_factors([bad])


def test_decimals_are_scaled_with_everything_else() -> None:
    objective, table, _ = weighted(OBJECTIVES["va"], ["a", "b"], read_factors({"a": 1.5, "x": 7}), None)
    assert objective == Objective(4, 2, 2)
    assert table == WeightsTable((AnnotatorWeights("a", 6, 3), AnnotatorWeights("b", 4, 2)))
    objective, table, _ = weighted(OBJECTIVES["va"], ["a", "b", "c"], read_factors(["b=0,5"]), TABLE)
    assert table is not None
    assert [(row.omit, row.use) for row in table.annotators] == [(10, 6), (4, 2), (2, 2)]
    assert (table.constant, objective.invent) == (14, 2)
    with pytest.raises(InputError, match="use fewer decimals"):
        weighted(OBJECTIVES["va"], ["a"], read_factors(["a=1.000001"]), None)


def test_learned_weights_need_three_annotators() -> None:
    objective, table, findings = weighted(OBJECTIVES["va"], ["a", "b"], (), TABLE)
    assert (objective, table) == (OBJECTIVES["va"], None)
    assert [finding.code for finding in findings] == ["weights-not-used"]
    by_hand = WeightsTable(TABLE.annotators)
    assert weighted(OBJECTIVES["va"], ["a", "b"], (), by_hand)[1] == WeightsTable(TABLE.annotators[:2])
    with pytest.raises(InputError, match="found none for annotator 'z'"):
        weighted(OBJECTIVES["va"], ["a", "b", "z"], (), TABLE)


def test_a_factor_for_nobody_is_refused() -> None:
    documents = [(annotation("a", PAIR), annotation("b", PAIR))]
    with pytest.raises(InputError, match="there is no annotator 'ana': choose among a, b"):
        change(Settings(), {"weight": ["ana=2"]}).for_run(documents)
    settings = change(change(Settings(), {"weights": TABLE}), {"weight": ["a=2"]})
    assert settings.weights is None


@pytest.mark.parametrize(
    ("alone", "chains", "expected"),
    [
        ({"a": 1, "b": 0}, {"a": 20, "b": 5}, Singletons.VOTE),
        ({"a": 1, "b": 0}, {"a": 21, "b": 5}, Singletons.DROP),
        ({"a": 9, "b": 0, "c": 0}, {"a": 9, "b": 5, "c": 1}, Singletons.DROP),
        ({"a": 9, "b": 1, "c": 0}, {"a": 9, "b": 5, "c": 1}, Singletons.VOTE),
        ({"a": 0, "b": 0}, {"a": 0, "b": 0}, Singletons.DROP),
    ],
)
def test_chains_of_one_are_kept_where_half_of_the_annotators_have_five_percent(
    alone: dict[str, int], chains: dict[str, int], expected: Singletons
) -> None:
    decided, findings = decide(alone, chains)
    assert decided is expected
    assert bool(findings) == any(alone.values())


def test_singletons_are_decided_once_for_a_run() -> None:
    marking = (annotation("a", [*PAIR, [(3, 3)]]), annotation("b", [*PAIR, [(3, 3)]]))
    plain = (annotation("a", PAIR), annotation("b", PAIR))
    settings, _ = Settings().for_run([plain, marking])
    assert settings.singletons is Singletons.VOTE
    assert settings.instance(plain, Decisions()).singletons is Singletons.VOTE
    assert Settings().instance(plain, Decisions()).singletons is Singletons.DROP


def test_coverage_is_made_concrete_from_a_table_and_unused_rows_are_reported() -> None:
    rows = (CoverageRow("a", "doc", Span(1, 2), 2), CoverageRow("z", "doc", None, 3))
    table = CoverageTable("cov.csv", rows)
    annotations = (annotation("a", PAIR), annotation("b", PAIR))
    settings, findings = Settings(coverage=table).for_run([annotations])
    assert [finding.code for finding in findings] == ["unused-coverage"]
    concrete, _ = settings.for_document(annotations)
    assert concrete.coverage == table.of(annotations[0].document)
    assert concrete.instance(annotations, Decisions()).seen == ((Span(1, 2),), None)


def test_a_pair_that_nobody_saw_is_free_and_no_link() -> None:
    """Two annotators of halves that share mention 3: the chains meet there, and only there."""
    first = annotation("a", [[(1, 1), (3, 3)]])
    second = annotation("b", [[(3, 3), (5, 5)]])
    halves = Coverage.of({"a": [(1, 3)], "b": [(3, 6)]})
    instance = Settings(OBJECTIVES["v"], coverage=halves).instance((first, second), Decisions())
    across = instance.price(Span(1, 1), Span(5, 5))
    assert (across.gain, across.allowed, across.connects) == (0, True, False)
    assert not instance.is_forbidden(Span(1, 1), Span(5, 5))
    whole = Settings(OBJECTIVES["v"]).instance((first, second), Decisions())
    assert whole.is_forbidden(Span(1, 1), Span(5, 5))


def test_what_was_marked_was_seen() -> None:
    first, second = annotation("a", PAIR), annotation("b", [[(2, 2), (5, 5)]])
    nothing = Coverage.of({"a": []})
    instance = Settings(coverage=nothing).instance((first, second), Decisions())
    assert instance.votes.evidence(Span(1, 1), Span(2, 2)).viewers == 0b11
    assert instance.votes.evidence(Span(2, 2), Span(5, 5)).viewers == 0b10


CONCRETE = Settings(
    Objective(4, 2, None),
    nested=Nesting.NEVER,
    singletons=Singletons.VOTE,
    weights=TABLE,
    coverage=Coverage.of({"a": [(1, 4)], "b": []}),
    variants=True,
    kept_variants=(VariantGroup((Span(1, 1), Span(1, 2)), ((), ()), Span(1, 2)),),
)


@pytest.mark.parametrize("settings", [Settings(), CONCRETE, Settings(coverage="marks")])
def test_stored_settings_are_read_again(settings: Settings) -> None:
    assert read_settings(json.loads(json.dumps(write_settings(settings)))) == settings


@pytest.mark.parametrize(
    "wrong",
    [
        {"weights": {"annotators": {"a": [1]}, "constant": None}},
        {"weights": {"annotators": {"a": [1, -2]}, "constant": None}},
        {"weights": {"annotators": {"a": [1, 2.5]}, "constant": None}},
        {"weights": {"annotators": {}}},
        {"weights": [1]},
        {"coverage": "everything"},
        {"coverage": {"a": [[0, 4]]}},
        {"coverage": {"a": [[5, 4]]}},
        {"coverage": {"a": 3}},
        {"variants": [{"boundary": [1, 1], "spans": [[1, 2], [1, 3]]}]},
        {"variants": [{"boundary": [1, 1], "spans": [[1, 1]]}]},
        {"variants": [{"boundary": [1, 1], "spans": [[1, 1], [5, 5]]}]},
        {"variants": [{"boundary": [1, 1], "spans": [[1, 1], [2, 3]]}]},
        {"variants": True},
        {"nested": "often"},
        {"singletons": 3},
        {"motor": "auto"},
    ],
)
def test_malformed_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        read_settings({**write_settings(Settings()), **wrong})


def test_decisions_about_boundaries() -> None:
    absent, apart, exists = (
        Statement.of(kind, spans)
        for kind, spans in (
            (StatementKind.ABSENT, [(1, 1)]),
            (StatementKind.APART, [(3, 3), (3, 4)]),
            (StatementKind.EXISTS, [(5, 5)]),
        )
    )
    marked = (annotation("a", [[(1, 1), (3, 3)], [(5, 5), (2, 2)]]), annotation("b", [[(3, 4), (6, 6)]]))
    decisions = Decisions.of([Chain.of("1", [(2, 2)])], [6], [absent, apart, exists])
    decided = boundary_decisions(marked, decisions)
    assert decided.fixed == {(2, 2), (5, 5)}
    assert decided.removed == {(1, 1), (6, 6)}
    assert decided.split == {((3, 3), (3, 4))}
    group = VariantGroup((Span(1, 1), Span(1, 2)), ((), ()), Span(1, 2))
    free = VariantGroup((Span(4, 4), Span(4, 5)), ((), ()), Span(4, 5))
    assert decided_groups((group, free), decisions) == (group,)


def test_a_removed_boundary_leaves_the_mention_with_its_next_one() -> None:
    annotations = (
        annotation("a", [[(1, 1), (4, 4)]]),
        annotation("b", [[(1, 2), (4, 4)]]),
        annotation("c", [[(1, 2), (4, 4)]]),
    )
    settings = Settings(variants=True)
    assert Span(1, 2) in settings.instance(annotations, Decisions()).mentions
    absent = Decisions.of(statements=[Statement.of(StatementKind.ABSENT, [(1, 2)])])
    assert settings.instance(annotations, absent).mentions == (Span(1, 1), Span(4, 4))
    both = Decisions.of(statements=[Statement.of(StatementKind.ABSENT, [(1, 1), (1, 2)])])
    assert settings.instance(annotations, both).mentions == (Span(4, 4),)
    fixed = Decisions.of(statements=[Statement.of(StatementKind.EXISTS, [(1, 1)])])
    assert settings.instance(annotations, fixed).mentions == (Span(1, 1), Span(4, 4))


def test_pairs_kept_apart_are_about_the_mention_whatever_its_boundary() -> None:
    annotations = (annotation("a", [[(1, 1), (4, 4)]]), annotation("b", [[(1, 2), (4, 4)]]))
    apart = Decisions.of(statements=[Statement.of(StatementKind.APART, [(1, 1), (4, 4)])])
    instance = Settings(variants=True).instance(annotations, apart)
    assert instance.mentions == (Span(1, 2), Span(4, 4))
    assert instance.is_forbidden(Span(1, 2), Span(4, 4))
    split = Decisions.of(statements=[Statement.of(StatementKind.APART, [(1, 1), (1, 2)])])
    assert len(Settings(variants=True).instance(annotations, split).mentions) == 3


def test_labels_of_entities_are_voted_by_weight() -> None:
    def typed(name: str, kind: str) -> Annotation:
        one = annotation(name, PAIR)
        return replace(one, chains=tuple(replace(chain, type=kind) for chain in one.chains))

    annotations = [typed("a", "place"), typed("b", "place"), typed("c", "person")]
    for weights, expected in (({}, "place"), ({"c": 3}, "person"), ({"c": 2}, "person")):
        settings = change(Settings(), {"weight": weights})
        [chain] = adjudicate_document(annotations, settings=settings).gold.chains
        assert chain.type == expected, weights


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("anna", "'anna'"),
        ("anna=-1", "'anna=-1'"),
        ("anna=1e9", "'anna=1e9'"),
        ("anna=nan", "'anna=nan'"),
        ("anna=0.0000001", "'anna=0.0000001'"),
    ],
)
def test_a_factor_that_is_none_is_refused_with_what_is_expected(word: str, found: str) -> None:
    with pytest.raises(
        InputError, match=f"weight: found {found}, expected an annotator and a number from 0 to 999,999"
    ):
        change(Settings(), {"weight": [word]})
    assert change(Settings(), {"weight": ["anna =0"]}).factors == (Factor("anna", 0, 1),)


def test_only_a_corpus_learns_weights() -> None:
    with pytest.raises(InputError, match="`caspr weigh` learns one"):
        change(Settings(), {"weights": "learn"})


def test_mentions_that_may_be_nested_are_not_variants_of_each_other() -> None:
    annotations = [annotation("ann", [[(1, 2), (5, 5)]], 6), annotation("bea", [[(2, 2), (5, 5)]], 6)]
    allowed = Decisions.of(statements=[Statement.of(StatementKind.NESTED, [(1, 2), (2, 2)])])
    settings = change(Settings(), {"variants": True})
    assert settings.find_variants(annotations, Decisions()).groups
    assert not settings.find_variants(annotations, allowed).groups
    for engine in ("native", "clingo", "brute"):
        chosen = replace(settings, engine=engine)
        assert adjudicate_document(annotations, allowed, chosen).instance.decisions.nested
