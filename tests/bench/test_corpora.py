"""Generated corpora look like the paper's datasets, and are the same for the same seed."""

from pathlib import Path

import pytest

from bench.corpora import CORPORA, DS2, TRUTH, Generated, generate, make_document, novel, save
from bench.corpora import main as write_corpus
from caspr.formats import read_all

PAPER = {
    "ds1": {
        "documents": (21, 21, 21),
        "annotators": (6, 6.5, 8),
        "chains": (78, 132.7, 197),
        "annotated mentions": (247, 596.6, 1289),
        "distinct mentions": (169, 316.7, 702),
        "longest chain": (7, 33.1, 66),
    },
    "ds2": {
        "documents": (33, 33, 33),
        "annotators": (9, 10.3, 11),
        "chains": (34, 294.6, 599),
        "annotated mentions": (117, 1561.4, 3897),
        "distinct mentions": (17, 159.8, 358),
        "longest chain": (6, 28.4, 70),
    },
}
"""Minimum, average and maximum over documents, from the paper's dataset table."""


def measure(generated: Generated) -> dict[str, int]:
    chains = [chain.mentions for one in generated.annotations for chain in one.chains]
    return {
        "annotators": len(generated.annotations),
        "chains": len(chains),
        "annotated mentions": sum(map(len, chains)),
        "distinct mentions": len({span for chain in chains for span in chain}),
        "longest chain": max(map(len, chains)),
    }


@pytest.mark.parametrize("name", CORPORA)
def test_corpora_come_near_the_table(name: str) -> None:
    documents = list(generate(CORPORA[name]))
    rows = [{"documents": len(documents), **measure(generated)} for generated in documents]
    tokens = [len(generated.truth.document.tokens) for generated in documents]
    assert sum(tokens) / len(tokens) == pytest.approx(1634, rel=0.01)
    for quantity, (least, average, most) in PAPER[name].items():
        values = [row[quantity] for row in rows]
        assert sum(values) / len(values) == pytest.approx(average, rel=0.07), quantity
        assert min(values) == pytest.approx(least, rel=0.2, abs=3), quantity
        assert max(values) == pytest.approx(most, rel=0.1), quantity


def largest_group(generated: Generated) -> float:
    """Return the share of mentions that are connected by chains of any annotators."""
    groups: list[set[object]] = []
    for one in generated.annotations:
        for chain in one.chains:
            touching = [group for group in groups if group & set(chain.mentions)]
            groups = [group for group in groups if not group & set(chain.mentions)]
            groups.append(set(chain.mentions).union(*touching))
    return max(map(len, groups)) / sum(map(len, groups))


def test_some_documents_of_ds1_hang_together_and_none_of_ds2() -> None:
    assert sum(largest_group(generated) > 0.9 for generated in generate(CORPORA["ds1"])) >= 5
    assert max(largest_group(generated) for generated in generate(CORPORA["ds2"])) < 0.6


def test_same_seed_same_documents() -> None:
    assert [g.annotations for g in generate(DS2, scale=0.1)] == [
        g.annotations for g in generate(DS2, scale=0.1)
    ]
    assert [g.annotations for g in generate(DS2, scale=0.1)] != [
        g.annotations for g in generate(DS2, scale=0.1, seed=2)
    ]


def test_files_read_back(tmp_path: Path) -> None:
    generated = next(generate(DS2))
    files = save(generated, tmp_path)
    assert [one.chains for [one] in read_all(files)] == [one.chains for one in generated.annotations]


def test_a_small_novel() -> None:
    import random

    shape = novel(tokens=2000, mentions=200, longest=30)
    generated = make_document(shape, random.Random(1))
    assert len(generated.truth.mentions) == 200
    assert len(generated.annotations) == 5


def test_corpora_are_written_by_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_corpus(["novel", str(tmp_path), "--scale", "0.001"])
    assert capsys.readouterr().out == "novel\n"
    files = {path.name for path in (tmp_path / "novel").iterdir()}
    assert files == {f"{TRUTH}.gold", *(f"annotator{number}.conll" for number in range(1, 6))}
    with pytest.raises(SystemExit):
        write_corpus(["ds1", str(tmp_path), "--scale", "nan"])
    assert "expected a number above 0" in capsys.readouterr().err
