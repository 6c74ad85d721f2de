"""Each file of the library derives what docs/rules.md says, and nothing else."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from caspr.engines.asp.grounding import derive
from caspr.task.instance import Instance
from caspr.task.own_rules import RuleFile
from caspr.task.settings import read_rule_files
from caspr.text.document import Annotation, Chain, Document, Mark, Span

TEXT = "Anna is a baker . Berta , who sings , met her . I like my song".split()  # noqa: SIM905
SPEAKERS = ["-"] * 13 + ["Anna"] * 4
ROWS = tuple(f"d 0 {n} {w} X * - - - {who}" for n, (w, who) in enumerate(zip(TEXT, SPEAKERS, strict=True)))
ANNA, BAKER, BERTA, WHO, HER, ME, MY = (
    Span(*span) for span in ((1, 1), (3, 4), (6, 6), (8, 8), (12, 12), (14, 14), (16, 16))
)


def task(types: Mapping[Span, str] | None = None) -> Instance:
    """Return two annotators of a text: all mentions are in one chain, or in chains by their types."""
    document = Document("d", tuple(TEXT), rows=ROWS, sentence_ends=(5, 13))
    every = (ANNA, BAKER, BERTA, WHO, HER, ME, MY)
    chains = [Chain.of("1", every)]
    if types is not None:
        kinds = sorted(set(types.values()))
        chains = [Chain.of(kind, [span for span in every if types.get(span) == kind]) for kind in kinds]
        chains = [replace(chain, type=chain.id) for chain in chains]
    marks = {ANNA: Mark("name"), BERTA: Mark("name")}
    annotators = [Annotation.of(name, document, chains, marks=marks) for name in ("anna", "ben")]
    return Instance(tuple(annotators))


def derived(instance: Instance, *names: str | RuleFile) -> set[tuple[str, tuple[Span, ...], int]]:
    found, findings = derive(instance, read_rule_files(names))
    assert not [finding for finding in findings if finding.code == "unknown-predicate"]
    return {(one.effect.value, one.mentions, one.cost) for one in found.consequences}


def test_same_type() -> None:
    types = {ANNA: "person", BERTA: "person", BAKER: "job", HER: "person"}
    assert derived(task(types), "same-type") == {
        ("forbid", pair, 0) for pair in ((ANNA, BAKER), (BAKER, BERTA), (BAKER, HER))
    }


def test_different_names() -> None:
    assert derived(task(), "different-names") == {("forbid", (ANNA, BERTA), 0)}
    short = RuleFile("ours.lp", 'part_of("anna","berta").')
    assert derived(task(), "different-names", short) == set()


def test_predicates() -> None:
    assert derived(task(), "predicates") == {("forbid", (ANNA, BAKER), 0)}


def test_speaker() -> None:
    assert derived(task(), "speaker") == {("require", (ME, MY), 0)}


def test_relative_clause() -> None:
    assert derived(task(), "relative-clause") == {("apart_cost", (BERTA, WHO), 2)}


def test_trust_pronouns() -> None:
    trusted = RuleFile("ours.lp", 'trusted("anna").')
    others = (ANNA, BAKER, BERTA, WHO, ME, MY)
    expected = {("apart_cost", tuple(sorted((span, HER))), 4) for span in others}
    assert derived(task(), "trust-pronouns", trusted) == expected
    assert derived(task(), "trust-pronouns") == set()


@pytest.mark.parametrize(("sentences", "cost"), [(1, 2), (2, 1), (3, None)])
def test_distance(sentences: int, cost: int | None) -> None:
    (file,) = read_rule_files("distance")
    near = RuleFile(file.name, file.text.replace("#const n = 20.", f"#const n = {sentences}."))
    far = {pair[2] for pair in derived(task(), near) if pair[1] == (ANNA, ME)}
    assert far == (set() if cost is None else {cost})
    assert derived(task(), "distance") == set()
