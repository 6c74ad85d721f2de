"""Scores of files with trees, as corefud-scorer 1.2 computes them: heads, parts, gaps, zeros, MOR."""

import random
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import pytest

from caspr.errors import InputError
from caspr.formats import corefud
from caspr.formats.entity_cells import Entity, render
from caspr.measures.scores import Scores, score
from caspr.text.document import Annotation, Chain, Document, Span
from caspr.text.trees import place

Row = tuple[str, str, str, str]
"""Id, parent, what it depends on, and entities."""
SENTENCE: tuple[Row, ...] = (
    ("1", "3", "3:det", ""),
    ("2", "3", "3:amod", ""),
    ("3", "4", "4:nsubj", ""),
    ("4", "0", "0:root", ""),
    ("5", "6", "6:det", ""),
    ("6", "4", "4:obj", ""),
)
"""The tall girl saw the boy."""


def made(path: Path, *sentences: Sequence[Row]) -> list[Annotation]:
    """Read a file of some sentences."""
    lines = ["# newdoc id = d", "# global.Entity = eid-etype-head-other"]
    for number, rows in enumerate(sentences, 1):
        lines.append(f"# sent_id = s{number}")
        for id, parent, deps, cell in rows:
            form = "_" if "." in id else f"w{id}"
            misc = f"Entity={cell}" if cell else "_"
            head = "_" if "." in id else parent
            lines.append("\t".join((id, form, "_", "X", "_", "_", head, "dep", deps, misc)))
        lines.append("")
    path.write_text("\n".join([*lines, ""]))
    return corefud.read(path)


def marked(cells: dict[str, str], sentence: Sequence[Row] = SENTENCE) -> list[Row]:
    """Return a sentence with some cells; `1.1 4:obj` is an empty node."""
    rows = [(*row[:3], cells.get(row[0], "")) for row in sentence]
    for key, cell in cells.items():
        id, _, deps = key.partition(" ")
        if deps:
            rows.append((id, "_", deps, cell))
    return sorted(rows, key=lambda row: tuple(map(int, row[0].split("."))))


def scored(tmp_path: Path, key: dict[str, str], response: dict[str, str], match: str) -> Scores:
    sides = [made(tmp_path / f"{n}.conllu", marked(cells)) for n, cells in enumerate((key, response))]
    return score(*sides, match=match)


WHOLE = {"1": "(e1-person-3", "3": "e1)", "5": "(e1-person-2", "6": "e1)"}


@pytest.mark.parametrize(
    ("response", "matched"),
    [
        (WHOLE, {"exact": 2, "head": 2, "partial": 2}),
        ({"3": "(e1-person-1)", "6": "(e1-person-1)"}, {"exact": 0, "head": 2, "partial": 2}),
        ({"1": "(e1-person-4", "4": "e1)", "6": "(e1)"}, {"exact": 0, "head": 1, "partial": 1}),
        ({"1": "(e1-person-3", "4": "e1)", "6": "(e1)"}, {"exact": 0, "head": 2, "partial": 1}),
        ({"1": "(e1-person-1", "2": "e1)", "5": "(e1)"}, {"exact": 0, "head": 0, "partial": 0}),
        ({"1": "(e1", "3": "e1)", "6": "(e1)"}, {"exact": 1, "head": 2, "partial": 2}),
    ],
)
def test_which_mentions_match(tmp_path: Path, response: dict[str, str], matched: dict[str, int]) -> None:
    for match, number in matched.items():
        counts = scored(tmp_path, WHOLE, response, match).counts["mentions"]
        assert counts.recall.values() == counts.precision.values() == [number, 2], match


def test_of_mentions_with_one_head_the_more_alike_match(tmp_path: Path) -> None:
    key = {"1": "(e1-person-3", "2": "(e2-person-2", "3": "e2)e1)", "4": "(e2)", "6": "(e1)"}
    response = {"3": "(e7-person-1)", "4": "(e7)"}
    # Word 3 is half of the mention of e2, and a third of that of e1.
    assert scored(tmp_path, key, response, "head").counts["muc"].recall.values() == [1, 2]


def test_words_in_gaps_are_no_part_of_a_mention(tmp_path: Path) -> None:
    gaps = {"1": "(e1[1/2]-person-2)", "3": "(e1[2/2]-person-2)", "6": "(e1-person-1)"}
    covering = {"1": "(e1-person-3", "3": "e1)", "6": "(e1-person-1)"}
    assert scored(tmp_path, gaps, gaps, "exact").conll == 1
    assert scored(tmp_path, gaps, covering, "exact").counts["mentions"].recall.values() == [1, 2]
    assert scored(tmp_path, gaps, covering, "head").conll == 1
    assert scored(tmp_path, covering, gaps, "partial").conll == 1
    assert scored(tmp_path, gaps, covering, "partial").counts["mentions"].recall.values() == [1, 2]
    overlap = scored(tmp_path, gaps, covering, "exact").counts["mor"]
    assert (overlap.recall.values(), overlap.precision.values()) == ([3, 3], [3, 4])


COREFUD_SCORER: list[tuple[int, str, str]] = [
    (100, "exact", ".65116279 .51836181 .70588235 .70265152 .52540401 .46667055 .84210526 .80000000"),
    (100, "head", ".69767442 .53967204 .70588235 .70265152 .56205559 .48027167 .84210526 .80000000"),
    (100, "partial", ".65116279 .51836181 .70588235 .70265152 .52540401 .46667055 .84210526 .80000000"),
    (101, "exact", ".56410256 .42323600 .63829787 .63690476 .38795301 .37801016 .69841270 .40000000"),
    (101, "head", ".56410256 .42027172 .63829787 .63095238 .40523696 .36665805 .69841270 .40000000"),
    (101, "partial", ".61538462 .47796082 .68085106 .67261905 .44737157 .43476710 .69841270 .40000000"),
    (102, "exact", ".54545455 .41014191 .61538462 .62087912 .37886293 .36648342 .68421053 .50000000"),
    (102, "head", ".54545455 .41014191 .61538462 .62087912 .37886293 .36648342 .68421053 .50000000"),
    (102, "partial", ".54545455 .41014191 .61538462 .62087912 .37886293 .36648342 .68421053 .50000000"),
    (103, "exact", ".52631579 .41371569 .60869565 .59055331 .41112645 .33746898 .76666667 .80000000"),
    (103, "head", ".52631579 .41371569 .60869565 .59055331 .41112645 .33746898 .76666667 .80000000"),
    (103, "partial", ".52631579 .41371569 .60869565 .59055331 .41112645 .33746898 .76666667 .80000000"),
    (104, "exact", ".58536585 .47077122 .65306122 .63421053 .45945946 .42435328 .81578947 .66666667"),
    (104, "head", ".68292683 .52141499 .65306122 .63421053 .53113160 .46950715 .81578947 .66666667"),
    (104, "partial", ".68292683 .52141499 .65306122 .63421053 .53113160 .46950715 .81578947 .66666667"),
    (105, "exact", ".50000000 .38824150 .59090909 .57074176 .35210022 .33509700 .75000000 .00000000"),
    (105, "head", ".55555556 .45411685 .63636364 .63324176 .42991894 .39804552 .75000000 .00000000"),
    (105, "partial", ".55555556 .45411685 .63636364 .63324176 .42991894 .39804552 .75000000 .00000000"),
]
SUBJECT, OBJECT = "4:nsubj", "4:obj"


def test_zeros_are_the_same_if_they_depend_on_the_same(tmp_path: Path) -> None:
    key = {f"1.1 {SUBJECT}": "(e1-person-1)", f"1.2 {OBJECT}": "(e2-person-1)", "3": "(e1)", "6": "(e2)"}
    moved = {f"3.1 {OBJECT}": "(e8-person-1)", f"4.1 {SUBJECT}": "(e9-person-1)", "3": "(e9)", "6": "(e8)"}
    swapped = {f"1.1 {OBJECT}": "(e8-person-1)", f"1.2 {SUBJECT}": "(e9-person-1)", "3": "(e9)", "6": "(e8)"}
    for response in (key, moved, swapped):
        for match in ("exact", "head", "partial"):
            scores = scored(tmp_path, key, response, match)
            assert scores.conll == scores.f1("lea") == 1
    wrong = {f"1.1 {OBJECT}": "(e9-person-1)", f"1.2 {SUBJECT}": "(e8-person-1)", "3": "(e9)", "6": "(e8)"}
    assert scored(tmp_path, key, wrong, "exact").f1("muc") == 0


def test_a_relation_counts_more_than_a_parent(tmp_path: Path) -> None:
    key = {f"1.1 {SUBJECT}": "(e1-person-1)", "3": "(e1)"}
    response = {"1.1 6:nsubj": "(e1-person-1)", f"4.1 {OBJECT}": "(e2-person-1)", "3": "(e1)", "6": "(e2)"}
    counts = scored(tmp_path, key, response, "exact").counts["muc"]
    assert counts.recall.values() == [0, 1], "4.1 has the same parent, 1.1 only the same place"


@pytest.mark.parametrize(
    ("response", "recall", "precision"),
    [
        ({"3": "(e1)", f"3.1 {SUBJECT}": "(e1)", "6": "(e1)", f"6.1 {OBJECT}": "(e1)"}, [2, 2], [2, 2]),
        ({"3": "(e1)", f"3.1 {SUBJECT}": "(e1)", "6": "(e2)", f"6.1 {OBJECT}": "(e2)"}, [2, 2], [2, 2]),
        ({"3": "(e1)", f"3.1 {SUBJECT}": "(e1)", "5": "(e2)", f"6.1 {OBJECT}": "(e2)"}, [1, 2], [1, 2]),
        ({"3": "(e1)", f"3.1 {SUBJECT}": "(e1)", f"6.1 {OBJECT}": "(e2)"}, [1, 2], [1, 1]),
        ({"3": "(e1)", f"3.1 {SUBJECT}": "(e1)", "4.1 5:nmod": "(e1)"}, [1, 2], [1, 2]),
        ({"3": "(e1)", "6": "(e1)"}, [0, 2], [0, 0]),
    ],
)
def test_zeros(tmp_path: Path, response: dict[str, str], recall: list[int], precision: list[int]) -> None:
    """All right; in two entities with antecedents; wrong antecedent; first of an entity; invented; none."""
    key = {"3": "(e1)", f"3.1 {SUBJECT}": "(e1)", "6": "(e1)", f"6.1 {OBJECT}": "(e1)"}
    counts = scored(tmp_path, key, response, "head").counts["zeros"]
    assert (counts.recall.values(), counts.precision.values()) == (recall, precision)


def test_what_trees_are_needed_for(tmp_path: Path) -> None:
    plain = Annotation.of("x", Document("d", ("a", "b")), [Chain.of("1", [(1, 1), (2, 2)])])
    for match in ("head", "partial"):
        with pytest.raises(InputError, match="document 'd' has no dependency trees"):
            score([plain], [plain], match=match)
    one = made(tmp_path / "one.conllu", SENTENCE, SENTENCE[:3])
    two = made(tmp_path / "two.conllu", SENTENCE, SENTENCE[:2])
    with pytest.raises(InputError, match=r"found 2 words in sentence 2 of document 'd', expected 3 words"):
        score(one, two)


def random_document(seed: int, sentences: int = 5) -> list[list[Row]]:
    """Make sentences of eight words with zeros, mentions that nest and cross, and heads anywhere."""
    chance = random.Random(seed)
    made: list[list[Row]] = []
    for _ in range(sentences):
        after = sorted(chance.randint(0, 8) for _ in range(chance.randint(0, 3)))
        zeros = [(f"{word}.{after[:n].count(word) + 1}", word) for n, word in enumerate(after)]
        ids = sorted(
            [*((str(n), n) for n in range(1, 9)), *zeros],
            key=lambda pair: tuple(map(int, pair[0].split("."))),
        )
        taken: dict[tuple[int, int], str] = {}
        for _ in range(6):
            start = chance.randint(1, len(ids))
            span = start, min(len(ids), start + chance.choice((0, 0, 0, 1, 2)))
            id = f"e{chance.randint(1, 4)}"
            if span not in taken and not any(
                id == other and a <= span[1] and start <= b for (a, b), other in taken.items()
            ):
                taken[span] = id
        entities = [
            Entity(id, (Span(*span),), (id, "person", str(chance.randint(1, span[1] - span[0] + 1))))
            for span, id in taken.items()
        ]
        cells = render(entities, corefud.ORDER, len(ids))
        relations = [f"{chance.randint(1, 8)}:{chance.choice(('nsubj', 'obj', 'obl'))}" for _ in ids]
        made.append(
            [
                (id, "0" if id == "1" else "1", deps, cell)
                for (id, _), deps, cell in zip(ids, relations, cells, strict=True)
            ]
        )
    return made


def sides(tmp_path: Path, seed: int, sentences: int = 5) -> list[list[Annotation]]:
    """Make a key, and a response with most of its sentences."""
    key, other = (random_document(2 * seed + n, sentences) for n in (0, 1))
    response = [own if number % 3 else new for number, (own, new) in enumerate(zip(key, other, strict=True))]
    return [made(tmp_path / f"{seed}-{n}.conllu", *side) for n, side in enumerate((key, response))]


def test_mor_is_the_best_pairing(tmp_path: Path) -> None:
    for seed in range(10):
        both = sides(tmp_path, seed, 1)
        mentions = [
            [{place(side.document, token) for token in unit.tokens} for chain in side.units for unit in chain]
            for (side,) in both
        ]
        shorter, longer = sorted(mentions, key=len)
        best = max(
            sum(len(one & other) for one, other in zip(shorter, chosen, strict=True))
            for chosen in permutations(longer, len(shorter))
        )
        counts = score(*both).counts["mor"]
        assert counts.recall.part == counts.precision.part == best
        assert counts.recall.whole == sum(map(len, mentions[0]))


@pytest.mark.parametrize(("seed", "match", "expected"), COREFUD_SCORER)
def test_as_corefud_scorer(tmp_path: Path, seed: int, match: str, expected: str) -> None:
    """Numbers computed with corefud-scorer 1.2, chains of one included."""
    scores = score(*sides(tmp_path, seed), match=match)
    measures = ("muc", "b3", "ceafm", "ceafe", "blanc", "lea", "mor", "zeros")
    found = [float(scores.f1(measure) or 0) for measure in measures]
    assert found == pytest.approx(list(map(float, expected.split())), abs=1e-8)


def test_a_perfect_response(tmp_path: Path) -> None:
    for seed in range(20, 26):
        key, _ = sides(tmp_path, seed)
        for match in ("exact", "head", "partial"):
            values = score(key, key, match=match)
            assert {values.f1(measure) for measure in values.counts} <= {1, None}, (seed, match)
