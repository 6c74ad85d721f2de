"""Dawid-Skene and MACE over pairs of mentions, where crowd-kit is installed."""

import pytest

from bench.corpora import DS2, generate
from bench.quality.crowd import AGGREGATORS, aggregate
from bench.quality.judged import Judged
from bench.quality.scoring import score_documents

DOCUMENTS = [Judged(one.truth, one.annotations) for one in list(generate(DS2, scale=0.15))[3:6]]


@pytest.mark.parametrize("name", AGGREGATORS)
def test_aggregating_pairs_comes_closer_to_the_gold_than_one_annotator(name: str) -> None:
    pytest.importorskip("crowdkit")
    found = aggregate(DOCUMENTS, name)
    single = {one.name: one.annotations[0] for one in DOCUMENTS}
    ours, theirs = (
        score_documents(DOCUMENTS, some, singletons=False).f1("conll") for some in (found, single)
    )
    assert ours > theirs
    assert aggregate(DOCUMENTS, name) == found


def test_without_crowd_kit_the_user_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr("bench.quality.crowd.import_module", missing)
    with pytest.raises(SystemExit, match=r"found no crowdkit\.aggregation, expected crowd-kit"):
        aggregate(DOCUMENTS, "MACE")
