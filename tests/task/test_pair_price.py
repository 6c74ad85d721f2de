"""The price of a pair against what brute force adds up annotator by annotator."""

import random
from itertools import combinations

from caspr.engines.brute import judge
from caspr.task.objectives import Coefficients
from caspr.task.pair_price import PairPrices
from caspr.task.votes import Evidence
from tests.instances import random_instance


def test_prices_are_those_of_every_annotator_added_up() -> None:
    rng = random.Random(11)
    kinds = set()
    for _ in range(300):
        instance = random_instance(rng, mentions=6, decisions=rng.random() < 0.5, odd=True)
        for first, second in combinations(instance.mentions, 2):
            price, judged = instance.price(first, second), judge(instance, first, second)
            assert (price.omitted, price.invented) == (judged.omitted, judged.invented)
            assert (price.used is not None) == judged.linked
            choices = [judged.used] if judged.linked else []
            choices += [] if judged.invented is None else [judged.omitted + judged.invented]
            assert price.allowed == bool(choices)
            assert price.gain == (judged.omitted - min(choices) if choices else 0)
            if judged.linked:
                assert (price.used, price.extra) == (judged.used, judged.used - min(choices))
            else:
                assert (price.used, price.extra) == (None, None)
            assert price.connects == (judged.linked and judged.used == min(choices))
            kinds.add((judged.linked, judged.invented is None, price.gain > 0, price.extra))
    assert len(kinds) > 8


def test_a_constant_takes_the_place_of_invent_unless_that_is_forbidden() -> None:
    weights = (3, 4), (1, 2)
    assert PairPrices(Coefficients(*weights, invent=9, constant=5)).of(Evidence(0, 0b11)).invented == 8
    assert PairPrices(Coefficients(*weights, invent=9, constant=0)).of(Evidence(0, 0b10)).invented == 2
    assert PairPrices(Coefficients(*weights, invent=None, constant=5)).of(Evidence(0, 0b11)).invented is None
    assert PairPrices(Coefficients(*weights, invent=9)).of(Evidence(0, 0b11)).invented == 9
    assert PairPrices(Coefficients(*weights, invent=9, constant=5)).of(Evidence(0b01, 0b11)).used == 7


def test_a_link_that_a_rule_gives_is_used_at_what_it_costs_the_others_and_connects() -> None:
    rng = random.Random(12)
    for _ in range(200):
        omit, use = ([rng.randint(0, 4) for _ in range(3)] for _ in range(2))
        invent, constant = rng.choice([None, 0, 1, 5]), rng.choice([None, None, 0, 3])
        prices = PairPrices(Coefficients(tuple(omit), tuple(use), invent, constant))
        viewers = rng.randrange(8)
        givers = viewers & rng.randrange(8)
        price, given = prices.of(Evidence(givers, viewers)), prices.given(Evidence(givers, viewers))
        against = sum(use[place] for place in range(3) if viewers >> place & 1 and not givers >> place & 1)
        together = [against + (constant or 0)]
        together += [] if price.invented is None else [price.omitted + price.invented]
        assert (given.omitted, given.invented) == (price.omitted, price.invented)
        assert (given.used, given.extra, given.connects) == (together[0], 0, True)
        assert given.gain == given.omitted - min(together)


def test_prices_are_kept() -> None:
    prices = PairPrices(Coefficients((2,), (1,), 1))
    for price in (prices.of, prices.given):
        assert price(Evidence(1, 1)) is price(Evidence(1, 1))
