"""The simulated adjudicator of the bench, on a document whose gold annotators approach."""

import pytest

from bench.adjudicator.simulation import WAYS, f1_after, work_through
from bench.quality.judged import Judged
from caspr.task.settings import Settings
from tests.review.questions.documents import ANNA, ANNA_AGAIN, BEA, GIRL, HER, SHE, annotated

GOLD = {"gold": [[ANNA, ANNA_AGAIN], [BEA, SHE], [GIRL, HER]]}
GIVEN = {
    "ann": [[ANNA, ANNA_AGAIN, SHE], [BEA, HER], [GIRL]],
    "bob": [[ANNA, ANNA_AGAIN], [BEA, SHE], [(12, 13), HER]],
    "carl": [[ANNA, ANNA_AGAIN, SHE], [GIRL, HER]],
}


@pytest.mark.parametrize("way", WAYS)
def test_answers_from_the_gold_lead_to_the_gold(way: str) -> None:
    [gold] = annotated(GOLD)
    course = work_through(Judged(gold, annotated(GIVEN)), way, Settings())
    assert not course.refused
    assert f1_after([course], 0) < 100
    assert f1_after([course], course.answers) == pytest.approx(100)
    assert 0 < course.changed <= course.answers
