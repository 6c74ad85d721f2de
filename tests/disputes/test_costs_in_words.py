"""What a report says about costs is what the price of a pair is."""

from caspr.disputes import costs_in_words
from caspr.task.instance import Instance
from caspr.task.objectives import OBJECTIVES, Coefficients, Objective
from caspr.task.pair_price import PairPrices
from caspr.task.votes import Evidence

EVERYBODY = 0b111111


def joined(coefficients: Coefficients, givers: int) -> int:
    price = PairPrices(coefficients).of(Evidence(givers, EVERYBODY))
    return price.omitted - price.gain


def test_the_words_give_the_costs_of_a_link_that_one_of_six_gave() -> None:
    costs = Coefficients.equal(OBJECTIVES["va"], 6)
    assert "1 for each who did not or, where that is less, 1 more than parting them" in costs_in_words(
        Instance((), OBJECTIVES["va"])
    )
    assert joined(costs, 0b000001) == min(5 * 1, 2 + 1)
    assert joined(costs, 0b000111) == min(3 * 1, 6 + 1)


def test_how_many_must_have_given_a_link_follows_from_the_coefficients() -> None:
    assert costs_in_words(Instance((), OBJECTIVES["va"])).endswith("a link that more than 1 in 3 gave.")
    assert costs_in_words(Instance((), OBJECTIVES["ua"])).endswith("a link that somebody gave.")
    assert costs_in_words(Instance((), Objective(2, 4, None))).endswith("more than 2 in 3 gave.")
    assert "where that is less" not in costs_in_words(Instance((), OBJECTIVES["v"]))


def test_with_weights_votes_are_not_counted_alike() -> None:
    weighted = Instance((), OBJECTIVES["va"], weights=Coefficients((2, 3), (1, 1), 1, constant=20))
    assert "what the votes of those weigh who linked them" in costs_in_words(weighted)
    assert "(use) and 20" in costs_in_words(weighted)
